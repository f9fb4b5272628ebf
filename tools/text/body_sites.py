"""Which part of the body a text names, which side of it, and where a pain spreads to."""

from __future__ import annotations

import re
from functools import lru_cache

REMEMBERED = 8192  # ours: clauses kept in memory; a case is read clause by clause, several times

# ours: words (stems are written out) and the sites of docs/knowledge-format.md that they stand for
WORDS: dict[str, tuple[str, ...]] = {
    "head": ("head", "heads", "headache", "headaches", "skull", "scalp", "temple", "temples", "forehead"),
    "face": ("face", "facial", "cheek", "cheeks", "cheekbone", "cheekbones", "jaw", "sinus", "sinuses"),
    "eye": ("eye", "eyes", "eyelid", "eyelids", "lid", "lids", "pupil", "pupils", "vision", "eyeball"),
    "ear": ("ear", "ears", "eardrum", "earache"),
    "nose": ("nose", "nasal", "nostril", "nostrils"),
    "mouth": ("mouth", "tongue", "lip", "lips", "gum", "gums", "palate", "tooth", "teeth", "oral"),
    "throat": ("throat", "tonsil", "tonsils", "larynx", "voice", "swallowing", "pharynx", "epiglottis"),
    "neck": ("neck", "nape"),
    "chest": ("chest", "sternum", "rib", "ribs", "heart", "lung", "lungs", "precordial", "retrosternal", "thoracic"),
    "breast": ("breast", "breasts", "nipple"),
    "back": ("back pain", "(?:my|the|his|her) back(?! of)", "lower back", "upper back", "backache", "spine",
             "flank", "loin",             "shoulder blade", "shoulder blades", "lumbar", "scapula"),
    "abdomen": ("abdomen", "abdominal", "stomach", "belly", "tummy", "bowel", "bowels", "navel", "gut"),
    "upper-abdomen": ("epigastric", "epigastrium", "upper abdomen", "upper abdominal", "right upper quadrant",
                      "hypochondrium", "liver"),
    "lower-abdomen": ("lower abdomen", "lower abdominal", "iliac fossa", "suprapubic", "lower quadrant"),
    "groin": ("groin", "groins", "inguinal"),
    "pelvis": ("pelvis", "pelvic", "bladder", "womb", "uterus", "anus", "rectal", "back passage"),
    "genital": ("penis", "testicle", "testicles", "scrotum", "vagina", "vaginal", "vulva", "genital", "genitals",
                "testis"),
    "arm": ("arm", "arms", "shoulder", "shoulders", "elbow", "elbows", "armpit", "biceps", "forearm"),
    "hand": ("hand", "hands", "finger", "fingers", "thumb", "wrist", "wrists", "palm", "palms", "nail", "nails"),
    "leg": ("leg", "legs", "calf", "calves", "thigh", "thighs", "knee", "knees", "hip", "hips", "shin", "shins",
            "ankle", "ankles"),
    "foot": ("foot", "feet", "toe", "toes", "sole", "soles", "heel"),
    "joint": ("joint", "joints", "knee", "knees", "hip", "hips", "elbow", "elbows", "wrist", "wrists", "ankle",
              "ankles", "knuckles"),
    "skin": ("skin",),
}  # fmt: skip
WORDS_ZH: dict[str, str] = {
    "head": "头|颅|额|颞", "face": "脸|面部|面颊|鼻窦|颧", "eye": "眼|视物|视力|睑", "ear": "耳", "nose": "鼻",
    "mouth": "口腔|舌|唇|牙|嘴", "throat": "咽|喉|嗓|扁桃体", "neck": "颈|脖",
    "chest": "胸|心前区|肋|肺|心脏", "breast": "乳房|乳头",
    "back": "背|腰|肾区", "abdomen": "腹|肚|胃|肠", "upper-abdomen": "上腹|胃部|肝区|剑突",
    "lower-abdomen": "下腹|小腹",
    "groin": "腹股沟", "pelvis": "盆腔|肛|膀胱", "genital": "阴囊|睾丸|阴道|阴茎|外阴",
    "arm": "肩|上肢|臂|胳膊|肘|腋", "hand": "手(?!术)|指|腕",
    "leg": "腿|下肢|膝|踝|髋|小腿", "foot": "足(?!够)|脚|趾", "joint": "关节|膝|踝|髋|肘|腕", "skin": "皮肤",
}  # fmt: skip
# ours: sites close enough that a finding of one may be told with the name of another
NEAR: dict[str, tuple[str, ...]] = {
    "head": ("face", "eye", "neck"),
    "face": ("head", "nose", "eye", "mouth", "ear"),
    "eye": ("face", "head"),
    "ear": ("head", "face"),
    "nose": ("face", "throat"),
    "mouth": ("face", "throat"),
    "throat": ("neck", "mouth"),
    "neck": ("throat", "head"),
    "chest": ("breast", "upper-abdomen"),
    "breast": ("chest",),
    "back": (),
    "abdomen": ("upper-abdomen", "lower-abdomen", "groin", "pelvis"),
    "upper-abdomen": ("abdomen", "chest"),
    "lower-abdomen": ("abdomen", "groin", "pelvis"),
    "groin": ("lower-abdomen", "genital", "pelvis"),
    "pelvis": ("lower-abdomen", "genital", "groin"),
    "genital": ("pelvis", "groin"),
    "arm": ("hand", "joint"),
    "hand": ("arm", "joint"),
    "leg": ("foot", "joint"),
    "foot": ("leg", "joint"),
    "joint": ("arm", "hand", "leg", "foot"),
}
EVERYWHERE = frozenset({"skin", "whole-body"})  # a rash or a fever may be told with any part

_PATTERN = {s: re.compile(rf"\b(?:{'|'.join(w)})\b", re.IGNORECASE) for s, w in WORDS.items()}
_PATTERN_ZH = {s: re.compile(p) for s, p in WORDS_ZH.items()}
_ONLY_A_PART = re.compile(
    r"^\W*(?:(?:in|on|at|over|my|the|his|her|their|both|left|right|and)\s+)*(?:"
    + "|".join(
        w for words in WORDS.values() for w in words if not re.search(r"ache|pain|vision|voice|swallow|ial\b|al\b", w)
    )
    + r"|occipital|(?:bi)?frontal|(?:bi)?temporal|parietal|vertex|peri-?umbilical|central)(?:['’]s)?\W*$",
    re.IGNORECASE,
)
_SIDES = (
    (
        "both",
        re.compile(
            r"\b(?:both|bilateral(?:ly)?|each side|either side)\b|双侧|两侧|双(?=[眼耳手足脚腿下上肺膝])|两边",
            re.IGNORECASE,
        ),
    ),
    ("left", re.compile(r"\bleft\b|左", re.IGNORECASE)),
    ("right", re.compile(r"\bright(?! (?:away|now|after|before|behind|up|down|through|in|at|on))\b|右", re.IGNORECASE)),
)


@lru_cache(maxsize=REMEMBERED)
def sites(text: str) -> frozenset[str]:
    """The sites that a text names."""
    english = {site for site, pattern in _PATTERN.items() if pattern.search(text)}
    return frozenset(english | {site for site, pattern in _PATTERN_ZH.items() if pattern.search(text)})


def is_only_a_part(text: str) -> bool:
    """Whether an English text is no more than the name of a part (``my left arm``)."""
    return _ONLY_A_PART.match(text) is not None


def compatible(told: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a clause that names the sites ``told`` can tell of a finding at the sites ``known``."""
    if not told or not known or (told | known) & EVERYWHERE:
        return True
    reach = known.union(*(NEAR.get(site, ()) for site in known))
    return bool(told & reach)


def side(text: str) -> str | None:
    """``left``, ``right`` or ``both``, None when no side or several are named."""
    named = [name for name, pattern in _SIDES if pattern.search(text)]
    if {"left", "right"} <= set(named):
        return "both"
    return named[0] if named else None


# Where a pain spreads to: a part that is named as the destination of a pain has no pain of its own.

_SPREADS = re.compile(
    r"\b(?:radiat\w+|spread(?:s|ing)?|referred)\s+(?:(?:up|down|out|back|through|round|around|across)\s+)?"
    r"(?:(?:in|on)?to(?:wards?)?|up|down|through|across|(?=left|right|both))\b",
    re.IGNORECASE,
)
_END = re.compile(r"[,;:.()]|\b(?:for|since|with|when|but|while|on|after|associated)\b", re.IGNORECASE)
_SPREADS_ZH = re.compile(r"(?:放射|扩散|牵涉|牵扯|蔓延|窜)(?:至|到|向|及)?|向(?=[^，。；、]{1,8}(?:放射|扩散|蔓延))")
_END_ZH = re.compile(r"[，,。；;：]|放射|扩散|蔓延|持续|\d|[伴约已]")


def destination(text: str) -> tuple[int, int] | None:
    """The characters of a text that say where something spreads to, the verb included; None if it does not say so."""
    for verb, end in ((_SPREADS, _END), (_SPREADS_ZH, _END_ZH)):
        match = verb.search(text)
        if match is not None:
            stop = end.search(text, match.end())
            return match.start(), stop.start() if stop else len(text)
    return None


def tells_of_spreading(text: str) -> bool:
    """Whether a text says that something radiates or spreads."""
    return destination(text) is not None


def origin_and_destination(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The sites that a text names as those of a complaint itself, and those that the complaint only spreads to."""
    where = destination(text)
    if where is None:
        return sites(text), frozenset()
    origin = sites(f"{text[: where[0]]} {text[where[1] :]}")
    return origin, sites(text[slice(*where)]) - origin

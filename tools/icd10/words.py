"""The words of a disease name for matching, each with how much it counts (1 whole, less for what tells little apart).

English: one spelling, stems, one word for what is the same part, process or organism (`SAME`). What ICD-10 puts in
round brackets need not be said, so it counts little, as do "unspecified", sides and grades. Chinese: single characters,
because a name of four characters leaves too few pairs of them. Both lists are ours.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from tools.text.abbreviations import CHINESE
from tools.text.language import HAN
from tools.text.tokens import STOP, stem

Words = dict[str, float]

LIGHT = 0.2  # ours: what need not be said: sides, grades, words in ICD-10's round brackets
PLAIN = 0.4  # ours: "disease", "syndrome": they tell little apart, but are part of the name

# ours: words that mean the same in names of diseases; the first of a row stands for all
SAME = (
    "kidney renal nephric nephrotic",
    "liver hepatic",
    "lung pulmonary",
    "heart cardiac",
    "stomach gastric",
    "brain cerebral",
    "skin cutaneous dermal",
    "uterus uterine womb",
    "ovary ovarian",
    "pancreas pancreatic",
    "prostate prostatic",
    "esophagus esophageal gullet",
    "colon colonic",
    "rectum rectal",
    "vagina vaginal",
    "testis testes testicular testicle",
    "thyroid thyroidal",
    "adrenal suprarenal",
    "spleen splenic",
    "eye ocular ophthalmic",
    "vein venous",
    "artery arterial",
    "vessel vascular",
    "bone osseous",
    "muscle muscular",
    "intestine intestinal bowel enteric",
    "aorta aortic",
    "bladder vesical",
    "larynx laryngeal",
    "pharynx pharyngeal",
    "bronchus bronchial bronchi",
    "trachea tracheal",
    "nose nasal",
    "breast mammary",
    "bile biliary",
    "lymph lymphatic",
    "calculus calculi stone stones lithiasis",
    "hemorrhage bleeding bleed hemorrhagic",
    "thrombosis clot thrombus thrombotic",
    "embolism embolus thromboembolism emboli",
    "fracture fractured broken",
    "rupture ruptured",
    "perforation perforated",
    "infection infected infectious",
    "inflammation inflammatory inflamed",
    "obstruction obstructive obstructed",
    "infarction infarct",
    "ischemia ischemic",
    "failure insufficiency",
    "neoplasm tumor neoplastic growth",
    "malignant malignancy cancerous",
    "enlargement enlarged enlarge",
    "hyperplasia hypertrophy",
    "dislocation dislocated",
    "hernia herniation herniated herniate",
    "displacement displaced slipped prolapsed",
    "torsion twisted",
    "poisoning intoxication toxicity overdose",
    "deficiency deficient",
    "congenital inborn",
    "virus viral",
    "bacteria bacterial",
    "diabetes diabetic",
    "allergy allergic",
    "epilepsy epileptic",
    "depression depressive",
    "anxiety anxious",
    "alcohol alcoholic",
    "pregnancy gestation gestational",
    "newborn neonatal neonate neonatorum",
    "ulcer ulcerative ulcerated",
    "psychosis psychotic",
    "seizure seizures convulsion convulsions",
    "lymphoblastic lymphoid",
    "myelogenous myeloid myeloblastic",
    "difficile difficil",
)
# ours: forms written together or apart, and compounds that ICD-10 names by their parts
REWRITTEN = tuple(
    (re.compile(rf"\b(?:{said})\b"), meant)
    for said, meant in (
        (r"(?:adeno|squamous cell )?carcinomas?|cancers?", "malignant neoplasm"),
        (r"osteoarthrosis", "osteoarthritis"),
        (r"nephrolithiasis|nephrolith", "calculus of kidney"),
        (r"urolithiasis", "urinary calculus"),
        (r"cholelithiasis|gallstones?", "gallbladder calculus"),
        (r"high blood pressure", "hypertension"),
        (r"heart attack", "myocardial infarction"),
        (
            r"dis[ck] (?:herniation|prolapse|protrusion)|(?:herniated|prolapsed) dis[ck]",
            "intervertebral disc displacement",
        ),
        (r"gastro ?intestinal", "gastrointestinal"),
        (r"gastro ?esophageal", "gastroesophageal"),
        (r"c difficile|c diff|clostridioides", "clostridium difficile"),
        (r"e coli", "escherichia coli"),
        (r"staph", "staphylococcus"),
        (r"strep", "streptococcus"),
        (r"hiv", "human immunodeficiency virus"),
        (r"b cell", "bcell"),
        (r"t cell", "tcell"),
        (r"non hodgkin(?:s)?", "nonhodgkin"),
        (r"non small", "nonsmall"),
        (r"type ii", "type 2"),
        (r"type i", "type 1"),
        (r"type iii", "type 3"),
        (r"(hepatitis|influenza|hemophilia|vitamin|group|type) ([a-e])", r"\1 kind\2"),
    )
)
SPELT = tuple(
    (re.compile(said), meant)
    for said, meant in (
        (r"ae(?!r)", "e"),
        (r"oe(?=[dmstnlca])", "e"),
        (r"(?<=[a-z])our\b", "or"),
        (r"(?<=[a-z])ours\b", "ors"),
        (r"(?<=[a-z])is(?=ed\b|ing\b|ation\b|e\b)", "iz"),
    )
)
_LIGHT = (
    "unspecified other specified nos nec elsewhere classified classifiable site sites organism cause part "
    "parts not without "
    "left right bilateral unilateral side sided acquired initial encounter mild moderate severe single multiple "
    "primary idiopathic unqualified simple uncomplicated complication complications stage grade nature form "
    "state status "
    "type episode current generalized localized essential common classical classic typical attack flare exacerbation "
    "active spontaneous benign due caused secondary associated related following"
).split()
_PLAIN = "disease disorder syndrome condition illness problem process acute malignant infection virus bacteria".split()
# ours: ends of one scale, in stems; a name with one end is never that of a phrase with the other
OPPOSITE = (
    ("acut subacut", "chronic"),
    ("1", "2"),
    ("2", "3"),
    ("1", "3"),
    ("malignant", "benign"),
    ("primari", "secondari"),
    ("congenit", "acquir"),
    ("upper", "lower"),
    ("anterior", "posterior"),
    ("high hyper", "low hypo"),
    ("kinda", "kindb kindc kindd kinde"),
    ("kindb", "kindc kindd kinde"),
    ("matern", "newborn"),
)
OPPOSITE_ZH = (
    ("急", "慢"), ("1", "2"), ("良", "恶"), ("亢", "减"), ("高", "低"), ("上", "下"), ("前", "后"), ("甲", "乙"),
    ("甲", "丙"), ("乙", "丙"), ("男", "女"), ("大", "小"),
)  # fmt: skip
_ZH_SAME = (
    ("综合症", "综合征"), ("梗塞", "梗死"), ("返流", "反流"), ("机能", "功能"), ("癫癎", "癫痫"),
    ("癫痫病", "癫痫"), ("浮肿", "水肿"), ("机能亢进", "功能亢进"), ("低下", "减退"), ("二型", "2型"),
    ("一型", "1型"), ("非胰岛素依赖型", "2型"), ("胰岛素依赖型", "1型"), ("II型", "2型"), ("Ⅱ型", "2型"),
    ("I型", "1型"), ("Ⅰ型", "1型"), ("恶性肿瘤", "癌"), ("艾滋病", "人类免疫缺陷病毒病"),
    ("HIV", "人类免疫缺陷病毒"), ("关节病", "关节炎"), ("结石病", "结石"), ("增生症", "增生"), ("扩张症", "扩张"),
    ("病毒性感冒", "病毒感冒"), ("卒中", "中风"),
)  # fmt: skip
_ZH_NONE = re.compile(r"未特指的?|其他|其它|不可归类在他处者?|归类在他处的疾病引起的|分类于他处")
_ZH_LIGHT = frozenset("性症病型的伴有期级度并发侧左右上下")
# ours: what makes a disease another one, with a chapter or block of its own
_OF_ITS_OWN = re.compile(
    r"congenital|newborn|neonatal|perinatal|pregnan|childbirth|puerper|maternal|fetus|in situ|sequela|postprocedural|"
    r"juvenile|histor(?=y)|screening|exposure|abnormal|elevated|原位|先天|新生儿|妊娠|产褥|后遗|个人史|胎儿|继发|异常",
    re.IGNORECASE,
)
_SAME = {stem(word): stem(row.split()[0]) for row in SAME for word in row.split()}
_WEIGHT = {stem(w): LIGHT for w in _LIGHT} | {stem(w): PLAIN for w in _PLAIN}
_BRACKETED = re.compile(r"\(([^()]*)\)")
_WORD = re.compile(r"[a-z0-9]+")


def words(name: str) -> Words:
    """The words of a name in either language."""
    return words_zh(name) if HAN.search(name) else words_en(name)


@lru_cache(maxsize=4096)
def words_en(name: str) -> Words:
    """Stems of an English name with their weights, 0..1."""
    said = plain_en(name)
    aside = {w for m in _BRACKETED.finditer(said) for w in _stems(m[1])}
    bare = _stems(_BRACKETED.sub(" ", said))
    found = {w: _WEIGHT.get(w, 1.0) for w in bare}
    for word in sorted(aside):
        found.setdefault(word, LIGHT)
    return found


def words_zh(name: str) -> Words:
    """Characters of a Chinese name with their weights, 0..1; Latin words and numbers whole."""
    said = plain_zh(name)
    parts = re.findall(r"[\u4e00-\u9fff]|[a-z]+|\d", said.lower())
    return {c: LIGHT if c in _ZH_LIGHT else 1.0 for c in parts}


def plain_en(name: str) -> str:
    """An English name in lower case, without accents and possessives, in one spelling."""
    said = unicodedata.normalize("NFKD", name)
    said = "".join(c for c in said if not unicodedata.combining(c)).lower().replace("’", "'")
    said = re.sub(r"'s\b|(?<=s)'(?=\s)", "", said)
    for pattern, meant in SPELT:
        said = pattern.sub(meant, said)
    said = " ".join(re.sub(r"[^a-z0-9()]+", " ", said).split())
    for pattern, meant in REWRITTEN:
        said = pattern.sub(meant, said)
    return said


def plain_zh(name: str) -> str:
    """A Chinese name without spaces and punctuation, short forms written out, one word for the same."""
    said = "".join(unicodedata.normalize("NFKC", name).split())
    for short, meant in CHINESE.items():
        if meant not in said:
            said = said.replace(short, meant)
    for short, meant in _ZH_SAME:
        said = said.replace(short, meant)
    return re.sub(r"[^\w]|_", "", _ZH_NONE.sub("", said))


def opposed(said: Words, name: Words, *, chinese: bool) -> bool:
    """Whether a phrase names one end of a scale and the name only the other."""
    for one, other in OPPOSITE_ZH if chinese else OPPOSITE:
        ends = (one.split(), other.split())
        said_has = tuple(any(w in said for w in end) for end in ends)
        name_has = tuple(any(w in name for w in end) for end in ends)
        if said_has != name_has and sum(said_has) == 1 and sum(name_has) == 1:
            return True
    return False


def unsaid(phrase: str, name: str) -> bool:
    """Whether a name is of a condition of its own (congenital, in situ ...) that the phrase does not say."""
    said = {m[0].lower() for m in _OF_ITS_OWN.finditer(phrase)}
    return any(m[0].lower() not in said for m in _OF_ITS_OWN.finditer(name))


def _stems(said: str) -> list[str]:
    found = [stem(w) for w in _WORD.findall(said) if w not in STOP and (len(w) > 1 or w.isdigit())]
    return [_SAME.get(w, w) for w in found]

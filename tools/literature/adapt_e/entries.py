"""The table of terms (``terms.yaml``): other names of a term, its MeSH heading, its group, everyday words for it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.contract import unique
from tools.literature.adapt_e.contract import Group
from tools.yaml_files import read_yaml

# British -> American, on whole words; each is tried in both directions. Words that end in -ise everywhere stay.
_ALWAYS = (
    "advert|adv|ar|circumc|compr|comprom|conc|dem|desp|dev|enterpr|exc|exerc|expert|franch|improv|inc|inex|otherw|prec|"
    "prem|prom|rev|r|superv|surm|surpr|telev|treat|w"
)
_ISE = rf"\b(?!(?:{_ALWAYS})is)([a-z-]{{0,40}}[^\Waeou])is(?=ed?\b|ing\b|ations?\b)"
PAIRS = (
    (r"aemi", "emi"), (r"\bhaem", "hem"), (r"tumour", "tumor"), (r"gastro-?oesoph", "gastroesoph"),
    (r"\boesoph", "esoph"), (r"(?<!angi)oedema", "edema"),
    (r"\boestr", "estr"), (r"diarrhoea", "diarrhea"), (r"\bfoet", "fet"), (r"\bpaed", "ped"),
    (r"orthopaed", "orthoped"),
    (r"\banaes", "anes"), (r"paraesth", "paresth"), (r"\bleuk?aemia", "leukemia"), (r"\bleuco", "leuko"),
    (r"pnoea", "pnea"), (r"rrhoe(?=a|ic)", "rrhe"),
    (r"caecum", "cecum"), (r"caesar", "cesar"),
    (r"coeliac", "celiac"), (r"\bgynaec", "gynec"), (r"\bsulph", "sulf"), (r"behaviour", "behavior"),
    (r"colour", "color"), (r"programme(?=s?\b)", "program"), (r"\bcentre(?=s?\b)", "center"),
    (r"fibre", "fiber"), (_ISE, r"\1iz"), (r"ageing", "aging"), (r"appendicectom", "appendectom"),
    (r"signalling", "signaling"), (r"modelling", "modeling"), (r"neurone\b", "neuron"), (r"aetiolog", "etiolog"),
    (r"ischaem", "ischem"), (r"\bfaec", "fec"), (r"labour", "labor"), (r"paralys(?=e)", "paralyz"),
)  # fmt: skip
_BRITISH = tuple((re.compile(british, re.IGNORECASE), american) for british, american in PAIRS)
_AMERICAN = tuple(
    (re.compile(_american, re.IGNORECASE), _plain)
    for _american, _plain in (
        (r"(?<=[a-z])(?<!acad)(?<!a)emia(?=s?\b)", "aemia"), (r"ischemi", "ischaemi"),
        (r"(?<=glyc)emic\b", "aemic"), (r"(?<=leuk)emic\b", "aemic"), (r"(?<=\ban)emic\b", "aemic"),
        (r"(?<=ur)emic\b", "aemic"), (r"(?<=vol)emic\b", "aemic"), (r"(?<=lipid)emic\b", "aemic"),
        (r"\bhem(?=ang|at|o)", "haem"), (r"tumor\b", "tumour"), (r"tumors\b", "tumours"),
        (r"gastroesoph", "gastro-oesoph"), (r"\besoph", "oesoph"),
        (r"(?<!o)edema", "oedema"), (r"\bestro", "oestro"), (r"rrhe(?=a|ic)", "rrhoe"), (r"\bfet(?=us|al)", "foet"),
        (r"\bpediatr", "paediatr"), (r"orthoped", "orthopaed"), (r"\banesth", "anaesth"), (r"paresth", "paraesth"),
        (r"pnea\b", "pnoea"), (r"\bceliac", "coeliac"), (r"\bcecum", "caecum"), (r"\bcesar", "caesar"),
        (r"\bgynec", "gynaec"), (r"\bsulf", "sulph"), (r"\bleuko(?=c|p)", "leuco"), (r"\bfec(?=al|es)", "faec"),
        (r"\b(?!s|pr|caps)([a-z-]*[^\Waeou])iz(?=ed?\b|ing\b|ations?\b)", r"\1is"), (r"\baging", "ageing"),
        (r"signaling", "signalling"), (r"behavior", "behaviour"), (r"\betiolog", "aetiolog"), (r"fiber", "fibre"),
        (r"\bprogram(?=s?\b)", "programme"), (r"\bcenter(?=s?\b)", "centre"), (r"\bcolor\b", "colour"),
        (r"\blabor\b", "labour"), (r"appendectom", "appendicectom"),
    )
)  # fmt: skip
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa"}  # ours: those that names of medicine have
_GREEK = re.compile("|".join(GREEK))
_SPELT = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(GREEK.values())})(?![^\W\d_])", re.IGNORECASE)
_LETTERS = {name: letter for letter, name in GREEK.items()}
UNCHANGED = re.compile(
    r"(?:ss|us|is|as|os|itis|osis|sis|(?<!biot)(?<!uret)(?<!alges)(?<!sthet)(?<!chot)(?<!emet)(?<!pyret)ics|[a-z]{3}ed|[a-z]{3}ing|ly|children|people|men|mice|species|series|diabetes|"
    r"herpes|rabies|scabies)$"
)
CODE = re.compile(r"^([a-z]{1,8})-?(\d{1,4}[a-z]?)$", re.IGNORECASE)
PLURALS = (  # singular ending, plural ending; the first that fits
    ("itis", "itides"), ("sis", "ses"), ("xis", "xes"), ("ium", "ia"), ("oma", "omas"), ("oma", "omata"),
    ("y", "ies"), ("ch", "ches"), ("sh", "shes"), ("x", "xes"), ("ss", "sses"),
)  # fmt: skip


def spellings(phrase: str) -> list[str]:
    """The phrase first, then its other forms, at most six; words keep their order."""
    forms = [phrase]
    for form in (american(phrase), british(phrase)):
        forms += [form, _with_last(form, other_number(form.split()[-1]))] if form.split() else []
    forms.insert(1, _GREEK.sub(lambda m: GREEK[m[0]], phrase))
    forms += [_SPELT.sub(lambda m: _LETTERS[m[0].lower()], phrase)]
    forms += [re.sub(r"\s*-\s*", " ", phrase)] if "-" in phrase else []
    if code := CODE.match(phrase):
        forms += [f"{code[1]}{code[2]}", f"{code[1]}-{code[2]}"]
    return [f for f in unique(f.lower() if f.lower() != phrase.lower() else phrase for f in forms) if f][:6]


def american(phrase: str) -> str:
    """The phrase as an American journal spells it."""
    for pattern, other in _BRITISH:
        phrase = pattern.sub(other, phrase)
    return phrase


def british(phrase: str) -> str:
    """The phrase as a British journal spells it."""
    for pattern, other in _AMERICAN:
        phrase = pattern.sub(other, phrase)
    return phrase


def other_number(word: str) -> str:
    """The plural of a singular and the singular of a plural; the word itself where neither is safe to make."""
    low = word.lower()
    if len(low) < 4 or not low.isalpha():
        return word
    if (stem := singular(low)) != low:
        return stem
    for one, many in PLURALS:
        if low.endswith(one) and not (one == "y" and low[-2] in "aeiou"):
            return low.removesuffix(one) + many
    return low if UNCHANGED.search(low) else f"{low}s"


def singular(word: str) -> str:
    """The singular of a plural noun, else the word."""
    low = word.lower()
    for many, one in (
        ("ies", "y"),
        ("itides", "itis"),
        ("omata", "oma"),
        ("oses", "osis"),
        ("ases", "ase"),
        ("xes", "x"),
        ("ches", "ch"),
        ("sses", "ss"),
    ):
        if low.endswith(many) and len(low) > len(many) + 2 and not UNCHANGED.search(low):
            return low.removesuffix(many) + one
    return low[:-1] if low.endswith("s") and len(low) > 3 and not UNCHANGED.search(low) else low


def _with_last(phrase: str, last: str) -> str:
    return " ".join([*phrase.split()[:-1], last])


GRAMMAR = frozenset({"the", "with", "and", "for"})
TABLE = Path(__file__).with_name("terms.yaml")


class Entry(NamedTuple):
    """A row of the table; ``group`` is None when the row leaves it open."""

    term: str
    also: tuple[str, ...]
    mesh: str
    group: Group | None
    broader: str


def entry_of(phrase: str) -> Entry | None:
    """The row of a phrase, by its term or another name of it, in any number and spelling; None without one."""
    return _table()[0].get(_key(phrase))


def in_medical_words(text: str) -> str:
    """The text with everyday words for an illness or a treatment replaced by its term.

    ``a clot in the lung`` becomes ``a pulmonary embolism``. The longest wording is read first, and what the table
    holds as a term or another name of one stays as it is.
    """
    _, replaced, pattern = _table()

    def said(found: re.Match[str]) -> str:
        words = found[0].lower().replace("’", "'")
        return replaced.get(words) or replaced.get(words.removesuffix("s")) or found[0]

    return pattern.sub(said, text)


def wordings(text: str) -> list[tuple[int, int]]:
    """Where a text has an everyday wording, or a name, of the table."""
    return [m.span() for m in _table()[2].finditer(text)]


def bound(text: str) -> str:
    """The text with each name of the table in one piece, its words joined by underscores: deep_vein_thrombosis."""
    return _names().sub(lambda m: m[0].replace(" ", "_"), text)


@lru_cache(maxsize=1)
def _names() -> re.Pattern[str]:
    entries, _, _ = _table()
    names = {
        name.lower().removesuffix("s")
        for e in entries.values()
        for name in (e.term, *e.also)
        if re.fullmatch(r"[\w-]+(?: [\w-]+)+", name)
    }
    longest = sorted(map(re.escape, names), key=lambda n: (-len(n), n))
    return re.compile(rf"\b(?:{'|'.join(longest)})s?\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def table_words() -> frozenset[str]:
    """The words of the table's terms and other names, lower case, of three letters and more."""
    entries, _, _ = _table()
    names = (name for entry in entries.values() for name in (entry.term, *entry.also))
    return frozenset(w for name in names for w in re.findall(r"[a-z]{3,}", name.lower()) if w not in GRAMMAR)


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, Entry], dict[str, str], re.Pattern[str]]:
    rows: list[dict[str, Any]] = read_yaml(TABLE)
    entries: dict[str, Entry] = {}
    lay: dict[str, str] = {}
    names: set[str] = set()
    for row in rows:
        also = tuple(row.get("also", ()))
        group = Group(row["group"]) if row["group"] != Group.OTHER.value else None
        entry = Entry(row["term"], also, row.get("mesh", ""), group, row.get("broader", ""))
        for name in (row["term"], *also):
            entries.setdefault(_key(name), entry)
            names.add(name.lower())
        lay |= {words: row["term"] for words in row.get("lay", ()) if words not in lay}
    longest = sorted(names | lay.keys(), key=lambda n: (-len(n), n))
    wording = "|".join(re.escape(n).replace("'", "['’]") for n in longest)
    return (
        entries,
        {k: v for k, v in lay.items() if k not in names},
        re.compile(rf"\b(?:{wording})s?(?!\w)", re.IGNORECASE),
    )


def _key(phrase: str) -> str:
    plain = re.sub(
        r"\btype (i{1,2})\b", lambda m: f"type {len(m[1])}", phrase.lower().replace("’", "'").replace("'s", "")
    )
    words = american(plain).replace("-", " ").split()
    return " ".join([*words[:-1], singular(words[-1])]) if words else ""

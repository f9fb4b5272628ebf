"""Clinical abbreviations and note shorthand, written out before anything is matched.

The table is this project's own (``abbreviations.yaml``): shorthand that is safe in any case (``c/o``), abbreviations
that are only such in capitals (``SOB`` is shortness of breath, ``sob`` is a verb), and those whose sense depends on the
text (``CP``: chest pain, cerebral palsy). Patterns for what no table holds stand here: durations of notes (``3/7`` is
three days), sides, arrows. An abbreviation that the text itself defines (``myasthenia gravis (MG)``) means that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.text.definitions import definitions
from tools.yaml_files import read_yaml

REMEMBERED = 8192  # ours: texts kept in memory; a case is read clause by clause, several times


class Sense(NamedTuple):
    """What an abbreviation may mean, and the words beside which it does (None: when no other sense fits)."""

    means: str
    near: re.Pattern[str] | None


def _read() -> dict[str, Any]:
    table: dict[str, Any] = read_yaml(Path(__file__).with_name("abbreviations.yaml"))
    return table


_TABLE = _read()
ANY_CASE: dict[str, str] = _TABLE["any_case"]
CAPITALS: dict[str, str] = _TABLE["as_written"]
CHINESE: dict[str, str] = _TABLE["chinese"]
SENSES: dict[str, tuple[Sense, ...]] = {
    word: tuple(
        Sense(s["means"], re.compile(rf"(?<!\w)(?:{s['near']})", re.IGNORECASE) if s["near"] else None) for s in senses
    )
    for word, senses in _TABLE["senses"].items()
}
_HAN = re.compile("|".join(sorted(map(re.escape, CHINESE), key=len, reverse=True)))

_BODY = (
    r"(?:side|sided|sides|chest|arm|leg|eye|ear|nostril|shoulder|flank|calf|knee|hip|hand|foot|face|temple|jaw|neck|"
    r"lung|base|lower|upper|iliac|groin|testicle|breast|ankle|wrist|elbow|thigh|cheek|loin|hemi|big toe|toe|head)"
)
# ours: (pattern, what it becomes); read in order, before the tables
OF_NUMBERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(\d{1,2})/7\b"), r"\1 days"),
    (re.compile(r"\b(\d{1,2})/52\b"), r"\1 weeks"),
    (re.compile(r"\b(\d{1,2})/12\b"), r"\1 months"),
    (re.compile(r"(?<=\d)\s*(?:hrs?|h)\b(?!/)"), " hours"),
    (re.compile(r"(?<=\d)\s*mins?\b"), " minutes"),
    (
        re.compile(
            r"\b(?:(?:ex[- ]?)?prem(?:ature)?|ex|born|delivered|del)[ -](?:at )?((?:2[2-9]|3[0-6])(?:\+\d)?)/40\b"
        ),
        r"born premature at \1 weeks",
    ),
    (re.compile(r"\b(?:term|born|delivered|del)[ -](?:at )?(3[7-9]|4[0-2])(?:\+\d)?/40\b"), r"born at \1 weeks"),
    (re.compile(r"\b([4-9]|[12]\d|3\d|4[0-2])(?:\+\d)?/40\b"), r"\1 weeks pregnant"),
    (re.compile(r"\b(\d{1,3})/60\b"), r"\1 minutes"),
    (re.compile(r"\b(\d{1,2})/24\b(?!/)"), r"\1 hours"),
    (re.compile(r"\bx ?(\d{1,3}) ?/?d(?:ays?)?\b"), r"for \1 days"),
    (re.compile(r"\bx ?(\d{1,3}) ?/?(?:w|wks?|weeks?)\b"), r"for \1 weeks"),
    (re.compile(r"\bx ?(\d{1,3}) ?/?(?:months?|mths?|mo)\b"), r"for \1 months"),
    (re.compile(r"(?<=\d) ?(?:wks?)\b"), " weeks"),
    (re.compile(r"(?<=\d) ?(?:mths?)\b"), " months"),
)
IN_CONTEXT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"\b[Ll](?= {_BODY}\b)|\bL(?=-{_BODY})"), "left"),
    (re.compile(rf"\b[Rr](?= {_BODY}\b)|\bR(?=-{_BODY})"), "right"),
    (
        re.compile(r"\b(?:abdo(?:men)?|tummy|belly)\W{1,3}(?:is |was )?soft\b(?=\W*$)", re.IGNORECASE),
        "peritonism normal",
    ),
    # ours: what is examined and found as it should be, in notes
    (re.compile(r"\b[Pp]ower (?:(?:is |full |all )*(?:[LR] |UL |LL )?5/5\b(?! \w)|full\b)"), "power normal"),
    (re.compile(r"\b(?:moving|moves) all (?:4|four) limbs\b(?! (?:but|less|weak))", re.IGNORECASE), "power normal"),
    (
        re.compile(
            r"\b([Tt]one|[Pp]ower|[Ss]ensation|[Rr]eflexes|[Oo]bs|[Bb]loods|FBC|U&?Es?|LFTs?|TFTs?|ECG|CXR|HS|JVP|LT|PP|"
            r"[Pp]ulses|[Pp]upils|[Ss]peech|[Gg]ait|[Ff]undi)(?: =)? (?:N|NR)\b"
        ),
        r"\1 normal",
    ),
    (
        re.compile(r"\bHS (?:I ?\+ ?II|1 ?\+ ?2|S?1 ?,? ?S?2)(?: ?\+ ?(?:0|nil|no added))?(?=\W|$)"),
        "heart sounds normal",
    ),
    (re.compile(r"^\W*S ?NT\b"), "abdominal tenderness normal"),
    (re.compile(r"\bS?NT(?:ND)?\b"), "tenderness normal"),
    (re.compile(r"\bFROM\b"), "full range of movement normal"),
    (re.compile(r"\bPEA?RR?LA?\b"), "pupils normal"),
    # ours: single letters that are a whole item of a list
    (re.compile(r"^(\W*(?:(?i:no|nil|not|denies|with|assoc(?:iated)?|and)\W+)*)N(?=\W*$)"), r"\1nausea"),
    (re.compile(r"^(\W*(?:(?i:no|nil|not|denies|with|assoc(?:iated)?|and)\W+)*)V(?=(?: ?x ?\d+)?\W*$)"), r"\1vomiting"),
    (
        re.compile(r"^(\W*(?:(?i:no|nil|not|denies|with|assoc(?:iated)?|and)\W+)*)D(?=(?: ?x ?\d+)?\W*$)"),
        r"\1diarrhoea",
    ),
    (re.compile(r"\bLt\b"), "left"),
    (re.compile(r"\bRt\b"), "right"),
    (re.compile(r"\b(?:on|in|breathing)\s+RA\b|(?<=%) ?RA\b"), " on air"),
    (re.compile(r"\b(?:no|without)\s+(?:temp|temperature)\b", re.IGNORECASE), "no fever"),
    (re.compile(r"\b(no|got a|have a|had a|running a|got no)\s+(?:temp|temperature)\b", re.IGNORECASE), r"\1 fever"),
    (re.compile(r"\b(?:can[’']?t|can not|could(?:n[’']t| not)|unable to|not able to)\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\b(feel|feels|felt|feeling) faint\b", re.IGNORECASE), r"\1 light-headed"),
    (
        re.compile(
            r"\bfaint(?= (?:\w+ )?(?:rash|redness|spots?|marks?|murmur|smell|lines?|pulses?|wheeze)\b)", re.IGNORECASE
        ),
        "slight",
    ),
    (
        re.compile(
            r"\bnon[- ]?(?:tender|itchy|pruritic|painful|specific|bilious|bloody|purulent|radiating|exertional|"
            r"pleuritic|offensive|mucoid) (?=[a-z])",
            re.IGNORECASE,
        ),
        "",
    ),
    (
        re.compile(
            r"\b(?:(?<=normally )|(?<=usually )|(?<=otherwise )|(?<=generally )|(?<=keep )|(?<=keeps )|(?<=very ))"
            r"fit\b|"
            r"\bfit(?= and (?:well|healthy|active)\b)",
            re.IGNORECASE,
        ),
        "healthy",
    ),
    (re.compile(r"\bPE(?=:)"), "physical examination"),
    (re.compile(r"(?<=\w)\s*(?:→|->)\s*(?=\w)"), " spreading to "),
    (re.compile(r"↑\s*"), "raised "),
    (re.compile(r"↓\s*"), "low "),
    (re.compile(r"(?<![\w?])\+ve\b"), "positive"),
    (re.compile(r"(?<![\w?])-ve\b"), "negative"),
    (re.compile(r"(?<!\s)\s*[（(]\s*[-－—–]+\s*[)）]?$"), " nil"),
    (re.compile(r"(?<!\s)\s*[（(]\s*[+＋]+\s*[)）]?$"), ""),
)

DIGIT = re.compile(r"\d")
_WORD = re.compile(r"(?<![\w/&])(?:[A-Za-z]+[/&][A-Za-z]*|[A-Za-z][A-Za-z0-9]*)(?![\w&])")


@lru_cache(maxsize=REMEMBERED)
def expand(text: str, context: str = "") -> str:
    """The text with its abbreviations written out. Offsets change.

    Args:
        context: the whole text that this one is from; it decides between senses, and may define abbreviations.
    """
    for pattern, replacement in (*OF_NUMBERS, *IN_CONTEXT) if DIGIT.search(text) else IN_CONTEXT:
        text = pattern.sub(replacement, text)
    meanings = _meanings(context or text)
    text = _WORD.sub(lambda m: meanings[m[0]], text)
    return _HAN.sub(lambda m: CHINESE[m[0]], text)


def is_short_form(word: str) -> bool:
    """Whether a word, as written in notes, stands in the tables (``c/o``, ``N/V``)."""
    return word in SENSES or word in CAPITALS or word.lower() in ANY_CASE


class _Meanings(dict[str, str]):
    """What the words of a text stand for, each looked up once."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def __missing__(self, word: str) -> str:
        self[word] = _meaning(word, self._text)
        return self[word]


@lru_cache(maxsize=256)  # ours: the clauses of a case share its whole text
def _meanings(text: str) -> _Meanings:
    return _Meanings(text)


def _meaning(word: str, text: str) -> str:
    """What a word stands for in a text; the word itself where nothing tells."""
    defined = definitions(text).get(word)
    if defined:
        return defined
    senses = SENSES.get(word)
    if senses is not None:
        fits = (s.means for s in senses if s.near is None or s.near.search(text))
        return next(fits, word)
    return CAPITALS.get(word) or ANY_CASE.get(word.lower()) or word

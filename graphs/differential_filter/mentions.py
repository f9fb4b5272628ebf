"""What a document says about a case: the diseases that it is about, the findings that it states or rules out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tools.contract import Finding, RankedDisease
from tools.evidence import Evidence, EvidenceId, Frozen, Origin
from tools.passages.units import sections
from tools.text.clauses import clauses
from tools.text.language import HAN
from tools.text.sentences import sentences
from tools.text.tokens import tokens

Wordings = Callable[[str], Sequence[str]]
"""Wordings of a finding by its id in the graph; none for an id that it does not know."""

MONOGRAPHS = "library"  # the collection whose titles say what a document is about
LATIN_WORD = re.compile(r"[a-z]")
# Words by which a document calls a finding usual in what it is about; ours.
TYPICAL = re.compile(
    r"\b(?:typical(?:ly)?|usual(?:ly)?|common(?:ly)?|characteristic(?:ally)?|classic(?:al|ally)?|leading|main|hallmark|almost"
    r" always|always|nearly all|most (?:people|patients|children|adults)|cardinal)\b|典型|常见|多见|通常|主要|特征",
    re.IGNORECASE,
)
# Sections in which findings belong to other diseases (the house's monographs, and "differential diagnosis" elsewhere).
OTHERS = re.compile(r"confused with|differential|鉴别", re.IGNORECASE)
# Words by which an absence is only possible; ours.
LOOSE = re.compile(
    r"\b(?:may|might|can|could|some|sometimes|occasional(?:ly)?|not always|minority)\b|可能|可以|有时|部分", re.I
)
LONGEST_PHRASE = 8  # words; ours: a longer clause of the case is a story, not the name of a finding


class Said(Frozen):
    """One mention of a finding of the case in a document.

    ``agrees`` is False when the document rules out what the case states, or calls usual what the case denies;
    None when it says neither.
    """

    finding: str
    clause: str
    agrees: bool | None


@dataclass(frozen=True)
class _Clause:
    text: str
    words: frozenset[str]
    present: bool | None
    typical: bool


def read(document: Evidence, findings: Sequence[Finding], wordings: Wordings | None) -> list[Said]:
    """What the document says about each finding, the clearest mention of each."""
    section = document.section or ""
    others = OTHERS.search(section) is not None
    text = document.text if document.section or document.origin is not Origin.RETRIEVED else _own(document.text)
    parts = _parts(text)
    chinese = HAN.search(text) is not None
    said = [_mention(f, phrases(f, wordings, chinese=chinese), parts, others) for f in findings]
    return [s for s in said if s is not None]


@lru_cache(maxsize=2048)
def _own(text: str) -> str:
    """A whole document without the sections in which findings belong to other diseases."""
    return "\n".join(text[s.start : s.end] for s in sections(text) if not OTHERS.search(s.title or ""))


@lru_cache(maxsize=2048)
def _parts(text: str) -> tuple[_Clause, ...]:
    """The clauses of a document. What may be absent ("some have no fever") or is called normal says nothing."""
    spans = sentences(text)
    out = []
    for clause in clauses(text):
        within = next((s.of(text) for s in spans if s.start <= clause.start < s.end), clause.text)
        loose = clause.normal or (clause.present is False and LOOSE.search(within) is not None)
        present = None if loose else clause.present
        words = frozenset(tokens(clause.plain if clause.present is False else clause.text))
        out.append(_Clause(clause.text, words, present, TYPICAL.search(clause.text) is not None))
    return tuple(out)


def phrases(finding: Finding, wordings: Wordings | None, *, chinese: bool = True) -> list[frozenset[str]]:
    """The word sets by which a finding is recognised: its name, its clause when short, its other wordings.

    Args:
        chinese: whether Chinese ones can stand in the document; without them their dictionary is not waited for.
    """
    known = wordings(finding.id) if wordings and finding.id else ()
    short = [finding.clause] if len(finding.clause.split()) <= LONGEST_PHRASE else []
    sets = [_words(t) for t in (finding.name, *short, *known) if chinese or not HAN.search(t)]
    return list(dict.fromkeys(s for s in sets if s))


def about(document: Evidence, diseases: Sequence[RankedDisease]) -> RankedDisease | None:
    """The best ranked disease that the document is about: by its id or its title.

    A mention in the text counts only for a publication whose title names no subject of the library: a monograph on
    another disease mentions its neighbours to tell them apart.
    """
    place = EvidenceId.parse(document.id)
    for disease in diseases:
        if place.name.split("/")[-1] == disease.disease or _named(document.title, disease):
            return disease
    if place.collection == MONOGRAPHS:
        return None
    return next((d for d in diseases if _named(document.text, d)), None)


def _named(text: str, disease: RankedDisease) -> bool:
    if disease.name_zh and disease.name_zh in text:
        return True
    if not LATIN_WORD.search(text.lower()):
        return False
    bag = tokens(text)
    plain = re.sub(r"\([^)]*\)", " ", disease.name)
    wanted = [t for t in tokens(plain) if not HAN.match(t)]
    return bool(wanted) and _in_order(wanted, bag)


def _in_order(wanted: list[str], bag: list[str]) -> bool:
    size = len(wanted)
    return any(bag[i : i + size] == wanted for i in range(len(bag) - size + 1))


@lru_cache(maxsize=16384)
def _words(wording: str) -> frozenset[str]:
    return frozenset(tokens(wording))


def _mention(finding: Finding, names: Sequence[frozenset[str]], parts: Sequence[_Clause], others: bool) -> Said | None:
    found = [p for p in parts if any(n <= p.words for n in names)]
    if not found:
        return None
    stances = [(_agrees(finding, part, others), part) for part in found]
    for wanted in (False, True, None):
        for agrees, part in stances:
            if agrees is wanted:
                return Said(finding=finding.name, clause=part.text, agrees=agrees)
    return None


def _agrees(finding: Finding, part: _Clause, others: bool) -> bool | None:
    if finding.present is None or part.present is None or others:
        return None
    if finding.present and not part.present:
        return False
    if not finding.present and part.present:
        return False if part.typical else None
    return True

"""A record's text to single manifestations, by rule: one a clause, items of a list with the words before the list."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.knowledge_graph.building.contract import Record, Told
from tools.knowledge_graph.schema import Relation
from tools.text.clauses import Clause, clauses
from tools.text.demographics import Person

# ours: who tells, said in other words elsewhere in the record's fields
_PERSON = re.compile(
    r"^\W*(?:I am|I'm|he is|she is|this is|patient is)?\W*an? .{0,40}\b(?:year|month|week)s?[- ]old\b", re.IGNORECASE
)
# ours: the head of a sentence that its list items lack
_HEAD = re.compile(
    r"^(?P<head>.*?\b(?:is|are|was|were|feels?|felt|on|in|to|have|has|had|of|am|with)(?: (?:been|had))?)\s+(?=\S)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:am|is|are|was|were|have|has|had|feel|feels|felt|do|does|did|get|gets|got|can|cannot|take|takes|live|lives|"
    r"work|works|hurts?|came|comes|gets|started|spread|spreads)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
# ours: words that tell the relation of a manifestation; read in this order, symptomatology where none is met
_WORDS: dict[Relation, str] = {
    "immunology": r"vaccin\w*|immunis\w*|immuniz\w*|immunodef\w*|allerg\w*",
    "exposure": r"travel\w*|contact|exposed|exposure|work (?:in|with|as)|live (?:in|with)|sick people|daycare|pets?",
    "lifestyle": r"smok\w*|alcohol|drink\w*|drugs?|exercise|overweight|obes\w*|coffee|diet",
    "anamnesis": (
        r"diagnosed|history|surgery|operation|operated|previous\w*|in the past|born|pregnan\w*|treated|medication|"
        r"medicines?|tablets?|chronic|disease|had a|have had"
    ),
    "psychopathology": r"anxious|anxiety|depress\w*|panic|mood|irritable|going to die|losing control|detached",
}
RELATIONS = {name: re.compile(rf"\b(?:{found})\b", re.IGNORECASE) for name, found in _WORDS.items()}


class DecompositionLocal:
    """Reads clauses, as the look-up does."""

    async def decompose(self, record: Record) -> list[Told]:
        """See `Decomposition`."""
        return decompose(record.text, record.age)


def decompose(text: str, age: float | None = None) -> list[Told]:
    """The manifestations of a text."""
    found = clauses(text, Person(age))
    told = [_told(found, at) for at in range(len(found)) if not _PERSON.match(found[at].plain)]
    return [t for t in told if t is not None]


def _told(found: Sequence[Clause], at: int) -> Told | None:
    clause = found[at]
    text = " ".join(clause.plain.split()).strip(" .,;:")
    if not any(c.isalpha() for c in text):
        return None
    head = "" if _VERB.search(text) else _head_of(found, at)
    whole = f"{head} {text}".strip()
    numbers = _NUMBER.findall(text)
    return Told(
        text=whole,
        present=clause.present,
        relation="anamnesis" if clause.other else relation_of(whole),
        side=clause.side if clause.side in ("left", "right", "both") else None,  # type: ignore[arg-type]
        value=numbers[0] if numbers else None,
        other=clause.other,
    )


def _head_of(found: Sequence[Clause], at: int) -> str:
    """What stands before the list that a clause without a verb goes on."""
    first = at
    while (
        first > 0 and found[first - 1].sentence == found[at].sentence and found[first - 1].present == found[at].present
    ):
        first -= 1
    match = _HEAD.match(found[first].plain) if first < at else None
    return match["head"] if match is not None else ""


def relation_of(text: str) -> Relation:
    """The relation of a manifestation by its words."""
    return next((relation for relation, pattern in RELATIONS.items() if pattern.search(text)), "symptomatology")

"""What is handed on of the ranked passages: the best, and the neighbours that they lean on, within a room in tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tools.evidence import Evidence, Found, Origin
from tools.passages.continuity import leans_back, leans_on_next
from tools.passages.contract import ROOM, Passage, StoredDocument
from tools.passages.search import Ranked, Row

TOOL = "retrieve_passages"

Count = Callable[[str], int]


class Chosen:
    """Passages taken so far, within a number and a room in tokens.

    Args:
        limit: most passages. room: most tokens; the first passage is taken whatever it has.
        count: tokens of a text.
    """

    def __init__(self, limit: int, room: int, count: Count) -> None:
        self._limit, self._room, self._count = limit, room, count
        self._items: dict[str, Evidence] = {}

    def take(self, item: Evidence) -> bool:
        """Take a passage if there is room; one that was taken as a neighbour keeps both ways it was found."""
        known = self._items.get(item.id)
        if known is not None:
            if item.found[0].stream != "neighbour":
                self._items[item.id] = item.model_copy(update={"found": item.found + known.found})
            return True
        tokens = self._count(item.text)
        if len(self._items) >= self._limit or (self._items and tokens > self._room):
            return False
        self._room -= tokens
        self._items[item.id] = item
        return True

    def items(self) -> list[Evidence]:
        """The passages in the order in which they were taken."""
        return list(self._items.values())


def select(
    ranked: Sequence[Ranked], rows: Sequence[Row], query: str, limit: int, count: Count, room: int = ROOM
) -> list[Evidence]:
    """The passages, best first, each followed by the neighbours of its section that it leans on.

    Args:
        limit: most passages, neighbours among them. room: tokens of all of them; what does not fit is passed over.
        count: tokens of a text, in the encoder's own.
    """
    places = {(row.document.id, row.place): row for row in rows}
    chosen = Chosen(limit, room, count)
    for position, item in enumerate(ranked, start=1):
        if not chosen.take(to_evidence(item.row, streams_of(item, query))):
            continue
        found = Found(tool=TOOL, stream="neighbour", query=query, rank=position)
        for neighbour in leaned_on(item.row, places):
            chosen.take(to_evidence(neighbour, (found,)))
    return chosen.items()


def leaned_on(row: Row, places: Mapping[tuple[str, int], Row]) -> list[Row]:
    """The passages before and after, in the same section, that a passage cannot be understood without."""
    text = row.document.text[row.passage.start : row.passage.end]
    wanted = [-1] * leans_back(text) + [1] * leans_on_next(text)
    near = [places.get((row.document.id, row.place + step)) for step in wanted]
    return [n for n in near if n is not None and n.passage.section == row.passage.section]


def to_evidence(row: Row, found: tuple[Found, ...]) -> Evidence:
    """A passage as evidence: an exact slice of the stored document."""
    return passage_evidence(row.document, row.passage, found)


def passage_evidence(document: StoredDocument, passage: Passage, found: tuple[Found, ...]) -> Evidence:
    """A passage of a document as evidence."""
    return Evidence(
        id=passage.id(document.id),
        text=document.text[passage.start : passage.end],
        title=document.title,
        kind="passage",
        origin=Origin.RETRIEVED,
        publication_types=document.publication_types,
        level=document.level,
        status=document.status,
        date=document.date,
        review_by=document.review_by,
        section=passage.section,
        language=document.language,
        source=document.source,
        licence=document.licence,
        neighbours=passage.neighbours,
        found=found,
    )


def streams_of(item: Ranked, query: str) -> tuple[Found, ...]:
    """How a ranked passage was found, one way a stream."""
    return tuple(
        Found(tool=TOOL, stream=name, query=query, rank=place, score=score)
        for name, (place, score) in item.streams.items()
    )

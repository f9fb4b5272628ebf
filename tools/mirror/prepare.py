"""A batch of steps made a segment: the part of an import that runs in other processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tools.mirror.entries import entry
from tools.mirror.reading import Read, Step, deletion, understand
from tools.mirror.segments import Inverter, Item, Segment
from tools.mirror.sources import Format
from tools.mirror.stored import pack_record, pack_xml
from tools.mirror.writer import Deletion
from tools.readers.contract import Problem

TOLD = 20  # ours: problems of a batch that are told in words; all are counted


class Prepared(NamedTuple):
    """A batch ready to be written.

    Attributes:
        steps: how many it was made of. unread: how many of them were no records; problems: the first of these.
    """

    segment: Segment
    deletions: tuple[Deletion, ...]
    steps: int
    unread: int
    problems: tuple[Problem, ...]


def prepare(base: int, batch: Sequence[Step], format: Format) -> Prepared:
    """Read and invert a batch. Every record step takes a document number, also one that is later taken back in it.

    A record replaces an earlier one of the same PMID unless that is of a later version; a deletion takes back what
    stands before it, here and in the mirror.
    """
    inverter = Inverter()
    items: list[Item | None] = []
    places: dict[int, int] = {}
    deletions: list[Deletion] = []
    problems: list[Problem] = []
    for step in batch:
        if step.kind == "deletion":
            gone = deletion(step)
            deletions.append(gone)
            _take_back(items, places, gone)
            continue
        read = understand(step, format)
        if isinstance(read, Problem):
            problems.append(read)
            items.append(None)
        else:
            _place(items, places, read, inverter)
    told = tuple(problems[:TOLD])
    return Prepared(inverter.segment(base, items), tuple(deletions), len(batch), len(problems), told)


def _take_back(items: list[Item | None], places: dict[int, int], gone: Deletion) -> None:
    pmid, version = gone
    at = places.get(pmid)
    item = None if at is None else items[at]
    if at is not None and item is not None and item.version <= version:
        items[at] = None


def _place(items: list[Item | None], places: dict[int, int], read: Read, inverter: Inverter) -> None:
    pmid = int(read.record.pmid)
    before = places.get(pmid)
    earlier = None if before is None else items[before]
    if earlier is not None and earlier.version > read.version:
        items.append(None)
        return
    if before is not None:
        items[before] = None
    places[pmid] = len(items)
    stored = pack_record(read.record) if read.xml is None else pack_xml(read.xml)
    items.append(inverter.item(entry(read.record), read.version, stored))

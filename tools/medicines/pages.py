"""A record of a medicine as a page of the library: sentences under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tools.library.monograph import FrontMatter, Monograph
from tools.medicines.records import STATES, Interaction, Record, starter_records, written

KIND = "medicine"
# Headings of the parts of a page; ours.
HEADINGS = {
    "works": "What it is",
    "names": "What it is",
    "uses": "Uses",
    "taking": "Taking it",
    "contraindications": "Who should not take it",
    "pregnancy": "Pregnancy and breastfeeding",
    "breastfeeding": "Pregnancy and breastfeeding",
    "kidneys": "Kidneys and liver",
    "liver": "Kidneys and liver",
    "children": "Children and older people",
    "older": "Children and older people",
    "side_effects": "Side effects",
    "monitoring": "Monitoring",
    "interactions": "Interactions",
}


def slug(name: str) -> str:
    """The name of a page, and of its document."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("'", "").replace("’", "")).strip("-")


def told(interaction: Interaction) -> str:
    """What a page says of an interaction."""
    return f"{interaction.mechanism} {interaction.action}"


def page(record: Record) -> Monograph:
    """The page of a record. Every sentence of the record stands in it word for word."""
    headings: dict[str, list[str]] = {}
    for part, said in parts(record):
        headings.setdefault(HEADINGS[part], []).extend(said)
    body = "\n".join(f"## {heading}\n{' '.join(said)}" for heading, said in headings.items() if said)
    day, review = written()
    front = FrontMatter(
        id=slug(record.name),
        title=_title(record),
        kind=KIND,
        written=day,
        review_by=review,
        clinically_reviewed=False,
    )
    return Monograph(front=front, text=body)


@lru_cache(maxsize=1)
def starter_pages() -> tuple[Monograph, ...]:
    """The pages of all records."""
    return tuple(map(page, starter_records()))


def parts(record: Record) -> Iterator[tuple[str, list[str]]]:
    """The parts of a page by name, in their order, each with its sentences."""
    yield "works", [record.works]
    yield "names", list(_names(record))
    yield "uses", list(record.uses)
    yield "taking", list(record.taking)
    yield "contraindications", [c.says for c in record.contraindications]
    yield from ((state, [caution.says]) for state in STATES if (caution := record.of(state)) is not None)
    yield "side_effects", list(record.side_effects)
    yield "monitoring", list(record.monitoring)
    yield "interactions", [told(i) for i in record.interactions]


def _title(record: Record) -> str:
    return f"{record.name[0].upper()}{record.name[1:]}"


def _names(record: Record) -> Iterator[str]:
    yield f"{_title(record)} is of the class {record.classes[0]}."
    if record.names:
        yield f"{_title(record)} is also known as {', '.join(record.names)}."

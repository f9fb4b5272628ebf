"""The catalogue of open sources, and the reader of each."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import Field

from prompts.errors import InputError
from tools.evidence import Frozen
from tools.knowledge.labels import LabelReader
from tools.knowledge.pages import (
    DisorderReader,
    GuidelineReader,
    LiverToxReader,
    MedlinePlusReader,
    MedQuadReader,
    OboReader,
)
from tools.readers.contract import Reader
from tools.yaml_files import read_yaml

CATALOGUE = Path(__file__).with_name("catalogue.yaml")
READERS: dict[str, Reader] = {
    "labels": LabelReader(),
    "medlineplus": MedlinePlusReader(),
    "medquad": MedQuadReader(),
    "livertox": LiverToxReader(),
    "guidelines": GuidelineReader(),
    "disorders": DisorderReader(),
    "obo": OboReader(),
}


class Listing(Frozen):
    """A page of the publisher's, and the pattern by which the addresses of files are found in it; ``newest``: the last
    in order alone, because their names are dates."""

    address: str
    pattern: str
    newest: bool = False


class Entry(Frozen):
    """A source.

    Attributes:
        licence: shown with every citation. terms: where the publisher states it. renewed: how often it changes.
        reader: of `READERS`. addresses, listing: how it is downloaded; with neither it is the user's own files.
        level, dated: what its documents are, and of when, where the reader does not say.
        caution: told when it is added and shown.
        held_by: folders of evaluation data that hold the same texts, so that evaluations on these leave it out.
        tried: on what its reader was tried.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,20}$")
    title: str
    publisher: str
    licence: str
    terms: str
    renewed: str
    size: str
    good_for: str
    reader: str
    addresses: tuple[str, ...] = ()
    listing: Listing | None = None
    level: str | None = None
    dated: str = ""
    caution: str = ""
    held_by: tuple[str, ...] = ()
    tried: str

    @property
    def downloadable(self) -> bool:
        """Whether the catalogue knows an address of it."""
        return bool(self.addresses or self.listing)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Entry]:
    """The sources by name."""
    return {entry.name: entry for entry in (Entry.model_validate(row) for row in read_yaml(CATALOGUE))}


def entry_of(name: str) -> Entry:
    """A source by its name; raises InputError for one that the catalogue does not have."""
    known = catalogue()
    if name not in known:
        raise InputError(f"There is no source {name}.", f"These are known: {', '.join(known)}.")
    return known[name]

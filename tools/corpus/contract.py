"""What a collection is built from, and what the steps of its pipeline hand to each other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from prompts.errors import InputError
from tools.encoders import Encoder, Vectors
from tools.evidence import Frozen
from tools.indexes.contract import Entry
from tools.library.document import Document
from tools.mirror.sources import Format
from tools.readers.contract import Problem, Record

# How collections are built on several machines.


class RaySettings(BaseModel):
    """The engine ``ray``, as ``ANAMNESIS_RAY__...``.

    Attributes:
        address: of a running cluster (``auto``, ``HOST:6379``), all of whose machines must reach the folder of the
            collection and the source by the same paths; "" starts one on this machine, for the build alone.
        object_store: megabytes of shared memory of a cluster on this machine (ours: publications on their way to an
            embedder; Ray's own default is a third of the memory).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = ""
    object_store: int = Field(default=256, ge=80)


PIPELINE = 1  # raised with every change of what a part holds for the same file
# ours: steps of a file (records and deletions) that make a part: some 10 MB of vectors, a minute or two of the embedded
# encoder, which is what a kill costs
BLOCK = 2_000
TOLD = 20  # ours: problems of a part that are told in words; all are counted
NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")  # also a name that every database takes
Method = Literal["seos", "seos_paper", "whole", "sections"]
Progress = Callable[[str, int, int], None]
MakeEncoder = Callable[[], Encoder]
"""Opens the encoder in the process that embeds; it must be picklable."""


def checked_name(name: str) -> str:
    """The name of a collection; raises InputError for one that cannot be a folder's and a table's."""
    if not NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot name a collection.", "Take a-z, 0-9, - and _, a letter first, at most 41.")
    return name


class Recipe(Frozen):
    """How parts are made: another recipe makes other parts of the same files.

    Attributes:
        method: ``seos`` and ``seos_paper`` as `tools.passages` cuts, ``whole`` a publication as one passage,
            ``sections`` paragraphs of one section, as a user's documents are cut.
        block: steps of a file a part.
    """

    encoder: str
    dimension: int
    method: Method = "seos"
    block: int = BLOCK
    pipeline: int = PIPELINE


class SourceFile(Frozen):
    """A file of the source: its place in the order, where and what it is, its size and time of change (ns).

    ``sha256`` is known once it is surveyed.
    """

    number: int
    path: str
    format: Format
    size: int
    modified: int
    sha256: str = ""

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name


class Block(Frozen):
    """A part to be made: ``count`` steps of a file from step ``first`` (from 0) on.

    Attributes:
        key: sha256 of all that decides what the part holds: recipe, file, steps, and which of them are kept.
        size, modified: of the file when it was surveyed.
        kept: a bit a step, packed, in hexadecimal: whether nothing later replaces or deletes it.
    """

    key: str
    path: str
    format: Format
    size: int
    modified: int
    first: int
    count: int
    kept: str


class Counts(Frozen):
    """What became of the steps of a part, each counted once, and its documents and passages.

    Attributes:
        publications: documents held, retracted ones included. retracted: those among them that are never found.
        passages: rows of the index. replaced: records that a later one replaces or deletes. deletions: orders to
            delete. without_text: records without an abstract. unread: those that could not be read.
    """

    steps: int = 0
    publications: int = 0
    retracted: int = 0
    passages: int = 0
    replaced: int = 0
    deletions: int = 0
    without_text: int = 0
    unread: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in Counts.model_fields})


class Publications(NamedTuple):
    """A block as it was read: its records in order, what became of the other steps, and the first problems."""

    records: Sequence[Record]
    counts: Counts
    problems: Sequence[Problem]


class Embedded(NamedTuple):
    """Documents with their passages as rows of an index: ``vectors`` is (len(entries), dimension)."""

    documents: Sequence[Document]
    entries: Sequence[Entry]
    vectors: Vectors


class PartManifest(Frozen):
    """What a part says of itself. ``files``: size and sha256 of each file beside it, by name."""

    key: str
    encoder: str
    dimension: int
    counts: Counts
    problems: tuple[Problem, ...] = ()
    files: dict[str, tuple[int, str]] = Field(default_factory=dict)


class Done(Frozen):
    """How a task ended: its key, and why it failed, "" when it did not."""

    key: str
    what: str = ""
    advice: str = ""


class SurveyTask(Frozen):
    """A file to be surveyed into ``target``; tasks are picklable and are all that an engine hands to a worker."""

    key: str
    file: SourceFile
    target: str


class Task(Frozen):
    """A part to be made in the folder ``parts``."""

    block: Block
    parts: str
    method: Method

    @property
    def key(self) -> str:
        """The part's key."""
        return self.block.key


class Engine(Protocol):
    """Runs the same tasks here or on many machines. Each task is tried until it ends; its outcome comes once.

    An outcome that never comes (a worker that was killed again and again) is for the caller to notice.
    """

    def survey(self, tasks: Sequence[SurveyTask]) -> Iterator[Done]:
        """Survey files, in any order."""

    def make(self, tasks: Sequence[Task], encoder: MakeEncoder) -> Iterator[Done]:
        """Make parts, in any order."""


def key_of(*parts: str) -> str:
    """sha256 over some texts, each parted from the next."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

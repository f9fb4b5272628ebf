"""`library`: full texts of PubMed Central added to a user's library, in a temporary data folder.

``own_documents_s`` leaves out the seconds that the encoder computes vectors: what remains is reading, cutting, storing
and indexing. ``rss_growth_mb`` is resident memory after the last file over that after the first tenth. The same files
are then added again: nothing may be embedded.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.contract import Figure, Task, TaskContext
from prompts.errors import DataError
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder, Vectors, load_encoder
from tools.library.adding import AddReport, add
from tools.library.shelf import Shelf

ARTICLES = "fulltext/nxml/*"
EARLY = 0.1  # ours: the share of the files after which memory is taken for settled
WARM_UP = ["Words of an article that are read before anything is timed. " * 30] * 64  # ours: two full batches
STATM = Path("/proc/self/statm")  # Linux: resident pages are its second number


class TimedEncoder:
    """An encoder that counts the seconds and the texts of its document vectors.

    Attributes:
        seconds, texts: spent on and given to `encode_documents` so far.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self.seconds, self.texts = 0.0, 0

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension), timed."""
        started = time.perf_counter()
        vectors = self._encoder.encode_documents(texts)
        self.seconds += time.perf_counter() - started
        self.texts += len(texts)
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; not timed, because cutting documents is the library's own work."""
        return self._encoder.count_tokens(texts)


@dataclass
class Memory:
    """Resident memory in MB after the first tenth of the files and after the last; None where it cannot be read."""

    early: float | None = None
    late: float | None = None

    def note(self, done: int, files: int) -> None:
        """Take the measure when ``done`` of ``files`` are read."""
        if self.early is None and done >= math.ceil(EARLY * files):
            self.early = resident_mb()
        if done == files:
            self.late = resident_mb()


@dataclass(frozen=True)
class Added:
    """What a run measured: seconds of wall time."""

    first: AddReport
    seconds: float
    encoder_seconds: float
    again: AddReport
    again_seconds: float
    again_texts: int
    memory: Memory = field(default_factory=Memory)


def run(context: TaskContext) -> list[Figure]:
    """Add a sample of the articles twice and measure."""
    paths = context.sample(sorted(p for p in context.data.glob(ARTICLES) if p.is_file()))
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as folder:
        return figures_of(_measure(context, paths, Path(folder)))


def figures_of(added: Added) -> list[Figure]:
    """Every figure of a run; raises DataError when nothing was added."""
    files = len(added.first.rows)
    documents = sum(row.documents for row in added.first.rows)
    if not documents:
        raise DataError("None of the articles could be added.", "Give the folder of the data with --data.")
    own = max(added.seconds - added.encoder_seconds, 1e-9)
    values = {
        "documents": (documents, files),
        "documents_s": (documents / added.seconds, documents),
        "own_documents_s": (documents / own, documents),
        "encoder_share": (100 * added.encoder_seconds / added.seconds, documents),
        "again_s": (added.again_seconds, files),
        "again_embedded": (added.again_texts, files),
        "problems": (len(added.first.wrong), files),
    }
    if added.memory.early is not None and added.memory.late is not None:
        values["rss_growth_mb"] = (added.memory.late - added.memory.early, files)
    return [Figure(name=f"add.fulltext.{name}", value=value, n=n) for name, (value, n) in values.items()]


def resident_mb() -> float | None:
    """Resident memory of this process in MB; None where the system does not tell."""
    if not STATM.is_file():
        return None
    return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1_000_000


def _measure(context: TaskContext, paths: Sequence[Path], folder: Path) -> Added:
    plain = load_encoder(context.settings.encoder)
    plain.encode_documents(WARM_UP)  # what the encoder allocates once is neither growth nor time of adding
    timed = TimedEncoder(plain)
    encoder = CachedEncoder(timed, folder / "cache")
    shelf = Shelf(folder / "library", encoder)
    memory = Memory()
    bar: Iterator[int] = context.tick(range(len(paths) + 1), "documents", len(paths))

    def progress(done: int, files: int, stored: int) -> None:
        del stored
        next(bar, None)
        memory.note(done, files)

    started = time.perf_counter()
    first = add(shelf, paths, progress)
    seconds, embedding, texts = time.perf_counter() - started, timed.seconds, timed.texts
    next(bar, None)
    started = time.perf_counter()
    again = add(shelf, paths)
    again_seconds = time.perf_counter() - started
    shelf.close()
    encoder.close()
    return Added(first, seconds, embedding, again, again_seconds, timed.texts - texts, memory)


TASK = Task(
    name="library",
    what="a user's full texts added to the library: documents a second, memory, adding again",
    inputs=(ARTICLES,),
    expected="5 minutes; all 683 articles more than an hour",
    limit=40,
    run=run,
)

"""The contract of an index. One test kit holds every implementation to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from prompts.errors import DataError
from prompts.model_settings import Address
from tools.encoders import Vectors
from tools.evidence import Frozen
from tools.files import REBUILD

# Where the indexes of built collections lie.


class IndexSettings(BaseModel):
    """Indexes of collections, as ``ANAMNESIS_INDEX__...``.

    Attributes:
        backend: ``local`` files of the data folder; ``milvus`` a Milvus.
        address: of a Milvus server or cluster; "" runs the embedded Milvus Lite in the data folder, for one process.
        token: of that server. database: of that server; "" its default one.
        timeout: seconds that a request may take (ours). longest: seconds that writing a built collection to disk and
            loading it may take (ours: a cluster builds its indexes meanwhile).
        vectors: ``exact`` compares every vector; ``approximate`` by a graph (HNSW), for millions. Of Milvus.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    backend: Literal["local", "milvus"] = "local"
    address: Address = ""
    token: SecretStr | None = None
    database: str = ""
    timeout: float = Field(default=30.0, gt=0)
    longest: float = Field(default=3600.0, gt=0)
    vectors: Literal["exact", "approximate"] = "exact"


SIMILARITY = "cosine"


class Entry(Frozen):
    """One row of an index. ``id`` is an evidence or document id; ``text`` is what the words are searched in."""

    id: str
    text: str
    collection: str = ""
    kind: str = ""
    date: str = ""
    language: str = "en"


class Filter(Frozen):
    """Which rows may be returned. Empty means no restriction; dates are ISO, inclusive."""

    collections: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    ids: tuple[str, ...] = ()

    def admits(self, entry: Entry) -> bool:
        """Whether a row passes."""
        return (
            (not self.collections or entry.collection in self.collections)
            and (not self.kinds or entry.kind in self.kinds)
            and (not self.languages or entry.language in self.languages)
            and (not self.since or entry.date >= self.since)
            and (not self.until or (bool(entry.date) and entry.date <= self.until))
            and (not self.ids or entry.id in self.ids)
        )


class Hit(Frozen):
    """One result: the row's id, its rank from 1, and the stream's own score (higher is better)."""

    id: str
    rank: int
    score: float


class Manifest(Frozen):
    """What an index says about itself on disk. A mismatch on loading is a DataError."""

    format: int
    encoder: str
    dimension: int
    similarity: str
    count: int
    checksum: str
    built: str


def check_made_with(manifest: Manifest, name: str, encoder_name: str, dimension: int, format: int) -> None:
    """Raise DataError with advice unless an index is of this format, and its vectors of this encoder."""
    if manifest.format != format or manifest.similarity != SIMILARITY:
        raise DataError(f"The index {name} has format {manifest.format}, not {format}.", REBUILD)
    if (manifest.encoder, manifest.dimension) != (encoder_name, dimension):
        raise DataError(
            f"The index {name} was made with {manifest.encoder} ({manifest.dimension} dimensions), "
            f"not with {encoder_name} ({dimension}).",
            "Choose that encoder again, or build the index again.",
        )


class Index(Protocol):
    """Rows searched by text (BM25) and by vector (cosine)."""

    @property
    def manifest(self) -> Manifest:
        """What the index says about itself."""

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows; an id already there is replaced. ``vectors`` is (len(entries), dimension), L2-normalised."""

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""

    def get(self, id: str) -> Entry | None:
        """The row with this id."""

    def __len__(self) -> int:
        """Number of rows."""


class Part(Frozen):
    """A part of what a collection is built from: ``read`` gives its rows and their vectors, of any number."""

    name: str
    read: Callable[[], tuple[Sequence[Entry], Vectors]]


class CollectionIndex(Index, Protocol):
    """An index of a collection, which is also searched by words and vector at once."""

    def search_hybrid(
        self, query: str, vector: Vectors, k: int, where: Filter | None = None, *, pool: int, rrf_k: int
    ) -> list[Hit]:
        """The k best by reciprocal rank fusion of the ``pool`` best by words and by vector; equal scores by id.

        Args:
            vector: (dimension,), L2-normalised. rrf_k: the constant of the fusion.
        """


class Backend(Protocol):
    """Where the index of a collection lies: files of this machine, or a database of vectors."""

    def build(
        self,
        name: str,
        parts: Iterable[Part],
        *,
        encoder: str,
        dimension: int,
        source: str,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> CollectionIndex:
        """Build the collection, or go on where a build of the same source was stopped: no part is taken twice.

        Until it is whole, `open` gives the collection as it was before.

        Args:
            source: identity of the whole source; another one cannot be continued. progress: told of every step.
        """

    def open(self, name: str, *, encoder: str, dimension: int) -> CollectionIndex:
        """Open a collection; DataError where there is none, it is damaged, or was made with another encoder."""

    def delete(self, name: str) -> bool:
        """Delete a collection, finished or not; whether there was any."""

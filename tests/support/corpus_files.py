"""Source files of made-up publications, and a backend of a test's own memory."""

from __future__ import annotations

import gzip
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from prompts.errors import DataError
from support.counting_encoder import CountingEncoder
from tools.encoders import Encoder, Vectors
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.contract import CollectionIndex, Filter, Hit, Part
from tools.indexes.local import LocalIndex
from tools.mirror.article_xml import record_xml
from tools.mirror.exporting import FOOT, HEAD
from tools.mirror.records import MirrorRecord

SUBJECTS = "asthma gout sepsis migraine anaemia psoriasis".split()


def open_encoder() -> Encoder:
    """Opens in every process."""
    return CountingEncoder(limit=64)


def publication(pmid: int, subject: str = "", *, types: tuple[str, ...] = (), sentences: int = 9) -> bytes:
    """A record of PubMed whose abstract has several passages; with no sentence, one without an abstract."""
    name = subject or SUBJECTS[pmid % len(SUBJECTS)]
    abstract = " ".join(
        f"Finding {n} of {pmid} tells how {name} was treated with medicine {n * pmid % 7} at home."
        for n in range(sentences)
    )
    return record_xml(
        MirrorRecord(
            pmid=str(pmid), title=f"{name.capitalize()}, study {pmid}", abstract=abstract,
            date=f"20{pmid % 20 + 10}-03", languages=("eng",), publication_types=("Journal Article", *types),
        )
    )  # fmt: skip


def revised(xml: bytes, version: int) -> bytes:
    """The same record in another version of its PMID."""
    return xml.replace(b'<PMID Version="1">', f'<PMID Version="{version}">'.encode())


def deletion(*pmids: int) -> bytes:
    """An order to delete records."""
    inner = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in pmids)
    return f"<DeleteCitation>{inner}</DeleteCitation>".encode()


def write_xml(path: Path, elements: Iterable[bytes]) -> Path:
    """A file of PubMed XML, packed when its name ends in .gz."""
    data = HEAD + b"\n".join(elements) + FOOT
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


class MemoryIndex(LocalIndex):
    """A collection in memory."""

    def search_hybrid(
        self, query: str, vector: Vectors, k: int, where: Filter | None = None, *, pool: int, rrf_k: int
    ) -> list[Hit]:
        streams = {
            "words": [h.id for h in self.search_text(query, pool, where)],
            "vectors": [h.id for h in self.search_vectors(vector[None], pool, where)[0]],
        }
        fused = reciprocal_rank_fusion(streams, rrf_k)
        return [Hit(id=item.id, rank=item.rank, score=item.score) for item in fused[:k]]


class MemoryBackend:
    """Collections in memory; counts the parts that it was given."""

    def __init__(self) -> None:
        self.built: dict[str, MemoryIndex] = {}
        self.sources: list[str] = []

    @property
    def only(self) -> MemoryIndex:
        """The one index that there is."""
        (index,) = self.built.values()
        return index

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
        index = MemoryIndex(encoder, dimension)
        for part in parts:
            index.add(*part.read())
        self.sources.append(source)
        self.built[name] = index
        return index

    def open(self, name: str, *, encoder: str, dimension: int) -> CollectionIndex:
        if name not in self.built:
            raise DataError(f"There is no index {name}.", "Build it.")
        return self.built[name]

    def delete(self, name: str) -> bool:
        return self.built.pop(name, None) is not None


class SlowEncoder(CountingEncoder):
    """Takes its time over a block, so that a build can be killed in the middle."""

    def __init__(self) -> None:
        super().__init__(limit=64)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        time.sleep(0.15)
        return super().encode_documents(texts)


class KilledOnce(CountingEncoder):
    """Ends its process at the third call, once in all processes."""

    def __init__(self) -> None:
        super().__init__(limit=64)
        self._calls = 0

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self._calls += 1
        mark = Path(os.environ["KILLED_ONCE"])
        if self._calls == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_documents(texts)


class Deadly(CountingEncoder):
    """Ends its process whenever it reads publication 117."""

    def __init__(self) -> None:
        super().__init__(limit=64)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        if any("study 117" in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_documents(texts)


class Missing(CountingEncoder):
    """Its weights are not where the process is."""

    def __init__(self) -> None:
        raise DataError("The encoder 'x' is not on this machine.", "Set ANAMNESIS_ENCODER.")

"""One kit of tests for every backend: what is built, gone on with, replaced and refused."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from support import engines
from support.collections import unit_rows as unit
from tools.encoders import Vectors
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.backends import backend_for
from tools.indexes.contract import Backend, CollectionIndex, Entry, Filter, Hit, IndexSettings, Part
from tools.indexes.local import LocalIndex

ENCODER, DIMENSION = "test-encoder", 8
WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ofil", "umat", "erix", "atop", "inud")]
PLACE = tempfile.TemporaryDirectory(prefix="anamnesis-backends-")  # gone when the process ends
SETTINGS: dict[str, Callable[[], IndexSettings]] = {
    "local": IndexSettings,
    "milvus": lambda: IndexSettings(backend="milvus"),
    "milvus by address": lambda: IndexSettings(backend="milvus", address=engines.address()),
    "milvus, approximate": lambda: IndexSettings(backend="milvus", vectors="approximate"),
}
FILTERS = (None, Filter(since="2008-01-01", until="2012-12-31", kinds=("review",)), Filter(ids=("p3", "p44", 'p"5')))


@pytest.fixture(params=list(SETTINGS))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    backend = backend_for(SETTINGS[request.param](), Path(tempfile.mkdtemp(dir=PLACE.name)))
    yield backend
    backend.delete("c")
    if request.param != "local":
        backend.close()


def rows(seed: int, count: int = 60) -> tuple[list[Entry], Vectors]:
    """Texts of different lengths, so that no two score the same by words."""
    chosen = np.random.default_rng(seed).integers(0, len(WORDS), (count, 5 + count))
    entries = [
        Entry(
            id=f'p"{n}' if n % 5 == 0 else f"p{n}",
            text=" ".join(WORDS[w] for w in chosen[n][: 5 + n]),
            collection="c",
            kind=("review", "trial")[n % 2],
            date=f"20{n % 20:02d}-05-01" if n % 7 else "",
        )
        for n in range(count)
    ]
    return entries, unit(seed, count)


class Source:
    """Rows in three parts; counts what is read, and may fail at one part."""

    def __init__(self, seed: int, fails_at: int = -1) -> None:
        self.entries, self.vectors = rows(seed)
        self.fails_at = fails_at
        self.read: list[int] = []

    def parts(self) -> Iterator[Part]:
        for number in range(3):
            yield Part(name=f"part {number}", read=lambda number=number: self._take(number))

    def _take(self, number: int) -> tuple[list[Entry], Vectors]:
        if number == self.fails_at:
            raise OSError("the disk is gone")
        self.read.append(number)
        return self.entries[20 * number : 20 * (number + 1)], self.vectors[20 * number : 20 * (number + 1)]


def build(backend: Backend, source: Source, name: str = "first source") -> CollectionIndex:
    return backend.build("c", source.parts(), encoder=ENCODER, dimension=DIMENSION, source=name)


def opened(backend: Backend) -> CollectionIndex:
    return backend.open("c", encoder=ENCODER, dimension=DIMENSION)


def ids(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def same(found: list[Hit], wanted: list[Hit]) -> None:
    assert ids(found) == ids(wanted)
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], rel=1e-4)


def test_what_is_built_is_found_as_in_the_index_in_memory(backend: Backend) -> None:
    source = Source(1)
    oracle = LocalIndex(ENCODER, DIMENSION)
    oracle.add(source.entries, source.vectors)
    steps: list[str] = []
    index = backend.build(
        "c",
        source.parts(),
        encoder=ENCODER,
        dimension=DIMENSION,
        source="s",
        progress=lambda step, done, _: steps.append(f"{step} {done}"),
    )
    assert "store 60" in steps
    for found in (index, opened(backend)):
        assert len(found) == found.manifest.count == 60
        assert (found.manifest.encoder, found.manifest.dimension) == (ENCODER, DIMENSION)
        assert found.get('p"5') == source.entries[5]
        for where in FILTERS:
            for n, vector in enumerate(unit(99, 4)):
                question = f"{WORDS[n]} and {WORDS[-n]}"
                words, near = oracle.search_text(question, 20, where), oracle.search_vectors(vector[None], 20, where)[0]
                same(found.search_text(question, 20, where), words)
                same(found.search_vectors(vector[None], 20, where)[0], near)
                both = found.search_hybrid(question, vector, 10, where, pool=60, rrf_k=60)
                streams = {
                    "words": ids(oracle.search_text(question, 60, where)),
                    "vectors": ids(oracle.search_vectors(vector[None], 60, where)[0]),
                }
                fused = {f.id: f.score for f in reciprocal_rank_fusion(streams)}
                best = sorted(fused, key=lambda key: (-fused[key], key))[:10]
                assert ids(both) == best
                assert [hit.score for hit in both] == pytest.approx([fused[key] for key in best], abs=1e-6)
                assert [hit.rank for hit in both] == list(range(1, len(both) + 1))


def test_a_build_goes_on_where_it_failed_and_takes_no_part_twice(backend: Backend) -> None:
    old, source = Source(1), Source(2, fails_at=2)
    build(backend, old, "old")
    with pytest.raises(OSError, match="the disk is gone"):
        build(backend, source)
    assert source.read == [0, 1]
    assert opened(backend).get("p1") == old.entries[1]  # the collection in use is the one before
    assert len(opened(backend)) == 60
    source.fails_at = -1
    index = build(backend, source)
    assert source.read == [0, 1, 2]
    assert len(index) == 60
    assert index.get("p1") == source.entries[1]
    assert index.get("p59") == source.entries[59]


def test_a_collection_is_replaced_as_a_whole(backend: Backend) -> None:
    first, second = Source(1), Source(2)
    reader = build(backend, first)
    second.entries = [entry.model_copy(update={"id": f"new{entry.id}"}) for entry in second.entries]
    build(backend, second, "second source")
    found = {hit.id[:3] == "new" for hit in opened(backend).search_text(" ".join(WORDS), 100)}
    assert found == {True}
    assert len({hit.id[:3] == "new" for hit in reader.search_text(" ".join(WORDS), 100)}) == 1
    assert len(reader) == 60


def test_built_again_from_the_same_source_it_is_as_at_first(backend: Backend) -> None:
    source = Source(1)
    index = build(backend, source)
    assert index.delete(["p1", "p2", "nobody"]) == 2
    index.add([Entry(id="extra", text="zoster")], unit(7, 1))
    assert len(opened(backend)) == 59
    assert len(build(backend, source)) == 60
    assert opened(backend).get("extra") is None


def test_rows_are_added_and_deleted_after_the_build(backend: Backend) -> None:
    index = build(backend, Source(1))
    new = Entry(id="new", text="zoster ophthalmicus", kind="review", date="2011-01-01")
    index.add([new], unit(7, 1))
    assert index.delete(["p3"]) == 1
    for found in (index, opened(backend)):
        assert ids(found.search_text("zoster", 5)) == ["new"]
        assert found.search_vectors(unit(7, 1), 1)[0][0].id == "new"
        assert found.get("p3") is None
        assert len(found) == 60


def test_what_does_not_fit_is_refused(backend: Backend) -> None:
    with pytest.raises(DataError):
        opened(backend)
    build(backend, Source(1))
    with pytest.raises(DataError, match=r"made with test-encoder \(8 dimensions\), not with another \(8\)"):
        backend.open("c", encoder="another", dimension=DIMENSION)
    with pytest.raises(DataError, match="not with test-encoder"):
        backend.open("c", encoder=ENCODER, dimension=16)
    assert backend.delete("c")
    assert not backend.delete("c")
    with pytest.raises(DataError):
        opened(backend)


def test_an_empty_collection_is_one(backend: Backend) -> None:
    index = backend.build("c", [], encoder=ENCODER, dimension=DIMENSION, source="nothing")
    assert len(index) == 0
    assert index.search_hybrid("fever", unit(1, 1)[0], 5, pool=10, rrf_k=60) == []

"""One kit of tests for every index. A new implementation joins by adding its factory to `FACTORIES`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from prompts.errors import InputError
from support import engines
from support.collections import unit_rows as unit
from tools.encoders import Vectors
from tools.indexes.backends import LocalBackend
from tools.indexes.contract import Entry, Filter, Index
from tools.indexes.local import LocalIndex
from tools.indexes.milvus.index import MilvusIndex
from tools.indexes.table import TableIndex
from tools.text.tokens import tokens

DIMENSION = 8
PLACE = tempfile.TemporaryDirectory(prefix="anamnesis-index-")  # gone when the process ends


def table() -> Index:
    return TableIndex.at(Path(tempfile.mkdtemp(dir=PLACE.name)), "test-encoder", DIMENSION)


def disk() -> Index:
    folder = Path(tempfile.mkdtemp(dir=PLACE.name))
    return LocalBackend(folder).build("c", (), encoder="test-encoder", dimension=DIMENSION, source="none")


def milvus() -> Index:
    return MilvusIndex.create(engines.embedded(), engines.new_name(), "test-encoder", DIMENSION)


def milvus_by_address() -> Index:
    return MilvusIndex.create(engines.served(), engines.new_name(), "test-encoder", DIMENSION)


FACTORIES: dict[str, Callable[[], Index]] = {
    "local": lambda: LocalIndex("test-encoder", DIMENSION),
    "table": table,
    "disk": disk,
    "milvus": milvus,
    "milvus by address": milvus_by_address,
}
WORDS = "fever cough rash chest pain oedema wheeze nausea".split()


@pytest.fixture(params=sorted(FACTORIES))
def index(request: pytest.FixtureRequest) -> Index:
    return FACTORIES[request.param]()


def entry(number: int, **fields: str) -> Entry:
    text = f"{WORDS[number % 8]} {WORDS[number * 3 % 8]} {WORDS[number * 5 % 7]}"
    values = {"id": f"library:d{number}", "text": text, "collection": "library", "kind": "condition"} | fields
    return Entry(**values)


def nearest(rows: dict[str, tuple[Entry, Vectors]], vector: Vectors, k: int, where: Filter) -> list[tuple[str, float]]:
    """The oracle: every row compared with the query, in plain numpy."""
    scored = [(float(v @ vector), e.id) for e, v in rows.values() if where.admits(e)]
    return [(id_, score) for score, id_ in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:k]]


def test_vectors_agree_with_brute_force_under_every_filter(index: Index) -> None:
    kinds, languages = ["condition", "evidence"], ["en", "zh", "en"]
    entries = [
        entry(n, kind=kinds[n % 2], language=languages[n % 3], date=f"20{10 + n % 15}-01-01", collection=f"c{n % 4}")
        for n in range(120)
    ]
    vectors = unit(0, 120)
    index.add(entries, vectors)
    rows = {e.id: (e, v) for e, v in zip(entries, vectors, strict=True)}
    filters = [
        Filter(),
        Filter(kinds=("evidence",)),
        Filter(languages=("zh",), collections=("c1", "c2")),
        Filter(since="2015-01-01", until="2019-12-31"),
        Filter(ids=("library:d3", "library:d77", "library:nobody")),
        Filter(ids=("library:nobody",)),
        Filter(kinds=("no such kind",)),
    ]
    for where in filters:
        for k in (1, 7, 500):
            for query, hits in zip(unit(1, 3), index.search_vectors(unit(1, 3), k, where), strict=True):
                expected = nearest(rows, query, k, where)
                assert [h.id for h in hits] == [id_ for id_, _ in expected]
                assert [h.score for h in hits] == pytest.approx([s for _, s in expected], abs=1e-5)
                assert [h.rank for h in hits] == list(range(1, len(hits) + 1))


def test_words_return_exactly_the_rows_that_share_one_and_obey_filters(index: Index) -> None:
    index.add([entry(n, kind="evidence" if n % 2 else "condition") for n in range(40)], unit(0, 40))
    for query in ("fever", "coughing oedema", "wheeze and nausea", "zebra", ""):
        for where in (None, Filter(kinds=("evidence",))):
            wanted = {
                e.id
                for n in range(40)
                for e in [entry(n, kind="evidence" if n % 2 else "condition")]
                if set(tokens(query)) & set(tokens(e.text)) and (where is None or where.admits(e))
            }
            hits = index.search_text(query, 100, where)
            assert {h.id for h in hits} == wanted
            assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
            assert all(h.score > 0 for h in hits)
            assert [h.id for h in index.search_text(query, 3, where)] == [h.id for h in hits][:3]


def test_a_rarer_word_and_a_shorter_text_rank_higher(index: Index) -> None:
    texts = ["fever cough", "fever cough rash", "fever gout", "fever " + "cough " * 9]
    index.add([entry(n, text=t) for n, t in enumerate(texts)], unit(0, 4))
    assert index.search_text("fever gout", 1)[0].id == "library:d2"
    assert [h.id for h in index.search_text("rash", 5)] == ["library:d1"]


def test_chinese_words_are_found(index: Index) -> None:
    index.add(
        [entry(0, text="自发性气胸的治疗", language="zh"), entry(1, text="急性支气管炎", language="zh")], unit(0, 2)
    )
    assert [h.id for h in index.search_text("气胸怎么治疗", 5)] == ["library:d0"]


def test_equal_scores_are_ordered_by_id_also_at_the_cut(index: Index) -> None:
    same = unit(0)[0]
    index.add([entry(n, text="fever") for n in (5, 1, 9, 3, 7)], np.stack([same] * 5))
    assert [h.id for h in index.search_vectors(same[None], 2)[0]] == ["library:d1", "library:d3"]
    assert [h.id for h in index.search_text("fever", 2)] == ["library:d1", "library:d3"]


def test_adding_an_id_again_replaces_its_row(index: Index) -> None:
    first, second = unit(0, 2)
    index.add([entry(1, text="fever")], first[None])
    index.add([entry(1, text="cough"), entry(1, text="rash")], np.stack([first, second]))
    assert len(index) == 1
    found = index.get("library:d1")
    assert found is not None
    assert found.text == "rash"
    assert index.search_text("fever cough", 5) == []
    assert index.search_vectors(second[None], 5)[0][0].score == pytest.approx(1.0, abs=1e-5)


def test_deleting_says_how_many_there_were(index: Index) -> None:
    index.add([entry(n) for n in range(10)], unit(0, 10))
    assert index.delete(["library:d1", "library:d1", "library:nobody", "library:d2"]) == 2
    assert index.get("library:d1") is None
    assert len(index) == index.manifest.count == 8
    assert index.delete([f"library:d{n}" for n in range(10)]) == 8
    assert index.search_text("fever", 5) == []
    assert index.search_vectors(unit(3, 2), 5) == [[], []]


def test_deleted_rows_no_longer_weigh_on_words(index: Index) -> None:
    index.add([entry(n, text="fever") for n in range(9)] + [entry(9, text="fever rash")], unit(0, 10))
    common = {h.id: h.score for h in index.search_text("fever", 20)}["library:d9"]
    index.delete([f"library:d{n}" for n in range(8)])
    assert {h.id: h.score for h in index.search_text("fever", 20)}["library:d9"] > common


def test_an_empty_index_finds_nothing(index: Index) -> None:
    assert len(index) == 0
    assert index.search_text("fever", 3) == []
    assert index.search_vectors(unit(0), 3) == [[]]
    index.add([entry(0, text="the of and")], unit(0))
    assert index.search_text("fever", 3) == []
    assert index.search_vectors(unit(0), 0) == [[]]


@pytest.mark.parametrize(
    "vectors",
    [unit(0, 2), np.ones((1, DIMENSION + 1), np.float32), np.full((1, DIMENSION), np.nan, np.float32), unit(0) * 2],
    ids=["too many", "other dimension", "no numbers", "not normalised"],
)
def test_wrong_vectors_are_refused_and_change_nothing(index: Index, vectors: Vectors) -> None:
    with pytest.raises(InputError):
        index.add([entry(0)], vectors)
    assert len(index) == 0


class AgainstOracle(RuleBasedStateMachine):
    """Random additions, replacements and deletions: the index always answers as a dictionary searched in full."""

    factory = staticmethod(FACTORIES["local"])
    numbers = st.integers(0, 25)

    @initialize()
    def start(self) -> None:
        self.index = self.factory()
        self.rows: dict[str, tuple[Entry, Vectors]] = {}
        self.seed = 100

    @rule(chosen=st.lists(numbers, max_size=6), word=st.sampled_from(WORDS))
    def add(self, chosen: list[int], word: str) -> None:
        self.seed += 1
        vectors = unit(self.seed, len(chosen)) if chosen else np.empty((0, DIMENSION), np.float32)
        entries = [entry(n, text=f"{word} {WORDS[n % 8]}", kind=f"k{n % 3}") for n in chosen]
        self.index.add(entries, vectors)
        self.rows.update({e.id: (e, v) for e, v in zip(entries, vectors, strict=True)})

    @rule(chosen=st.lists(numbers, max_size=12))
    def delete(self, chosen: list[int]) -> None:
        ids = [f"library:d{n}" for n in chosen]
        there = {id_ for id_ in ids if id_ in self.rows}
        assert self.index.delete(ids) == len(there)
        for id_ in there:
            del self.rows[id_]

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "index"):
            return
        assert len(self.index) == len(self.rows)
        where = Filter(kinds=("k0", "k2"))
        query = unit(self.seed + 1000)
        hits = self.index.search_vectors(query, 5, where)[0]
        assert [h.id for h in hits] == [id_ for id_, _ in nearest(self.rows, query[0], 5, where)]
        found = {h.id for h in self.index.search_text("fever rash", 100)}
        assert found == {e.id for e, _ in self.rows.values() if {"fever", "rash"} & set(e.text.split())}


class TableAgainstOracle(AgainstOracle):
    factory = staticmethod(FACTORIES["table"])


class DiskAgainstOracle(AgainstOracle):
    factory = staticmethod(FACTORIES["disk"])


class MilvusAgainstOracle(AgainstOracle):
    factory = staticmethod(FACTORIES["milvus"])


for machine, examples in (
    (AgainstOracle, 15), (TableAgainstOracle, 15), (DiskAgainstOracle, 10), (MilvusAgainstOracle, 8)
):  # fmt: skip
    machine.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
    )
TestAgainstOracle = AgainstOracle.TestCase
TestTableAgainstOracle = TableAgainstOracle.TestCase
TestDiskAgainstOracle = DiskAgainstOracle.TestCase
TestMilvusAgainstOracle = MilvusAgainstOracle.TestCase

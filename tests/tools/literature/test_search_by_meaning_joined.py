"""The dense stream beside the ladder: what it adds, what it may not add, and what is told when it cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prompts.errors import ServiceError
from support.efetch import parse_articles
from tools.encoders import Encoder
from tools.indexes.large import LargeIndex
from tools.literature.adapt_e.contract import DateRange, Expression, PlannedTerm, RungName, SearchPlan
from tools.literature.article import Article
from tools.literature.by_meaning import ByMeaning, imported
from tools.literature.client import SearchResult
from tools.literature.live import LiveResult, LiveSearch, within
from tools.literature.report import account
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import Source

QUESTION = "Can a heart attack be prevented by lowering cholesterol?"
TEXTS = {
    "1": ("Heart attack.", "A heart attack was treated in hospital."),
    "2": ("Statins.", "Lowering cholesterol prevents myocardial infarction."),
    "3": ("Cholesterol.", "Lipid lowering and coronary events."),
    "4": ("Tulips.", "Tulips were planted in rows."),
}
PLAN = SearchPlan(
    terms=(PlannedTerm(text="heart attack"),),
    expressions=(Expression(rung=RungName.STRICT, query='"heart attack"[tiab]', why="all"),),
)


class Held:
    """A source that lists and holds what it is given."""

    def __init__(self, articles: Sequence[Article], listed: Sequence[str]) -> None:
        self.articles = {a.pmid: a for a in articles}
        self.listed = tuple(listed)

    async def search(self, query: str, limit: int) -> SearchResult:
        return SearchResult(count=len(self.listed), ids=self.listed)

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        return [self.articles[p] for p in pmids if p in self.articles]


@pytest.fixture
def articles(xml: Any) -> list[Article]:
    made = [xml.record(p, title, abstract) for p, (title, abstract) in TEXTS.items()]
    return list(parse_articles(xml.fetch(made).encode()).articles)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """An index of the articles 1 to 4 and of one that no source holds."""
    folder = tmp_path_factory.mktemp("vectors") / "pubmed-vectors"
    texts = ["\n".join(t) for t in TEXTS.values()] + [QUESTION]
    rows = encoder.encode_documents(texts)
    block = ([*TEXTS, "99"], rows)
    LargeIndex.build(folder, [("all", lambda: block)], encoder=encoder.name, dimension=rows.shape[1], source="test")
    return folder


def search(pubmed: Held, encoder: Encoder, folder: Path | None, plan: SearchPlan = PLAN, **settings: Any) -> LiveResult:
    live = LiveSearch(
        pubmed,
        encoder,
        Source(kind="mirror", name="m"),
        LiteratureSettings(enough=4, depth=1, **settings),
        meaning=None if folder is None else imported(folder, encoder),
    )
    return asyncio.run(live.search(plan, QUESTION, limit=5, tool="search"))


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_what_is_near_joins_what_the_words_find(
    fusion: str, articles: list[Article], encoder: Encoder, vectors: Path
) -> None:
    result = search(Held(articles, ["1"]), encoder, vectors, fusion=fusion)
    found = {d.id: d for d in result.strategy.documents}
    assert {h.stream for h in found["pubmed:1"].hits} == {"pubmed", "dense"}
    assert [h.stream for h in found["pubmed:2"].hits] == ["dense"]
    assert [(e.id, e.reason) for e in result.strategy.excluded] == [
        ("pubmed:99", "found by meaning, not held by the source")
    ]
    assert result.strategy.vectors is not None
    assert (result.strategy.vectors.encoder, result.strategy.vectors.count) == (encoder.name, 5)
    assert (result.strategy.fusion, result.notices) == (fusion, [])
    assert "| found by meaning alone | 3 |" in account(result.strategy)
    without = search(Held(articles, ["1"]), encoder, None, fusion=fusion)
    assert [d.id for d in without.strategy.documents] == ["pubmed:1"]


def test_the_weighted_order_weighs_meaning_and_the_ranks_do_not(articles: list[Article], encoder: Encoder) -> None:
    listed = ["4", "3", "2", "1"]
    weighted = search(Held(articles, listed), encoder, None)
    ranks = search(Held(articles, listed), encoder, None, fusion="rrf")
    assert [d.id for d in weighted.strategy.documents][-1] == "pubmed:4"
    scores = [d.score for d in weighted.strategy.documents]
    assert all(s is not None for s in scores)
    assert scores == sorted(scores, key=lambda s: -(s or 0))
    places = {d.id: [h.rank for h in d.hits] for d in ranks.strategy.documents}
    order = sorted(places, key=lambda p: -sum(1 / (60 + r) for r in places[p]))
    assert [sum(1 / (60 + r) for r in places[p]) for p in places] == pytest.approx(
        [sum(1 / (60 + r) for r in places[p]) for p in order]
    )


def test_the_ladder_alone_keeps_its_order_whatever_is_near(
    articles: list[Article], encoder: Encoder, vectors: Path
) -> None:
    result = search(Held(articles, ["4", "3", "1"]), encoder, vectors, fusion="ladder")
    assert [d.id for d in result.strategy.documents] == ["pubmed:4", "pubmed:3", "pubmed:1"]
    assert result.strategy.vectors is None
    assert "In the order of the rungs" in account(result.strategy)


def test_a_date_limit_binds_what_is_found_by_meaning_too(
    articles: list[Article], encoder: Encoder, vectors: Path
) -> None:
    plan = PLAN.model_copy(update={"dates": DateRange(since=date(2021, 1, 1))})  # every record is of 2020
    result = search(Held(articles, ["1"]), encoder, vectors, plan)
    assert [d.id for d in result.strategy.documents] == ["pubmed:1"]
    assert {e.reason for e in result.strategy.excluded} == {
        "outside the dates asked for",
        "found by meaning, not held by the source",
    }


def test_vectors_of_another_encoder_and_damage_are_told_and_the_words_still_search(
    articles: list[Article], encoder: Encoder, tmp_path: Path
) -> None:
    rows = np.eye(4, dtype=np.float32)
    made = ([*TEXTS], rows)
    LargeIndex.build(tmp_path / "v", [("all", lambda: made)], encoder="other", dimension=4, source="test")
    result = search(Held(articles, ["1"]), encoder, tmp_path / "v")
    assert [n.code for n in result.notices] == ["embeddings_unusable"]
    assert "other" in result.notices[0].text
    assert [d.id for d in result.strategy.documents] == ["pubmed:1"]
    assert imported(tmp_path / "none", encoder) is None
    (tmp_path / "v" / "manifest.json").write_text("{")
    assert [n.code for n in search(Held(articles, ["1"]), encoder, tmp_path / "v").notices] == ["embeddings_unusable"]


def test_what_was_listed_and_cannot_be_had_is_a_failure_and_what_only_meaning_found_is_none(
    encoder: Encoder, vectors: Path
) -> None:
    with pytest.raises(ServiceError, match="none of"):
        search(Held([], ["1"]), encoder, None)
    result = search(Held([], []), encoder, vectors)
    assert (result.strategy.documents, len(result.strategy.excluded), result.failed) == ((), 4, False)


def test_an_article_without_a_vector_is_encoded(articles: list[Article], encoder: Encoder, vectors: Path) -> None:
    meaning = ByMeaning(vectors, encoder)
    texts = {p: "\n".join(t) for p, t in TEXTS.items()}
    scores = meaning.similarities(QUESTION, texts | {"500": texts["2"]})
    assert scores["500"] == pytest.approx(scores["2"], abs=1e-2)
    assert scores["2"] > scores["4"]


@pytest.mark.parametrize(
    ("written", "inside"),
    [("2015", True), ("2015-03", True), ("2014-12-31", False), ("2016-06-01", True), ("2016-07", False), ("", False)],
)
def test_dates_are_compared_as_precisely_as_they_are_known(written: str, inside: bool, articles: list[Article]) -> None:
    span = DateRange(since=date(2015, 3, 1), until=date(2016, 6, 30))
    article = articles[0].model_copy(update={"date": written})
    assert within(article, span) is inside
    assert within(article, None)

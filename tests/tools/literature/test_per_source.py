"""Retrieval per source: each gives its own first, a cross-encoder orders them all, and who did it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from prompts.tool_arguments import SearchLiterature as Arguments
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.library.collection import Library
from tools.literature.tool import PER_SOURCE, SearchLiterature, best_of, notice_of
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Pair, Reading, Stance
from tools.reading.reader import SENTENCES, RelevanceReranker

QUESTION = "Do statins prevent heart attacks in people without heart disease?"


class ByLength:
    """Prefers short texts."""

    name = "a ruler"

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        del query
        return np.array([-len(a) for a in articles], dtype=np.float32)


def piece(source: str, number: int, text: str) -> Evidence:
    return Evidence(id=f"{source}:{number}", text=text, kind="abstract", origin=Origin.RETRIEVED)


def test_no_source_crowds_another_out_and_the_reranker_orders_them_all() -> None:
    many = [piece("pubmed", n, "x" * (100 - n)) for n in range(PER_SOURCE + 9)]
    few = [piece("library", n, "x" * (200 - n)) for n in range(2)]
    pooled = best_of("q", {"pubmed": many, "library": few}, ByLength(), 5, "search")
    assert [e.id for e in pooled.evidence] == [f"pubmed:{n}" for n in range(PER_SOURCE - 1, PER_SOURCE - 6, -1)]
    assert [(e.found[-1].stream, e.found[-1].rank) for e in pooled.evidence] == [
        ("cross_encoder", n) for n in range(1, 6)
    ]
    assert pooled.step["sources"] == {"pubmed": PER_SOURCE, "library": 2}
    assert best_of("q", {}, ByLength(), 5, "search").evidence == []


def test_the_search_takes_each_source_by_words_and_says_who_ordered_them(
    ncbi: Any, settings_for: Any, library: Library, encoder: Encoder, xml: Any
) -> None:
    ncbi.found = {"statins": ["1", "2"]}
    ncbi.records = {n: xml.record(n, "Statins.", "Statins prevent heart attacks. " * int(n)) for n in ("1", "2")}

    def run(**more: Any) -> ToolArtifact:
        settings = settings_for(ncbi, method="per_source", **more)
        tool = SearchLiterature(library, encoder, settings, reranker=ByLength())
        context = ToolContext(question=QUESTION, kind="evidence")
        return asyncio.run(tool.run(Arguments(query=QUESTION, limit=3), context))

    artifact = run()
    assert [e.document_id for e in artifact.evidence][:2] == ["pubmed:1", "pubmed:2"]
    step = next(s for s in artifact.strategy if s["step"] == "reranked")
    assert (step["by"], step["sources"]["pubmed"]) == ("a ruler", 2)
    assert 0 < step["sources"]["library"] <= PER_SOURCE
    rungs = [s["query"] for s in artifact.strategy if s["step"] == "rung"]
    assert len(rungs) == 1
    assert " OR " in rungs[0]
    assert [n.code for n in artifact.notices] == ["reranked_otherwise"]
    alone = run(live="off")
    assert alone.outcome is Outcome.OK
    assert {e.id.partition(":")[0] for e in alone.evidence} == {"library"}
    assert {n.code for n in alone.notices} == {"pubmed_off", "reranked_otherwise"}
    assert notice_of(ByLength(), "en", published="a ruler") == []


def test_the_readers_relevance_is_that_of_the_best_of_a_few_sentences() -> None:
    asked: list[Pair] = []

    class Sure:
        def read(self, pairs: Sequence[Pair]) -> list[Reading]:
            asked.extend(pairs)
            return [reading(0.2 if "statins" in p.sentence.lower() else 0.9) for p in pairs]

    def reading(unrelated: float) -> Reading:
        rest = (1 - unrelated) / (len(STANCES) - 1)
        stances = tuple(unrelated if s is Stance.UNRELATED else rest for s in STANCES)
        return Reading(stances, (0.0,) * len(DIRECTIONS), (0.0,) * len(ROLES))

    articles = ["The sky is blue. " * 6 + "Statins prevent heart attacks.", "The river is long.", ""]
    scores = RelevanceReranker(Sure()).rerank(QUESTION, articles)
    assert scores.tolist() == pytest.approx([0.8, 0.1, 0.0], abs=1e-6)
    assert len(asked) == SENTENCES + 1

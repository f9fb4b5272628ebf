"""The Boolean ladder: when it goes on, when it stops, and what a failure does to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from prompts.errors import ServiceError
from tools.literature.adapt_e.contract import Expression, RungName
from tools.literature.article import Article
from tools.literature.client import SearchResult
from tools.literature.ladder import climb


class Scripted:
    """A PubMed that gives one result after the other; an error is raised."""

    def __init__(self, *results: Sequence[str] | ServiceError) -> None:
        self.results, self.queries = list(results), list[str]()

    async def search(self, query: str, limit: int) -> SearchResult:
        self.queries.append(query)
        result = self.results.pop(0)
        if isinstance(result, ServiceError):
            raise result
        return SearchResult(count=len(result), ids=tuple(result))

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        raise AssertionError("the ladder reads no records")


RUNGS = [
    Expression(rung=RungName.STRICT, query="a AND b AND c", why="all"),
    Expression(rung=RungName.ABSTRACTION, query="a AND b", why="without c"),
    Expression(rung=RungName.RELAXED, query="a", why="a alone"),
]


def test_the_ladder_stops_when_enough_is_found_and_says_why_it_went_on() -> None:
    pubmed = Scripted(["1", "2"], ["2", "3", "4"], ["5"])
    result = asyncio.run(climb(pubmed, RUNGS, enough=4))
    assert result.ids == ("1", "2", "3", "4")
    assert [s.rung for s in result.steps] == ["strict", "abstraction"]
    assert result.steps[0].next == "go on: 2 found, fewer than 4"
    assert result.steps[1].next == "stop: 4 found, 4 are enough"
    assert result.steps[1].why == "without c"
    assert [(p.step, p.rung, p.rank) for p in result.places["2"]] == [(0, "strict", 2), (1, "abstraction", 1)]
    assert result.places["4"][0].query == pubmed.queries[1]


def test_a_ladder_that_finds_nothing_is_no_failure() -> None:
    result = asyncio.run(climb(Scripted([], [], []), RUNGS, enough=4))
    assert (result.ids, result.failure) == ((), "")
    assert result.steps[-1].next == "stop: no rung is left, 0 found"


def test_a_failure_of_the_first_rung_is_raised_and_a_later_one_keeps_what_was_found() -> None:
    with pytest.raises(ServiceError):
        asyncio.run(climb(Scripted(ServiceError("down")), RUNGS, enough=4))
    result = asyncio.run(climb(Scripted(["1"], ServiceError("down")), RUNGS, enough=4))
    assert (result.ids, result.failure) == (("1",), "down")

"""The Boolean ladder: what it asks, when it goes on, and what a failure does to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from prompts.errors import ServiceError
from tools.literature.client import SearchResult
from tools.literature.ladder import climb, rungs
from tools.literature.publications import Article
from tools.literature.terms import Term


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


def terms(*texts: str) -> list[Term]:
    return [Term(text=t) for t in texts]


def test_the_rungs_ask_for_less_and_less() -> None:
    four = [
        Term(text="COPD", also=("chronic obstructive pulmonary disease",)),
        *terms("prednisolone", "dose", "relapse", "x"),
    ]
    strict, abstraction, relaxed = rungs(four)
    assert strict.query == (
        '("COPD"[tiab] OR "chronic obstructive pulmonary disease"[tiab]) AND "prednisolone"[tiab] AND "dose"[tiab] '
        'AND "relapse"[tiab]'
    )
    assert abstraction.query.count(" AND ") == 1
    assert relaxed.query.startswith("((COPD) AND (prednisolone)) OR ((COPD) AND (dose)) OR")
    assert relaxed.query.count(" OR ") == 5
    assert [r.name for r in rungs(terms("a", "b"))] == ["strict", "relaxed"]
    assert [r.query for r in rungs(terms("croup"))] == ['"croup"[tiab]', "croup"]
    assert rungs([]) == []


def test_the_ladder_stops_when_enough_is_found_and_says_why_it_went_on() -> None:
    pubmed = Scripted(["1", "2"], ["2", "3", "4"], ["5"])
    result = asyncio.run(climb(pubmed, terms("a", "b", "c"), enough=4))
    assert result.ids == ("1", "2", "3", "4")
    assert [s.rung for s in result.steps] == ["strict", "abstraction"]
    assert result.steps[0].next == "go on: 2 found, fewer than 4"
    assert result.steps[1].next == "stop: 4 found, 4 are enough"
    assert result.places["2"][0] == "strict"
    assert result.places["4"] == ("abstraction", pubmed.queries[1], 3)


def test_a_ladder_that_finds_nothing_is_no_failure() -> None:
    result = asyncio.run(climb(Scripted([], [], []), terms("a", "b", "c"), enough=4))
    assert result.ids == ()
    assert result.failure == ""
    assert result.steps[-1].next == "stop: no rung is left, 0 found"


def test_a_failure_of_the_first_rung_is_raised_and_a_later_one_keeps_what_was_found() -> None:
    with pytest.raises(ServiceError):
        asyncio.run(climb(Scripted(ServiceError("down")), terms("a", "b"), enough=4))
    result = asyncio.run(climb(Scripted(["1"], ServiceError("down")), terms("a", "b"), enough=4))
    assert (result.ids, result.failure) == (("1",), "down")

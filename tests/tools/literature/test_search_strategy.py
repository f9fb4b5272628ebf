"""The search strategy: kept without the question, read back strictly, reported, and done again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import DataError, InputError, ServiceError
from support.search_words import starter_vocabulary
from tools.evidence import SameWork
from tools.literature.adapt_e.local import QueryPlannerLocal
from tools.literature.article import Article
from tools.literature.client import SearchResult
from tools.literature.ladder import adapt_e
from tools.literature.report import SHOWN, account, folded
from tools.literature.strategy import (
    Excluded,
    SearchStrategy,
    Source,
    load_strategy,
    make_strategy,
    question_hash,
    rerun,
    save_strategy,
)

QUESTION = "Does colchicine prevent recurrence of pericarditis since 2015?"


class Growing:
    """A PubMed whose every query finds the same ids, which a test changes."""

    def __init__(self, *ids: str) -> None:
        self.ids, self.queries = list(ids), list[str]()
        self.entered: list[str] = []

    async def search(self, query: str, limit: int) -> SearchResult:
        self.queries.append(query)
        ids = self.entered if "[edat]" in query else self.ids
        return SearchResult(count=len(ids), ids=tuple(ids[:limit]), translation="read so", warnings=("Phrase: x",))

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        raise AssertionError("no record is read")


def searched(pubmed: Growing) -> SearchStrategy:
    planner = QueryPlannerLocal(starter_vocabulary())
    done = asyncio.run(adapt_e(QUESTION, pubmed, planner, enough=3))
    source = Source(kind="mirror", name="hospital", date="2026-11-01")
    excluded = [Excluded(id="pubmed:9", reason="retracted")]
    return make_strategy(QUESTION, done.plan, done.climb, source, 3, excluded=excluded)


def test_a_strategy_is_read_back_as_it_was_and_carries_no_question(tmp_path: Path) -> None:
    strategy = searched(Growing("1", "2"))
    save_strategy(strategy, tmp_path / "s.json")
    assert load_strategy(tmp_path / "s.json") == strategy
    text = (tmp_path / "s.json").read_text()
    assert "Does colchicine" not in text
    assert strategy.question_sha256 == question_hash(f"  {QUESTION} ")
    first = strategy.documents[0]
    assert (first.id, first.hits[0].rung, first.hits[0].rank) == ("pubmed:1", "strict", 1)
    assert len(first.hits) == len(strategy.rungs) > 1
    assert [p.name for p in tmp_path.iterdir()] == ["s.json"]


@pytest.mark.parametrize("change", [{"format": 2}, {"unknown": 1}, {"at": "yesterday"}, {"question_sha256": "x"}])
def test_another_format_and_damage_are_told(change: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(json.loads(searched(Growing("1")).model_dump_json()) | change))
    with pytest.raises(DataError, match=next(iter(change))):
        load_strategy(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError):
        load_strategy(file)
    with pytest.raises(InputError):
        load_strategy(tmp_path / "none.json")


def test_the_account_holds_every_query_with_counts_limits_and_stages() -> None:
    strategy = searched(Growing("1", "2"))
    text = account(strategy)
    for rung in strategy.rungs:
        assert f"`{rung.query}`" in text
    assert text.count("2 in all, 2 listed") == len(strategy.rungs)
    listed = 2 * len(strategy.rungs)
    assert f"| listed by all rungs | {listed} |" in text
    assert f"| duplicates between rungs removed (by PMID) | {listed - 2} |" in text
    assert "| different records of the rungs | 2 |" in text
    assert "from 2015-01-01 to now" in text
    assert "retracted: pubmed:9" in text
    assert "hospital" in text
    assert "2026-11-01" in text
    assert "Phrase: x" in text
    assert QUESTION not in text


def test_the_account_draws_the_flow_with_the_strategy_s_own_counts_and_names_what_is_one_work() -> None:
    strategy = searched(Growing("1", "2"))
    same = SameWork(ids=("pubmed:1", "pubmed:2"), why="joined by PubMed", preprints=("pubmed:2",))
    text = account(strategy.model_copy(update={"same_work": (same,)}))
    listed = 2 * len(strategy.rungs)
    diagram = text.split("```mermaid\n")[1].split("\n```")[0]
    assert diagram.splitlines()[0] == "flowchart TD"
    for told in (
        f"listed by {len(strategy.rungs)} queries: {listed}", f"removed: {listed - 2}", "Different records: 2",
        "retracted: 1", f"in the result: {len(strategy.documents)}",
    ):  # fmt: skip
        assert told in diagram
    assert all(line.count('"') % 2 == 0 for line in diagram.splitlines())
    assert "- pubmed:1 is the same work as pubmed:2 (preprint) (joined by PubMed)" in text
    assert "- pubmed:2 is the same work as pubmed:1 (joined by PubMed)" in text


def test_a_rerun_asks_the_very_queries_and_tells_what_is_new_and_gone() -> None:
    pubmed = Growing("1", "2")
    strategy = searched(pubmed)
    pubmed.ids, pubmed.queries = ["2", "3"], []
    again = asyncio.run(rerun(strategy, pubmed))
    assert pubmed.queries == [r.query for r in strategy.rungs]
    assert (again.new, again.gone) == (("3",), ("1",))
    assert (again.source_then, again.source_now, again.failure_then) == (strategy.source, None, "")
    cut = strategy.model_copy(update={"failure": "PubMed is away."})
    assert asyncio.run(rerun(cut, pubmed)).failure_then == "PubMed is away."


def test_with_a_date_new_is_what_was_entered_since() -> None:
    pubmed = Growing("1", "2")
    strategy = searched(pubmed)
    pubmed.ids, pubmed.entered, pubmed.queries = ["1", "2", "3"], ["2", "7"], []
    again = asyncio.run(rerun(strategy, pubmed, date(2026, 11, 1)))
    assert again.new == ("7",)
    assert pubmed.queries[1] == f"({strategy.rungs[0].query}) AND 2026/11/01:3000[edat]"


def test_a_failing_rerun_compares_nothing() -> None:
    class Down(Growing):
        async def search(self, query: str, limit: int) -> SearchResult:
            raise ServiceError("down")

    strategy = searched(Growing("1"))
    with pytest.raises(ServiceError):
        asyncio.run(rerun(strategy, Down()))


def test_many_phrases_that_are_not_held_are_one_line() -> None:
    phrases = [f'PhraseNotFound: "word{n}"' for n in range(7)]
    lines = folded([*phrases[:4], "OutputMessage: No items found.", *phrases[4:], "Odd"])
    assert lines == [
        'PhraseNotFound, 7 in all: "word0"; "word1"; "word2" and 4 more',
        "OutputMessage: No items found.",
        "Odd",
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9))))
def test_every_kind_is_one_line_with_its_count(told: list[tuple[str, int]]) -> None:
    lines = folded(f"{kind}: {n}" for kind, n in told)
    assert len(lines) == len({kind for kind, _ in told})
    for line in lines:
        of_kind = [n for kind, n in told if kind == line[0]]
        assert (f"{len(of_kind)} in all" in line) == (len(of_kind) > SHOWN)

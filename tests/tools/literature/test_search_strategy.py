"""The search strategy: kept without the question, read back strictly, reported, and done again."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import DataError, InputError, ServiceError
from support.search_words import starter_vocabulary
from tools.evidence import SameWork, Status
from tools.literature.adapt_e.local import QueryPlannerLocal
from tools.literature.article import Article
from tools.literature.client import SearchResult
from tools.literature.ladder import adapt_e
from tools.literature.report import SHOWN, account, account_of_rerun, cautions, folded
from tools.literature.rerun import BATCH, looked_up, rerun
from tools.literature.strategy import (
    Excluded,
    SearchStrategy,
    Source,
    load_strategy,
    make_strategy,
    question_hash,
    save_strategy,
)

QUESTION = "Does colchicine prevent recurrence of pericarditis since 2015?"


def article(pmid: str, title: str, status: Status = Status.OK, journal: str = "", year: int | None = None) -> Article:
    about = {"publication_types": (), "level": "other", "language": "en", "date": str(year or "")}
    return Article(pmid=pmid, title=title, abstract="A.", status=status, journal=journal, year=year, **about)


class Growing:
    """A PubMed whose every query finds the same ids, which a test changes; it holds the records of ``held``."""

    def __init__(self, *ids: str) -> None:
        self.ids, self.queries = list(ids), list[str]()
        self.entered: list[str] = []
        self.held: dict[str, Article] = {}

    async def search(self, query: str, limit: int) -> SearchResult:
        self.queries.append(query)
        ids = self.entered if "[edat]" in query else self.ids
        if "[uid]" in query:
            ids = [p for p in ids if f"{p}[uid]" in re.split(r"[( )]", query)]
        return SearchResult(count=len(ids), ids=tuple(ids[:limit]), translation="read so", warnings=("Phrase: x",))

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        assert self.held, "no record is read"
        return [self.held[p] for p in pmids if p in self.held]


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
    assert "| identified by query 1 (strict) | 2 |\n" in text
    assert f"| identified by all queries | {listed} |" in text
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


def test_the_account_names_what_was_identified_and_not_listed_the_mirror_and_the_encoder() -> None:
    strategy = searched(Growing("1", "2", "3", "4", "5"))  # lists three at most
    mirror = strategy.source.model_copy(
        update={"records": 24_778, "imports": 2, "newest_import": "b.jsonl", "imported": "2026-11-02", "date": "2025"}
    )
    text = account(
        strategy.model_copy(update={"source": mirror, "encoder": "an encoder", "fusion": "weighted", "held": 2})
    )
    diagram = text.split("```mermaid\n")[1].split("\n```")[0]
    assert 'identified["Records identified by 1 query: 5<br/>query 1: 5"]' in diagram
    assert "Beyond the first 3 of a query, not listed: 2" in diagram
    assert "| database | 24,778 records of PubMed, in a local mirror |" in text
    assert "| imported | 2026-11-02, b.jsonl, the last of 2 imports |" in text
    assert "| newest record of the mirror | 2025 |" in text
    assert "by which meaning was compared is an encoder." in text
    assert "| words held back, not sent | 2; --keep-question names them |" in text


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


def test_what_newer_records_pushed_back_is_not_gone() -> None:
    pubmed = Growing("1", "2", "3")
    strategy = searched(pubmed)  # lists three at most
    assert len(strategy.rungs) == 1
    pubmed.ids, pubmed.queries = ["8", "9", "2", "3"], []
    again = asyncio.run(rerun(strategy, pubmed))
    assert (again.new, again.gone, again.beyond) == (("8", "9"), ("1",), ("3",))
    query = strategy.rungs[0].query
    assert pubmed.queries == [query, f"({query}) AND (1[uid] OR 3[uid])"]
    assert again.perhaps_old == []  # all that it found then was listed
    more = strategy.model_copy(update={"rungs": (strategy.rungs[0].model_copy(update={"count": 7}),)})
    told = asyncio.run(rerun(more, pubmed))
    assert told.perhaps_old == [1]
    assert any("may have been there already" in c for c in cautions(told))


def test_many_ids_are_asked_for_in_several_queries() -> None:
    many = [str(n) for n in range(1, BATCH + 51)]
    pubmed = Growing(*many)
    strategy = searched(pubmed)
    listed = strategy.rungs[0].model_copy(update={"ids": tuple(many)})
    pubmed.ids, pubmed.queries = ["900", "901", "902", *many], []
    again = asyncio.run(rerun(strategy.model_copy(update={"rungs": (listed,)}), pubmed))
    assert (again.gone, again.beyond) == ((), tuple(many))
    assert [q.count("[uid]") for q in pubmed.queries] == [0, BATCH, 50]


def looked_up_again() -> tuple[SearchStrategy, Growing]:
    """A search that read two records, and a source of which one is deleted, one retracted, and two are new."""
    pubmed = Growing("1", "2", "4")
    strategy = searched(pubmed)
    read = [d.model_copy(update={"status": Status.OK}) for d in strategy.documents]
    pubmed.ids = ["2", "7", "8"]
    pubmed.held = {
        "2": article("2", title="Read then", status=Status.RETRACTED),
        "4": article("4", title="About tulips now"),
        "7": article("7", title="Newly | found", journal="J Invented", year=2026),
        "8": article("8", title="Newly found and retracted", status=Status.RETRACTED),
    }
    return strategy.model_copy(update={"documents": tuple(read)}), pubmed


def test_a_rerun_says_what_is_deleted_and_what_is_retracted_new_or_old() -> None:
    strategy, pubmed = looked_up_again()
    again = asyncio.run(rerun(strategy, pubmed))
    found, kept, new = asyncio.run(looked_up(strategy, again, pubmed))
    assert (found.new, found.gone, found.deleted, found.marked) == (("7", "8"), ("1", "4"), ("1",), ("2",))
    told = {r.id: (r.title, r.status) for r in found.records}
    assert told["pubmed:8"] == ("Newly found and retracted", Status.RETRACTED)
    assert told["pubmed:2"][1] is Status.RETRACTED
    assert [a.pmid for a in new] == ["7"]
    assert (kept.first, kept.at, kept.rungs[0].ids) == (strategy.at, found.now, ("2", "7", "8"))
    assert [d.id for d in kept.documents] == ["pubmed:7"]
    assert [(e.id, e.reason) for e in kept.excluded] == [("pubmed:2", "retracted"), ("pubmed:8", "retracted")]


def test_what_a_rerun_leaves_is_repeated_in_turn_and_tells_nothing_twice(tmp_path: Path) -> None:
    strategy, pubmed = looked_up_again()
    kept = asyncio.run(looked_up(strategy, asyncio.run(rerun(strategy, pubmed)), pubmed)).strategy
    save_strategy(kept, tmp_path / "s.json")
    saved = load_strategy(tmp_path / "s.json")
    found = asyncio.run(looked_up(saved, asyncio.run(rerun(saved, pubmed)), pubmed)).found
    assert (found.new, found.gone, found.marked, found.first) == ((), (), (), strategy.at)


def test_the_account_of_a_rerun_holds_dates_queries_counts_and_records() -> None:
    strategy, pubmed = looked_up_again()
    found, kept, _ = asyncio.run(looked_up(strategy, asyncio.run(rerun(strategy, pubmed)), pubmed))
    text = account_of_rerun(found, kept)
    assert f"`{strategy.rungs[0].query}`" in text
    for told in (
        f"| first searched | {strategy.at:%Y-%m-%d %H:%M} UTC |",
        "## New records: 2",
        "| pubmed:7 | Newly \\| found | J Invented | 2026 |  |",
        "| pubmed:8 | Newly found and retracted |",
        "## Retracted, of concern or corrected since: 1",
        "RETRACTED",
        "- pubmed:1: no longer in the source",
        "- pubmed:4 About tulips now: still in the source, matches no query any more",
        "New records to screen: 1",
        "retracted: 1",
    ):
        assert told in text, told


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

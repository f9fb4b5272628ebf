"""What a model says in other words than its quotes: how much of it is doubted though they carry it, and passed though
they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphs.answering.model_choice import doubted_verdict, verdict_of
from graphs.answering.prose import Stated
from graphs.answering.sources import sources_of
from graphs.verdicts.local import VerdictJudgeLocal
from graphs.verification.quoted import QuoteCheck
from graphs.verification.support import check
from support.answerers import view
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Statement, cite
from tools.reading.reader import TrainedReader

ROWS = [json.loads(line) for line in Path(__file__).with_name("carried.jsonl").read_text("utf-8").splitlines()]


def documents(quotes: list[str]) -> list[Evidence]:
    return [
        Evidence(id=f"pubmed:{n}@0-{len(q)}", text=q, kind="abstract", origin=Origin.RETRIEVED)
        for n, q in enumerate(quotes)
    ]


def stating(text: str, items: list[Evidence]) -> Statement:
    return Statement(text=text, origin=Origin.RETRIEVED, citations=tuple(cite(e, 0, len(e.text)) for e in items))


@pytest.fixture(scope="module")
def judge(encoder: Encoder) -> VerdictJudgeLocal:
    return VerdictJudgeLocal(TrainedReader(), encoder)


def counts(passed: list[tuple[bool, bool]]) -> tuple[int, int]:
    """How many that are carried do not pass, and how many that are not do."""
    return sum(carried and not ok for carried, ok in passed), sum(ok and not carried for carried, ok in passed)


def test_statements_in_other_words_pass_and_turned_ones_do_not(encoder: Encoder, judge: VerdictJudgeLocal) -> None:
    quotes = QuoteCheck(encoder, says=judge.says)

    def passes(row: dict[str, Any]) -> bool:
        items = documents(row["quotes"])
        said = stating(row["statements"][0], items)
        return not quotes.fault(said, {e.id: e for e in items}, asked=row["question"])

    rows = [r for r in ROWS if not r["verdict"]]
    alarms, missed = counts([(r["carried"], passes(r)) for r in rows])
    assert (len(rows), alarms <= 5, missed <= 6) == (82, True, True)


def test_verdicts_in_other_words_are_confirmed_and_contradicted_ones_are_not(judge: VerdictJudgeLocal) -> None:
    def passes(row: dict[str, Any]) -> bool:
        items = documents(row["quotes"])
        standing = [Stated(stating(text, [e])) for text, e in zip(row["statements"], items, strict=True)]
        asked = view(row["question"], *items, closed=True)
        found, _ = verdict_of(row["verdict"], asked, standing, {e.id: e for e in items}, judge)
        doubt = doubted_verdict(row["verdict"], asked, standing, sources_of(asked, [], "context"), judge)
        return found is not None and not doubt.why

    rows = [r for r in ROWS if r["verdict"]]
    alarms, missed = counts([(r["carried"], passes(r)) for r in rows])
    assert (len(rows), alarms <= 8, missed <= 2) == (56, True, True)


@pytest.mark.parametrize(
    ("asked", "quote", "text", "fault"),
    [
        ("I took 500 mg at 9 am.", "It may be repeated after 4 hours.", "At 9 am plus 4 hours it may be repeated.", ""),
        ("May I take 800 mg?", "The dose is 400 mg.", "The dose is 800 mg.", "numbers"),
        ("I am 67.", "Over 70 years it is not started.", "At 67 it is not started.", "numbers"),
        ("", "It is worn for two weeks.", "It is worn for 14 days.", ""),
        ("", "It is worn for two weeks.", "It is worn for 15 days.", "numbers"),
        ("", "At most 1 g is taken.", "At most 1000 mg is taken.", ""),
    ],
)
def test_a_figure_may_be_the_askers_or_a_quotes_in_another_unit(asked: str, quote: str, text: str, fault: str) -> None:
    items = documents([quote])
    assert check(stating(text, items), items, asked=asked).disagrees == fault


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Dexamethasone starts to ease croup within 1 to 2 hours.", ""),
        ("Dexamethasone starts to ease croup within 1 hour.", ""),
        ("Dexamethasone starts to ease croup within 1 to 3 hours.", "numbers"),
        ("Dexamethasone starts to ease croup within 1 to 2 days.", "numbers"),
        ("1 mg of dexamethasone starts to ease croup within two hours.", "numbers"),
        ("Dexamethasone does not start to ease croup within 1 to 2 hours.", "negation"),
        ("Dexamethasone cannot ease croup within 1 to 2 hours.", "negation"),
    ],
)
def test_one_of_a_unit_is_its_figure_and_nothing_else(text: str, wrong: str) -> None:
    items = documents(["Dexamethasone starts to ease croup within one to two hours."])
    assert check(stating(text, items), items).disagrees == wrong
    other = documents(["In one of three trials dexamethasone, 2 mg, eased croup within two hours."])
    assert check(stating("1 mg of dexamethasone eased croup within two hours.", other), other).disagrees == "numbers"

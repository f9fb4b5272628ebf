"""No run of white space and no repeated fragment holds a processor for long, at the door or behind it."""

from __future__ import annotations

import contextlib
import gc
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.messages import MOST_DIFFERENT, MOST_STATEMENTS, check_message, check_statements
from graphs.triage.contract import SessionView
from graphs.triage.facts import TIDY, facts_of
from graphs.triage.local import TriageLocal
from prompts.errors import InputError
from support.machine_parts import Scripted, parts
from support.search_words import starter_vocabulary
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.literature.privacy import begin
from tools.reading.replacing import side_of
from tools.text.abbreviations import IN_CONTEXT, OF_NUMBERS, expand
from tools.text.sentences import GAP

MOST = 20_000
FEW = 4  # of them, at half the length, at every run of the tests; `make test-slow` goes through all
GROWTH, SLACK = 3.0, 0.5  # times and seconds: growth by the square gives four times, and a machine may stall
FRAGMENTS = [  # the first ones held a processor for long before
    " ",
    "SOB HTN DM2 ",
    "我胸口疼，",
    ", and ",
    "a",
    "(",
    "( ",
    "- ",
    "a-",
    "@a",
    "\n ",
    "I was wrong  ",
    "\t",
    "Na 126 K 5.9 ",
    "BP 120/80, HR 90; ",
    "(AB) ",
    "no fever or chills and ",
    "He has chest pain. ",
    "头痛，发烧，",
    "can I take aspirin with warfarin ",
]
BITS = (
    *("pain", "no ", "not ", "my mother had ", "Hb ", "84 ", "126", "/", "(", ")", "+", "- ", ",", ". ", "?", " and "),
    *("SOB ", "left ", "mg ", "3/7 ", "我", "胸痛", "没有", "，", "。", "2 days ago ", "\n", "ABC ", "%", "→", "38.5 "),
)


def _mixed(seed: int) -> str:
    """A fragment of a few bits that readers look for, in some order."""
    chosen = random.Random(seed)  # noqa: S311
    return "".join(chosen.choices(BITS, k=chosen.randint(2, 6)))


@pytest.fixture(scope="module")
def graph(encoder: Encoder, built_home: Path) -> KnowledgeGraph:
    found = KnowledgeGraph(encoder, built_home / "indexes")
    found.look_up("A man of 60 has had chest pain for two days.")
    return found


def _seconds(read: Callable[[str], object], text: str) -> float:
    """Processor seconds of one reading; what is refused is refused in this time."""
    gc.disable()  # to look through all that other tests left takes a second of its own
    started = time.process_time()
    try:
        with contextlib.suppress(InputError):  # so many statements that they are refused
            read(text)
        return time.process_time() - started
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("fragment", "most"),
    [
        *((one, MOST // 2) for one in FRAGMENTS[:FEW]),
        *(pytest.param(one, MOST, marks=pytest.mark.slow) for one in [*FRAGMENTS, *map(_mixed, range(6))]),
    ],
)
def test_twice_the_text_takes_about_twice_the_time(fragment: str, most: int, graph: KnowledgeGraph) -> None:
    """What a machine takes for 20,000 characters differs; that it never takes four times as much for twice as many
    does not."""
    raw = ("pain" + fragment * most)[: most - 5] + " pain"
    begin("warm", starter_vocabulary())
    triage, beside = TriageLocal(), SessionView(facts=facts_of("A man of 60 has chest pain."))
    triage.decide_now("and a cough", beside)

    def door(text: str) -> None:
        for pattern, into in (*TIDY, *OF_NUMBERS, *IN_CONTEXT):
            pattern.sub(into, text)
        expand(text)
        begin(text, starter_vocabulary())

    def sides(text: str) -> None:
        side_of(text, end=True)
        side_of(text, end=False)

    text = raw[:MOST_STATEMENTS]
    with contextlib.suppress(InputError):
        text = check_message(raw, MOST)
    readers: list[tuple[Callable[[str], object], str]] = [
        (lambda t: check_message(t, MOST), raw),
        (door, text),
        (sides, text),
        (lambda t: triage.decide_now(t, SessionView()), text),
        (lambda t: triage.decide_now(t, beside), text),
        (graph.look_up, text),
    ]
    for read, whole in readers:
        half = _seconds(read, whole[: len(whole) // 2])
        assert _seconds(read, whole) < GROWTH * half + SLACK


def test_so_many_statements_are_refused_with_what_to_do_and_a_given_text_may_be_a_table() -> None:
    table = "1.2, " * (MOST_STATEMENTS + 1)
    with pytest.raises(InputError, match=r"statements and values; at most 2,000.*later message"):
        check_message(table, MOST)
    assert check_message(table, MOST, stated=False) == table.strip()


def _invented(word: str, count: int) -> list[str]:
    return [f"{word} {chr(97 + n // 26 % 26)}{chr(97 + n % 26)} here" for n in range(count)]


def test_statements_that_all_differ_are_fewer_and_those_of_the_case_so_far_count() -> None:
    some = ". ".join(_invented("pain", MOST_DIFFERENT // 2 + 1))
    assert check_message(some, MOST) == some
    with pytest.raises(InputError, match=r"different statements and values; at most 700"):
        check_message(some + ". " + some.replace("pain", "ache"), 2 * MOST)
    with pytest.raises(InputError, match=r"The case so far, with this message, makes .*Start a new session"):
        check_statements(some, "The case so far, with this message,", some.replace("pain", "ache"))


def test_a_case_that_grew_too_long_takes_no_more_and_is_kept(tmp_path: Path, encoder: Encoder) -> None:
    with Agent(home=tmp_path / "home", parts=replace(parts(Scripted()), triage=TriageLocal())) as agent:
        told = ". ".join(_invented("pain", MOST_DIFFERENT // 2))
        first = agent.ask(f"A man of 60 has chest pain. {told}")
        with pytest.raises(InputError, match="The case so far, with this message"):
            agent.ask(f"He has {told.replace('pain', 'ache')}", session=first.session)
        assert agent.ask("and a cough", session=first.session).turn == 2


def test_runs_of_white_space_become_short_and_a_table_keeps_its_columns() -> None:
    said = check_message(f"pain{' ' * 9_000}pain\n{' ' * 500}\n\n\n\n\nNa    140\nK     4.1", MOST)
    assert said == f"pain{' ' * GAP}pain\n\n\nNa    140\nK     4.1"

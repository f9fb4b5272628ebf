"""What the local tools cost is told from what is our own, once each, and nothing is watched afterwards."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import cast

from evals.bench.model import Turn, by_role, watching
from evals.scripted.process import ModelCall
from graphs.answering.contract import Answer
from support.machine_parts import Query, SearchTool, parts
from tools.contract import ToolContext

SPIN = 0.05  # seconds of processor


def spin() -> None:
    until = time.thread_time() + SPIN
    while time.thread_time() < until:
        pass


def of_a_tool() -> None:
    spin()


of_a_tool.__module__ = "tools.anywhere"


def test_threads_of_tools_are_counted_and_others_are_not() -> None:
    machine = parts()
    with watching(machine) as local:
        asyncio.run(_both(of_a_tool, spin))
        assert SPIN <= local.processor < 2 * SPIN
        assert len(local.intervals) == 1
        local.clear()
        assert (local.processor, local.intervals) == (0.0, [])


def test_the_graphs_look_up_and_the_run_of_a_tool_are_noted() -> None:
    tool = SearchTool()
    machine = replace(parts(tool=tool), look_up=spin)
    with watching(machine) as local:
        asyncio.run(_both(machine.look_up))
        asyncio.run(tool.run(Query(query="croup"), ToolContext(question="croup", kind="evidence")))
        assert local.processor >= SPIN
        assert len(local.intervals) == 2


def test_nested_work_is_counted_once() -> None:
    with watching(parts()) as local:
        inner = local.timed(spin)
        local.timed(inner)()
        assert SPIN <= local.processor < 2 * SPIN


def test_afterwards_everything_is_as_it_was() -> None:
    tool, original = SearchTool(), asyncio.to_thread
    with watching(parts(tool=tool)):
        assert asyncio.to_thread is not original
    assert asyncio.to_thread is original
    assert "run" not in vars(tool)


def test_counts_of_several_turns_are_told_as_means() -> None:
    said = "one two three four five six seven eight nine ten"
    first = [ModelCall("gaps", 0.0, 1.0, 100, 10, said), ModelCall("answer", 1.0, 2.0, 300, 10, said)]
    second = [ModelCall("answer", 0.0, 1.0, 200, 20, said)]
    turns = [Turn(cast(Answer, None), 0.0, 0.0, 0.0, calls) for calls in (first, second)]
    found = {f.name: (f.value, f.n, f.asked) for f in by_role("cases.", turns, {"calls": "at most 7"})}
    assert found["cases.calls"] == (1.5, 2, "at most 7")
    assert found["cases.calls_on_path"] == (1.5, 2, "")
    assert found["cases.tokens_in"] == (300, 2, "")
    assert found["cases.sent_before"] == (25, 2, ""), "half of the first turn, nothing of the second"
    assert (found["cases.calls.gaps"][0], found["cases.tokens.answer"][0]) == (0.5, 265)


async def _both(*functions: object) -> None:
    for function in functions:
        await asyncio.to_thread(function)  # type: ignore[arg-type]

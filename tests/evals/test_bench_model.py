"""What the local tools cost is told from what is our own, once each, and nothing is watched afterwards."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from evals.bench.model import watching
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


async def _both(*functions: object) -> None:
    for function in functions:
        await asyncio.to_thread(function)  # type: ignore[arg-type]

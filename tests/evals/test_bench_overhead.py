"""`dev bench overhead`: each way is asked as often, nothing is left out for good, ratios are of the plain way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import Settings
from agent.telemetry.contract import NoTelemetry
from agent.trace import TraceRecorder
from evals.bench.overhead import OPENED, ask, compare
from evals.contract import Item
from graphs.nodes import research
from support.machine_parts import parts

ITEMS = [Item(f"q/{n}", "q", ("how is croup treated?",), "", None) for n in range(4)]


def test_what_is_added_is_told_in_per_cent_of_the_plain_way() -> None:
    asked: list[tuple[str, int]] = []

    def way(name: str, seconds: float) -> object:
        def work(items: Sequence[Item]) -> None:
            asked.append((name, len(items)))
            until = time.process_time() + seconds
            while time.process_time() < until:
                pass

        return work

    figures = compare("toy", way("added", 0.03), way("without", 0.02), ITEMS, 2, 3)  # type: ignore[arg-type]
    values = {f.name: f.value for f in figures}
    assert values["toy.processor_added"] == pytest.approx(50, abs=10)
    assert values["toy.processor_again"] == pytest.approx(0, abs=10)
    assert values["toy.processor_added_from"] <= values["toy.processor_added"] <= values["toy.processor_added_to"]
    assert asked[0] == ("added", 4)  # what is made once is made before
    assert (asked[1:].count(("added", 2)), asked.count(("without", 2))) == (6, 12)


@pytest.mark.parametrize("of", OPENED)
def test_each_way_answers_and_leaves_the_agent_as_it_was(of: str, tmp_path: Path) -> None:
    if of == "log":
        pytest.importorskip("inspect_ai")
    before = (TraceRecorder.__init__, TraceRecorder.event, TraceRecorder.close, research._record)
    with Agent(Settings(home=tmp_path), parts=parts()) as agent, OPENED[of](agent) as (added, without):
        added(ITEMS[:1])
        without(ITEMS[:1])
        assert agent.sessions() == []
        assert isinstance(agent._turns.telemetry, NoTelemetry)
        ask(agent, ITEMS[:1])
    assert (TraceRecorder.__init__, TraceRecorder.event, TraceRecorder.close, research._record) == before


def test_no_trace_is_written_in_the_one_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Agent, "delete_session", lambda *_: None)
    with Agent(Settings(home=tmp_path), parts=parts()) as agent, OPENED["trace"](agent) as (added, without):
        without(ITEMS[:1])
        assert not list(agent.home.traces.rglob("*.jsonl"))
        added(ITEMS[:1])
        assert len(list(agent.home.traces.rglob("*.jsonl"))) == 1

"""The figures of `bench tracing`: what both ways have is taken off, and recording is really off in the one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import Settings
from agent.trace import TraceRecorder
from evals.bench.tracing import Measured, _timed, figures_of, untraced
from graphs.nodes import tools
from support.machine_parts import parts


def test_what_both_ways_have_counts_as_overhead() -> None:
    rows = [Measured(1.05, 1.01, 1.03, 1.01, 1.0201, 1.01, 0.04, 0.01, 4000)] * 3
    figures = {f.name: f.value for f in figures_of(rows)}
    assert figures["tracing.overhead"] == pytest.approx(5.0)
    assert figures["tracing.overhead_processor"] == pytest.approx(3.0)
    assert figures["tracing.same_twice"] == pytest.approx(1.0)
    assert figures["tracing.inside_recorder"] == pytest.approx(100 * 0.04 / 1.01)


def test_nothing_is_recorded_in_the_one_way_and_all_is_put_back(tmp_path: Path) -> None:
    before = (TraceRecorder.event, tools._record)
    with Agent(Settings(home=tmp_path), parts=parts()) as agent:
        question = {"text": "how is croup treated?"}
        with untraced():
            plain = _timed(agent, question)
        traced = _timed(agent, question)
    assert (plain.size, plain.events) == (0, [])
    assert traced.size > 1000
    assert 0 < traced.recording < traced.seconds
    assert (TraceRecorder.event, tools._record) == before

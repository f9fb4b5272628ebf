"""The figures of `anamnesis bench telemetry`, and what it tells again, over scripted turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.telemetry.turns import FollowedTurn
from evals.bench.telemetry import Block, figures_of, replay_figures, replayed, sink, taken
from support.machine_parts import parts


def test_the_share_is_of_the_turns_without() -> None:
    plain = Block(10.0, 8.0, 0.0)
    rows = [{"telemetry": Block(11.0, 8.4, 0.2), "without": plain, "again": plain} for _ in range(3)]
    found = {f.name: f for f in [*figures_of(rows, 30), *replay_figures([0.004, 0.006, 0.008], rows, 30)]}
    told = {name: found[name].value for name in ("telemetry.clock", "telemetry.processor", "telemetry.inside_turns")}
    expected = {"telemetry.clock": 10, "telemetry.processor": 5, "telemetry.inside_turns": 2.5}
    assert told == pytest.approx(expected)
    assert found["telemetry.same_twice_processor"].value == pytest.approx(0)
    assert (found["telemetry.own"].value, found["telemetry.own"].n) == (pytest.approx(6), 3)
    assert found["telemetry.own_share"].value == pytest.approx(100 * 0.006 / 0.8)


def test_real_turns_are_told_again_and_delivered(tmp_path: Path) -> None:
    original = FollowedTurn.event
    with sink() as url, Agent(home=tmp_path / "home", parts=parts()) as agent:
        seconds = replayed(agent, url, [{"text": "case of a cough"}, {"text": "hello"}])
        deliveries, size = taken(url)
        assert agent.sessions() == []
    assert FollowedTurn.event is original
    assert len(seconds) == 20
    assert all(0 < s < 1 for s in seconds)
    assert deliveries == 2 * 21  # traces and metrics of the turns, and of each repetition
    assert size > 21 * 200

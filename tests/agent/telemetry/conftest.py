"""A collector, and agents whose telemetry goes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from support.collector import Collector, collecting
from support.machine_parts import Scripted, parts

Open = Callable[..., Agent]


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A running collector."""
    with collecting() as running:
        yield running


@pytest.fixture
def opened(collector: Collector, tmp_path: Path) -> Iterator[Open]:
    """Opens agents of scripted judgements: ``opened(script, tool=..., share=0.0)``; closing one delivers all."""
    with ExitStack() as stack:

        def make(script: Scripted | None = None, tool: Any = None, **telemetry: Any) -> Agent:
            given = {"endpoint": collector.url, **telemetry}
            return stack.enter_context(Agent(home=tmp_path / "home", parts=parts(script, tool), telemetry=given))

        yield make

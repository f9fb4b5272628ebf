"""A server around an agent whose judgements are scripted: a turn takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from support.machine_parts import Scripted, parts
from support.served import Served, served

Start = Callable[..., Served]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests of a module."""
    with Agent(home=tmp_path_factory.mktemp("home"), parts=parts()) as agent, served(agent) as running:
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers of a test's own: ``start(pause={"answer": 1}, turns=2)``."""
    with ExitStack() as stack:

        def started(pause: dict[str, float] | None = None, authentication: bool = True, **settings: Any) -> Served:
            script = Scripted(pause=pause or {})
            agent = stack.enter_context(Agent(home=tmp_path / "home", parts=parts(script)))
            running = stack.enter_context(served(agent, authentication=authentication, **settings))
            running.script = script  # type: ignore[attr-defined]
            return running

        yield started

"""Fixtures of the page's tests: one server for all of them, one browser a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from support.browser import chromium
from support.homes import linked
from support.served import Served, served
from support.web_page import HEARTBURN, Kept, kept


@pytest.fixture(scope="session")
def page_server(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The real server around the real agent, in a data folder of its own."""
    home = linked(built_home, tmp_path_factory.mktemp("page") / "home")
    with Agent(home=home) as agent, served(agent) as running:
        yield running


@pytest.fixture(scope="session")
def heartburn(page_server: Served) -> Kept:
    """A case of heartburn with its answer."""
    return kept(page_server, HEARTBURN)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium. Playwright keeps a loop in this thread while it runs, so it ends with its module."""
    with chromium() as running:
        yield running

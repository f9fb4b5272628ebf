"""Chromium for the tests of the page: fresh windows, nothing but this machine, every request counted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from evals.bench import page
from prompts.errors import InputError

WIDTH, HEIGHT = 1280, 900  # of a window on a desk
PHONE = 360  # the narrowest width that must be readable
SECONDS = 30.0  # a step in the page takes at most so long, also on a busy machine
AXE = Path("node_modules/axe-core/axe.min.js")
EXPECTED = "the server responded with a status of"  # what the console says of any refused request


@dataclass
class Window:
    """A window with a profile of its own.

    Attributes:
        page: Playwright's page. requests: the address of every request that was made.
        errors: what the console holds against the page: scripts that fail, content that the policy refuses.
    """

    context: Any
    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def outside(self) -> list[str]:
        """Requests to any other host than this machine."""
        return [url for url in self.requests if urlsplit(url).hostname not in (None, "127.0.0.1", "localhost")]

    def wide(self, width: int) -> None:
        """Make the window this wide."""
        self.page.set_viewport_size({"width": width, "height": HEIGHT})

    def violations(self, axe: str) -> list[str]:
        """What axe-core finds."""
        session = self.context.new_cdp_session(self.page)
        session.send("Runtime.evaluate", {"expression": axe + ";0"})  # past the page's policy, as a tool may
        found = self.page.evaluate("async () => (await axe.run(document)).violations")
        session.detach()
        return [f"{v['id']}: {n['html'][:200]}" for v in found for n in v["nodes"]]

    def _heard(self, message: Any) -> None:
        if message.type == "error" and EXPECTED not in message.text:
            self.errors.append(message.text)


def axe_source() -> str:
    """The text of axe-core: the file ANAMNESIS_AXE, or the one in node_modules; skips where there is neither."""
    file = Path(os.environ.get("ANAMNESIS_AXE") or AXE)
    if not file.is_file():
        pytest.skip("there is no axe-core (npm install axe-core, or ANAMNESIS_AXE=.../axe.min.js)")
    return file.read_text(encoding="utf-8")


def expecting(locator: Any) -> Any:
    """Playwright's assertions of a locator, which wait; a page's policy forbids the script of `wait_for_function`."""
    from playwright.sync_api import expect

    expect.set_options(timeout=1000 * SECONDS)
    return expect(locator)


@contextmanager
def chromium() -> Iterator[Any]:
    """A running Chromium with an empty profile; skips where it or Playwright is not installed."""
    with ExitStack() as stack:
        try:
            running = stack.enter_context(page.chromium())
        except InputError as lacking:
            pytest.skip(str(lacking))
        yield running


@contextmanager
def window(running: Any, **options: Any) -> Iterator[Window]:
    """A fresh window; ``options`` are Playwright's (color_scheme, locale, viewport ...)."""
    size = {"width": WIDTH, "height": HEIGHT}
    context = running.new_context(**{"viewport": size, "locale": "en-GB", "reduced_motion": "reduce", **options})
    context.set_default_timeout(SECONDS * 1000)
    opened = Window(context, context.new_page())
    context.on("request", lambda request: opened.requests.append(request.url))
    opened.page.on("console", opened._heard)
    opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
    try:
        yield opened
    finally:
        context.close()

"""A conversation on the web page, with real keys and clicks: what a reader sees of the answers."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from graphs.answering.contract import Answer

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
PATIENCE = 300_000  # milliseconds for a step; ours
HERE = ("127.0.0.1", "localhost", None)
NUMBER = re.compile(r"\[(\d+)\]")
EXPECTED = "the server responded with a status of"  # what the console says of any refused request


class Shown(NamedTuple):
    """An answer on the page: diseases by name, best first; what is cited with its quotes, by statement."""

    turn: int
    diseases: tuple[str, ...]
    citations: tuple[tuple[str, str], ...]


class Conversation(NamedTuple):
    """All turns, requests that the page made, those of them to other hosts, and what its console complained of."""

    turns: list[Shown]
    requests: int
    outside: int
    errors: list[str]


def reason() -> str:
    """Why there is no browser, "" where there is one."""
    if find_spec("playwright") is None:
        return "playwright is not installed (pip install 'anamnesis[dev]')"
    return "" if _browser() else "there is no chromium (Debian: apt-get install chromium)"


def as_shown(answer: Answer) -> Shown:
    """What the page is to show of an answer: of a statement, each quote once, by its source."""
    cited = [sorted({(c.evidence_id, c.quote) for c in statement.citations}) for statement in answer.statements]
    return Shown(
        answer.turn, tuple(d.name for d in answer.differential), tuple(pair for each in cited for pair in each)
    )


def conversation(url: str, key: str, messages: Sequence[str]) -> Conversation:
    """Log in, say the messages one after another, and read the answers as they stand on the page."""
    from playwright.sync_api import sync_playwright

    requests: list[str] = []
    errors: list[str] = []

    def heard(message: Any) -> None:
        if message.type == "error" and EXPECTED not in message.text:
            errors.append(message.text)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser(), args=list(FLAGS), headless=True)
        context = browser.new_context(locale="en-GB", reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        page.locator("#key").fill(key)
        page.keyboard.press("Enter")
        page.locator(".welcome").wait_for()
        turns = [_said(page, number, text) for number, text in enumerate(messages, start=1)]
        browser.close()
    outside = [request for request in requests if urlsplit(request).hostname not in HERE]
    return Conversation(turns, len(requests), len(outside), errors)


def _said(page: Any, number: int, text: str) -> Shown:
    page.locator("#message").fill(text)
    page.keyboard.press("Enter")
    answer = page.locator(".answer").nth(number - 1)
    answer.wait_for()
    return Shown(number, tuple(_diseases(answer)), tuple(_citations(page, answer)))


def _diseases(answer: Any) -> list[str]:
    more = answer.locator(".differential-box > button")
    if more.count() and more.is_visible():
        more.click()
    names: list[str] = answer.locator(".differential tbody th.disease").evaluate_all(
        "(cells) => cells.map((cell) => cell.firstChild.textContent)"
    )
    return names


def _citations(page: Any, answer: Any) -> list[tuple[str, str]]:
    """Every quote that the buttons of the statements open."""
    ids = {
        NUMBER.findall(card.locator(".number").inner_text())[0]: card.locator("code").first.inner_text()
        for card in answer.locator(".sources > .cards > .card").all()
    }
    found: list[tuple[str, str]] = []
    for statement in answer.locator(".said").all():
        cited = set()
        for button in statement.locator(".cite").all():
            button.click()
            opened = page.locator(f"#{button.get_attribute('aria-controls')}")
            source = ids[NUMBER.findall(opened.locator(".number").inner_text())[0]]
            cited |= {(source, quote) for quote in opened.locator("mark").all_text_contents()}
        found += sorted(cited)
    return found


def _browser() -> str | None:
    return os.environ.get("ANAMNESIS_CHROMIUM") or shutil.which("chromium")

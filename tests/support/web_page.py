"""Doing on the page what a person does: logging in, sending a message, opening a quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from support.browser import Window, window
from support.served import Served

HEARTBURN = (
    "A 45-year-old woman has had burning chest discomfort after meals for three weeks, worse lying down. "
    "She takes ibuprofen for knee pain. No fever."
)
INFARCTION = (
    "A 58-year-old man has had crushing central chest pain for 40 minutes. It spreads to his left arm and jaw, "
    "came on at rest, and he is sweating and nauseated. He smokes. No fever, no cough."
)
ALL = ("ask", "review", "traces")


@contextmanager
def logged_in(browser: Any, server: Served, scopes: tuple[str, ...] = ALL, **options: Any) -> Iterator[Window]:
    """A window of somebody who has logged in; the key's text is its ``key``."""
    with window(browser, **options) as opened:
        opened.key = server.key("Dr Adams", scopes)  # type: ignore[attr-defined]
        log_in(opened.page, server.url, opened.key)  # type: ignore[attr-defined]
        yield opened


def log_in(page: Any, url: str, key: str, session: str = "") -> None:
    """Go to the page, or to a session with an answer, and log in."""
    page.goto(f"{url}/#/s/{session}" if session else url)
    page.locator("#key").fill(key)
    page.keyboard.press("Enter")
    page.locator(".answer" if session else ".welcome").first.wait_for()


class Kept(NamedTuple):
    """A session that was answered once, for all that only read it, and the key of whoever asked."""

    key: str
    session: str


def kept(server: Served, message: str) -> Kept:
    """A message asked by the API."""
    key = server.key("Dr Adams", ALL)
    with server.client(key) as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        client.post(f"/api/sessions/{session}/turns", json={"text": message}).raise_for_status()
    return Kept(key, session)


@contextmanager
def reading(browser: Any, server: Served, held: Kept, **options: Any) -> Iterator[tuple[Window, Any]]:
    """A window on a session that others read too, and its answer; the key's text is its ``key``."""
    with window(browser, **options) as opened:
        opened.key = held.key  # type: ignore[attr-defined]
        log_in(opened.page, server.url, held.key, held.session)
        yield opened, answer(opened.page, 0)


def say(page: Any, text: str) -> Any:
    """Send a message and wait for its answer, which is given back."""
    before = page.locator(".answer").count()
    page.locator("#message").fill(text)
    page.keyboard.press("Enter")
    return answer(page, before)


def answer(page: Any, place: int) -> Any:
    """The answer at a place, from 0, once it is there."""
    found = page.locator(".answer").nth(place)
    found.wait_for()
    return found


def session_of(page: Any) -> str:
    """The id of the session that is open."""
    found = re.search(r"#/s/([^/]+)$", page.url)
    assert found, f"no session is open at {page.url}"
    return found[1]

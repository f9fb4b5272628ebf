"""Stopping a turn on the page, editing the last message, and what is seen of an answer before it is whole."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from agent.agent import Agent
from graphs.answering.contract import Draft
from support.machine_parts import Scripted, parts
from support.served import Served, served
from support.web_page import answer, logged_in, say, session_of

LONG = 30.0  # seconds of an answer that somebody stops


@pytest.fixture(scope="module")
def script() -> Scripted:
    return Scripted()


@pytest.fixture(scope="module")
def slow_server(script: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose answers take as long as the script says."""
    with Agent(home=tmp_path_factory.mktemp("home"), parts=parts(script)) as agent, served(agent) as running:
        yield running


def asked(server: Served, key: str, session: str) -> list[str]:
    with server.client(key) as client:
        return [turn["asked"] for turn in client.get(f"/api/sessions/{session}").json()["turns"]]


def send(page: Any, script: Scripted, text: str) -> None:
    """Send a message whose answer takes long, and wait for the work on it to begin."""
    before, script.pause["answer"] = script.log.count("answer"), LONG
    page.locator("#message").fill(text)
    page.keyboard.press("Enter")
    until = time.monotonic() + LONG
    while script.log.count("answer") == before:
        assert time.monotonic() < until
        page.wait_for_timeout(20)


@pytest.mark.parametrize("by", ["button", "Escape"])
def test_a_turn_is_stopped_and_its_message_edited_and_sent_again(
    slow_server: Served, script: Scripted, browser: Any, by: str
) -> None:
    with logged_in(browser, slow_server) as opened:
        page = opened.page
        assert not page.get_by_role("button", name="Stop").is_visible()
        send(page, script, "crup")
        if by == "Escape":
            page.keyboard.press("Escape")
        else:
            page.get_by_role("button", name="Stop").click()
        stopped = answer(page, 0)
        assert "Stopped: no answer was written" in stopped.inner_text()
        assert not page.get_by_role("button", name="Stop").is_visible()
        script.pause.clear()
        page.reload()
        assert "Stopped" in answer(page, 0).inner_text()
        page.get_by_role("button", name="Edit").click()
        assert page.locator("#message").input_value() == "crup"
        assert page.get_by_text("Your last message and its answer are replaced").is_visible()
        page.locator("#message").fill("croup")
        page.keyboard.press("Enter")
        page.get_by_text("A fact about croup.").first.wait_for()
        assert page.locator(".turn").count() == 1
        assert asked(slow_server, opened.key, session_of(page)) == ["croup"]
        say(page, "croup in winter")
        assert page.locator(".turn").count() == 2
        assert opened.errors == []


def test_only_the_last_message_is_edited_and_an_edit_may_be_left(
    slow_server: Served, script: Scripted, browser: Any
) -> None:
    script.pause.clear()
    with logged_in(browser, slow_server) as opened:
        page = opened.page
        say(page, "croup")
        say(page, "case cough")
        assert page.get_by_role("button", name="Edit").count() == 1
        page.locator(".turn").nth(1).get_by_role("button", name="Edit").click()
        page.keyboard.press("Escape")
        assert page.locator("#message").input_value() == ""
        say(page, "why")
        assert asked(slow_server, opened.key, session_of(page)) == ["croup", "case cough", "why"]
        page.locator(".turn").nth(2).get_by_role("button", name="Edit").click()
        with slow_server.client(opened.key) as client:
            client.put(f"/api/sessions/{session_of(page)}/turns/3/review", json={"verdict": "accepted"})
        page.keyboard.press("Enter")
        page.get_by_text("A clinician has reviewed the answer").wait_for()
        assert asked(slow_server, opened.key, session_of(page)) == ["croup", "case cough", "why"]
        assert page.locator(".answer").count() == 3, "the answer that stays is shown again"
        page.reload()
        answer(page, 2)
        assert page.get_by_role("button", name="Edit").count() == 0, "what a clinician has reviewed stays"


def test_a_verified_sentence_is_seen_while_the_report_is_verified_and_stays(
    slow_server: Served, script: Scripted, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.pause.clear()
    gate, before = threading.Event(), Draft()

    async def verify(draft: Draft, evidence: Any) -> Draft:
        nonlocal before
        if before.statements and not await asyncio.to_thread(gate.wait, LONG):
            raise RuntimeError("nobody opened the gate")
        before = draft
        return draft

    monkeypatch.setattr(script, "verify", verify)
    told = "A fact about croup."
    with logged_in(browser, slow_server) as opened:
        page = opened.page
        page.locator(".composer .with").click()
        page.locator("#report").check()
        page.locator("#message").fill("case cough")
        page.keyboard.press("Enter")
        early = page.locator(".live .verified")
        early.wait_for()
        assert page.locator(".answer").count() == 0
        assert early.locator(".lead").inner_text().splitlines()[-1] == f"{told} [1]"
        place = early.locator(".statement").bounding_box()
        assert page.locator(".live .working").is_visible(), "the turn goes on, and says so"
        gate.set()
        shown = answer(page, 0)
        assert page.locator(".live").count() == 0
        final = shown.locator(".lead .statement")
        assert told in final.inner_text()
        assert final.bounding_box() == pytest.approx(place, abs=0.5), "nothing jumps"
        assert opened.errors == []


def test_the_colours_are_chosen_and_stay(slow_server: Served, browser: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with logged_in(browser, slow_server, color_scheme="light") as opened:
        page = opened.page
        light = page.evaluate(ground)
        page.get_by_label("Colours").select_option("dark")
        dark = page.evaluate(ground)
        assert dark != light
        page.reload()
        page.locator(".welcome").wait_for()
        assert page.evaluate(ground) == dark
        assert page.get_by_label("Colours").input_value() == "dark"
        page.locator("#language").select_option("zh")
        assert page.get_by_label("颜色").inner_text().split() == ["自动", "浅色", "深色"]
        page.emulate_media(color_scheme="dark")
        page.get_by_label("颜色").select_option("light")
        assert page.evaluate(ground) == light
        page.get_by_label("颜色").select_option("")
        assert page.evaluate(ground) == dark, "as the system is"
        assert opened.errors == []

"""The page for everybody: keyboard alone, a screen reader's landmarks, a phone's width, dark, and axe-core's rules."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser import PHONE, axe_source, expecting, window
from support.served import Served
from support.web_page import HEARTBURN, INFARCTION, Kept, answer, logged_in, reading, say

LANDMARKS = "[...document.querySelectorAll('header, nav, main')].filter((e) => e.offsetParent).map((e) => e.localName)"
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (PHONE, "dark")])
def test_axe_finds_nothing(page_server: Served, browser: Any, scheme: str, width: int) -> None:
    axe = axe_source()
    size = {"width": width, "height": 800}
    with window(browser, color_scheme=scheme, viewport=size) as opened:
        opened.page.goto(page_server.url)
        opened.page.locator("#key").wait_for()
        assert opened.violations(axe) == [], "log-in"
    with logged_in(browser, page_server, color_scheme=scheme, viewport=size) as opened:
        page = opened.page
        assert opened.violations(axe) == [], "a new session"
        shown = say(page, INFARCTION)
        shown.locator(".cite").first.click()
        assert opened.violations(axe) == [], "an emergency, a quote open"
        closed = page.locator("details:not([open]) > summary:visible")
        while closed.count():  # an opened part may hold others
            closed.first.click()
        page.locator(".trace tbody tr").first.wait_for()
        assert opened.violations(axe) == [], "everything open"
        assert page.evaluate(SIDEWAYS) <= 0, "the page scrolls sideways"
        if width == PHONE:
            page.get_by_role("button", name="Sessions").click()
        page.get_by_role("button", name="New session").wait_for()
        assert opened.violations(axe) == [], "the list of sessions"
        assert opened.outside() == []


def test_a_keyboard_alone_does_it_all(page_server: Served, browser: Any) -> None:
    with window(browser) as opened:
        page, press = opened.page, opened.page.keyboard.press
        page.goto(page_server.url)
        page.locator("#key").wait_for()
        page.keyboard.type(page_server.key())  # the focus is there already
        press("Enter")
        page.locator(".welcome").wait_for()
        page.keyboard.type(HEARTBURN)
        press("Shift+Enter")
        page.keyboard.type("She is worried.")
        press("Enter")
        shown = answer(page, 0)
        assert "She is worried." in page.locator(".message").inner_text()
        page.reload()
        shown = answer(page, 0)
        press("Tab")
        assert focused(page, "className") == "skip"
        press("Enter")
        assert focused(page, "id") == "main"
        reached = tab_until(page, lambda: focused(page, "className").startswith("cite"))
        assert reached < 15, "the way to the first citation is long"
        press("Enter")
        assert shown.locator("mark").first.is_visible()
        tab_until(page, lambda: focused(page, "textContent") == "Nowhere")
        press("Enter")
        answer(page, 1)
        assert opened.errors == []


def test_the_page_has_its_landmarks_and_one_heading_of_the_first_rank(
    page_server: Served, browser: Any, heartburn: Kept
) -> None:
    with reading(browser, page_server, heartburn) as (opened, _):
        assert opened.page.evaluate(LANDMARKS) == ["header", "nav", "main"]
        assert opened.page.locator("h1").count() == 1
        assert opened.page.get_by_role("article", name="Turn 1").count() == 1
        table = opened.page.get_by_role("table", name="Differential")
        assert table.get_by_role("columnheader").all_inner_texts() == [
            "Rank",
            "Disease",
            "Share",
            "For",
            "Against",
        ]


def test_on_a_phone_the_list_opens_and_closes_and_the_differential_stays_a_table(
    page_server: Served, browser: Any, heartburn: Kept
) -> None:
    with reading(browser, page_server, heartburn, viewport={"width": PHONE, "height": 740}) as (opened, _):
        page = opened.page
        assert page.get_by_role("table", name="Differential").get_by_role("row").count() == 6
        menu = page.get_by_role("button", name="Sessions")
        assert menu.get_attribute("aria-expanded") == "false"
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        place = page.evaluate("window.scrollY")
        menu.evaluate("(button) => button.click()")  # a click of the test's own would scroll first
        expecting(page.locator(".session").first).to_be_in_viewport()
        page.locator(".session").first.focus()
        page.keyboard.press("Escape")
        assert page.locator(".session").first.is_hidden()
        assert focused(page, "id") == "menu"
        assert page.evaluate("window.scrollY") == place > 0, "what was read is lost"


def focused(page: Any, what: str) -> str:
    """A property of the element that has the focus."""
    return str(page.evaluate("(what) => document.activeElement[what]", what))


def tab_until(page: Any, there: Any, most: int = 80) -> int:
    """Presses of Tab until something holds."""
    for pressed in range(1, most):
        page.keyboard.press("Tab")
        if there():
            return pressed
    raise AssertionError("the keyboard does not come there")

"""The page as a browser sees it: when a cold page shows something and takes a word, its bytes, and its pictures.

The server is `anamnesis serve` in a process of its own; the browser is Chromium, headless, with an empty profile each
time. Times are the browser's own (Paint Timing, Event Timing, Layout Instability, Resource Timing).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

import typer

from evals.bench.frame import Figure, built_homes, figures_of, report, told
from evals.bench.serving import serving
from evals.commands import JsonFile
from prompts.errors import InputError

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
DESK = {"width": 1280, "height": 900}  # ours: a window on a desk
PHONE = {"width": 390, "height": 844}  # ours: a phone of common size
PATIENCE = 120_000  # ms for a step; ours: a busy machine is slow, not wrong
QUESTION = "Do antibiotics help in acute bronchitis?"
CASE = (
    "A 45-year-old woman has had burning behind the breastbone after meals for three weeks. It is worse lying down, "
    "and sour fluid comes up into her mouth. No fever."
)
URGENT = "58岁男性，胸骨后压榨样疼痛40分钟，向左臂和下颌放射，静息时出现，伴出汗和恶心。吸烟。无发热，无咳嗽。"
WATCH = """
window.moved = 0; window.waited = 0;
new PerformanceObserver((l) => l.getEntries().forEach((e) => { if (!e.hadRecentInput) moved += e.value; }))
  .observe({type: 'layout-shift', buffered: true});
new PerformanceObserver((l) => l.getEntries().forEach((e) => { waited = Math.max(waited, e.duration); }))
  .observe({type: 'event', durationThreshold: 16, buffered: true});
const since = (what, name) => new MutationObserver((_, self) => {
  if (document.querySelector(what)) { window[name] = performance.now(); self.disconnect(); }
}).observe(document, {childList: true, subtree: true});
since('#key, #message', 'ready'); since('.live .steps li', 'step'); since('.answer', 'answered');
"""
LOADED = """() => {
  const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const own = all.filter((e) => !e.name.includes('/api/'));
  return {paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, ready: window.ready,
    bytes: own.reduce((n, e) => n + e.transferSize, 0), requests: own.length, moved: window.moved};
}"""


class Load(NamedTuple):
    """A cold page: ms to its first content and until it takes a word; bytes and requests; how far things moved."""

    paint: float
    ready: float
    bytes: float
    requests: float
    moved: float


class Use(NamedTuple):
    """A message: the longest ms from a key to the next frame; ms from sending to the first step and to the answer."""

    key: float
    step: float
    answer: float


def command(
    rounds: Annotated[int, typer.Option(min=1, help="How often the page is opened cold.")] = 7,
    pictures: Annotated[
        Path | None, typer.Option(help="Draw the pictures of the docs into this folder instead.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Measure the page in Chromium, or draw its pictures."""
    with built_homes(1) as (home,), serving(home) as site, chromium() as browser:
        (key,) = site.keys(1)
        if pictures is not None:
            pictures.mkdir(parents=True, exist_ok=True)
            for name in draw(browser, site.urls[0], key, pictures):
                typer.echo(f"{pictures / name} is drawn.")
        else:
            report(measure(browser, site.urls[0], key, rounds), json_file)


@contextmanager
def chromium() -> Iterator[Any]:
    """A running Chromium; raises InputError where it or Playwright is not there."""
    path = os.environ.get("ANAMNESIS_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise InputError(
            "There is no Chromium.", "Install it (Debian: apt-get install chromium), or name it: ANAMNESIS_CHROMIUM."
        )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise InputError("Playwright is not installed.", "pip install 'anamnesis[dev]'") from None
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS, headless=True)
        try:
            yield running
        finally:
            running.close()


def measure(browser: Any, url: str, key: str, rounds: int) -> list[Figure]:
    """Medians over cold pages, each with one message."""
    loads: list[Load] = []
    uses: list[Use] = []
    for n in range(rounds):
        told("page", n + 1, rounds)
        with opened(browser) as page:
            page.goto(url)
            page.locator("#key").wait_for()
            loads.append(Load(**page.evaluate(LOADED)))
            log_in(page, key)
            uses.append(_used(page))

    return figures_of(
        "page, ",
        rounds,
        ("first content", median([load.paint for load in loads]), "ms"),
        ("takes a word", median([load.ready for load in loads]), "ms"),
        ("sent", median([load.bytes for load in loads]) / 1000, "kB"),
        ("requests", median([load.requests for load in loads]), ""),
        ("layout shift", max(load.moved for load in loads), ""),
        ("a key to the next frame, longest", max(use.key for use in uses), "ms"),
        ("first step after sending", median([use.step for use in uses]), "ms", "under 100 ms"),
        ("answer after sending", median([use.answer for use in uses]), "ms"),
    )


def _used(page: Any) -> Use:
    """A message written key by key and sent. A key that is drawn within a frame is not told by the browser: 16 ms."""
    page.locator("#message").press_sequentially(QUESTION)
    key = max(16.0, float(page.evaluate("window.waited")))
    sent = page.evaluate("performance.now()")
    page.keyboard.press("Enter")
    page.locator(".answer").wait_for()
    step, answered = page.evaluate("[window.step ?? window.answered, window.answered]")
    return Use(key, step - sent, answered - sent)


def draw(browser: Any, url: str, key: str, folder: Path) -> Iterator[str]:
    """Draw every picture that the docs show; their names."""
    for name, (options, show) in PICTURES.items():
        with opened(browser, **options) as page:
            page.goto(url)
            log_in(page, key)
            show(page)
            page.evaluate("document.fonts.ready")
            page.screenshot(path=folder / name, animations="disabled", caret="hide")
            yield name


@contextmanager
def opened(browser: Any, **options: Any) -> Iterator[Any]:
    """A page of an empty profile, which nothing was asked of yet."""
    chosen = {"viewport": DESK, "locale": "en-GB", "reduced_motion": "reduce", **options}
    context = browser.new_context(**chosen)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.add_init_script(WATCH)
    try:
        yield page
    finally:
        context.close()


def log_in(page: Any, key: str) -> None:
    """Enter a key."""
    page.locator("#key").fill(key)
    page.keyboard.press("Enter")
    page.locator(".welcome").wait_for()


def _say(page: Any, text: str) -> Any:
    page.locator("#message").fill(text)
    page.keyboard.press("Enter")
    answer = page.locator(".answer")
    answer.wait_for()
    return answer


def _quote(page: Any) -> None:
    """An answer, its first quote open."""
    answer = _say(page, QUESTION)
    answer.locator(".cite").first.click()
    answer.locator("mark").first.wait_for()
    page.locator(".message").last.evaluate("(e) => e.scrollIntoView({block: 'start'})")


def _differential(page: Any) -> None:
    answer = _say(page, CASE)
    answer.locator(".differential").first.wait_for()
    page.locator(".message").last.evaluate("(e) => e.scrollIntoView({block: 'start'})")


def _urgent(page: Any) -> None:
    _say(page, URGENT).locator(".emergency").first.wait_for()
    page.locator(".message").last.evaluate("(e) => e.scrollIntoView({block: 'start'})")


PICTURES: dict[str, tuple[dict[str, Any], Callable[[Any], None]]] = {
    "page-quote.png": ({}, _quote),
    "page-differential.png": ({}, _differential),
    "page-chinese.png": ({"locale": "zh-CN"}, _urgent),
    "page-phone.png": ({"viewport": PHONE}, _quote),
}
"""File name -> Playwright's options of the window, and what is done in it."""

"""The page with real clicks, on the real server: what it shows is what the API holds."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from agent.loop import run
from support.browser import expecting, window
from support.served import Served
from support.web_page import HEARTBURN, INFARCTION, Kept, answer, log_in, logged_in, reading, say, session_of

WATCH = """
window.seen = [];
new MutationObserver(() => {
  const live = document.querySelector('.live');
  if (!live || window.seen.length > 500) return;
  const count = (what) => live.querySelectorAll(what).length;
  window.seen.push([count('.steps li'), count('.unit'), count('.differential tbody tr'), count('.count'),
    count('.emergency[role=alert]')]);
}).observe(document, {childList: true, subtree: true});
window.told = [];
document.addEventListener('DOMContentLoaded', () => new MutationObserver(() =>
  window.told.push(document.getElementById('status').textContent)
).observe(document.getElementById('status'), {childList: true}));
"""


def whole(server: Served, key: str, session: str) -> dict[str, Any]:
    with server.client(key) as client:
        found: dict[str, Any] = client.get(f"/api/sessions/{session}").json()
        return found


def test_a_wrong_key_is_refused_with_advice_and_a_right_one_leaves_no_trace_for_scripts(
    page_server: Served, browser: Any
) -> None:
    with window(browser) as opened:
        page = opened.page
        page.goto(page_server.url)
        assert "“anamnesis serve” prints a link that logs you in" in page.locator("#key-hint").inner_text()
        page.get_by_label("Key").fill("ana_000000000000_" + "x" * 43)
        page.get_by_role("button", name="Log in").click()
        assert "The key is not known" in page.get_by_role("alert").inner_text()
        assert "What to do" in page.get_by_role("alert").inner_text()
        log_in(page, page_server.url, page_server.key())
        assert page.evaluate("document.cookie + JSON.stringify(localStorage)") == "{}"
        assert page.get_by_role("button", name="New session").is_visible()
        page.get_by_role("button", name="Log out").click()
        page.locator("#key").wait_for()
        assert not page.get_by_role("button", name="New session").is_visible()
        assert page.evaluate("fetch('api/me').then((r) => r.status)") == 401


def test_a_turn_is_shown_as_it_happens_and_then_as_the_api_holds_it(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        page.add_init_script(WATCH)
        page.reload()
        page.locator(".welcome").wait_for()
        shown = say(page, HEARTBURN)
        seen, told = page.evaluate("[window.seen, window.told]")
        (turn,) = whole(page_server, opened.key, session_of(page))["turns"]
        held = turn["answer"]

        assert max(s[0] for s in seen) > min(s[0] for s in seen), "no step was shown while the turn ran"
        assert [max(s[i] for s in seen) > 0 for i in (1, 2, 3)] == [True] * 3, "gate, differential, evidence: live"
        assert len(told) <= 4, f"a screen reader hears too much: {told}"
        assert "The answer is here" in told[-1]
        assert held["follow_up_questions"][0]["text"] in told[-1]

        assert held["differential"][0]["name"] in shown.locator(".lead").inner_text()
        texts = [line.strip() for line in shown.inner_text().splitlines() if line.strip()]
        assert held["differential"][0]["name"] in texts[1], "below the unseen heading nothing stands above the answer"
        cited = {c["evidence_id"] for s in held["statements"] for c in s["citations"]}
        opened_by = shown.locator(".cite").all()
        assert len(opened_by) >= len({e.split("@")[0] for e in cited}), "a citation is lost"
        rows = shown.locator(".differential tbody tr")
        assert rows.first.locator("th").inner_text().startswith(held["differential"][0]["name"])
        shown.get_by_role("button", name=re.compile("Show all")).click()
        assert rows.count() == len(held["differential"])
        assert held["differential"][0]["findings_for"][0] in rows.first.inner_text()
        folded = shown.text_content()
        untold = {n["code"] for n in held["notices"] if n["text"] not in folded}
        assert untold <= {"gaps_left_open"}, "under an answer nothing but what a search for more left open is left out"
        assert shown.locator(".box").count() <= 1
        assert opened.outside() == []
        assert opened.errors == []


def test_a_citation_opens_its_exact_quote_by_click_and_by_key(
    page_server: Served, browser: Any, heartburn: Kept
) -> None:
    with reading(browser, page_server, heartburn) as (opened, shown):
        page = opened.page
        (turn,) = whole(page_server, opened.key, session_of(page))["turns"]
        quotes = [c["quote"] for c in turn["answer"]["statements"][0]["citations"]]
        button = shown.locator(".cite").first
        assert button.get_attribute("aria-expanded") == "false"
        button.click()
        place = page.locator(f"#{button.get_attribute('aria-controls')}")
        assert place.locator("mark").all_inner_texts() == quotes
        text = next(e for e in turn["answer"]["evidence"] if e["title"] in place.inner_text())["text"]
        assert place.locator(".source-text").text_content() == text
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        page.keyboard.press("Escape")
        assert place.is_hidden()
        page.keyboard.press("Enter")
        assert place.locator("mark").first.is_visible()
        place.get_by_role("button", name="Close").click()
        assert place.is_hidden()
        assert page.evaluate("document.activeElement.className").startswith("cite"), "the focus is lost"


def test_a_follow_up_question_is_answered_by_a_button(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        first = say(page, HEARTBURN)
        asked = first.locator(".question").inner_text()
        places = first.locator(".replies .reply").all_inner_texts()[:-2]
        why = first.locator(".follow-up > .muted").inner_text()
        assert places
        assert all(place.lower() in why.lower() for place in places)
        first.get_by_role("button", name="Nowhere").click()
        second = answer(page, 1)
        assert page.evaluate("document.activeElement.textContent") == "Turn 2", "the focus is lost"
        assert first.locator(".reply").count() == 0
        assert asked in first.locator(".follow-up").inner_text()
        assert second.get_by_role("button", name="Yes").is_visible()
        second.get_by_role("button", name="Not known").click()
        answer(page, 2)
        turns = whole(page_server, opened.key, session_of(page))["turns"]
        assert [t["asked"] for t in turns] == [HEARTBURN, "no", "I don't know"]


def test_a_session_is_renamed_exported_and_deleted_only_when_confirmed(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "Does smoking cessation slow the progression of COPD?")
        session = session_of(page)
        assert not page.get_by_role("button", name="Rename").is_visible(), "what is rarely done is folded away"
        page.locator(".menu summary").click()
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("Title").fill("<b>COPD</b> & smoking")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="<b>COPD</b> & smoking").wait_for()
        page.locator(".session-title", has_text="<b>COPD</b> & smoking").wait_for()
        page.locator(".menu summary").click()
        with page.expect_download() as saved:
            page.get_by_role("link", name="Export as JSON").click()
        exported = json.loads(Path(saved.value.path()).read_text())
        assert session in json.dumps(exported)
        with page.expect_download() as saved:
            page.get_by_role("link", name="Export as Markdown").click()
        assert "COPD" in Path(saved.value.path()).read_text()

        page.reload()
        answer(page, 0)
        page.locator(".menu summary").click()
        page.get_by_role("button", name="Delete").click()
        expecting(page.get_by_role("button", name="Cancel")).to_be_focused()
        assert "its documents, ratings, reviews" in page.get_by_role("dialog").inner_text()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").wait_for(state="detached")
        assert whole(page_server, opened.key, session)["session"]["title"] == "<b>COPD</b> & smoking"
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        page.locator(".welcome").wait_for()
        assert whole(page_server, opened.key, session)["error"]["code"] == "no_session"
        page.goto(f"{page_server.url}/#/s/{session}")
        told = page.get_by_role("alert")
        told.wait_for()
        assert "Choose a session in the list" in told.inner_text()
        assert "anamnesis" not in told.inner_text(), "a command helps nobody who reads the page"
        page.locator(".session").wait_for(state="detached")


def test_an_emergency_stands_first_and_its_review_is_kept(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        page.add_init_script(WATCH)
        page.reload()
        page.locator(".welcome").wait_for()
        shown = say(page, INFARCTION)
        assert max(s[4] for s in page.evaluate("window.seen")) == 1, "it is spoken while the turn still runs"
        assert shown.get_by_role("alert").count() == 0, "and only once"
        text = shown.inner_text()
        assert text.index("EMERGENCY") < text.index("Myocardial infarction") < text.index("A clinician must review")
        assert "Call your local emergency number now" in shown.locator("div.emergency").inner_text()
        shown.get_by_text("Review this answer", exact=True).click()
        shown.get_by_label("Correct", exact=True).check()
        shown.get_by_role("button", name="Save the review").click()
        assert "Write the correction" in shown.locator(".problem").inner_text()
        shown.get_by_label("Correction").fill("An <i>ECG</i> first.")
        shown.get_by_role("button", name="Save the review").click()
        shown.get_by_text("Corrected by Dr Adams").wait_for()
        assert shown.locator("blockquote").inner_text() == "An <i>ECG</i> first."
        held = whole(page_server, opened.key, session_of(page))["turns"][0]["review"]
        assert (held["verdict"], held["correction"]) == ("corrected", "An <i>ECG</i> first.")
        page.reload()
        answer(page, 0).get_by_text("Corrected by Dr Adams").wait_for()


def test_a_key_without_scopes_is_offered_neither_review_nor_trace(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server, ("ask",)) as opened:
        shown = say(opened.page, INFARCTION)
        assert "A clinician must review" in shown.inner_text()
        assert shown.locator(".review form").count() == 0
        assert opened.page.get_by_text("Trace of this turn").count() == 0


def test_the_trace_is_a_table(page_server: Served, browser: Any, heartburn: Kept) -> None:
    with reading(browser, page_server, heartburn) as (opened, shown):
        page = opened.page
        shown.locator(".how > summary").click()
        page.get_by_text("Trace of this turn").click()
        rows = page.locator(".trace tbody tr")
        rows.first.wait_for()
        with page_server.client(opened.key) as client:
            events = client.get(f"/api/sessions/{session_of(page)}/turns/1/trace").json()["events"]
        assert rows.count() == len(events)
        assert "lookup_differential" in page.locator(".trace").inner_text()
        reasons = [d["reason"] for e in events if e["kind"] == "selection" for d in e["dropped"]]
        told = "".join(page.locator(".trace .details").all_text_contents()).replace("… Details", "")
        assert all(json.dumps(reason, ensure_ascii=False)[1:-1] in told for reason in reasons), "a reason is cut off"


def test_a_turn_that_was_cut_off_is_shown_so_and_finished(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        with page_server.client(opened.key) as client:
            owner = client.get("/api/me").json()["id"]
            session = client.post("/api/sessions", json={}).json()["id"]

        async def cut() -> None:
            steps = page_server.agent.astream(HEARTBURN, session=session, owner=owner)
            async for step in steps:
                if getattr(step, "step", "") == "completeness_gate":
                    break
            await steps.aclose()  # type: ignore[attr-defined]

        run(_elsewhere(cut))
        page.goto(f"{page_server.url}/#/s/{session}")
        page.reload()
        page.locator(".cut-off").wait_for()
        assert "cut off" in page.locator(".session").inner_text()
        page.get_by_role("button", name="Finish it").click()
        assert "Gastro-oesophageal reflux disease" in answer(page, 0).inner_text()
        assert len(whole(page_server, opened.key, session)["turns"]) == 1


async def _elsewhere(work: Any) -> None:
    await asyncio.to_thread(asyncio.run, work())


def test_a_broken_connection_is_tried_again_without_a_second_turn(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page

        def cut(route: Any) -> None:
            response = route.fetch()
            text = response.text()
            route.fulfill(response=response, body=text[: text.index("event: answer")])

        page.route("**/turns?view=true", cut)
        page.locator("#message").fill(HEARTBURN)
        page.keyboard.press("Enter")
        page.get_by_text("The connection broke before the answer came").wait_for()
        page.unroute("**/turns?view=true")
        page.get_by_role("button", name="Try again").click()
        answer(page, 0)
        assert len(whole(page_server, opened.key, session_of(page))["turns"]) == 1


def test_a_message_that_is_refused_is_given_back_with_advice(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        long = "x" * (page_server.agent.settings.max_characters + 1)
        page.locator("#message").fill(long)
        page.get_by_role("button", name="Send").click()
        page.locator(".problem").wait_for()
        assert "What to do" in page.locator(".problem").inner_text()
        assert page.locator("#message").input_value() == long


def test_a_log_in_that_ends_asks_for_another_and_keeps_the_place(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "Does smoking cessation slow the progression of COPD?")
        opened.context.clear_cookies()
        page.locator("#message").fill("And asthma?")
        page.keyboard.press("Enter")
        assert "Log in again" in page.get_by_role("alert").inner_text()
        page.locator("#key").fill(opened.key)
        page.keyboard.press("Enter")
        answer(page, 0)


def test_a_chinese_reader_gets_chinese_words_and_may_choose(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server, locale="zh-CN") as opened:
        page = opened.page
        assert page.evaluate("document.documentElement.lang") == "zh-Hans"
        shown = say(page, "一名45岁女性，饭后胸骨后烧灼感三周，平卧时加重，没有发热。")
        assert shown.get_attribute("lang") == "zh"
        assert "胃食管反流病" in shown.locator(".differential").inner_text()
        assert shown.locator(".replies .reply").all_inner_texts()[-2:] == ["没有", "不清楚"]
        place = shown.locator(".reply").first
        said = place.inner_text()
        place.click()
        assert f"+ {said}" in answer(page, 1).locator(".differential").inner_text(), "the reply did not count"
        page.locator("#language").select_option("en")
        page.get_by_role("button", name="New session").wait_for()
        assert page.evaluate("document.documentElement.lang") == "en"
        assert answer(page, 1).locator("text=鉴别诊断").first.is_visible(), "an answer keeps its language"

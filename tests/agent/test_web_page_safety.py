"""What comes from a user, a document or a model is text on the page, never markup; nothing comes from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent import web
from agent.server.events import view_of
from agent.server.start import link_of
from graphs.answering.contract import Answer
from support.browser import window
from support.served import Served
from support.web_page import answer, logged_in, say, session_of
from tools.evidence import Evidence, Origin, Statement, Status, cite

FILES = Path(web.__file__).parent / "static"
ATTACK = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script><b id=planted>bold</b>"
ELSEWHERE = re.compile(r"https?://[^\s\"'`)]+")
ALLOWED = ("http://www.w3.org/2000/svg", "https://pubmed.ncbi.nlm.nih.gov/", "https://pmc.ncbi.nlm.nih.gov/articles/")
UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment|"
    r"\.style\b|setAttribute\(\"style|javascript:(?!,)"
)
FACT = "Dexamethasone given once shortens croup 🫁 in young children."


def planted(page: Any) -> list[Any]:
    found: list[Any] = page.evaluate("[window.hacked ?? null, document.querySelector('#planted, img[src=x]')]")
    return found


def test_markup_in_a_message_a_given_text_a_title_and_a_correction_stays_text(
    page_server: Served, browser: Any
) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        page.get_by_role("button", name="With the message").click()
        page.locator("#given").fill(f"In a trial dexamethasone shortened croup in children. {ATTACK} It was safe.")
        shown = say(page, f"What did the trial of dexamethasone in croup show? {ATTACK}")
        assert ATTACK in page.locator(".message").inner_text()
        shown.locator(".cite").first.click()
        assert ATTACK in shown.locator(".source-text").first.inner_text(), "the given text is shown whole"
        assert "Given with the question" in shown.inner_text()
        page.locator(".menu summary").click()
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("Title").fill(ATTACK)
        page.keyboard.press("Enter")
        page.locator("h1", has_text="onerror").wait_for()
        page.locator(".how > summary").click()
        page.get_by_text("Trace of this turn").click()
        page.locator(".trace tbody tr").first.wait_for()
        assert planted(page) == [None, None]
        page.reload()
        answer(page, 0)
        assert planted(page) == [None, None]
        assert opened.errors == []
        assert opened.outside() == []


def made_up() -> dict[str, Any]:
    """An answer of every origin and status, written by somebody who wants to break the page."""
    items = [
        Evidence(id="pubmed:12345678@0-" + str(len(FACT)), text=FACT, title=ATTACK, kind="x", origin=Origin.RETRIEVED)
    ]
    items.append(items[0].model_copy(update={"id": "pubmed:javascript:alert(1)", "status": Status.CONCERN}))
    items.append(Evidence(id="generated:1", text=ATTACK, title="Background", kind="x", origin=Origin.GENERATED))
    items.append(items[0].model_copy(update={"id": "library:x", "status": Status.RETRACTED, "level": ATTACK}))
    good = cite(items[0], 31, len(FACT) - 1)
    wrong = cite(items[1], 0, 13).model_copy(update={"start": 5, "end": 18})
    statements = [
        Statement(text=ATTACK, origin=Origin.RETRIEVED, citations=(good,)),
        Statement(text="Tampered.", origin=Origin.RETRIEVED, citations=(wrong,)),
        Statement(text="By heart.", origin=Origin.PARAMETRIC),
    ]
    ranked = {"disease": "d", "name": ATTACK, "score": 0.5, "findings_for": [ATTACK], "severity": ATTACK}
    ranked |= {"icd10": ATTACK, "l1": ATTACK, "l2": ATTACK, "evidence_id": "graph:x/d"}
    return {
        "emergency": [{"code": "x", "seen": ATTACK, "advice": ATTACK}],
        "statements": [s.model_dump(mode="json") for s in statements],
        "evidence": [e.model_dump(mode="json") for e in items],
        "differential": [ranked],
        "notices": [{"code": c, "text": ATTACK, "severity": s} for c, s in ((ATTACK, "warning"), ("x", "danger"))],
        "follow_up_questions": [{"finding": "f", "text": f"Is {ATTACK} so?", "gain": 1, "why": ATTACK}],
        "contrasts": [ATTACK],
        "choice": {"label": ATTACK, "text": "t", "reason": ATTACK, "parametric": True},
        "verdict": {
            "value": "yes",
            "statements": [],
            "effect": ATTACK,
            "population": ATTACK,
            "certainty": "low",
            "reason": ATTACK,
        },
    }


def test_origins_and_status_are_told_in_words_and_a_tampered_quote_is_told(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "Does smoking cessation slow the progression of COPD?")

        def tamper(route: Any) -> None:
            told = route.fetch().json()
            told["turns"][0]["answer"].update(made_up())
            told["views"]["1"] = view_of(Answer.model_validate(told["turns"][0]["answer"]))
            route.fulfill(body=json.dumps(told), content_type="application/json")

        page.route(f"**/api/sessions/{session_of(page)}?view=true", tamper)
        page.reload()
        shown = answer(page, 0)
        shown.locator(".how > summary").click()
        shown.locator(".found .places").wait_for()
        while (closed := shown.locator("details:not([open]) > summary:visible")).count():
            closed.first.click()
        words = shown.inner_text()
        for told in (
            "Generated by a model (not literature)",
            "From the model’s own knowledge (not retrieved, not verified)",
            "RETRACTED",
            "EXPRESSION OF CONCERN",
        ):
            assert told in words
        first, second = shown.locator(".said .cite").all()
        first.click()
        quote = FACT[31:-1]
        assert shown.locator(".said .quote").nth(0).locator("mark").all_inner_texts() == [quote], (
            "counted as Python does"
        )
        second.click()
        assert "does not stand at its place" in shown.locator(".said .quote").nth(1).inner_text()
        links = [a.get_attribute("href") for a in shown.locator("a").all()]
        forms = "docx markdown ris bibtex csl-json nbib json".split()
        own = {f"api/sessions/{session_of(page)}/export?format={form}&turn=1" for form in forms}
        assert set(links) == {"https://pubmed.ncbi.nlm.nih.gov/12345678/", *own}
        assert planted(page) == [None, None]
        assert opened.errors == []
        assert opened.outside() == []


def test_the_answer_of_the_stream_is_read_however_it_is_cut(page_server: Served, browser: Any) -> None:
    text = ': alive\n\nevent: step\r\ndata: {"a":\ndata: 1}\n\nevent: answer\ndata:心梗 🫀\n\nevent: lost\ndata: x\n'
    check = """async (text) => {
        const {feeder, events} = await import('/web/js/sse.js');
        const bytes = new TextEncoder().encode(text), told = [];
        for (let cut = 0; cut <= bytes.length; cut += 1) {
            const parts = [bytes.slice(0, cut), bytes.slice(cut)];
            const body = new ReadableStream({start(c) { parts.forEach((p) => c.enqueue(p)); c.close(); }});
            const found = [];
            for await (const e of events(new Response(body))) found.push([e.event, e.data]);
            told.push(JSON.stringify(found));
        }
        return [...new Set(told)];
    }"""
    with logged_in(browser, page_server) as opened:
        (told,) = opened.page.evaluate(check, text)
    assert json.loads(told) == [["step", '{"a":\n1}'], ["answer", "心梗 🫀"]]


@pytest.mark.parametrize("file", sorted(FILES.rglob("*.*")), ids=lambda f: f.name)
def test_no_file_writes_markup_or_names_another_host(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert [u for u in ELSEWHERE.findall(text) if not u.startswith(ALLOWED)] == []
    if file.suffix == ".js":
        assert UNSAFE.findall(text) == []
        assert len(text.splitlines()) < 250
    if file.suffix == ".html":
        assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text) == []


def test_the_page_is_served_beside_the_api_which_keeps_its_own_errors(page_server: Served) -> None:
    with page_server.client("") as client:
        page = client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        script = client.get("/web/js/app.js")
        assert "javascript" in script.headers["content-type"]
        assert script.headers["cache-control"] == "no-cache"
        assert client.get("/api/nothing").json()["error"]["code"] == "not_found"
        assert client.get("/web/%2e%2e/serving.py").status_code == 404


def test_nothing_of_a_patient_is_left_after_a_log_out_and_a_log_out_that_failed_is_told(
    page_server: Served, browser: Any
) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "Does zyzzyva help in croup?")
        page.locator(".session-title", has_text="zyzzyva").wait_for()
        page.route("**/api/logout", lambda route: route.abort())
        page.get_by_role("button", name="Log out").click()
        page.get_by_text("The server was not reached.").wait_for()
        assert page.locator("#key").count() == 0
        page.unroute("**/api/logout")
        page.get_by_role("button", name="Log out").click()
        page.locator("#key").wait_for()
        assert "zyzzyva" not in page.content()


def test_a_one_time_link_logs_in_once_and_leaves_nothing_in_the_address(page_server: Served, browser: Any) -> None:
    link = link_of(page_server.app, page_server.url)
    with window(browser) as opened:
        opened.page.goto(link)
        opened.page.locator(".welcome").wait_for()
        assert "once" not in opened.page.url
        assert opened.page.locator("#who").inner_text() == "page on this machine"
        opened.page.reload()
        opened.page.locator(".welcome").wait_for()
        opened.page.locator("#language").select_option("zh")
        opened.page.locator("#who", has_text="本机页面").wait_for()
        assert [url for url in opened.requests if "once_" in url] == []
    with window(browser) as another:
        another.page.goto(link)
        another.page.get_by_text("was used already").wait_for()
        assert another.page.locator("#key").is_visible()


def test_an_address_that_is_not_well_written_opens_a_new_session(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        opened.page.goto(f"{page_server.url}/#/s/%")
        opened.page.reload()
        opened.page.locator(".welcome").wait_for()
        assert opened.errors == []

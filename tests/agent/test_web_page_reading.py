"""Reading an answer on the page: the answer first, one box, sources once, and what can be done with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evals.bench.page import measure
from support.browser import PHONE, expecting
from support.pdf_writer import pdf
from support.served import Served
from support.web_page import HEARTBURN, INFARCTION, Kept, answer, logged_in, reading, say, session_of

GIVEN = (
    "A trial. In 3730 adults with heart failure, empagliflozin reduced hospitalisation compared with placebo "
    "(hazard ratio 0.75).\n---\n"
    "A small study. In 84 adults with heart failure, empagliflozin did not reduce hospitalisation (12% versus 11%)."
)
ABOVE = """() => {
  const lead = document.querySelector('.answer .lead'), seen = [];
  for (let e = lead.previousElementSibling; e; e = e.previousElementSibling) seen.push(e.className);
  return seen;
}"""
CHINESE = "一名45岁女性，饭后胸骨后烧灼感三周，平卧时加重，没有发热。"


def feedback_of(server: Served, key: str, session: str) -> Any:
    with server.client(key) as client:
        return client.get(f"/api/sessions/{session}").json()["turns"][0]["feedback"]


def test_nothing_but_an_emergency_stands_above_the_direct_answer(
    page_server: Served, browser: Any, heartburn: Kept
) -> None:
    with reading(browser, page_server, heartburn) as (opened, _):
        page = opened.page
        assert page.evaluate(ABOVE) == []
        page.get_by_role("button", name="New session").click()
        page.locator(".welcome").wait_for()
        say(page, INFARCTION)
        assert page.evaluate(ABOVE) == ["emergency"]
        assert page.locator(".answer .box").count() == 1


@pytest.mark.parametrize("size", [(1280, 900), (PHONE, 740)])
def test_the_composer_is_one_line_that_grows_and_covers_nothing(
    page_server: Served, browser: Any, heartburn: Kept, size: tuple[int, int]
) -> None:
    with reading(browser, page_server, heartburn, viewport={"width": size[0], "height": size[1]}) as (opened, _):
        page = opened.page
        composer = page.locator(".composer")
        low = composer.bounding_box()["height"]
        assert low < 70
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        end, top = page.locator(".answer").bounding_box(), composer.bounding_box()["y"]
        assert end["y"] + end["height"] <= top + 1
        page.locator("#message").fill("one\ntwo\nthree")
        assert composer.bounding_box()["height"] > low


def test_studies_that_disagree_are_a_table_that_sorts(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        page.get_by_role("button", name="With the message").click()
        page.locator("#given").fill(GIVEN)
        shown = say(page, "Does empagliflozin reduce hospitalisation for heart failure?")
        table = shown.get_by_role("table", name="The evidence")
        who = table.locator(".study-people")
        assert {text.split()[0] for text in who.all_inner_texts()} == {"3730", "84"}
        table.get_by_role("button", name="Who").click()
        assert [text.split()[0] for text in who.all_inner_texts()] == ["84", "3730"]
        table.get_by_role("button", name="Who").click()
        assert [text.split()[0] for text in who.all_inner_texts()] == ["3730", "84"]
        assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
        assert "hazard ratio 0.75" in table.locator(".study-result").first.inner_text()
        assert table.get_by_role("button", name="Compared with").is_visible()
        assert table.locator(".study-comparison").first.inner_text() == "placebo"


DROP = """(files) => { const held = new DataTransfer();
  for (const [name, text] of files) {
    held.items.add(new File([Uint8Array.from(text, (c) => c.charCodeAt(0))], name));
  }
  return held; }"""


def drop(page: Any, *files: tuple[str, bytes]) -> None:
    """Drop files onto the conversation."""
    held = page.evaluate_handle(DROP, [[name, data.decode("latin-1")] for name, data in files])
    page.dispatch_event(".conversation", "drop", {"dataTransfer": held})


def test_a_text_file_is_dropped_among_the_given_texts(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        drop(page, ("letter.txt", b"In 84 adults it helped."))
        expecting(page.locator("#given")).to_have_value("In 84 adults it helped.")
        assert page.locator("#given").is_visible()


def test_a_pdf_is_dropped_into_the_session_answers_from_it_and_stays_until_the_session_goes(
    page_server: Served, browser: Any
) -> None:
    lines = ["A trial. In 84 adults with hiccups, quokkazide stopped hiccups within an hour."]
    filler = [[f"Section {n}. Nothing about the matter was recorded on day {n}."] for n in range(40)]
    paper = pdf([*filler[:20], lines, *filler[20:]], "Quokkazide in hiccups")
    with logged_in(browser, page_server) as opened:
        page = opened.page
        drop(page, ("paper.pdf", paper), ("broken.pdf", paper[:400]), ("letter.docx", b"PK"))
        page.get_by_label("paper.pdf").wait_for()
        told = page.locator(".composer .problem")
        told.nth(1).wait_for()
        assert "broken.pdf was not read. The PDF is damaged or cut off." in told.first.inner_text()
        assert "save it again as PDF" in told.first.inner_text()
        assert "letter.docx is of a kind that is not read." in told.last.inner_text()
        shown = say(page, "Does quokkazide stop hiccups?")
        assert "quokkazide stopped hiccups within an hour" in shown.locator(".lead, .studies").all_inner_texts()[0]
        assert "Your document; not assessed" in shown.inner_text()
        card = shown.locator(".card", has_text="Quokkazide in hiccups")
        assert "your document, not assessed" in card.inner_text()
        assert "paper.pdf" in card.inner_text()
        shown.get_by_text("Save as a file").click()
        with page.expect_download() as saved:
            shown.get_by_role("link", name="Export as BibTeX").click()
        reference = Path(saved.value.path()).read_text()
        assert "Quokkazide in hiccups" in reference
        assert "Given by whoever asked, not assessed; file: paper.pdf" in reference
        assert "Page 21" in card.inner_text()
        page.reload()
        page.get_by_label("paper.pdf").wait_for()
        assert page.get_by_label("paper.pdf").is_checked()
        assert shown.locator(".lead").is_visible()
        session = session_of(page)
        with page_server.client(opened.key) as client:
            assert client.delete(f"/api/sessions/{session}").status_code == 204
            assert client.get(f"/api/sessions/{session}/documents").status_code == 404
        assert opened.outside() == []


def test_a_suggested_message_is_sent_by_its_button_and_goes_with_the_next_turn(
    page_server: Served, browser: Any
) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        first = say(page, HEARTBURN)
        asked = first.locator(".ask").first
        text = asked.inner_text()
        asked.click()
        answer(page, 1)
        assert text in page.locator(".message").nth(1).inner_text()
        assert first.locator(".ask").count() == 0


def test_an_answer_and_a_citation_are_copied(page_server: Served, browser: Any, heartburn: Kept) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with reading(browser, page_server, heartburn, permissions=permissions) as (opened, shown):
        page = opened.page
        shown.get_by_role("button", name="Copy the answer").click()
        shown.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert shown.locator(".lead strong").first.inner_text() in copied.replace("\\", "")
        card = shown.locator(".card").first
        card.get_by_role("button", name="Copy the citation").click()
        card.get_by_role("button", name="Copied").wait_for()
        title = card.locator(".card-title").inner_text().split("] ", 1)[1]
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == card.locator(".citation").inner_text(), "what is copied is what stands there"
        assert copied.startswith(f"Knowledge graph starter. {title}. ")


def test_an_answer_is_saved_in_every_form_with_all_its_sources_or_it_is_said_why_not(
    page_server: Served, browser: Any, tmp_path: Path
) -> None:
    rispy, docx = pytest.importorskip("rispy"), pytest.importorskip("docx")

    def saved(form: str) -> Path:
        with page.expect_download() as download:
            shown.get_by_role("link", name=f"Export as {form}").click()
        name = download.value.suggested_filename
        assert name.startswith(f"{session_of(page)}-2.")
        shown.get_by_text(f"Saved as {name}.").wait_for()
        download.value.save_as(tmp_path / name)
        return tmp_path / name

    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "How is gout treated?")
        shown = say(page, HEARTBURN)
        titles = [t.split("] ", 1)[1] for t in shown.locator(".sources > .cards .card-title").all_inner_texts()]
        assert len(titles) > 1
        shown.get_by_text("Save as a file").click()
        entries = rispy.loads(saved("RIS").read_text())
        assert [e["title"] for e in entries] == titles
        of_graph = [e for e in entries if e["type_of_reference"] == "DBASE"]
        assert of_graph, "an entry of the graph is no article"
        assert all("not a publication" in " ".join(e["notes"]) for e in of_graph)
        assert re.findall(r"^## Turn \d", saved("Markdown").read_text(), re.M) == ["## Turn 2"], "the turn alone"
        words = "\n".join(p.text for p in docx.Document(str(saved("Word"))).paragraphs)
        assert titles[0] in words
        shown.get_by_role("link", name="Export as nbib").click()
        told = shown.locator(".saves .problem")
        told.wait_for()
        assert "nbib holds PubMed's records alone" in told.inner_text()
        assert opened.errors == []


def test_a_thumb_with_its_reason_is_kept_beside_the_answer_and_goes_with_the_session(
    page_server: Served, browser: Any
) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        shown = say(page, HEARTBURN)
        session = session_of(page)
        shown.get_by_role("button", name="Did not help").click()
        shown.get_by_label("Why?").fill("<b>Too long</b>")
        shown.locator(".feedback").get_by_role("button", name="Save").click()
        shown.locator(".feedback", has_text="<b>Too long</b>").wait_for()
        page.reload()
        shown = answer(page, 0)
        assert shown.get_by_role("button", name="Did not help").get_attribute("aria-pressed") == "true"
        kept = feedback_of(page_server, opened.key, session)
        assert (kept["helpful"], kept["reason"]) == (False, "<b>Too long</b>")
        with page_server.client(opened.key) as client:
            assert "Too long" in client.get(f"/api/sessions/{session}/export").text
            assert client.put(f"/api/sessions/{session}/turns/2/feedback", json={"helpful": True}).status_code == 404
        with page_server.client() as stranger:
            told = stranger.put(f"/api/sessions/{session}/turns/1/feedback", json={"helpful": True})
        assert told.json()["error"]["code"] == "no_session"


def test_a_session_is_found_by_a_word_that_was_asked_in_it(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "Does smoking cessation slow the progression of COPD?")
        say(page, "And 100% oxygen?")
        page.get_by_role("button", name="New session").click()
        page.locator(".welcome").wait_for()
        say(page, "How is gout treated?")
        page.locator(".session").nth(1).wait_for()
        find = page.get_by_role("searchbox", name="Search sessions")
        for text, found in (("OXYGEN", 1), ("0% ox", 1), ("%", 1), ("quokka", 0), ("", 2)):
            find.fill(text)
            expecting(page.locator(".session")).to_have_count(found)
        assert page.evaluate("document.activeElement.type") == "search", "the focus is lost"


def test_the_start_screen_fills_in_an_example(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        examples = opened.page.locator(".example")
        assert examples.count() == 6
        text = examples.last.inner_text()
        examples.last.click()
        assert opened.page.locator("#message").input_value() == text
        assert "not clinically reviewed" in opened.page.locator(".welcome").inner_text()


def test_on_paper_stands_the_answer_alone(page_server: Served, browser: Any, heartburn: Kept) -> None:
    with reading(browser, page_server, heartburn) as (opened, shown):
        page = opened.page
        page.emulate_media(media="print")
        assert shown.locator(".lead").is_visible()
        for around in (".composer", "nav", ".top", ".acts", ".suggestions"):
            assert not page.locator(around).first.is_visible(), around


def test_on_paper_nothing_is_folded_away_and_afterwards_it_is_again(
    page_server: Served, browser: Any, heartburn: Kept
) -> None:
    with reading(browser, page_server, heartburn) as (opened, shown):
        page = opened.page
        opened_before = shown.locator("details[open]").count()
        with page_server.client(opened.key) as client:
            held = client.get(f"/api/sessions/{session_of(page)}").json()["turns"][0]["answer"]
        shown.get_by_role("button", name="Print").click()
        shown.locator(".found .places").wait_for()
        page.emulate_media(media="print")
        assert shown.locator("summary:visible").count() == shown.locator("details[open] > summary:visible").count()
        assert shown.locator(".differential tbody tr:visible").count() == len(held["differential"]) > 5
        assert not shown.locator("meter, .review summary, button.quiet").first.is_visible()
        assert "%" in shown.locator(".differential .share").first.inner_text()
        texts = shown.locator(".sources > .cards > .card .source-text:visible")
        assert texts.count() >= shown.locator(".sources > .cards > .card").count()
        cut = texts.evaluate_all("boxes => boxes.filter((box) => box.scrollHeight > box.clientHeight + 1).length")
        assert cut == 0, "a source's text is cut off"
        told = shown.inner_text()
        assert "How it was found" in told
        assert "Left unexplained" in told
        assert "Loading" not in told
        page.emulate_media(media="screen")
        expecting(shown.locator("details[open]")).to_have_count(opened_before)
        assert opened.errors == []


def test_a_chinese_answer_has_no_english_label(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server, locale="zh-CN") as opened:
        shown = say(opened.page, CHINESE)
        shown.locator(".how > summary").click()
        shown.locator(".found .places").wait_for()
        while (closed := shown.locator("details:not([open]) > summary:visible")).count():
            closed.first.click()
        labels = shown.locator("button, summary, th, caption, h3, h4, .badge, .labels > span, .lead, .card > .muted")
        told = " ".join(labels.all_inner_texts())
        words = {word for word in told.replace("/", " ").split() if word.isascii() and word.isalpha() and len(word) > 3}
        assert words <= {"PubMed"}, "a label is in English"


def test_what_has_changed_since_an_answer_is_told_on_a_click(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        shown = say(page, "Do antibiotics help in acute bronchitis?")
        shown.get_by_role("button", name="What has changed since?").click()
        told = shown.get_by_role("region", name="What has changed since?")
        told.wait_for()
        assert re.match(r"None of its [1-9]\d* sources has changed\. Answered on 2\d{3}-", told.inner_text())
        assert opened.errors == []


def test_the_browser_measures_a_cold_page(page_server: Served, browser: Any) -> None:
    found = {f.name: f.value for f in measure(browser, page_server.url, page_server.key(), rounds=1)}
    assert 0 < found["page, first content"] <= found["page, takes a word"]
    assert 50 < found["page, sent"] < 400, "kB: the page has no framework"
    assert 0 <= found["page, first step after sending"] <= found["page, answer after sending"]
    assert found["page, layout shift"] < 0.1, "what is read does not move (0.1 is what Web Vitals call good)"


def how(server: Served, key: str, page: Any) -> list[dict[str, Any]]:
    """The places that were searched for the first turn, as the API tells them."""
    with server.client(key) as client:
        places: list[dict[str, Any]] = client.get(f"/api/sessions/{session_of(page)}/turns/1/how").json()["places"]
        return places


def test_how_an_answer_was_found_is_told_whole_after_the_session_is_reopened(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "How is gout treated?")
        page.reload()
        shown = answer(page, 0)
        shown.locator(".how > summary").click()
        places = shown.locator(".places")
        places.wait_for()
        assert re.search(r"Library of this machine: [1-9]\d* found in [1-9]\d* searches\.", places.inner_text())
        assert "PubMed: not searched." in places.inner_text()
        searched = places.locator("code").all_inner_texts()
        assert "How is gout treated?" in searched
        assert sorted(searched) == sorted(q for p in how(page_server, opened.key, page) for q in p["queries"])
        assert places.locator("a").count() == 0, "what was searched here is no query of PubMed"
        shown.get_by_text("Found and not used").click()
        first = shown.locator(".unused li").first
        first.get_by_text("The whole reason").click()
        with page_server.client(opened.key) as client:
            told = client.get(f"/api/sessions/{session_of(page)}/turns/1/how").json()
            missing = client.get(f"/api/sessions/{session_of(page)}/turns/2/how")
        assert missing.status_code == 404
        assert told["unused"][0]["reasons"][0] in first.inner_text()
        shown.get_by_text("What was done").click()
        assert "Check every quote" in shown.locator(".found .steps").inner_text()
        assert opened.errors == []


def test_what_drops_off_the_list_is_named_and_the_title_follows_the_age(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        say(page, "A 36-year-old woman has had abdominal cramps and loose stools for six weeks.")
        shown = say(page, "She has lost weight, and there is blood in the stools.")
        with page_server.client(opened.key) as client:
            turns = client.get(f"/api/sessions/{session_of(page)}").json()["turns"]
        first, second = ([d["name"] for d in t["answer"]["differential"]] for t in turns)
        left = [f"{name} (was {n})" for n, name in enumerate(first, 1) if name not in second]
        assert left
        told = shown.locator(".gone").inner_text()
        assert told.startswith("No longer listed: " + "; ".join(left[:8]))
        say(page, "Sorry, she is 63 years old, not 36.")
        page.locator("h1", has_text="A 63-year-old woman has had abdominal cramps").wait_for()
        page.locator(".session-title", has_text="A 63-year-old woman").wait_for()


def test_a_verdict_carries_the_mark_of_its_source_and_how_sure_is_answered(page_server: Served, browser: Any) -> None:
    with logged_in(browser, page_server) as opened:
        page = opened.page
        page.get_by_role("button", name="With the message").click()
        page.locator("#given").fill(GIVEN.split("---")[0])
        shown = say(page, "Does empagliflozin reduce hospitalisation for heart failure?")
        head = shown.locator(".lead .head")
        assert head.inner_text().startswith("Yes.")
        head.locator(".cite").first.click()
        assert shown.locator(".lead > .opened mark").first.is_visible()
        say(page, "How is gout treated?")
        said = page.locator(".answer").last.locator(".statement").all_inner_texts()
        sure = say(page, "How sure are you?")
        assert re.search("certainty of the evidence is|was not graded", sure.locator(".lead .head").inner_text())
        assert len(sure.locator(".statement").all_inner_texts()) < max(2, len(said))


def test_a_text_that_was_read_in_pieces_stands_once_with_all_its_quotes(page_server: Served, browser: Any) -> None:
    source = "new URL('web/js/spans.js', location.href).href"
    two, three = ({"start": 0, "end": len(q), "quote": q} for q in ("Two", "three"))
    pieces = [
        {"item": {"id": "library:x@10-30", "text": "One sentence. Two 🫁 "}, "quotes": []},
        {"item": {"id": "library:x@30-36", "text": "three."}, "quotes": [three]},
        {"item": {"id": "library:x@24-36", "text": "Two 🫁 three."}, "quotes": [two]},
        {"item": {"id": "library:x@90-94", "text": "Far."}, "quotes": []},
        {"item": {"id": "library:y", "text": "Other."}, "quotes": []},
    ]
    with logged_in(browser, page_server) as opened:
        made = opened.page.evaluate(
            f"async (held) => {{ const s = await import({source}); return s.joined(held).map((p) =>"
            " [p.item.text, p.quotes.length, s.allStand(p.item.text, p.quotes)]); }",
            pieces,
        )
    assert sorted(made) == [["Far.", 0, True], ["One sentence. Two 🫁 three.", 2, True], ["Other.", 0, True]]

"""Documents of a session: read apart, its owner's alone, purged with it, and never in the library."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.loop import run
from agent.sessions.documents import LONGEST, NOT_ASSESSED
from support.pdf_writer import pdf
from support.served import Served, served
from tools.evidence import Origin
from tools.readers.contract import Problem, Record
from tools.readers.reading import read_apart

LINES = "Quokkas and croup. Version of 12 March 2024.", "Quokkazide shortened croup by two days."
PAPER = pdf([LINES, ["It was given twice."]], "Quokkas", created="20260901120000Z")
BOMB = gzip.compress(b"<article><p>" + b"a" * 60_000_000 + b"</p></article>")


def opened(client: httpx.Client) -> str:
    return str(client.post("/api/sessions", json={}).json()["id"])


def put(client: httpx.Client, session: str, name: str, data: bytes) -> httpx.Response:
    return client.post(f"/api/sessions/{session}/documents", params={"name": name}, content=data)


def test_a_pdf_is_answered_from_marked_as_not_assessed_and_purged_with_its_session(server: Served) -> None:
    with server.client() as client:
        session = opened(client)
        kept = put(client, session, "C:\\papers\\quokkas.pdf", PAPER)
        assert kept.status_code == 201, kept.text
        assert kept.json()["name"] == "quokkas.pdf"
        assert (kept.json()["title"], kept.json()["problems"]) == ("Quokkas", [])
        assert put(client, session, "again.pdf", PAPER).json()["id"] == kept.json()["id"]
        listed = client.get(f"/api/sessions/{session}/documents").json()["documents"]
        assert [d["name"] for d in listed] == ["again.pdf"], "the same content is one document"
        body = {"text": "Does quokkazide help in croup?", "documents": [kept.json()["id"]]}
        answer = client.post(f"/api/sessions/{session}/turns", json=body).json()
        own = [e for e in answer["evidence"] if e["title"] == "Quokkas"]
        assert {e["level"] for e in own} == {NOT_ASSESSED}
        assert {e["origin"] for e in own} == {Origin.CASE.value}
        assert {e["source"] for e in own} == {"again.pdf"}
        assert {e["date"] for e in own} == {"2024-03-12"}, "as the document says, not as its file does"
        assert {e["section"] for e in own} == {"Page 1", "Page 2"}
        plain = client.post(f"/api/sessions/{session}/turns", json={"text": "What is croup?"}).json()
        assert not [e for e in plain["evidence"] if e["title"] == "Quokkas"], "it goes where it was sent with alone"
        assert client.delete(f"/api/sessions/{session}").status_code == 204
    home = server.agent.home.root
    assert not list(home.glob("document-*")), "the file itself does not stay"
    held = [p for p in home.rglob("*") if p.is_file() and b"uokkazide" in p.read_bytes()]
    assert held == [], "a word of it is still there"
    assert run(server.agent.database.execute(("select * from documents", ())))[0] == []
    assert not (home / "library").exists()


def test_a_form_is_refused_with_what_to_send_and_errors_name_no_command(server: Served) -> None:
    with server.client() as client:
        session = opened(client)
        url = f"/api/sessions/{session}/documents"
        refused = client.post(url, params={"name": "paper.txt"}, files={"file": ("paper.txt", b"Croup is a cough.")})
        assert (refused.status_code, refused.json()["error"]["code"]) == (415, "unsupported_media_type")
        assert "--data-binary" in refused.json()["error"]["advice"]
        assert client.get(url).json()["documents"] == []
        for path in ("/api/sessions/none", "/api/sessions/none/export", f"/api/sessions/{session}/export?turn=7"):
            advice = client.get(path).json()["error"]["advice"]
            assert advice.startswith("GET /api/sessions")


def test_another_key_gets_404_and_none_401_before_the_file_is_received(server: Served) -> None:
    with server.client() as mine, server.client() as other, server.client("") as nobody:
        session = opened(mine)
        document = put(mine, session, "a.pdf", PAPER).json()["id"]
        assert put(other, session, "b.pdf", PAPER).json()["error"]["code"] == "no_session"
        assert other.get(f"/api/sessions/{session}/documents").status_code == 404
        assert put(nobody, session, "b.pdf", PAPER).status_code == 401
        assert nobody.get(f"/api/sessions/{session}/documents").status_code == 401
        theirs = opened(other)
        body = {"text": "What is croup?", "documents": [document]}
        stolen = other.post(f"/api/sessions/{theirs}/turns", json=body)
        assert stolen.status_code == 404, "an id of another's document opens nothing"
        assert "no document" in stolen.json()["error"]["message"]
        assert len(mine.get(f"/api/sessions/{session}/documents").json()["documents"]) == 1


@pytest.mark.parametrize(
    ("name", "data", "what", "advice"),
    [
        ("broken.pdf", PAPER[: len(PAPER) // 3], "damaged or cut off", "save it again as PDF"),
        ("scan.pdf", pdf([[]]), "images but no text", "text recognition"),
        ("letter.docx", b"PK", "a kind that is not read", ".pdf"),
        ("none.pdf", b"", "is empty", "Save the document again"),
        ("bomb.nxml.gz", BOMB, "bomb.nxml.gz was not read", "zcat"),
        (
            "two.jsonl",
            b'{"title":"a","text":"b b b"}\n{"title":"c","text":"d d d"}',
            "2 documents",
            "add it to the library",
        ),
        ("long.txt", b"A word. " * (LONGEST // 8 + 1), "characters; a session takes", "add it to the library"),
        ("a\x00b", b"x", "a kind that is not read", ".pdf"),
        ("..", b"x", "a kind that is not read", ".pdf"),
    ],
)
def test_what_is_not_taken_says_why_and_what_to_do(
    server: Served, name: str, data: bytes, what: str, advice: str
) -> None:
    with server.client() as client:
        session = opened(client)
        refused = put(client, session, name, data)
        assert refused.status_code == 400, refused.text
        assert what in refused.json()["error"]["message"]
        assert advice in refused.json()["error"]["advice"]
        assert client.get(f"/api/sessions/{session}/documents").json() == {"documents": []}


def test_a_file_beyond_the_limit_is_refused_with_the_limit_of_documents(start: Any) -> None:
    server = start(document=10_000, body=2_000)
    with server.client() as client:
        session = opened(client)
        assert put(client, session, "a.txt", b"A word. " * 1_000).status_code == 201
        long = put(client, session, "a.txt", b"a" * 10_001)
        assert long.status_code == 413
        assert "10,000" in long.json()["error"]["message"]
        other = client.post("/api/sessions", json={"title": "x" * 3_000})
        assert "2,000" in other.json()["error"]["message"], "the limit of every other request stays"


def test_a_reader_that_takes_too_long_or_too_much_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("A letter.")
    (record,) = read_apart(path)
    assert isinstance(record, Record)
    for code, told in (
        ("import time; time.sleep(60)", "more than 1 seconds"),
        ("import os; os.kill(os.getpid(), 9)", "more memory or time"),
    ):
        monkeypatch.setattr("tools.readers.reading.READ", code)
        began = time.monotonic()
        (found,) = read_apart(path, seconds=1)
        assert isinstance(found, Problem)
        assert told in found.what
        assert found.advice
        assert time.monotonic() - began < 30


def test_a_turn_that_was_begun_with_a_document_is_finished_with_it(tmp_path: Path) -> None:
    from agent.agent import Agent
    from support.machine_parts import parts

    with Agent(home=tmp_path / "home", parts=parts()) as agent, served(agent) as server, server.client() as client:
        session = opened(client)
        document = put(client, session, "a.pdf", PAPER).json()["id"]
        owner = run(agent.records.get(session)).owner
        answer = agent.ask("What is croup?", session=session, owner=owner, documents=[document], turn_key="k")
        again = agent.ask("What is croup?", session=session, owner=owner, documents=[document], turn_key="k")
        assert again == answer
        assert any(e.title == "Quokkas" for e in answer.evidence)

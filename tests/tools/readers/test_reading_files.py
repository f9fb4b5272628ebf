"""Every kind of file through the one door: what is read is exact, what cannot be read is a problem with advice."""

from __future__ import annotations

import gzip
import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.readers import files
from tools.readers.contract import Problem, Record
from tools.readers.normal import normalise, own_id
from tools.readers.reading import read, suffixes


def one(path: Path) -> Record:
    (record,) = read(path)
    assert isinstance(record, Record), record
    assert [s.title for s in record.sections]
    assert all(record.text[s.start : s.end].strip() == record.text[s.start : s.end] for s in record.sections)
    return record


def refused(path: Path) -> Problem:
    (problem,) = read(path)
    assert isinstance(problem, Problem), problem
    assert problem.what
    assert problem.advice
    return problem


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def section(record: Record, title: str) -> str:
    (found,) = [s for s in record.sections if s.title == title]
    return record.text[found.start : found.end]


@given(st.text())
def test_normal_form_is_stable_and_encodable(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert "\r" not in once
    assert "\0" not in once
    once.encode()


@given(st.text(min_size=1), st.text())
def test_an_own_id_is_a_document_id_and_the_same_every_time(name: str, text: str) -> None:
    from tools.evidence import EvidenceId

    name, text = normalise(name), normalise(text)
    known = own_id(name, "t", text)
    assert known == own_id(name, "t", text) != own_id(name, "u", text)
    assert EvidenceId.parse(f"{known}@0-5").document_id == known


def test_plain_text_in_every_unicode_form_gives_the_same_document(tmp_path: Path) -> None:
    text = "Gout\r\n\r\nColchicine relieves an acute attack, cafe\u0301.\r\n"
    forms = [text.encode(), text.encode("utf-8-sig"), text.encode("utf-16")]
    records = [one(written(tmp_path / f"{i}" / "note.txt", form)) for i, form in enumerate(forms) if mkdir(tmp_path, i)]
    assert records[0] == records[1] == records[2]
    assert records[0].title == "Gout"
    assert records[0].text == "Gout\nColchicine relieves an acute attack, café."
    assert records[0].id.startswith("own:note-")


def mkdir(folder: Path, i: int) -> bool:
    (folder / f"{i}").mkdir()
    return True


def test_lines_broken_to_fit_are_joined_and_lists_are_not(tmp_path: Path) -> None:
    text = (
        "Take the tablets with food in the morn-\n"
        "ing. Stop them when black stools appear,\n"
        "and seek help.\n\n"
        "Bring:\n- the box\n- a list of follow-up visits; the follow-\nup letter\n"
    )
    lines = one(written(tmp_path / "a.txt", text)).text.split("\n")
    whole = "Take the tablets with food in the morning. Stop them when black stools appear, and seek help."
    assert lines == [whole, "Bring:", "- the box", "- a list of follow-up visits; the follow-up letter"]


def test_markdown_headings_are_sections_and_marks_are_gone(tmp_path: Path) -> None:
    text = (
        "---\ntitle: Sepsis pathway\ndate: 2024-05-17\nlanguage: en\n---\n# Sepsis pathway\n\nCall **early**.\n\n"
        "## Adults\n\nGive [oxygen](http://x.example).\n\n### Fluids\n\n- 500 mL first\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    record = one(written(tmp_path / "s.md", text))
    assert (record.title, record.date, record.language) == ("Sepsis pathway", "2024-05-17", "en")
    assert section(record, "") == "Call early."
    assert section(record, "Adults") == "Give oxygen."
    assert section(record, "Adults / Fluids") == "500 mL first\na | b\n1 | 2"


MONOGRAPH = """---
id: ward-gout
title: Gout on our ward
kind: condition
written: 2026-01-02
review_by: 2028-01-02
clinically_reviewed: true
questions:
  - q: What do we give first?
    span: We give naproxen first.
  - q: What else is there?
    span: This stands nowhere in the text.
---
## Treatment
We give naproxen first. Then we wait.
"""


def test_a_monograph_keeps_its_questions_and_says_which_have_no_answer(tmp_path: Path) -> None:
    record, problem = read(written(tmp_path / "any-name.md", MONOGRAPH))
    assert isinstance(record, Record)
    assert (record.kind, record.review_by, record.level) == ("monograph", "2028-01-02", "monograph")
    assert [q.q for q in record.questions] == ["What do we give first?"]
    assert section(record, "Treatment") == "We give naproxen first. Then we wait."
    assert isinstance(problem, Problem)
    assert "What else is there?" in problem.what
    assert (
        "clinically_reviewed"
        in refused(written(tmp_path / "b.md", MONOGRAPH.replace("clinically_reviewed: true\n", ""))).what
    )


def test_a_web_page_without_its_menus_and_scripts(tmp_path: Path) -> None:
    html = (
        "<html lang='en-GB'><head><title>Croup</title><meta charset='iso-8859-1'>"
        "<meta name='dcterms.modified' content='2023-04-05'></head>"
        "<body><header>Our hospital</header><nav>Home</nav><script>x()</script><main><header><h1>Croup</h1></header>"
        "<p>A barking cough<br>at night,"
        " 10<sup>9</sup> cells; d\xe9j\xe0.</p><h2>Treatment</h2><ul><li>Dexamethasone</li>"
        "<li>Adrenaline</li></ul><h3>Dose</h3><table><tr><th>kg</th><th>mg</th></tr><tr><td>10</td><td></td></tr></table>"
        "</main><footer>Contact</footer></body></html>"
    )
    record = one(written(tmp_path / "c.html", html.encode("latin-1")))
    assert (record.title, record.language, record.date) == ("Croup", "en", "2023-04-05")
    assert section(record, "") == "A barking cough at night, 10⁹ cells; déjà."
    assert section(record, "Treatment") == "Dexamethasone\nAdrenaline"
    assert section(record, "Treatment / Dose") == "kg | mg\n10 |"
    assert not {"hospital", "Home", "x()", "Contact"} & set(record.text.replace("\n", " ").split())


LINES = (
    {
        "title": "A",
        "abstract": "One.\nTwo.",
        "pmid": 123,
        "publication_types": ["Randomized Controlled Trial"],
        "year": 2019,
    },
    {"title": "B", "text": "Full text.", "pmcid": "PMC77", "pmid": "5", "date": "2020-02", "more": [1]},
    {"title": "C", "contents": "Zur Gicht.", "language": "de", "id": "x 1"},
    {"title": 5, "text": "t"},
    {"title": "no text"},
    {"title": "E", "text": {"a": 1}},
    {"title": "F", "text": "half \ud800 a pair"},
)


def test_json_lines_each_a_record_or_a_problem_with_its_number(tmp_path: Path) -> None:
    content = "\n".join(json.dumps(line) for line in LINES) + '\n\n[1]\n{"title": \n'
    found = list(read(written(tmp_path / "own.jsonl", content)))
    records = [r for r in found if isinstance(r, Record)]
    problems = {p.where: p.what for p in found if isinstance(p, Problem)}
    assert [r.id.split("-")[0] for r in records] == ["pubmed:123", "pmc:PMC77", "own:x", "own:own"]
    assert [r.kind for r in records] == ["abstract", "document", "document", "document"]
    assert (records[0].text, records[0].level, records[0].date) == ("One.\nTwo.", "randomised trial", "2019")
    assert (records[1].date, records[2].language) == ("2020-02", "de")
    assert records[3].text == "half \ufffd a pair"
    assert list(problems) == ["line 4", "line 5", "line 6", "line 9", "line 10"]
    assert "title is not a text" in problems["line 4"]
    packed = tmp_path / "own.jsonl.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert list(read(packed)) == found
    assert "array" in refused(written(tmp_path / "array.jsonl", '[{"title": "a"}]')).what


HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.txt", b"", "empty"),
    "binary": ("a.txt", bytes(range(256)) * 8, "binary"),
    "binary that decodes": ("a.md", bytes(range(32)) * 8, "binary"),
    "latin-1": ("a.txt", "naïve dépôt".encode("latin-1"), "UTF-8"),
    "odd utf-16": ("a.txt", "\ufeffab".encode("utf-16-le") + b"x", "UTF-16"),
    "white space": ("a.txt", b" \n\t\n", "no text"),
    "unknown": ("a.docx", b"PK", ".docx"),
    "no suffix": ("README", b"text", "no suffix"),
    "front matter": ("a.md", b"---\ntitle: a: b: c\n---\ntext", "front matter"),
    "headings only": ("a.md", b"# One\n\n## Two\n", "no text"),
    "scripted page": ("a.html", b"<html><body><script>draw()</script></body></html>", "no text"),
    "unknown charset": ("a.html", b"<meta charset=klingon><p>text</p>", "KLINGON"),
    "not gzip": ("a.xml.gz", b"<article/>", "packed"),
    "not pdf": ("a.pdf", b"<html></html>", "not a PDF"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_told(name: str, tmp_path: Path) -> None:
    file, content, said = HOSTILE[name]
    assert said in refused(written(tmp_path / file, content)).what


def test_what_is_no_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.txt").mkdir()
    assert "folder" in refused(tmp_path / "folder.txt").what
    assert "not there" in refused(tmp_path / "none.txt").what
    os.mkfifo(tmp_path / "pipe.txt")
    assert "ordinary" in refused(tmp_path / "pipe.txt").what

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    locked = written(tmp_path / "locked.txt", "text")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", forbidden)
        assert "may not be read" in refused(locked).what


def test_a_document_beyond_the_limit_is_refused_packed_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.read_bytes, "__defaults__", (1000,))
    assert "for one document" in refused(written(tmp_path / "a.txt", "long " * 1000)).what
    bomb = gzip.compress(b"<article><body><p>" + b"a" * 100_000 + b"</p></body></article>")
    assert len(bomb) < 1000
    assert "for one document" in refused(written(tmp_path / "a.nxml.gz", bomb)).what


def test_every_suffix_is_in_lower_case_and_upper_case_files_are_read(tmp_path: Path) -> None:
    assert {".txt", ".md", ".html", ".pdf", ".xml", ".nxml", ".xml.gz", ".jsonl"} <= suffixes()
    assert all(s == s.lower() for s in suffixes())
    assert one(written(tmp_path / "A.TXT", "Some words.")).text == "Some words."

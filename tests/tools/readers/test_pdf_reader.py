"""PDFs: pages, broken lines, running heads, and every way in which a file gives no text."""

from __future__ import annotations

import io
from pathlib import Path

from pypdf import PdfWriter

from support.pdf_writer import pdf
from tools.readers.contract import Problem, Record
from tools.readers.reading import read

SIDES = ("left", "right", "other")


def pages(*numbers: int) -> list[list[str]]:
    return [
        [
            "Ward guide 2024",
            f"Text of page {n} about pleural fluid that",
            f"is drained on the {SIDES[n - 1]} side.",
            f"{n}",
        ]
        for n in numbers
    ]


def written(folder: Path, data: bytes, name: str = "guide.pdf") -> list[Record | Problem]:
    (folder / name).write_bytes(data)
    return list(read(folder / name))


def test_pages_are_sections_lines_are_joined_and_running_heads_left_out(tmp_path: Path) -> None:
    (record,) = written(tmp_path, pdf(pages(1, 2, 3), title="Pleural effusion", created="20240517120000Z"))
    assert isinstance(record, Record)
    assert (record.title, record.date) == ("Pleural effusion", "2024-05-17")
    assert [s.title for s in record.sections] == ["Page 1", "Page 2", "Page 3"]
    contents = [record.text[s.start : s.end] for s in record.sections]
    assert contents == [
        f"Text of page {n} about pleural fluid that is drained on the {SIDES[n - 1]} side." for n in (1, 2, 3)
    ]


def test_the_title_is_the_first_line_when_the_metadata_tell_none(tmp_path: Path) -> None:
    page = ["Care of chest drains", "Never clamp a bubbling drain. Keep the bottle below the chest at all times."]
    (record,) = written(tmp_path, pdf([page], title="Microsoft Word - draft7.doc"))
    assert isinstance(record, Record)
    assert record.title == "Care of chest drains"


def test_pages_without_text_are_named_and_a_file_of_them_is_refused(tmp_path: Path) -> None:
    record, problem = written(tmp_path, pdf([["Some words stand here."], [], []]))
    assert isinstance(record, Record)
    assert isinstance(problem, Problem)
    assert problem.where == "pages 2, 3"
    (scanned,) = written(tmp_path, pdf([[], []]), "scan.pdf")
    assert isinstance(scanned, Problem)
    assert "no text" in scanned.what
    assert "recognition" in scanned.advice


def test_locked_cut_and_damaged_files_are_problems(tmp_path: Path) -> None:
    whole = pdf(pages(1, 2))
    writer = PdfWriter(clone_from=io.BytesIO(whole))
    writer.encrypt("secret", algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)
    (problem,) = written(tmp_path, locked.getvalue(), "locked.pdf")
    assert isinstance(problem, Problem)
    assert "password" in problem.what
    for at in range(10, len(whole), 97):
        assert written(tmp_path, whole[:at], "cut.pdf")
        assert written(tmp_path, whole[:at] + b"\xff" * 9 + whole[at + 9 :], "damaged.pdf")
    (cut,) = written(tmp_path, whole[:60], "cut.pdf")
    assert isinstance(cut, Problem)

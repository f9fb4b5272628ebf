"""Readers of original formats: faults and forms of XML, archives, workbooks, CSV and encoded files."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evals.datasets.originals import healthsearchqa, medbrowsecomp
from evals.datasets.originals.contract import Placed, Problem, Row, unique
from evals.datasets.originals.converting import convert
from evals.datasets.originals.registry import ORIGINALS, find_original

SAMPLES = Path(healthsearchqa.__file__).resolve().parents[1] / "samples"


def read_all(name: str, path: Path) -> tuple[list[Placed], list[Problem]]:
    found = list(unique(ORIGINALS[name].read(path)))
    return [f for f in found if isinstance(f, Placed)], [f for f in found if isinstance(f, Problem)]


def rows(name: str, path: Path) -> list[Row]:
    return [one.row for one in read_all(name, path)[0]]


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_hostile_xml_is_refused(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE Document [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><Document><Focus>&b;</Focus></Document>'
    outside = '<!DOCTYPE Document [<!ENTITY a SYSTEM "file:///etc/passwd">]><Document><Focus>&a;</Focus></Document>'
    for text in (laughs, outside):
        placed, (problem,) = read_all("medquad", put(tmp_path / "x.xml", text))
        assert placed == []
        assert "DTD" in problem.what
    _, (cut,) = read_all("medquad", put(tmp_path / "x.xml", "<Document>\n<Focus>"))
    assert cut.line == 2


def test_a_pair_without_a_question_does_not_take_its_page_with_it(tmp_path: Path) -> None:
    text = (SAMPLES / "medquad/1_Sample_QA/0000001.xml").read_text()
    path = put(tmp_path / "x.xml", text.replace('qid="0000001-2"', ""))
    (page,), (problem,) = read_all("medquad", path)
    assert "without its qid" in problem.what
    assert text.split("\n")[problem.line - 1].strip() == '<QAPair pid="2">'
    assert len(page.row.model_dump()["pairs"]) == 1


def test_the_archive_of_judged_answers_and_the_second_spelling(tmp_path: Path) -> None:
    for file in (SAMPLES / "liveqa").glob("*.xml"):
        shutil.copy(file, tmp_path)
    test_set = "TREC-2017-LiveQA-Medical-Test"
    shutil.copy(tmp_path / f"{test_set}-Questions-w-summaries.xml", tmp_path / f"{test_set}.xml")
    with zipfile.ZipFile(tmp_path / "QA-TestSet.zip", "w") as archive:
        for file in [*(SAMPLES / "liveqa").glob("*.txt"), *(SAMPLES / "liveqa").glob("*.csv")]:
            archive.write(file, f"QA-TestSet/{file.name}")
    placed, problems = read_all("liveqa", tmp_path)
    assert len(placed) == 7
    assert ["Passed over" in p.what for p in problems] == [True]


def test_encoded_questions_are_the_same_as_plain_ones(tmp_path: Path) -> None:
    plain = rows("medbrowsecomp", SAMPLES / "medbrowsecomp" / "final50.csv")
    assert plain[0].model_dump()["trial"] == "NCT99999991"
    assert "\nReturn" in plain[0].model_dump()["prompt"]
    encoded = rows("medbrowsecomp", SAMPLES / "medbrowsecomp" / "final50_cell_combo_shift3_b64.csv")
    assert [r.model_dump()["gold"] for r in encoded] == [r.model_dump()["gold"] for r in plain]


@given(st.text())
def test_a_cell_is_decoded_to_what_was_encoded(cell: str) -> None:
    try:
        code = medbrowsecomp.encoded(cell)
    except (UnicodeEncodeError, ValueError):  # a character that shifts out of Unicode cannot be encoded by the release
        return
    assert medbrowsecomp.decoded(code) == cell


def workbook(path: Path, *sheets: list[str]) -> Path:
    """A workbook with shared strings, as a spreadsheet program writes it."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    texts = [t for sheet in sheets for t in sheet]
    with zipfile.ZipFile(path, "w") as book:
        names = "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="rId{n}"/>' for n in range(len(sheets)))
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{names}</sheets></workbook>'
        )
        links = "".join(f'<Relationship Id="rId{n}" Target="worksheets/s{n}.xml"/>' for n in range(len(sheets)))
        book.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{links}</Relationships>")
        shared = "".join(f"<si><r><t>{t[:3]}</t></r><r><t>{t[3:]}</t></r></si>" for t in texts)
        book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}">{shared}</sst>')
        for n, sheet in enumerate(sheets):
            cells = "".join(
                f'<row r="{at}"><c r="A{at}" t="s"><v>{texts.index(t)}</v></c></row>'
                for at, t in enumerate(sheet, start=1)
            )
            book.writestr(
                f"xl/worksheets/s{n}.xml", f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
            )
    return path


def test_the_workbook_of_searched_questions(tmp_path: Path) -> None:
    path = workbook(tmp_path / "q.xlsx", ["Question", "Why do I yawn?", "Do hiccups end?"], ["Why do I yawn?"])
    placed, problems = read_all("healthsearchqa", path)
    assert problems == []
    assert [(p.line, p.row.model_dump()["part"]) for p in placed] == [(2, "all"), (3, "all"), (1, "rated")]
    convert(find_original("healthsearchqa"), path, tmp_path)
    made = [json.loads(line) for line in (tmp_path / healthsearchqa.FILE).open()]
    assert [(m["question"], m["rated"]) for m in made] == [("Why do I yawn?", True), ("Do hiccups end?", False)]
    _, (problem,) = read_all("healthsearchqa", put(tmp_path / "no.xlsx", "not a zip"))
    assert "No Excel workbook" in problem.what


def test_faults_of_csv(tmp_path: Path) -> None:
    _, (header,) = read_all("healthsearchqa", put(tmp_path / "a.csv", "id,text\n1,x\n"))
    assert (header.line, header.what) == (1, "The header lacks question.")
    placed, (ragged,) = read_all("healthsearchqa", put(tmp_path / "a.csv", 'id,question\n1,"two\nlines"\n2\n3,last\n'))
    assert ([p.line for p in placed], ragged.line) == ([2, 5], 4)
    _, problems = read_all("healthsearchqa", put(tmp_path / "a.csv", 'id,question\n1,"never closed\n'))
    assert problems[0].line == 2
    (tmp_path / "a.csv").write_bytes(b"id,question\n1,caf\xe9\n")
    assert "not UTF-8" in read_all("healthsearchqa", tmp_path / "a.csv")[1][0].what

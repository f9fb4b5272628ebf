"""The readers of original formats: one contract for all, on the samples, and each format's own faults and forms."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.datasets import healthsearchqa
from evals.datasets.answered_questions import read_liveqa, read_segments
from evals.datasets.bioasq import SNIPPETS
from evals.datasets.catalogue import ORIGINALS, convert, drawn, find_original
from evals.datasets.clinical import read_clinical
from evals.datasets.literature import read_bioasq
from evals.datasets.medquad import read_pages
from evals.datasets.mirage import read_exam
from evals.datasets.phenopackets import read_patients
from evals.datasets.pubmedqa import read_pubmedqa
from evals.datasets.releases import Placed, Problem, unique
from prompts.errors import DataError, InputError
from tools.reading.corpus import BIOASQ

SAMPLES = Path(healthsearchqa.__file__).with_name("samples")
RECORDS = {
    "mirage": 7, "pubmedqa": 3, "bioasq": 4, "medquad": 3, "liveqa": 7, "ddxplus": 3, "cmb_clin": 2, "cmemr": 4,
    "clinicalbench": 3, "phenopackets": 3, "healthsearchqa": 4,
}  # fmt: skip
WRITTEN = {
    "mirage": {"mirage/exam_dev.jsonl": 5},
    "pubmedqa": {"literature/pubmedqa_dev.jsonl": 3},
    "bioasq": {BIOASQ: 3, SNIPPETS: 2},
    "medquad": {"medquad/pages.jsonl": 1},
    "liveqa": {"medquad/liveqa_dev.jsonl": 1, "medquad/liveqa_answers.jsonl": 2},
    "ddxplus": {"ddxplus/patients_dev.jsonl": 3, "ddxplus/patients_dev_text.jsonl": 3},
    "cmb_clin": {"cases/cmb_clin.jsonl": 2},
    "cmemr": {"cases/cmemr.jsonl": 2},
    "clinicalbench": {"cases/clinicalbench.jsonl": 3},
    "phenopackets": {"cases/phenopackets_dev.jsonl": 2},
    "healthsearchqa": {"questions/healthsearchqa.jsonl": 3},
}


def read_all(name: str, path: Path) -> tuple[list[Placed], list[Problem]]:
    found = list(unique(ORIGINALS[name].read(path)))
    return [f for f in found if isinstance(f, Placed)], [f for f in found if isinstance(f, Problem)]


def edited(name: str, file: str, tmp_path: Path, edit: Callable[[Any], object]) -> list[Problem]:
    """The problems of a sample after its JSON was edited."""
    folder = shutil.copytree(SAMPLES / name, tmp_path / name)
    content = json.loads((folder / file).read_text())
    edit(content)
    (folder / file).write_text(json.dumps(content, indent=1, ensure_ascii=False))
    return read_all(name, folder)[1]


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ORIGINALS)
def test_the_contract_of_every_reader(name: str, tmp_path: Path) -> None:
    placed, problems = read_all(name, SAMPLES / name)
    assert (len(placed), problems) == (RECORDS[name], [])
    assert len({one.row.key for one in placed}) == len(placed)
    for one in placed:
        again = type(one.row).model_validate_json(one.row.model_dump_json())
        assert again == one.row
        file = SAMPLES / name / one.file
        assert 1 <= one.line <= (file.read_bytes().count(b"\n") + 1 if file.is_file() else 2)
    report = convert(ORIGINALS[name], SAMPLES / name, tmp_path)
    assert (report.read, report.written, report.problems) == (RECORDS[name], WRITTEN[name], [])
    other = tmp_path / "again"
    assert convert(ORIGINALS[name], SAMPLES / name, other).written == report.written
    for file in WRITTEN[name]:
        assert (other / file).read_bytes() == (tmp_path / file).read_bytes()


def test_the_evaluations_read_what_was_converted(tmp_path: Path) -> None:
    for name, original in ORIGINALS.items():
        convert(original, SAMPLES / name, tmp_path)
    exam = read_exam(tmp_path)
    assert {k: len(v) for k, v in exam.items()} == {"medqa": 2, "medmcqa": 2, "mmlu": 1}
    assert exam["medmcqa"][1].options["D"] == "300"
    asked = {q.pmid: q for q in read_pubmedqa(tmp_path)}
    assert asked["900000003"].contexts[1].label == "RESULTS"
    assert [json.loads(line)["split"] for line in (tmp_path / "literature/pubmedqa_dev.jsonl").open()] == [
        "dev", "test", "dev",
    ]  # fmt: skip
    gold = read_bioasq(tmp_path, frozenset({"900000011", "900000012", "900000013"}))
    assert (gold[0].id, sorted(gold[0].gold)) == ("sample90b1q1", ["900000011", "900000012"])
    document = json.loads((tmp_path / SNIPPETS).open().readline())
    assert [len(document[f"{part}_snippets"]) for part in ("title", "abstract", "other")] == [1, 1, 0]
    page = read_pages(tmp_path)[0]
    assert [page.text[a.start : a.end][:13] for a in page.answers] == [
        "Hiccups are s", "Holding one's", "Eating fast i",
    ]  # fmt: skip
    assert len(read_segments(tmp_path, 10, 0).documents) == 3
    liveqa = read_liveqa(tmp_path, 10, 0)
    assert [q.gold for q in liveqa.asked] == [frozenset({"Sample_0000001_Sec2.txt"})]
    assert "&" in liveqa.asked[0].text
    (patient,) = read_patients(tmp_path, {"OMIM:999991"})
    assert (len(patient.observed), len(patient.excluded), patient.pmid) == (3, 1, "900000021")
    assert [c.diagnoses for c in read_clinical(tmp_path, "cmb_clin")] == [("打嗝",), ("普通感冒",)]
    assert read_clinical(tmp_path, "cmemr")[1].diagnoses == ("普通感冒", "过敏性鼻炎")
    assert {c.language for c in read_clinical(tmp_path, "clinicalbench")} == {"en", "zh"}


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    reasons = {name: convert(o, SAMPLES / name, tmp_path).left_out for name, o in ORIGINALS.items()}
    assert sum(reasons["mirage"].values()) == 2
    assert sorted(reasons["medquad"].values()) == [1, 1, 1]
    assert sum(reasons["cmemr"].values()) == 2
    assert sum(reasons["phenopackets"].values()) == 1


@pytest.mark.parametrize(
    ("name", "file", "edit", "words"),
    [
        ("mirage", "benchmark.json", lambda b: b["medqa"]["0001"].update(answer="E"), "none of the options"),
        ("mirage", "benchmark.json", lambda b: b["medqa"]["0001"]["options"].pop("B"), "not lettered from A"),
        ("mirage", "benchmark.json", lambda b: b["mmlu"]["anatomy-000"]["options"].update(C=float("nan")), "options.C"),
        ("mirage", "benchmark.json", lambda b: b.update(other={"1": {}}), "dataset: Input should be"),
        ("pubmedqa", "ori_pqal.json", lambda b: b["900000001"]["LABELS"].pop(), "1 labels for 2 contexts"),
        ("pubmedqa", "test_ground_truth.json", lambda b: b.update({"900000002": "yes"}), "another answer"),
        ("pubmedqa", "test_ground_truth.json", lambda b: b.update({"900000009": "yes"}), "is no question of"),
        (
            "bioasq",
            "90B1_golden.json",
            lambda b: b["questions"][0].update(exact_answer="perhaps"),
            "neither yes nor no",
        ),
        ("bioasq", "90B1_golden.json", lambda b: b["questions"][0].update(id="sample90b2q1"), "stands in 90B1_golden"),
        ("cmb_clin", "CMB-Clin-qa.json", lambda b: b[1].update(QA_pairs=[]), "QA_pairs"),
        ("cmemr", "内科.json", lambda b: b[0].pop("label"), "diagnoses"),
        ("cmemr", "口腔科.json", lambda b: b.append("not an address"), "url"),
        ("clinicalbench", "data_example_en.json", lambda b: b.pop("clinical_case_uid"), "id: "),
        ("phenopackets", "SMPL1/sample_A_1.json", lambda b: b["metaData"].pop("phenopacketSchemaVersion"), "version 2"),
        (
            "phenopackets",
            "SMPL1/sample_A_1.json",
            lambda b: b["phenotypicFeatures"][0].pop("type"),
            "form of the schema",
        ),
    ],
)
def test_a_malformed_row_is_a_problem_and_the_others_are_read(
    name: str, file: str, edit: Callable[[Any], object], words: str, tmp_path: Path
) -> None:
    (problem,) = edited(name, file, tmp_path, edit)
    assert words in problem.what
    assert problem.line >= 1
    assert len(read_all(name, tmp_path / name)[0]) in {RECORDS[name], RECORDS[name] - 1}


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = put(tmp_path / "benchmark.json", '{"medqa": {\n\n "7": {"question": "Why?"},\n"8": 5,\n "7": 6}}')
    _, problems = read_all("mirage", path)
    assert [p.line for p in problems] == [3, 4, 5]


def test_a_broken_file_is_told_once_and_what_stood_before_is_read(tmp_path: Path) -> None:
    whole = (SAMPLES / "cmb_clin" / "CMB-Clin-qa.json").read_text()
    placed, problems = read_all("cmb_clin", put(tmp_path / "cut.json", whole[: whole.index('"id": "1"')]))
    assert len(placed) == 1
    assert problems[0].line > 1
    assert "was not read" in problems[0].what
    assert "more after the end" in str(read_all("cmb_clin", put(tmp_path / "more.json", whole + "{}"))[1][0])
    placed, problems = read_all("cmemr", put(tmp_path / "object.json", '{"基本信息": "无"}'))
    assert not placed
    assert len(problems) == 1, "an object where a list should be"
    _, (deep,) = read_all("cmemr", put(tmp_path / "deep.json", "[" * 200_000))
    assert "No valid JSON" in deep.what


@pytest.mark.parametrize("name", ORIGINALS)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_content_ends_a_reader(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = shutil.copytree(SAMPLES / name, tmp_path_factory.mktemp(name) / "d")
    path = data.draw(st.sampled_from(sorted(p for p in folder.rglob("*") if p.is_file())))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    path.write_bytes(bytes(content))
    for one in unique(ORIGINALS[name].read(folder)):
        assert isinstance(one, Placed | Problem)


def test_conversions_write_over_nothing_and_leave_nothing_half(tmp_path: Path) -> None:
    mirage = find_original("mirage")
    convert(mirage, SAMPLES / "mirage", tmp_path)
    before = (tmp_path / "mirage/exam_dev.jsonl").read_bytes()
    with pytest.raises(InputError, match="is there already"):
        convert(mirage, SAMPLES / "mirage", tmp_path)
    convert(mirage, SAMPLES / "mirage", tmp_path, limit=2, replace=True)
    assert len((tmp_path / "mirage/exam_dev.jsonl").read_bytes()) < len(before)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mirage"]
    with pytest.raises(DataError, match=r"Nothing was converted\. .*No valid JSON"):
        convert(mirage, put(tmp_path / "benchmark.json", "nothing"), tmp_path / "new")
    with pytest.raises(InputError, match="There is no"):
        convert(mirage, tmp_path / "nowhere", tmp_path)
    with pytest.raises(InputError, match="no original format"):
        find_original("nothing")


def test_a_sample_is_drawn_from_the_whole_stream() -> None:
    assert drawn(iter(range(3)), 5, 0) == [0, 1, 2]
    chosen = [drawn(iter(range(1000)), 10, seed) for seed in range(200)]
    assert all(one == sorted(one) and len(set(one)) == 10 for one in chosen)
    assert 400 < sum(sum(one) for one in chosen) / 2000 < 600
    assert drawn(iter(range(1000)), 10, 3) == chosen[3]


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

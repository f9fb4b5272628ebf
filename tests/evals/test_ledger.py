"""The ledger: every figure that the sources print has a row, the page says what the reports say, and stale is seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evals.contract import Figure, Report
from evals.ledger import code
from evals.ledger.page import REPORTS, Paper, Published, Reports, Row, Table, published, reproduction
from evals.runner import by_figure, write_report
from evals.tasks.registry import TASKS
from prompts.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
COUNTED = {"ica-rag": 96, "cometa": 61, "medrgag": 2, "medrag-kg": 4, "qb-rag": 130}  # by hand, from the sources
NEEDED = {"needs": ("model",), "command": "eval run cases --by-model"}


def listed(table: dict[str, Any] | None = None, **row: Any) -> Published:
    given = {"title": "T", "setting": "s", "task": "cases", "our_setting": "o of {a.b.c}", "differs": "d"} | (
        table or {}
    )
    rows = (Row(**{"what": "w", "line": 3, "values": [50], **row}),)
    tables = (Table(**given, rows=rows),)
    return Published(papers=(Paper(id="p", name="P", source="x", configuration="ica-rag", tables=tables),))


def report(*names: str, **more: Any) -> Report:
    figures = tuple(Figure(name=name, value=62.5, n=8, ci95=(30.0, 86.0)) for name in names)
    settings = {"limit": 5, "seed": 0, "encoder": "e"}
    return Report(task="cases", settings=settings, data_sha256="a" * 64, seconds=1.0, figures=figures, **more)


def test_the_page_says_what_the_list_and_the_reports_say() -> None:
    assert (ROOT / "REPRODUCTION.md").read_text(encoding="utf-8") == reproduction(published(), Reports(REPORTS))


def test_every_figure_that_the_sources_print_has_a_row_and_no_other_is_counted() -> None:
    assert {paper.id: len(paper.printed()) for paper in published().papers} == COUNTED
    tables = [table for paper in published().papers for table in paper.tables]
    for table in tables:
        lines = [row.line for row in table.rows]
        assert all(lines) if table.sources and all(row.values for row in table.rows) else True
    answers = next(t for t in tables if t.title == "Appendix A, MedQuAD, answers")
    printed = {c.what: c.value for c in answers.cells()}
    assert [printed[f"{s}, adherence"] for s in ("QB-RAG-27", "QB-RAG-8", "naive RAG")] == [63, 59, 53]
    assert [printed[f"{s}, faithful"] for s in ("QB-RAG-27", "QB-RAG-8", "naive RAG")] == [98, 96, 92]


def test_what_needs_neither_model_nor_weights_has_a_figure_or_lacks_data_that_it_names() -> None:
    cells = [cell for paper in published().papers for cell in paper.printed()]
    assert sum(bool(cell.ours) for cell in cells) >= 130
    assert all(cell.needs for cell in cells if not cell.ours)


def test_every_shipped_report_is_named_by_a_row_of_a_task() -> None:
    cells = [cell for paper in published().papers for table in paper.tables for cell in table.cells()]
    tasks = {cell.named[0] for cell in cells if cell.ours}
    assert {path.stem for path in REPORTS.glob("*.json")} == tasks <= set(TASKS)
    assert by_figure()["ablation_full.ddxplus.f1"].value == 50.88


def test_a_row_has_line_value_interval_and_reason(tmp_path: Path) -> None:
    write_report(report("a.b.c"), tmp_path / "cases.json")
    page = reproduction(listed(ours="a.b.c", differs="other rows | other people"), Reports(tmp_path))
    assert "| 3 | w | 50.00 | not said | 62.50 | 30.00 to 86.00 | 8 | method | other rows \\| other people |" in page
    assert "Ours: o of 62.5." in page
    assert "| all | 1 | 1 | 0 | 0 | 0 | 0 | 0 |" in page
    page = reproduction(listed(ours="a.b.c", line=0, values=()), Reports(tmp_path))
    assert "|  | w |  |  | 62.50 | 30.00 to 86.00 | 8 | variant |  |" in page
    assert "| all | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in page
    page = reproduction(listed({**NEEDED, "our_setting": ""}, n=7, values=["22/60"]), Reports(tmp_path))
    assert "| 3 | w | 36.67 | 7 | not run |  |  |  | needs a language model |" in page
    assert "filled by `eval run cases --by-model`" in page
    assert "| all | 1 | 0 | 0 | 1 | 0 | 0 | 0 |" in page


def test_columns_name_figures_and_a_cell_that_is_not_printed_is_no_row(tmp_path: Path) -> None:
    columns = (
        {"what": "F1", "figure": "f1"},
        {"what": "ms", "figure": "ms"},
        {"what": "MedCPT", "needs": ("weights",)},
    )
    table = {"columns": columns, "our_setting": "", "proxy": True, "scale": 100, "command": "c"}
    cells = list(listed(table, ours="a.b", values=[0.5, None, 0.25]).papers[0].tables[0].cells())
    assert [(c.what, c.value, c.ours, c.kind) for c in cells] == [
        ("w, F1", 50, "cases:a.b.f1", "proxy"),
        ("w, MedCPT", 25, "", "proxy"),
    ]
    assert cells[1].needs == ("weights",)
    cells = list(listed(table, ours="other:*.b.c", line=0, values=()).papers[0].tables[0].cells())
    assert [c.ours for c in cells] == ["other:f1.b.c", "other:ms.b.c"]  # a variant has no row for what it cannot fill


def test_a_missing_figure_and_a_missing_or_foreign_report_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="eval run cases"):
        reproduction(listed(ours="a.b.c"), Reports(tmp_path))
    write_report(report("a.b.d"), tmp_path / "cases.json")
    with pytest.raises(DataError, match=r"no figure a\.b\.c"):
        reproduction(listed(ours="a.b.c"), Reports(tmp_path))
    write_report(report("a.b.c").model_copy(update={"task": "answers"}), tmp_path / "cases.json")
    with pytest.raises(DataError, match="is a report of answers"):
        reproduction(listed(ours="a.b.c"), Reports(tmp_path))


def test_a_stale_report_is_seen(tmp_path: Path) -> None:
    for made, stale in (("", True), (code.code_sha256("cases"), False)):
        write_report(report("a.b.c", code=made), tmp_path / "cases.json")
        assert ("**Stale" in reproduction(listed(ours="a.b.c"), Reports(tmp_path))) is stale


def test_code_is_what_an_evaluation_and_its_parts_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "evals_toy"
    package.mkdir()
    (package / "__init__.py").touch()

    def hashed(own: str, part: str = "LIMIT = 5") -> str:
        (package / "toy.py").write_text(own)
        (package / "part.py").write_text(part)
        code._read.cache_clear()
        code.code_sha256.cache_clear()
        return code.code_sha256("toy")

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(code, "OWN", ("evals_toy.",))
    monkeypatch.setitem(code.MODULES, "toy", "evals_toy.toy")
    before = hashed('"""One."""\nfrom evals_toy import part\nx = 1')
    assert before == hashed('"""Another."""\n\nfrom evals_toy import part  # why\n\nx = 1\n')
    assert before != hashed('"""One."""\nfrom evals_toy import part\nx = 2')
    assert before != hashed('"""One."""\nfrom evals_toy import part\nx = 1', "LIMIT = 6")
    code.code_sha256.cache_clear()
    assert code.code_sha256("nothing") == ""


def test_a_report_from_before_its_code_was_kept_is_read() -> None:
    old = report("a.b.c").model_dump(mode="json")
    del old["code"]
    assert Report.model_validate_json(json.dumps(old)).code == ""


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({}, "either ours or what it needs"),
        ({"line": 0, "ours": "a.b.c"}, "has its line"),
        ({"line": 0, "values": ()}, "neither a printed figure"),
        ({"values": [1, 2], "ours": "a.b.c"}, "2 values for 1 columns"),
        ({"needs": ("model",)}, "no command fills"),
    ],
)
def test_a_slip_in_the_list_is_refused(row: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        listed(**row)

"""The ledger: every published figure has a row, and the page says what the reports say."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from evals.contract import Figure, Report
from evals.ledger.page import REPORTS, Paper, Published, Reports, Row, Table, published, reproduction
from evals.runner import write_report
from evals.tasks.registry import TASKS
from prompts.errors import DataError

ROOT = Path(__file__).resolve().parents[2]


def listed(**row: object) -> Published:
    table = Table(
        title="T",
        setting="s",
        task="cases",
        our_setting="o",
        differs="d",
        rows=(Row(**{"what": "w", "value": 50, **row}),),
    )
    return Published(papers=(Paper(id="p", name="P", source="x", configuration="ica-rag", tables=(table,)),))


def report(*names: str) -> Report:
    figures = tuple(Figure(name=name, value=62.5, n=8, ci95=(30.0, 86.0)) for name in names)
    settings = {"limit": 5, "seed": 0, "encoder": "e"}
    return Report(task="cases", settings=settings, data_sha256="a" * 64, seconds=1.0, figures=figures)


def test_the_page_says_what_the_list_and_the_reports_say() -> None:
    assert (ROOT / "REPRODUCTION.md").read_text(encoding="utf-8") == reproduction(published(), Reports(REPORTS))


def test_every_shipped_report_is_named_by_a_row_of_a_task() -> None:
    tasks = {t.task for p in published().papers for t in p.tables for row in t.rows if row.ours}
    assert {path.stem for path in REPORTS.glob("*.json")} == tasks <= set(TASKS)


def test_a_row_has_value_interval_and_reason(tmp_path: Path) -> None:
    write_report(report("a.b.c"), tmp_path / "cases.json")
    page = reproduction(listed(ours="a.b.c", differs="other rows | other people"), Reports(tmp_path))
    assert "| w | 50.00 | not said | 62.50 | 30.00 to 86.00 | 8 | other rows \\| other people |" in page
    assert "| all | 1 | 1 | 0 |" in page
    page = reproduction(listed(not_run="no model", n=7), Reports(tmp_path))
    assert "| w | 50.00 | 7 | not run |  |  | no model |" in page
    page = reproduction(listed(ours="a.b.c", value=None), Reports(tmp_path))
    assert "| w | not at hand | not said | 62.50 | 30.00 to 86.00 | 8 | see above |" in page
    assert "| all | 0 | 0 | 0 |" in page


def test_a_missing_figure_and_a_missing_or_foreign_report_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="eval run cases"):
        reproduction(listed(ours="a.b.c"), Reports(tmp_path))
    write_report(report("a.b.d"), tmp_path / "cases.json")
    with pytest.raises(DataError, match=r"no figure a\.b\.c"):
        reproduction(listed(ours="a.b.c"), Reports(tmp_path))
    write_report(report("a.b.c").model_copy(update={"task": "answers"}), tmp_path / "cases.json")
    with pytest.raises(DataError, match="is a report of answers"):
        reproduction(listed(ours="a.b.c"), Reports(tmp_path))


def test_a_row_without_figure_and_reason_or_with_both_is_refused() -> None:
    with pytest.raises(ValidationError, match="either ours or not_run"):
        listed()
    with pytest.raises(ValidationError, match="either ours or not_run"):
        listed(ours="a.b.c", not_run="no model")

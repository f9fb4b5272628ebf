"""The report on a case as people read it: part by part, treatment by discipline, each sentence with its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from graphs.reporting.contract import PARTS, Part, Report, ReportStatement
from prompts.report import DISCIPLINES
from tools.evidence import Statement

NAMES: dict[str, dict[str, str]] = {
    "en": {
        "report": "Report",
        "diagnoses": "Diagnoses",
        "explanation": "Explanation",
        "treatment": "Treatment suggestions",
        "evaluations": "Further evaluations",
        "questions": "Questions to the patient",
        "unknown": "nothing that was found says anything about this",
        "medicines": "Medicines",
        "procedures": "Procedures",
        "physiotherapy": "Physiotherapy",
        "psychology": "Psychology",
        "self_care": "Self-care",
        "general": "General",
    },
    "zh": {
        "report": "报告",
        "diagnoses": "诊断",
        "explanation": "解释",
        "treatment": "治疗建议",
        "evaluations": "进一步检查",
        "questions": "向患者提问",
        "unknown": "所找到的资料未涉及",
        "medicines": "药物",
        "procedures": "操作与手术",
        "physiotherapy": "物理治疗",
        "psychology": "心理",
        "self_care": "自我护理",
        "general": "一般",
    },
}


def show_report(out: Console, report: Report, numbers: Mapping[str, int], language: str) -> None:
    """Print a report; ``numbers`` are those of the sources listed with the answer."""
    names = NAMES["zh" if language == "zh" else "en"]
    out.print(Text(names["report"], style="bold underline"))
    for part in PARTS:
        _part(out, part, report, numbers, names)
    if report.questions:
        out.print(Text(names["questions"], style="bold"))
        for place, question in enumerate(report.questions, start=1):
            out.print(Text(f"  {place}. {question.text}"))
    out.print()


def marks(statement: Statement, numbers: Mapping[str, int]) -> Text:
    """What stands behind a statement: the numbers of its sources, or that it has none."""
    cited = dict.fromkeys(numbers[c.evidence_id] for c in statement.citations if c.evidence_id in numbers)
    found = "".join(f"[{number}]" for number in cited)
    return Text(found or "(not retrieved, not verified)", style="cyan" if found else "yellow")


def _part(out: Console, part: Part, report: Report, numbers: Mapping[str, int], names: Mapping[str, str]) -> None:
    told = report.of(part)
    if part in report.unknown:
        out.print(Text.assemble((names[part], "bold"), (f": {names['unknown']}", "dim")))
        return
    out.print(Text(names[part], style="bold"))
    for discipline in (*DISCIPLINES, None):
        group = [s for s in told if s.discipline == discipline]
        if group and discipline is not None:
            out.print(Text(f"  {names[discipline]}", style="italic"))
        _lines(out, group, numbers)


def _lines(out: Console, group: Sequence[ReportStatement], numbers: Mapping[str, int]) -> None:
    for told in group:
        out.print(Text.assemble(f"  - {told.statement.text} ", marks(told.statement, numbers)))

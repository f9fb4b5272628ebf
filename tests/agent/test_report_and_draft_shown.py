"""A report is printed part by part with its sources; a draft is shown on a terminal only, and goes."""

from __future__ import annotations

import io

from rich.console import Console

from agent.cli.ask import TITLE, Progress
from agent.cli.render import show_answer
from agent.conversation import Step
from graphs.answering.contract import Answer, Choice
from graphs.reporting.contract import ReportStatement, report_of
from tools.contract import FollowUpQuestion
from tools.evidence import Evidence, Origin, Statement, cite

TEXT = "Larger ones need a chest drain."
SOURCE = Evidence(
    id=f"library:x@0-{len(TEXT)}", text=TEXT, title="Pneumothorax", kind="monograph", origin=Origin.RETRIEVED
)


def shown(language: str) -> str:
    cited = Statement(text=TEXT, origin=SOURCE.origin, citations=(cite(SOURCE, 0, len(TEXT)),))
    own = Statement(text="Known by heart.", origin=Origin.PARAMETRIC)
    told = (
        ReportStatement(part="treatment", discipline="self_care", statement=own),
        ReportStatement(part="treatment", discipline="procedures", statement=cited),
        ReportStatement(part="diagnoses", statement=cited),
    )
    report = report_of(told, (FollowUpQuestion(finding="f", text="Since when?", gain=0.1),))
    out = io.StringIO()
    answer = Answer(question="q", kind="case", language=language, evidence=[SOURCE], report=report)
    show_answer(Console(file=out, width=100, highlight=False), answer)
    return out.getvalue()


def test_a_report_shows_its_parts_in_order_with_disciplines_sources_and_what_is_unknown() -> None:
    text = shown("en")
    wanted = [
        "Report", "Diagnoses", f"{TEXT} [1]", "Explanation: nothing that was found", "Treatment suggestions",
        "Procedures", f"{TEXT} [1]", "Self-care", "Known by heart. (not retrieved, not verified)",
        "Further evaluations: nothing", "1. Since when?", "library:x",
    ]  # fmt: skip
    at = 0
    for part in wanted:
        at = text.index(part, at) + len(part)
    assert "治疗建议" in shown("zh")


def test_a_parametric_choice_says_so() -> None:
    out = io.StringIO()
    choice = Choice(label="B", text="Drain", reason="It helps.", parametric=True)
    answer = Answer(question="q", kind="multiple_choice", language="en", choice=choice)
    show_answer(Console(file=out, width=100), answer)
    assert "not retrieved, not verified" in out.getvalue()


def progress(*, terminal: bool, quiet: bool = False) -> str:
    out = io.StringIO()
    with Progress(quiet=quiet, out=Console(file=out, width=80, force_terminal=terminal, color_system=None)) as showing:
        showing.show(Step(step="tools", status="progress", tool="search_literature", summary="searching: croup"))
        showing.show(Step(step="tools", status="finished", tool="search_literature"))
        showing.show(Step(step="answer", status="started"))
        showing.show(Step(step="answer", status="text", text="A single dose"))
        showing.show(Step(step="answer", status="text", text="A single dose helps. [b]No[/b]"))
        showing.show(Step(step="answer", status="finished", summary="1 statements", seconds=0.2))
    return out.getvalue()


def test_a_draft_is_shown_on_a_terminal_as_not_verified_and_then_erased() -> None:
    text = progress(terminal=True)
    assert TITLE in text
    assert "A single dose helps. [b]No[/b]" in text
    erased, finished = text.rindex("\x1b[2K"), text.index("1 statements")
    assert text.rindex(TITLE) < erased < finished


def test_what_a_tool_does_is_a_line_that_vanishes_on_a_terminal_and_stays_elsewhere() -> None:
    line = "Search the literature: searching: croup"
    text = progress(terminal=True)
    assert text.index(line) < text.index("\x1b[2K") < text.index("0 ms")
    assert progress(terminal=False).count(line) == 1


def test_a_draft_is_not_shown_where_there_is_no_terminal_or_nothing_is_to_be_shown() -> None:
    assert "A single dose" not in progress(terminal=False)
    assert "1 statements" in progress(terminal=False)
    assert progress(terminal=True, quiet=True) == ""

"""The completeness gate's decision as people read it: one or two lines beside an answer, or whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from graphs.answering.contract import Answer
from graphs.completeness.contract import GateDecision, Label
from graphs.completeness.explained import ExplainedUnit, Explanation, brief, explained

LABEL_STYLES = {Label.A: "bold green", Label.B: "yellow", Label.C: "dim"}  # the letter says it without colour too
TURNING = " *"  # beside the label of the sentence on which the decision turns
UNASKED = {"en": "The gate was not asked in this turn.", "zh": "这一轮没有做完整性判断。"}


def show_brief(out: Console, answer: Answer) -> None:
    """One or two lines; nothing where the gate was not asked."""
    if answer.gate is not None:
        for line in brief(answer.gate, answer.language):
            out.print(Text(line, style="dim"))


def show_whole(out: Console, answer: Answer) -> None:
    """The whole decision; where the gate was not asked, that."""
    if answer.gate is None:
        out.print(Text(UNASKED["zh" if answer.language == "zh" else "en"], style="dim"))
        return
    for line in lines_of(answer.gate, answer.language):
        out.print(Padding(line, (0, 0, 0, 0)))


def lines_of(decision: GateDecision, language: str) -> Iterator[Text]:
    """The whole decision, line by line."""
    whole = explained(decision, language)
    yield Text(whole.verdict, style="bold")
    if whole.warning:
        yield Text(whole.warning, style="yellow")
    if whole.counts:
        yield Text(whole.counts)
    yield from (_unit(unit) for unit in whole.units)
    yield from _after(whole)


def write_json(answer: Answer) -> None:
    """The decision as one line of JSON; null where the gate was not asked."""
    gate = answer.gate.model_dump(mode="json") if answer.gate is not None else None
    sys.stdout.write(json.dumps({"gate": gate}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _unit(unit: ExplainedUnit) -> Text:
    mark = TURNING if unit.turning else "  "
    return Text.assemble(
        f"  {unit.number}. ", (unit.label.value, LABEL_STYLES[unit.label]), (mark, "bold red"), f" {unit.text}  ",
        (f"({unit.reason})", "dim"),
    )  # fmt: skip


def _after(whole: Explanation) -> Iterator[Text]:
    for line in whole.after:
        yield Text(line, style="bold" if line == whole.question else "")

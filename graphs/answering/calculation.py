"""Answers of calculators: the result, each input with the words that it was read from, what is missing, and the formula
with what its results mean and its source. Nothing is searched for, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from graphs.answering.contract import AnswerView, Draft
from graphs.answering.notices import notice
from prompts.errors import InputError
from tools.calculators import asked_for, calculate_from, told_of
from tools.contract import Notice
from tools.evidence import Evidence, Origin, Statement, cite, content_key

HASH = 16  # ours: characters of the sha256 in the id of a calculation


def calculated(view: AnswerView, today: date) -> Draft:
    """The calculations that a message asks for; one that cannot be is told in the notice ``calculation_refused``."""
    statements: list[Statement] = []
    evidence: list[Evidence] = []
    notices: list[Notice] = []
    told = told_of(view.question, view.case)
    for name in asked_for(view.question, view.case):
        try:
            found = calculate_from(name, told, today)
        except InputError as error:
            notices.append(notice("calculation_refused", view.language, str(error)))
            continue
        title = f"{found.title}, calculated from what was told"
        made = _evidence(f"calculation:{name}-{content_key(told)[:HASH]}", title, found.lines, Origin.CASE)
        about = _evidence(f"calculator:{name}", found.title, found.about, Origin.RETRIEVED)
        evidence += [made, about]
        statements += [*_lines(made), *_lines(about)]
    if statements:
        notices.append(notice("starter_knowledge", view.language))
        notices += [notice("evidence_in_english", view.language)] if view.language == "zh" else []
    return Draft(
        statements=tuple(statements), evidence=tuple(evidence), notices=tuple(notices), abstained=not statements
    )


def _evidence(id: str, title: str, lines: Sequence[str], origin: Origin) -> Evidence:
    """Lines as a piece of evidence: what the program calculated from the case, or what it says of a calculator."""
    text = "\n".join(lines)
    kind = "calculation" if origin is Origin.CASE else "calculator"
    return Evidence(id=f"{id}@0-{len(text)}", text=text, title=title, kind=kind, origin=origin)


def _lines(evidence: Evidence) -> list[Statement]:
    """Each line as a statement that quotes it."""
    out, start = [], 0
    for line in evidence.text.split("\n"):
        cited = cite(evidence, start, start + len(line))
        out.append(Statement(text=line, origin=evidence.origin, citations=(cited,)))
        start += len(line) + 1
    return out

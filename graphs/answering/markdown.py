"""An answer as Markdown: numbered citations with their quotes, for clients that show or hand on text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphs.answering.contract import Answer
from graphs.answering.shown import (
    ORIGINS,
    WORDS,
    edge_lines,
    left_lines,
    marks_of,
    numbers_of,
    quotes_of,
    ranking_title,
    source_facts,
    source_name,
    tongue_of,
)
from graphs.completeness.explained import brief
from graphs.reporting.contract import PARTS
from graphs.verdicts.shown import facts, headed
from tools.contract import RankedDisease
from tools.evidence import Origin, Statement
from tools.notebook.ranking import disease_name, shown_diseases

MARKUP = re.compile(r"([\\`*_\[\]<>#|~&!])")  # what Markdown would read as more than text
LEADING = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)", re.MULTILINE)


def escaped(text: str) -> str:
    """Text on one line that Markdown shows as it stands, whatever it holds."""
    return LEADING.sub(lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", MARKUP.sub(r"\\\1", " ".join(text.split())))


def markdown_of(answer: Answer) -> str:
    """The whole answer: emergencies first, then statements, differential, questions, notices and sources."""
    numbers, words = numbers_of(answer), WORDS[tongue_of(answer.language)]
    blocks = [
        *_emergency(answer, words),
        *_verdict(answer),
        *(f"**{escaped(line)}**" for line in edge_lines(answer, answer.language)),
        *_choice(answer, words),
        *(_statement(s, numbers, words) for s in answer.statements),
        *([f"**{words['none']}**"] if answer.abstained and not answer.statements else []),
        *_differential(answer, words),
        *_report(answer, numbers, words),
        *_questions(answer, words),
        *_notices(answer, words),
        *_sources(answer, numbers, words),
        *_gate(answer),
    ]
    return "\n\n".join(blocks)


def _emergency(answer: Answer, words: dict[str, str]) -> Iterator[str]:
    for flag in answer.emergency:
        yield f"> **{words['emergency']}: {escaped(flag.advice)}** ({escaped(flag.seen)})"


def _verdict(answer: Answer) -> Iterator[str]:
    if answer.verdict is not None:
        lines = [f"**{escaped(headed(answer.verdict, answer.language))}**"]
        yield "  \n".join([*lines, *map(escaped, facts(answer.verdict, answer.language))])


def _choice(answer: Answer, words: dict[str, str]) -> Iterator[str]:
    if answer.choice is not None:
        choice = answer.choice
        told = choice.label if choice.text == choice.label else f"{choice.label}: {choice.text}"
        mark = f" ({words['unverified']})" if choice.parametric else ""
        yield f"**{words['choice']}: {escaped(told)}**{mark} {escaped(choice.reason)}"


def _statement(statement: Statement, numbers: dict[str, int], words: dict[str, str]) -> str:
    marks = "".join(f"[{n}]" for n in marks_of(statement, numbers))
    return f"{escaped(statement.text)} {marks or '(' + words['unverified'] + ')'}"


def _differential(answer: Answer, words: dict[str, str]) -> Iterator[str]:
    if answer.differential:
        shown = shown_diseases(answer.differential)
        lines = [f"{n}. {_disease(d, answer.language, words)}" for n, d in enumerate(shown, start=1)]
        yield f"**{ranking_title(answer, answer.language)}**\n\n" + "\n".join(lines)
    yield from map(escaped, left_lines(answer, answer.language))
    if answer.rare_diseases:
        rare = [
            f"{n}. {escaped(r.name)} ({escaped(r.disease)}) {r.score:.0%}"
            for n, r in enumerate(answer.rare_diseases, 1)
        ]
        yield f"**{words['rare']}**\n\n" + "\n".join(rare)


def _disease(disease: RankedDisease, language: str, words: dict[str, str]) -> str:
    sides = ((words["for"], disease.findings_for), (words["against"], disease.findings_against))
    told = "; ".join(f"{name}: {escaped(', '.join(items))}" for name, items in sides if items)
    name = escaped(disease_name(disease, language))
    return f"**{name}** ({escaped(disease.icd10)}) {disease.score:.0%}{'. ' + told if told else ''}"


def _report(answer: Answer, numbers: dict[str, int], words: dict[str, str]) -> Iterator[str]:
    if answer.report is None:
        return
    yield f"**{words['report']}**"
    for part in PARTS:
        lines = [f"- {_statement(s.statement, numbers, words)}" for s in answer.report.of(part)]
        yield f"*{words[part]}*\n\n" + ("\n".join(lines) or f"({words['unknown']})")


def _questions(answer: Answer, words: dict[str, str]) -> Iterator[str]:
    if answer.follow_up_questions:
        lines = [f"{n}. {escaped(q.text)}" for n, q in enumerate(answer.follow_up_questions, start=1)]
        yield f"**{words['ask']}**\n\n" + "\n".join(lines)


def _notices(answer: Answer, words: dict[str, str]) -> Iterator[str]:
    if answer.notices:
        lines = [f"- {words[n.severity.value]}: {escaped(n.text)}" for n in answer.notices]
        yield f"**{words['notices']}**\n\n" + "\n".join(lines)


def _sources(answer: Answer, numbers: dict[str, int], words: dict[str, str]) -> Iterator[str]:
    names = ORIGINS[tongue_of(answer.language)]
    for origin in Origin:
        lines: list[str] = []
        for item in (e for e in answer.evidence if e.id in numbers and e.origin is origin):
            facts = escaped(", ".join(source_facts(item)))
            lines.append(f"- [{numbers[item.id]}] {escaped(source_name(item))} ({escaped(item.id)}) {facts}".rstrip())
            lines += [f"  - “{escaped(item.text[start:end])}”" for start, end in quotes_of(answer, item.id)]
        if lines:
            yield f"**{words['sources']}: {names[origin]}**\n\n" + "\n".join(lines)


def _gate(answer: Answer) -> Iterator[str]:
    if answer.gate is not None:
        yield "\n".join(f"*{escaped(line)}*" for line in brief(answer.gate, answer.language))

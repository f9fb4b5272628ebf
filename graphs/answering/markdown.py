"""An answer as Markdown: numbered citations with their quotes, for clients that show or hand on text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from graphs.answering.contract import Answer
from graphs.answering.cost import cost_of
from graphs.answering.presentation import Line, Presentation, Row, Source, present
from tools.messages import Messages

MARKUP = re.compile(r"([\\`*_\[\]<>#|~&!$])")  # what Markdown would read as more than text
LEADING = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)", re.MULTILINE)


def escaped(text: str) -> str:
    """Text on one line that Markdown shows as it stands, whatever it holds."""
    return LEADING.sub(lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", MARKUP.sub(r"\\\1", " ".join(text.split())))


def markdown_of(answer: Answer, *, whole: bool = False, kept: bool = False) -> str:
    """The answer: what to do now, the direct answer, what it rests on, what to ask, sources, what it cost.

    ``whole``: every ranked disease, not only those that are worth a row; ``kept``: for a file, in which nobody can ask
    on: without the messages that go on from it.
    """
    cost, shown = cost_of(answer), present(answer, whole=whole)
    if kept:
        shown = shown._replace(suggested=())
    return "\n\n".join([*_blocks(shown), *([f"*{escaped(cost)}*"] if cost else [])])


def markdown_so_far(shown: Presentation) -> str:
    """What stands of an answer that is not whole yet: its Markdown begins so."""
    return "\n\n".join(_blocks(shown))


def alerts_of(alerts: Iterable[tuple[str, str]], words: Messages) -> list[str]:
    """Emergencies, each by what to do and what was seen, a block each: an answer's Markdown begins so."""
    head = f"{words['answer.emergency']}{words['list.colon']}"
    return [f"> **{head}{escaped(advice)}** ({escaped(seen)})" for advice, seen in alerts]


def _blocks(shown: Presentation) -> Iterator[str]:
    words = shown.words
    yield from alerts_of(shown.alerts, words)
    yield from (f"> **{escaped(danger)}**" for danger in shown.dangers)
    yield from _lead(shown)
    if shown.box:
        yield "\n".join(f"> {escaped(told)}" for told in shown.box)
    lines = list(map(_line, shown.lines))
    if not shown.on_lead:
        yield from lines
    yield from _listed(shown.ranking.title, (_disease(row, shown) for row in shown.ranking.rows))
    yield from map(escaped, shown.ranking.left)
    if shown.on_lead:
        yield f"**{escaped(shown.on_lead)}**"
        yield from lines
    yield from _studies(shown)
    rare = (f"{row.rank}. {escaped(row.name)} ({escaped(row.code)}) {row.share}" for row in shown.rare)
    yield from _listed(words["answer.rare"], rare)
    yield from _report(shown)
    yield from _listed(words["answer.ask"], (f"{n}. {escaped(q.text)}" for n, q in enumerate(shown.next, start=1)))
    yield from _listed(words["answer.suggested"], (f"- {escaped(text)}" for text in shown.suggested))
    for _, name, sources in shown.by_origin():
        yield from _listed(
            f"{words['answer.sources']}{words['list.colon']}{name}", (line for s in sources for line in _source(s))
        )
    if shown.labelled:
        yield f"*{escaped(shown.labelled)}*"
    if shown.gate_brief:
        yield "\n".join(f"*{escaped(line)}*" for line in shown.gate_brief)


def _lead(shown: Presentation) -> Iterator[str]:
    lead = shown.lead
    unverified = f" ({shown.words['answer.unverified']})" if lead.unverified else ""
    head = [f"**{escaped(lead.head)}**{unverified}"] if lead.head else []
    told = " ".join([*head, *map(_line, lead.lines)])
    if told:
        yield "  \n".join([told, *map(escaped, lead.facts)])


def _studies(shown: Presentation) -> Iterator[str]:
    studies = shown.studies
    if studies.rows:
        rows = [list(map(escaped, studies.heads)), ["---"] * len(studies.heads)]
        rows += [[escaped(cell) for cell in studies.cells(row)] for row in studies.rows]
        yield f"**{shown.words['answer.studies']}**\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    elif studies.none:
        yield f"*{escaped(studies.none)}*"


def _report(shown: Presentation) -> Iterator[str]:
    if shown.report:
        yield f"**{shown.words['report.title']}**"
    for part in shown.report:
        yield f"*{part.title}*\n\n" + ("\n".join(f"- {_line(line)}" for line in part.lines) or f"({part.unknown})")


def _source(source: Source) -> Iterator[str]:
    about = f"({escaped(source.id)}) {escaped(', '.join(source.facts))}"
    yield f"- [{source.number}] {escaped(source.name)} {about}".rstrip()
    yield from (f"  - “{escaped(quote)}”" for quote in source.quotes)


def _line(line: Line) -> str:
    return f"{escaped(line.text)} {line.mark}"


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = "\n".join(lines)
    if told:
        yield f"**{title}**\n\n{told}"


def _disease(row: Row, shown: Presentation) -> str:
    sides = (("for", row.findings_for), ("against", row.findings_against))
    words, comma = shown.words, shown.words["gate.comma"]
    said_of = [
        f"{words[f'answer.{n}']}{words['list.colon']}{escaped(comma.join(items))}" for n, items in sides if items
    ]
    told = words["list.semicolon"].join(said_of)
    said = "".join(f"  \n   {_line(line)}" for line in row.told if line.text)
    marks = f" {row.marks}" if row.marks else ""
    head = f"{row.rank}. **{escaped(row.name)}** ({escaped(row.code)}) {row.share}{marks}"
    return f"{head}{'. ' + told if told else ''}{said}"

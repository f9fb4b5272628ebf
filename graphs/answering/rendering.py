"""An answer as Markdown and as HTML: numbered citations with their quotes, and what its calls have cost in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from graphs.answering.contract import Answer
from graphs.answering.presentation import Line, Presentation, Row, Source, present
from graphs.completeness.explained import gate_of
from prompts.metering import Usage
from tools.messages import Messages, messages
from tools.notebook.markup import GROUNDS, RULES, clean, rendered

if TYPE_CHECKING:
    from jinja2 import Template


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


# An answer as HTML for a notebook: self-contained, without script, and without a request to anywhere.
#
# The template (`answer.html`) escapes every text: no markup of a source or a message becomes markup of the page.
# Origins are told in words and in colour; each statement's citations fold out to the quote inside its passage.


def html_of(answer: Answer) -> str:
    """The whole answer: what to do now, the direct answer, what it rests on, what to ask, sources, how it was found."""
    shown = present(answer)
    gate = rendered(gate_of(shown.gate, answer.language)) if shown.gate is not None else ""
    return _template().render(shown=shown, words=shown.words, gate=gate, cost=cost_of(answer))


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def printable(value: Any) -> Any:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=PackageLoader("graphs.answering", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"rules": RULES, "grounds": GROUNDS, "pieces": _pieces}
    return made.get_template("answer.html")


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """A passage in pieces, each with whether it is quoted; of two quotes that overlap the second begins later."""
    at = 0
    for start, end in spans:
        yield text[at : max(at, start)], False
        if end > max(at, start):
            yield text[max(at, start) : end], True
        at = max(at, end)
    yield text[at:], False


# What calls of language models have cost, in words: the same in the terminal, in Markdown and in a notebook.


def cost_of(answer: Answer) -> str:
    """What the turn of an answer cost; "" when no model was called."""
    spent = answer.usage.models
    words = messages(answer.language)
    return f"{words['cost.models']}{words['list.colon']}{in_words(spent, answer.language)}" if spent.used else ""


def in_words(usage: Usage, language: str = "en") -> str:
    """Calls, tokens and money, what has no price, and replies that were kept from before."""
    words = messages(language)
    cost = words.say("cost.money", cost=f"{usage.cost:.4g}")
    if usage.unpriced:
        unpriced = words.say("cost.part_priced", cost=cost, calls=usage.unpriced)
        cost = words["cost.no_price"] if usage.unpriced == usage.calls else unpriced
    calls = words["cost.one_call"] if usage.calls == 1 else words.say("cost.calls", calls=usage.calls)
    read, written = usage.input_tokens, usage.output_tokens
    told = words.say("cost.spent", calls=calls, read=read, written=written, cost=cost)
    return words.say("cost.kept", spent=told, kept=usage.cached) if usage.cached else told

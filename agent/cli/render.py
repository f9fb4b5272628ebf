"""Answers on a terminal: what to do now, the direct answer, what it rests on, sources by origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agent.cli.console import progress_console
from agent.conversation import Step
from graphs.answering.contract import Answer
from graphs.answering.contract import Usage as TurnUsage
from graphs.answering.presentation import Line, Part, Presentation, Ranking, Source, Studies, Study, present
from graphs.answering.rendering import in_words
from graphs.completeness.contract import Label
from graphs.completeness.explained import Explanation
from prompts.metering import Usage
from tools.evidence import Origin
from tools.messages import messages

ORIGIN_STYLES = {
    Origin.RETRIEVED: "cyan",
    Origin.KNOWLEDGE_GRAPH: "green",
    Origin.GENERATED: "magenta",
    Origin.PARAMETRIC: "yellow",
    Origin.CASE: "white",
}
LABEL_STYLES = {Label.A: "bold green", Label.B: "yellow", Label.C: "dim"}  # the letter says it without colour too
TURNING = " *"  # beside the label of the sentence on which the decision turns
FINDINGS = 6  # findings shown a disease and side, strongest first


def show_step(step: Step, out: Console | None = None) -> None:
    """One line a finished step, and one for what a tool does now."""
    out = out or progress_console()
    if step.status == "progress":
        out.print(doing(step))
    if step.status != "finished":
        return
    out.print(
        Text.assemble(
            ("  • ", "dim"), (f"{_named(step):<40}", "bold"), (f"{step.seconds * 1000:6.0f} ms  ", "dim"), step.summary
        )
    )


def doing(step: Step) -> Text:
    """What a tool does now, in a line."""
    return Text(f"  … {_named(step)}: {step.summary}", style="dim")


def _named(step: Step) -> str:
    return messages("en").get(f"step.{step.tool or step.step}", step.tool or step.step)


def show_answer(out: Console, answer: Answer, *, explain: bool = False) -> None:
    """Print an answer; ``explain``: with the whole decision of the completeness gate, and all that was noted."""
    shown = present(answer)
    words = shown.words
    out.print()
    show_emergency(out, shown.alerts, answer.language)
    _boxed(out, shown.dangers, "bold red")
    _lead(out, shown)
    _boxed(out, shown.box, "yellow")
    if not shown.on_lead:
        _lines(out, shown)
    show_ranking(out, shown.ranking)
    if shown.on_lead:
        out.print(Text(shown.on_lead, style="bold"))
        _lines(out, shown)
    _studies(out, shown)
    _list(out, words["answer.rare"], [f"{r.rank}. {r.name} ({r.code}) {r.share}" for r in shown.rare])
    _list(out, words["answer.records"], shown.records)
    _list(out, words["answer.ask"], [f"{n}. {q.text}" for n, q in enumerate(shown.next, start=1)])
    _report(out, shown)
    _list(out, words["answer.suggested"], shown.suggested)
    for origin, name, sources in shown.by_origin():
        out.print(Group(Text(name, style=f"bold {ORIGIN_STYLES[origin]}"), *map(_source, sources)))
    if shown.labelled:
        out.print(Text(shown.labelled, style="yellow"))
    if explain:
        show_gate(out, shown.gate, answer.language)
        for told in shown.how:
            out.print(Text(told, style="dim"))
        out.print()
    else:
        for told in shown.gate_brief:
            out.print(Text(told, style="dim"))
    seconds = sum(answer.usage.seconds.values())
    spent = words.say("answer.spent", n=answer.usage.tool_calls, seconds=f"{seconds:.2f}", run=answer.run)
    out.print(Text(spent, style="dim"))
    if spent := cost_line(answer.usage):
        out.print(Text(spent, style="dim"))


def show_emergency(out: Console, alerts: Iterable[tuple[str, str]], language: str) -> None:
    """The signs of an emergency, each with what to do: pairs of advice and what was seen."""
    for advice, seen in alerts:
        title = messages(language)["answer.emergency"]
        out.print(Panel(f"[bold]{escape(advice)}[/]\n{escape(seen)}", title=title, style="bold red"))


def show_edge(out: Console, ranking: Ranking) -> None:
    """What heads an answer: what must not be given, and that no known disease explains a case."""
    for line in ranking.first:
        _paragraph(out, Text(line, style="bold yellow"))


def show_ranking(out: Console, ranking: Ranking) -> None:
    """The differential, what the leading disease leaves unexplained, and what was not read or not counted."""
    if ranking.rows:
        table = Table(title=ranking.title, title_justify="left", title_style="bold", show_lines=True)
        for head, style in zip(ranking.heads, ("", "bold", "", "", "green", "red"), strict=True):
            table.add_column(head, style=style, justify="left" if style or head == "ICD-10" else "right")
        for row in ranking.rows:
            sides = ("\n".join(side[:FINDINGS]) or "-" for side in (row.findings_for, row.findings_against))
            name = Text.assemble(row.name, (f" {row.marks}" if row.marks else "", "not bold cyan"))
            table.add_row(str(row.rank), name, row.code, row.share, *map(escape, sides))
        out.print(table)
        for row in ranking.rows:
            for told in (line for line in row.told if line.text):
                of = "" if told.text.startswith(row.name) else f"{row.name}: "
                _paragraph(out, Text.assemble((of, "bold"), told.text, " ", _mark(told)))
    for line in ranking.left:
        out.print(Text(line, style="yellow"))


def show_gate(out: Console, gate: Explanation | None, language: str) -> None:
    """The gate's whole decision; where it was not asked, that."""
    if gate is None:
        out.print(Text(messages(language)["gate.unasked"], style="dim"))
        return
    for line in gate_lines(gate):
        out.print(line)


def gate_lines(gate: Explanation) -> Iterator[Text]:
    """The whole decision, line by line."""
    yield Text(gate.verdict, style="bold")
    if gate.warning:
        yield Text(gate.warning, style="yellow")
    if gate.counts:
        yield Text(gate.counts)
    for unit in gate.units:
        mark = TURNING if unit.turning else "  "
        yield Text.assemble(
            f"  {unit.number}. ", (unit.label.value, LABEL_STYLES[unit.label]), (mark, "bold red"), f" {unit.text}  ",
            (f"({unit.reason})", "dim"),
        )  # fmt: skip
    for line in gate.after:
        yield Text(line, style="bold" if line == gate.question else "")


def cost_line(usage: TurnUsage) -> str:
    """What a turn and its session have cost, in a line; "" when no model was called."""
    if not usage.models.used:
        return ""
    return f"language models: {in_words(usage.models)}; session: {in_words(usage.session)}"


def cost_lines(by_role: Mapping[str, Usage]) -> list[str]:
    """What each role has cost, most expensive first, then all together; empty when no model was called."""
    if not by_role:
        return []
    ordered = sorted(by_role.items(), key=lambda item: (-item[1].cost, -item[1].tokens, item[0]))
    total = sum(by_role.values(), Usage())
    return [f"{role}: {in_words(usage)}" for role, usage in ordered] + [f"language models: {in_words(total)}"]


def _lead(out: Console, shown: Presentation) -> None:
    """The direct answer, with what is known of it."""
    lead = shown.lead
    unverified = f" ({shown.words['answer.unverified']})" if lead.unverified else ""
    parts = [Text(lead.head + unverified, style="bold")] if lead.head else []
    parts += [Text.assemble(line.text, " ", _mark(line)) for line in lead.lines]
    if parts:
        out.print(Text(" ").join(parts))
    for fact in lead.facts:
        out.print(Text(fact, style="dim"))
    out.print()


def _lines(out: Console, shown: Presentation) -> None:
    for line in shown.lines:
        _paragraph(out, Text.assemble(line.text, " ", _mark(line)))


def _paragraph(out: Console, text: Text) -> None:
    """A text and an empty line, without the spaces at its end that a padding would write."""
    out.print(text)
    out.print()


def _boxed(out: Console, told: Sequence[str], style: str) -> None:
    if told:
        out.print(Panel(Text("\n".join(told)), style=style))


def _studies(out: Console, shown: Presentation) -> None:
    studies = shown.studies
    if studies.rows and not out.is_terminal:  # a row of a table would be one line, and quotes make it a thousand long
        _list(out, shown.words["answer.studies"], map(partial(_study, studies), studies.rows))
    elif studies.rows:
        table = Table(title=shown.words["answer.studies"], title_justify="left", title_style="bold", show_lines=True)
        for name, head in zip(studies.columns, studies.heads, strict=True):
            table.add_column(head, ratio=3 if name == "quotes" else None)
        for row in studies.rows:
            table.add_row(*map(escape, studies.cells(row)))
        out.print(table)
    elif studies.none:
        _paragraph(out, Text(studies.none, style="dim"))


def _study(studies: Studies, row: Study) -> str:
    """A study, a line for each thing that is known of it."""
    cells = zip(studies.columns, studies.heads, studies.cells(row), strict=True)
    told = [f"{head}: {cell}" for name, head, cell in cells if cell and name not in ("number", "name")]
    return "\n      ".join([f"[{row.number}] {row.name}", *told])


def _mark(line: Line) -> Text:
    """What stands behind a statement: the numbers of its sources, or that none bears it out."""
    return Text(line.mark, style="yellow" if line.mark != line.marks else "cyan")


def _list(out: Console, title: str, items: Iterable[str]) -> None:
    told = list(items)
    if told:
        out.print(Text.assemble((title, "bold"), *(f"\n  {item}" for item in told)))
        out.print()


def _report(out: Console, shown: Presentation) -> None:
    if not shown.report:
        return
    out.print(Text(shown.words["report.title"], style="bold underline"))
    for part in shown.report:
        _part(out, part)
    if shown.report_questions:
        out.print(Text(shown.words["report.questions"], style="bold"))
        for place, question in enumerate(shown.report_questions, start=1):
            out.print(Text(f"  {place}. {question}"))
    out.print()


def _part(out: Console, part: Part) -> None:
    out.print(Text.assemble((part.title, "bold"), (f": {part.unknown}" if part.unknown else "", "dim")))
    for discipline, lines in part.groups:
        if discipline:
            out.print(Text(f"  {discipline}", style="italic"))
        for line in lines:
            out.print(Text.assemble(f"  - {line.text} ", _mark(line)))


def _source(source: Source) -> Text:
    about = ", ".join((*source.facts, source.id))
    return Text.assemble((f"  [{source.number}] ", "bold"), source.name, (f"\n      {about}", "dim"))

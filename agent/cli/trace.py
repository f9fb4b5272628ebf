"""`anamnesis trace`: the runs, newest first, or one of them as a tree."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, NamedTuple, TypeVar

import typer
from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from agent.cli.console import console, print_json, table, tell, write_text
from agent.cli.render import cost_lines, gate_lines
from agent.loop import run as wait
from agent.sessions import Home
from agent.sessions.contract import TurnRecord
from agent.sessions.ids import UnknownSession
from agent.sessions.opening import open_database, open_records, open_traces
from agent.sessions.traces import Traces
from agent.settings import Settings, load_settings
from agent.trace import run_names
from agent.trace_page.page import page, run_of
from graphs.answering.contract import Answer
from graphs.completeness.contract import GateDecision
from graphs.completeness.explained import explained
from prompts.errors import InputError
from prompts.metering import Usage
from tools.files import named_file

Event = dict[str, Any]
T = TypeVar("T")
SHOWN = 70  # ours: characters of a question in the list: a row fits a terminal of 140 columns


def trace(
    run: Annotated[
        str | None, typer.Argument(help="A run, as session/turn; without it runs are listed, newest first.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as JSON lines; of a list, JSON.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most runs of the list.")] = 40,
    html: Annotated[
        Path | None, typer.Option(help="Write the run as one HTML page to this file.", callback=named_file)
    ] = None,
    beside: Annotated[str | None, typer.Option(help="With --html: another run, to stand beside it.")] = None,
) -> None:
    """`anamnesis trace`: a run's events as a tree, as JSON lines or as a page; without a run, the list of runs."""
    if html is not None or beside is not None:
        _write_page(run, html, beside)
        return
    settings = load_settings()
    if run is None:
        _print_list(wait(_runs(settings, limit)), as_json=as_json)
        return
    events = _read(settings, lambda traces: traces.events(run))
    if as_json:
        sys.stdout.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
        return
    tree = tree_of(run, events)
    for line in totals_of(events):
        tree.add(escape(line))
    console().print(tree)


class Run(NamedTuple):
    """A run of the list: its name, when it was asked (UTC, ISO 8601), what became of it, and the question.

    ``at`` and ``question`` are "" where the session has no record of it.
    """

    run: str
    at: str
    outcome: str
    question: str


async def _runs(settings: Settings, limit: int) -> list[Run]:
    """The newest runs that have a trace, with what their sessions say of them."""
    async with open_traces(settings) as traces:
        names = (await traces.runs())[:limit]
    if not names:
        return []
    turns: dict[str, set[int]] = {}
    for session, turn in map(run_names, names):
        turns.setdefault(session, set()).add(turn)
    known: dict[str, TurnRecord] = {}
    async with open_records(settings) as records:
        for session, only in turns.items():
            with contextlib.suppress(UnknownSession):  # it was deleted while its run went on
                known |= {f"{session}/{t.turn}": t for t in await records.turns(session, only=only)}
    return [_run(name, known.get(name)) for name in names]


def _run(name: str, turn: TurnRecord | None) -> Run:
    if turn is None:
        return Run(name, "", "no record", "")
    return Run(name, turn.asked_at, outcome_of(turn.answer), turn.asked)


def outcome_of(answer: Answer | None) -> str:
    """What became of a turn, in a few words; None is a turn without an answer."""
    if answer is None:
        return "not finished"
    parts = ["emergency"] if answer.emergency else []
    if answer.abstained:
        parts.append("no answer")
    elif answer.verdict is not None:
        parts.append(f"verdict {answer.verdict.value.value.replace('_', ' ')}")
    elif answer.choice is not None:
        parts.append(f"option {answer.choice.label}")
    elif answer.differential:
        parts.append(f"{'outside the graph, near ' * answer.outside}{answer.differential[0].name}")
    else:
        parts.append("answered")
    return ", ".join(parts)


def _print_list(runs: Sequence[Run], *, as_json: bool) -> None:
    if as_json:
        print_json([run._asdict() for run in runs])
    elif not runs:
        tell("There are no runs yet; `anamnesis ask` makes one.")
    else:
        rows = [
            (r.run, r.at[:16].replace("T", " "), r.outcome, shorten(r.question, SHOWN, placeholder=" …")) for r in runs
        ]
        console().print(table(("Run", "Asked (UTC)", "Outcome", "Question"), rows, box=None))


def _write_page(run: str | None, file: Path | None, beside: str | None) -> None:
    """Write the page of a run, or of two; raises InputError for an unknown run and a place that cannot be written."""
    if run is None or file is None:
        raise InputError("A page needs a run and a file.", "anamnesis trace RUN --html FILE; RUN is session/turn.")
    settings = load_settings()
    home = Home(settings.home)
    database = wait(open_database(settings, home.prepare()))
    try:
        traces = Traces(database, home)
        runs = [(name, wait(traces.events(name))) for name in (run, beside) if name is not None]
        shown = [run_of(n, e, database.texts, prefix) for (n, e), prefix in zip(runs, ("a-", "b-"), strict=False)]
    finally:
        wait(database.close())
    written = page(shown[0], shown[1] if len(shown) > 1 else None).encode()
    write_text(file, written)
    sys.stdout.write(f"{file} ({len(written) / 1000:.0f} kB). It holds patient text: keep it as you keep the case.\n")


def _read(settings: Settings, what: Callable[[Traces], Awaitable[list[T]]]) -> list[T]:
    """What is asked of the traces, where the sessions lie."""

    async def asked() -> list[T]:
        async with open_traces(settings) as traces:
            return await what(traces)

    return wait(asked())


def tree_of(run: str, events: list[Event]) -> Tree:
    """Steps as branches, with what happened in each under it."""
    tree = Tree(f"[bold]run {escape(run)}[/]")
    branch = tree
    for event in events:
        kind = event["kind"]
        if kind == "step_started":
            branch = tree.add(f"[bold]{event['step']}[/]")
        elif kind == "step_finished":
            _finish(tree, branch, event)
        elif kind == "tool":
            _tool(tree.add(f"[bold]tools[/] {event['tool']}  {event['seconds'] * 1000:.0f} ms"), event)
        elif kind in DETAILS:
            for line in DETAILS[kind](event):
                branch.add(line)
    return tree


def totals_of(events: list[Event]) -> list[str]:
    """What the language models of a run cost, a line a role, most expensive first; empty without a call."""
    by_role: dict[str, Usage] = {}
    for event in events:
        if event["kind"] == "model":
            spent = Usage.model_validate({name: event.get(name, 0) for name in Usage.model_fields})
            by_role[event["role"]] = by_role.get(event["role"], Usage()) + spent
    return cost_lines(by_role)


def _finish(tree: Tree, branch: Tree, event: Event) -> None:
    if branch is tree:  # a resumed run: the step began before the kill
        branch = tree.add("")
    branch.label = f"[bold]{event['step']}[/]  {event['seconds'] * 1000:.0f} ms  {escape(event['summary'])}"


def _tool(branch: Tree, event: Event) -> None:
    branch.add(f"outcome: {event['outcome']}")
    branch.add(escape(f"arguments: {json.dumps(event['arguments'], ensure_ascii=False)[:400]}"))
    for rung in event.get("strategy", []):
        branch.add(escape("query: " + ", ".join(f"{k}={v}" for k, v in rung.items())[:400]))
    for item in event["evidence"]:
        ways = "; ".join(f["stream"] + (f" #{f['rank']}" if f["rank"] else "") for f in item["found"])
        branch.add(escape(f"{item['id']}  {item['title']}  ({ways})"))
    for notice in event["notices"]:
        branch.add(f"[yellow]{escape(notice['text'])}[/]")
    for remark in event.get("remarks", []):
        branch.add(escape(f"told to the planner: {remark}"))


def _triage(event: Event) -> list[str]:
    flags = [f"[red]red flag {escape(f['code'])}: {escape(f['seen'])}[/]" for f in event["red_flags"]]
    return [escape(f"{event['kind_of_turn']}: {event['reason']}"), *flags]


def _gate(event: Event) -> list[str | Text]:
    """The gate's whole decision; a trace of an earlier version has it without its units."""
    decision = GateDecision.model_validate({k: v for k, v in event.items() if k in GateDecision.model_fields})
    return list(gate_lines(explained(decision, event.get("language", "en"))))


def _planned(event: Event) -> list[str]:
    return [escape(f"{event['tool']}: {event['reason']}")]


def _selection(event: Event) -> list[str]:
    kept = [escape(f"kept {k['evidence_id']}: {k['reason']}") for k in event["kept"]]
    return kept + [f"[dim]{escape('dropped ' + d['evidence_id'] + ': ' + d['reason'])}[/]" for d in event["dropped"]]


def _filter(event: Event) -> list[str]:
    return [
        escape(f"{'kept' if v['keep'] else 'dropped'} {v['evidence_id']} ({v['stance']}): {v['reason']}")
        for v in event["verdicts"]
    ]


def _damaged(event: Event) -> list[str]:
    return [f"[yellow]line {event['line']} of the trace is damaged[/]"]


def _model(event: Event) -> list[str]:
    """A call of a language model: what it was asked by, what it cost, how it ended."""
    tokens = f"{event.get('input_tokens', 0)} + {event.get('output_tokens', 0)} tokens"
    price = f", cost {event['cost']:g}" if event.get("cost") else ""
    ended = "  [yellow]failed[/]" if event.get("failed") else ""
    asked = f"{event.get('prompt', '')} {event.get('prompt_hash', '')} {event.get('method', '')}".strip()
    line = f"model {event['role']}: {event['model']}, {tokens}{price}, {event.get('seconds', 0):.2f} s ({asked})"
    return [escape(line) + ended]


def _locally(event: Event) -> list[str]:
    return [f"[yellow]{escape(event['role'] + ' judged locally: ' + event['why'])}[/]"]


def _unusable(event: Event) -> list[str]:
    return [f"[yellow]{escape(event['role'] + ': a reply could not be used: ' + event['why'])}[/]"]


def _spent(event: Event) -> list[str]:
    return [f"[yellow]{escape(event['role'] + ' not asked: budget spent (' + ', '.join(event['spent']) + ')')}[/]"]


def _configuration(event: Event) -> list[str]:
    return [escape(f"configuration {event['name']}")]


DETAILS: dict[str, Callable[[Event], Sequence[str | Text]]] = {
    "damaged_line": _damaged,
    "configuration": _configuration,
    "model": _model,
    "reply_unusable": _unusable,
    "judged_locally": _locally,
    "model_budget": _spent,
    "triage": _triage,
    "gate": _gate,
    "planned": _planned,
    "selection": _selection,
    "filter": _filter,
}

"""`anamnesis trace`: a run as a tree."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from agent.cli.console import console, writing
from agent.cli.render import cost_lines, gate_lines
from agent.loop import run as wait
from agent.sessions import Home
from agent.sessions.opening import open_database, open_traces
from agent.sessions.traces import Traces
from agent.settings import Settings, load_settings
from agent.trace_page.page import page, run_of
from graphs.completeness.contract import GateDecision
from graphs.completeness.explained import explained
from prompts.errors import InputError
from prompts.metering import Usage
from tools.files import write_atomic

Event = dict[str, Any]
T = TypeVar("T")
LISTED = 40  # runs listed without an argument


def trace(
    run: Annotated[str | None, typer.Argument(help="A run, as session/turn; without it all are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as JSON lines.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write the run as one HTML page to this file.")] = None,
    beside: Annotated[str | None, typer.Option(help="With --html: another run, to stand beside it.")] = None,
) -> None:
    """`anamnesis trace`: a run's events as a tree, as JSON lines or as a page; without a run, the list of runs."""
    if html is not None or beside is not None:
        _write_page(run, html, beside)
        return
    settings = load_settings()
    if run is None:
        sys.stdout.write("\n".join(_read(settings, Traces.runs)[:LISTED]) + "\n")
        return
    events = _read(settings, lambda traces: traces.events(run))
    if as_json:
        sys.stdout.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
        return
    tree = tree_of(run, events)
    for line in totals_of(events):
        tree.add(escape(line))
    console().print(tree)


def _write_page(run: str | None, file: Path | None, beside: str | None) -> None:
    """Write the page of a run, or of two; raises InputError for an unknown run and a place that cannot be written."""
    if run is None or file is None:
        raise InputError("A page needs a run and a file.", "anamnesis trace RUN --html FILE; RUN is session/turn.")
    if file.is_dir():
        raise InputError(f"{file} is a folder.", "Give the name of a file with --html.")
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
    with writing(file):
        write_atomic(file, written)
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


def _spent(event: Event) -> list[str]:
    return [f"[yellow]{escape(event['role'] + ' not asked: budget spent (' + ', '.join(event['spent']) + ')')}[/]"]


def _configuration(event: Event) -> list[str]:
    return [escape(f"configuration {event['name']}")]


DETAILS: dict[str, Callable[[Event], Sequence[str | Text]]] = {
    "damaged_line": _damaged,
    "configuration": _configuration,
    "model": _model,
    "judged_locally": _locally,
    "model_budget": _spent,
    "triage": _triage,
    "gate": _gate,
    "planned": _planned,
    "selection": _selection,
    "filter": _filter,
}

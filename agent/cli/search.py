"""`anamnesis search`: a literature search that can be read, saved, reported and repeated."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table

from agent.assembly import open_search
from agent.cli.ask import read_message
from agent.cli.render import SEVERITY_STYLES, console
from agent.loop import run
from agent.messages import check_message
from agent.sessions import Home
from agent.settings import Settings, load_settings, silence_telemetry
from prompts.errors import InputError
from tools.files import write_atomic
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.live import LiveResult
from tools.literature.report import account
from tools.literature.strategy import Rerun, SearchStrategy, load_strategy, rerun, save_strategy
from tools.text.sentences import sentences

NARRATIVE = 3  # ours: from as many sentences on a text is read as strictly as a case: stories are about persons
PRINTED = "-"


class Wanted(NamedTuple):
    """What the user asked for beside the question."""

    limit: int
    strategy: Path | None
    report: Path | None
    mirror: Path | None
    case: bool
    keep_question: bool
    as_json: bool


def search_once(question: str, wanted: Wanted) -> None:
    """Search, print, and write what was asked for."""
    if not question:
        raise InputError("There is no question.", "Give one, or a saved strategy with --rerun.")
    settings = _settings(wanted.mirror)
    text = check_message(read_message(question), settings.max_characters)
    case = wanted.case or len(sentences(text)) >= NARRATIVE
    search = open_search(settings, Home(settings.home).prepare(), wanted.mirror)
    result = run(search.search(text, case=case))
    strategy = result.strategy.model_copy(update={"question": text if wanted.keep_question else ""})
    if wanted.strategy is not None:
        save_strategy(strategy, wanted.strategy)
    if wanted.report is not None and str(wanted.report) != PRINTED:
        _write(wanted.report, account(strategy))
    if wanted.as_json:
        sys.stdout.write(strategy.model_dump_json(indent=2) + "\n")
    elif wanted.report is not None and str(wanted.report) == PRINTED:
        sys.stdout.write(account(strategy))
    else:
        _show(strategy, result, wanted.limit)


def search_again(saved: Path, *, since: str | None, mirror: Path | None, as_json: bool) -> None:
    """Repeat a saved strategy and print what is new and what is gone."""
    strategy = load_strategy(saved)
    settings = _settings(mirror)
    fresh = settings.model_copy(update={"literature": settings.literature.model_copy(update={"search_days": 0.0})})
    search = open_search(fresh, Home(settings.home).prepare(), mirror)
    found = run(rerun(strategy, search.pubmed, _day(since)))
    if as_json:
        sys.stdout.write(found.model_dump_json(indent=2) + "\n")
    else:
        _show_rerun(found)


def _settings(mirror: Path | None) -> Settings:
    settings = load_settings()
    silence_telemetry(settings)
    if mirror is None and settings.literature.live == "off":
        raise InputError(
            "PubMed is switched off, and no mirror is given.",
            "Set ANAMNESIS_LITERATURE__LIVE=auto, or give a local mirror with --mirror FOLDER.",
        )
    return settings


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is no date.", "Write it as 2026-01-31.") from None


def _write(path: Path, text: str) -> None:
    try:
        write_atomic(path, text.encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from error


def _show(strategy: SearchStrategy, result: LiveResult, limit: int) -> None:
    out = console()
    _show_plan(strategy.plan)
    for number, rung in enumerate(strategy.rungs, 1):
        out.print(
            f"[bold]{number}. {rung.rung}[/]  {rung.count} records, {rung.seconds:.2f} s  [dim]{escape(rung.why)}[/]"
        )
        out.print(f"   {rung.query}", markup=False)
        for warning in rung.warnings:
            out.print(f"   [yellow]{escape(warning)}[/]")
        out.print(f"   [dim]{escape(rung.next)}[/]")
    table = Table("", "Document", "Title", "Found by (rank)")
    for document in strategy.documents[:limit]:
        ways = ", ".join(f"{h.rung or h.stream} {h.rank}" for h in document.hits)
        table.add_row(str(document.rank), *(escape(cell) for cell in (document.id, document.title, ways)))
    if strategy.documents:
        out.print(table)
    else:
        out.print("Nothing was found.")
    left = len(strategy.excluded)
    out.print(
        f"{len(strategy.documents)} documents, {left} excluded, {strategy.source.kind} {strategy.source.name}",
        markup=False,
    )
    for notice in result.notices:
        out.print(f"[{SEVERITY_STYLES[notice.severity]}]! {escape(notice.text)}[/]")


def _show_plan(plan: SearchPlan) -> None:
    out = console()
    dates = f", published {plan.dates.since or ''} to {plan.dates.until or 'now'}" if plan.dates else ""
    out.print(f"[bold]Plan[/] ({escape(plan.planner)}): {plan.intent.value}{dates}")
    for term in plan.terms:
        also = f" [dim]or {escape(', '.join(term.synonyms))}[/]" if term.synonyms else ""
        out.print(f"  {term.group.value:>5}  {escape(term.text)}{also}")
    for mended in plan.corrections:
        out.print(f"  spelling: {mended.written} was read as {mended.meant}", markup=False)
    for bad in plan.rejected:
        out.print(f"  left out: {bad.query} ({bad.reason})", markup=False)


def _show_rerun(found: Rerun) -> None:
    out = console()
    out.print(
        f"Searched {found.then:%Y-%m-%d}, again {found.now:%Y-%m-%d}"
        + (f", new since {found.since}" if found.since else "")
    )
    for number, rung in enumerate(found.rungs, 1):
        out.print(f"[bold]{number}. {rung.rung}[/]  {rung.count_then} then, {rung.count_now} now")
        out.print(f"   {rung.query}", markup=False)
    for name, ids in (("new", found.new), ("gone", found.gone)):
        out.print(f"{name}: {', '.join(ids) or 'none'}", markup=False)

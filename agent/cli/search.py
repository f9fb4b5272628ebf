"""`anamnesis search`: a literature search that can be read, saved, reported and repeated."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import date
from pathlib import Path
from typing import NamedTuple

from rich.markup import escape
from rich.padding import Padding

from agent.assembly import open_search
from agent.cli.ask import read_message
from agent.cli.render import SEVERITY_STYLES, console
from agent.loop import run
from agent.messages import check_message
from agent.sessions import Home
from agent.settings import Settings, load_settings, silence_telemetry
from prompts.errors import InputError
from tools.evidence import Status
from tools.files import write_atomic
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.folding import folded
from tools.literature.live import LiveResult
from tools.literature.privacy import RELEASE, not_sent, released_in
from tools.literature.report import account, kind_of, read_as, ways
from tools.literature.rerun import Rerun, rerun
from tools.literature.strategy import FoundDocument, SearchStrategy, Source, load_strategy, save_strategy
from tools.text.sentences import sentences

NARRATIVE = 3  # ours: from as many sentences on a text is read as strictly as a case: stories are about persons
NOTHING = "Nothing was found."
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
    show_terms: bool = False


def search_once(question: str, wanted: Wanted, *, since: str | None = None) -> None:
    """Search, print, and write what was asked for."""
    if since is not None:
        advice = "Give --rerun FILE too, or write the date in the question (since 2020)."
        raise InputError("--since belongs to --rerun.", advice)
    if wanted.as_json and str(wanted.report) == PRINTED:
        raise InputError("--json and --report - would both be printed.", "Give a file to --report.")
    if not question:
        raise InputError("There is no question.", "Give one, or a saved strategy with --rerun.")
    settings = _settings(wanted.mirror)
    text = check_message(read_message(question), settings.max_characters)
    case = wanted.case or len(sentences(text)) >= NARRATIVE
    search = open_search(settings, Home(settings.home).prepare(), wanted.mirror)
    if wanted.show_terms:
        _show_before(run(search.plan(text, case=case)))
        return
    result = run(search.search(text, case=case, limit=wanted.limit))
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


def search_again(saved: Path, question: str, wanted: Wanted, *, since: str | None) -> None:
    """Repeat a saved strategy and print what is new and what is gone."""
    if (
        RELEASE.sub("", question).strip()
        or wanted.strategy
        or wanted.report
        or wanted.case
        or wanted.keep_question
        or wanted.show_terms
    ):
        raise InputError(
            "--rerun repeats the saved queries as they are: it takes no question, --strategy, --report, --case, "
            "--show-terms or --keep-question.",
            "Leave them out, or search anew without --rerun.",
        )
    strategy, day = load_strategy(saved), _day(since)
    settings = _settings(wanted.mirror)
    fresh = settings.model_copy(update={"literature": settings.literature.model_copy(update={"search_days": 0.0})})
    search = open_search(fresh, Home(settings.home).prepare(), wanted.mirror)
    _check_source(strategy.source, search.source)
    found = run(rerun(strategy, search.pubmed, day, source=search.source, released=released_in(question)[1]))
    if wanted.as_json:
        sys.stdout.write(found.model_dump_json(indent=2) + "\n")
    else:
        _show_rerun(found)


def _check_source(then: Source, now: Source) -> None:
    """Queries for a mirror may hold any word of its collection, names too: they were never sieved for PubMed."""
    if then.kind == "mirror" and now.kind == "pubmed":
        raise InputError(
            f"The saved search was of the mirror {then.name}; its words were not chosen to leave this machine.",
            "Give the mirror with --mirror FOLDER, or ask PubMed anew without --rerun.",
        )


def _settings(mirror: Path | None) -> Settings:
    settings = load_settings()
    silence_telemetry(settings)
    if mirror is None and settings.literature.mirror is None and settings.literature.live == "off":
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
        count = "1 record" if rung.count == 1 else f"{rung.count} records"
        out.print(f"[bold]{number}. {rung.rung}[/]  {count}, {rung.seconds:.2f} s  [dim]{escape(rung.why)}[/]")
        out.print(f"   {rung.query}", markup=False)
        for warning in folded(rung.warnings):
            out.print(f"   [yellow]{escape(warning)}[/]")
        out.print(f"   [dim]{escape(rung.next)}[/]")
    for document in strategy.documents[:limit]:
        _show_document(document)
    if not strategy.documents:
        out.print("[yellow]The search was cut off before anything was found.[/]" if result.failed else NOTHING)
    out.print(
        f"{len(strategy.documents)} documents, {len(strategy.excluded)} left out, {_named(strategy.source)}",
        markup=False,
    )
    if strategy.vectors is not None:
        out.print(f"by meaning: {strategy.vectors.count:,} vectors of {strategy.vectors.encoder}", markup=False)
    for reason, times in Counter(e.reason for e in strategy.excluded).most_common():
        out.print(f"  left out, {reason}: {times}", markup=False)
    for notice in result.notices:
        out.print(f"[{SEVERITY_STYLES[notice.severity]}]! {escape(notice.text)}[/]")


def _show_before(plan: SearchPlan) -> None:
    """What a search would send, nothing being sent."""
    _show_plan(plan)
    for number, rung in enumerate(plan.expressions, 1):
        console().print(f"{number}. {rung.query}", markup=False)
    console().print("Nothing was sent.")


def _named(source: Source) -> str:
    return f"{source.kind} {source.name}" + (f" of {source.date}" if source.date else "")


def _show_document(d: FoundDocument) -> None:
    status = f"[yellow]{d.status.value}[/]" if d.status is not Status.OK else d.status.value
    said = ", ".join(escape(p) for p in (f"PMID {d.id.partition(':')[2]}", kind_of(d), str(d.year or "no year")))
    lines = (
        f"[bold]{d.rank}. {escape(d.title or d.id)}[/]",
        f"{said}, {status}, {escape(read_as(d))}",
        f"[dim]found by {escape(ways(d))}[/]",
    )
    console().print(Padding("\n".join(lines), (0, 0, 0, 2)))


def _show_plan(plan: SearchPlan) -> None:
    out = console()
    dates = f", published {plan.dates.since or ''} to {plan.dates.until or 'now'}" if plan.dates else ""
    out.print(f"[bold]Plan[/] ({escape(plan.planner)}): {plan.intent.value}{dates}")
    for term in plan.terms:
        also = f" [dim]or {escape(', '.join(term.synonyms))}[/]" if term.synonyms else ""
        out.print(f"  {term.group.value:>5}  {escape(term.text)}{also}")
    if held := not_sent(plan.held):
        out.print(f"  {held}", markup=False)
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
    if found.source_now is not None:
        out.print(f"then {_named(found.source_then)}, now {_named(found.source_now)}", markup=False)
        if (found.source_then.kind, found.source_then.name) != (found.source_now.kind, found.source_now.name):
            out.print("[yellow]! Another source was asked: what is new or gone may only differ between the two.[/]")
    if found.failure_then:
        out.print(f"! The saved search was cut off; only its rungs were repeated. {found.failure_then}", markup=False)
    for number, rung in enumerate(found.rungs, 1):
        out.print(f"[bold]{number}. {rung.rung}[/]  {rung.count_then} then, {rung.count_now} now")
        out.print(f"   {rung.query}", markup=False)
    for name, ids in (("new", found.new), ("gone", found.gone)):
        out.print(f"{name}: {', '.join(ids) or 'none'}", markup=False)

"""`anamnesis search`: a literature search that can be read, saved, reported and repeated."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from agent.assembly import open_search
from agent.cli.console import JsonOption, console, open_home, read_message, say, write_text
from agent.cli.references import ReferencesOption, write_references
from agent.loop import run
from agent.messages import check_message
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import InputError
from tools.contract import Severity
from tools.evidence import Status
from tools.files import named_file
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.live import LiveResult
from tools.literature.privacy import RELEASE, not_sent, released_in
from tools.literature.report import account, also, folded, kind_of, read_as, ways
from tools.literature.strategy import (
    FoundDocument,
    Rerun,
    SearchStrategy,
    Source,
    check_source,
    load_strategy,
    rerun,
    save_strategy,
)
from tools.references.contract import Collected, of_article
from tools.references.forms import form_of
from tools.text.sentences import sentences

NARRATIVE = 3  # ours: from as many sentences on a text is read as strictly as a case: stories are about persons
NOTHING = "Nothing was found."
STYLES = {Severity.INFO: "dim", Severity.WARNING: "yellow", Severity.DANGER: "bold red"}
PRINTED = "-"


def search(
    question: Annotated[
        str, typer.Argument(help="A question, a narrative, a PubMed query or PMIDs; - reads standard input.")
    ] = "",
    limit: Annotated[int, typer.Option(help="Documents shown.", min=1, max=200)] = 20,
    strategy: Annotated[
        Path | None, typer.Option(help="Save the search strategy in this file (JSON).", callback=named_file)
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a PRISMA-S style account there; - prints it.", callback=named_file)
    ] = None,
    references: ReferencesOption = None,
    repeat: Annotated[Path | None, typer.Option("--rerun", help="Repeat a saved strategy.")] = None,
    since: Annotated[str | None, typer.Option(help="With --rerun: new is what was entered since this date.")] = None,
    mirror: Annotated[Path | None, typer.Option(help="Search this local mirror instead of live PubMed.")] = None,
    case: Annotated[bool, typer.Option("--case", help="It is about a patient: only medical words are used.")] = False,
    keep_question: Annotated[bool, typer.Option(help="Keep the words of the question in the strategy.")] = False,
    show_terms: Annotated[
        bool, typer.Option("--show-terms", help="Show what would be sent, and send nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """`anamnesis search`: search, print, and write what was asked for; or repeat a saved strategy."""
    if repeat is not None:
        _refuse(RELEASE.sub("", question).strip(), strategy, report, references, case, keep_question, show_terms)
        _search_again(repeat, released_in(question)[1], mirror, _day(since), as_json=as_json)
        return
    printed = report is not None and str(report) == PRINTED
    if since is not None:
        advice = "Give --rerun FILE too, or write the date in the question (since 2020)."
        raise InputError("--since belongs to --rerun.", advice)
    if as_json and printed:
        raise InputError("--json and --report - would both be printed.", "Give a file to --report.")
    if not question:
        raise InputError("There is no question.", "Give one, or a saved strategy with --rerun.")
    form_of(references)  # a mistake is told before anything is sent
    settings, home = _open(mirror)
    text = check_message(read_message(question), settings.max_characters)
    about_patient = case or len(sentences(text)) >= NARRATIVE
    opened = open_search(settings, home, mirror, say)
    if show_terms:
        _show_before(run(opened.plan(text, case=about_patient)))
        return
    result = run(opened.search(text, case=about_patient, limit=limit))
    found = result.strategy.model_copy(update={"question": text if keep_question else ""})
    _write(found, strategy, None if printed else report)
    if references is not None:
        records = run(opened.pubmed.fetch([d.id.partition(":")[2] for d in found.documents]))
        write_references(Collected(tuple(map(of_article, records)), {}), references)
    if as_json:
        sys.stdout.write(found.model_dump_json(indent=2) + "\n")
    elif printed:
        sys.stdout.write(account(found))
    else:
        _show(found, result, limit)


def _write(found: SearchStrategy, strategy: Path | None, report: Path | None) -> None:
    """Write the strategy and the account of a search where they were asked for."""
    if strategy is not None:
        save_strategy(found, strategy)
    if report is not None:
        write_text(report, account(found))


def _refuse(*given: object) -> None:
    if any(given):
        raise InputError(
            "--rerun repeats the saved queries as they are: it takes no question, --strategy, --report, --references, "
            "--case, --show-terms or --keep-question.",
            "Leave them out, or search anew without --rerun.",
        )


def _search_again(
    saved: Path, released: Sequence[str], mirror: Path | None, since: date | None, *, as_json: bool
) -> None:
    """Repeat a saved strategy and print what is new and what is gone."""
    strategy = load_strategy(saved)
    settings, home = _open(mirror)
    fresh = settings.model_copy(update={"literature": settings.literature.model_copy(update={"search_days": 0.0})})
    opened = open_search(fresh, home, mirror)
    check_source(strategy.source, opened.source)
    found = run(rerun(strategy, opened.pubmed, since, source=opened.source, released=released))
    if as_json:
        sys.stdout.write(found.model_dump_json(indent=2) + "\n")
    else:
        _show_rerun(found)


def _open(mirror: Path | None) -> tuple[Settings, Home]:
    settings, home = open_home()
    if mirror is None and settings.literature.mirror is None and settings.literature.live == "off":
        raise InputError(
            "PubMed is switched off, and no mirror is given.",
            "Set ANAMNESIS_LITERATURE__LIVE=auto, or give a local mirror with --mirror FOLDER.",
        )
    return settings, home


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is no date.", "Write it as 2026-01-31.") from None


def _show(strategy: SearchStrategy, result: LiveResult, limit: int) -> None:
    out = console()
    _show_plan(strategy.plan, result.held)
    for number, rung in enumerate(strategy.rungs, 1):
        count = "1 record" if rung.count == 1 else f"{rung.count} records"
        out.print(f"[bold]{number}. {rung.rung}[/]  {count}, {rung.seconds:.2f} s  [dim]{escape(rung.why)}[/]")
        out.print(f"   {rung.query}", markup=False)
        for warning in folded(rung.warnings):
            out.print(f"   [yellow]{escape(warning)}[/]")
        out.print(f"   [dim]{escape(rung.next)}[/]")
    for document in strategy.documents[:limit]:
        _show_document(document, also(strategy, document))
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
        out.print(f"[{STYLES[notice.severity]}]! {escape(notice.text)}[/]")


def _show_before(plan: SearchPlan) -> None:
    """What a search would send, nothing being sent."""
    _show_plan(plan, plan.held)
    for number, rung in enumerate(plan.expressions, 1):
        console().print(f"{number}. {rung.query}", markup=False)
    console().print("Nothing was sent.")


def _named(source: Source) -> str:
    return f"{source.kind} {source.name}" + (f" of {source.date}" if source.date else "")


def _show_document(d: FoundDocument, also: str) -> None:
    status = f"[yellow]{d.status.value}[/]" if d.status is not Status.OK else d.status.value
    said = ", ".join(escape(p) for p in (f"PMID {d.id.partition(':')[2]}", kind_of(d), str(d.year or "no year")))
    lines = (
        f"[bold]{d.rank}. {escape(d.title or d.id)}[/]",
        f"{said}, {status}, {escape(read_as(d))}",
        f"[dim]found by {escape(ways(d))}[/]",
        *([f"[yellow]{escape(also)}[/]"] if also else []),
    )
    console().print(Padding("\n".join(lines), (0, 0, 0, 2)))


def _show_plan(plan: SearchPlan, held: Sequence[str]) -> None:
    out = console()
    if not plan.terms and plan.expressions:
        out.print("[bold]Query[/] as it was typed")
        return
    dates = f", published {plan.dates.since or ''} to {plan.dates.until or 'now'}" if plan.dates else ""
    out.print(f"[bold]Plan[/] ({escape(plan.planner)}): {plan.intent.value}{dates}")
    for term in plan.terms:
        also = f" [dim]or {escape(', '.join(term.synonyms))}[/]" if term.synonyms else ""
        out.print(f"  {term.group.value:>5}  {escape(term.text)}{also}")
    if told := not_sent(held):
        out.print(f"  {told}", markup=False)
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

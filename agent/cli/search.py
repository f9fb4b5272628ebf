"""`anamnesis search`: a literature search that can be read, saved, reported and repeated."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import BaseModel
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
from tools.literature.article import Article
from tools.literature.live import LiveResult
from tools.literature.privacy import RELEASE, is_narrative, not_sent, released_in
from tools.literature.report import (
    account,
    account_of_rerun,
    also,
    cautions,
    folded,
    kind_of,
    named,
    read_as,
    status_of,
    ways,
    why_gone,
)
from tools.literature.rerun import Again, RecordNow, Rerun, check_source, looked_up, rerun
from tools.literature.settings import CEILING
from tools.literature.strategy import FoundDocument, SearchStrategy, load_strategy, save_strategy
from tools.references.contract import Collected, of_article
from tools.references.forms import form_of

NOTHING, ALL_LEFT_OUT = "Nothing was found.", "All that was found was left out."
CUT_OFF = "The search was cut off before anything was found."
STYLES = {Severity.INFO: "dim", Severity.WARNING: "yellow", Severity.DANGER: "bold red"}
PRINTED = "-"


def search(
    question: Annotated[
        str, typer.Argument(help="A question, a narrative, a PubMed query or PMIDs; - reads standard input.")
    ] = "",
    limit: Annotated[int, typer.Option(help="Documents shown.", min=1, max=CEILING)] = 20,
    every: Annotated[
        bool, typer.Option("--all", help=f"List all that a query finds (at most {CEILING:,}), not the first ones.")
    ] = False,
    enough: Annotated[
        int | None, typer.Option(help="Go on to wider queries until so many are listed.", min=1, max=CEILING)
    ] = None,
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
    wanted = _Wanted(strategy, report, references, as_json)
    wanted.check()  # a mistake is told before anything is sent
    if repeat is not None:
        _refuse(RELEASE.sub("", question).strip(), case, keep_question, show_terms, every, enough)
        again = _search_again(repeat, released_in(question)[1], mirror, _day(since))
        told = partial(account_of_rerun, again.found, again.strategy)
        if not wanted.give(again.strategy, told, lambda: again.new, again.found):
            _show_rerun(again.found)
        return
    if since is not None:
        advice = "Give --rerun FILE too, or write the date in the question (since 2020)."
        raise InputError("--since belongs to --rerun.", advice)
    if not question:
        raise InputError("There is no question.", "Give one, or a saved strategy with --rerun.")
    settings, home = _open(mirror)
    if enough is not None:
        settings = _with(settings, enough=enough)
    text = check_message(read_message(question), settings.max_characters)
    about_patient = case or is_narrative(text)
    opened = open_search(settings, home, mirror, say)
    if show_terms:
        _show_before(run(opened.plan(text, case=about_patient)))
        return
    result = run(opened.search(text, case=about_patient, limit=limit, every=every))
    found = _with_words(result, text) if keep_question else result.strategy
    ids = [d.id.partition(":")[2] for d in found.documents]
    if not wanted.give(found, partial(account, found), lambda: run(opened.pubmed.fetch(ids)), found):
        _show(found, result, limit)


class _Wanted(NamedTuple):
    """What of a search is written where, and what is printed of it."""

    strategy: Path | None
    report: Path | None
    references: Path | None
    as_json: bool

    @property
    def prints_report(self) -> bool:
        """Whether the account goes to standard output."""
        return self.report is not None and str(self.report) == PRINTED

    def check(self) -> None:
        """Raises InputError for what cannot be given."""
        if self.as_json and self.prints_report:
            raise InputError("--json and --report - would both be printed.", "Give a file to --report.")
        form_of(self.references)

    def give(
        self,
        found: SearchStrategy,
        told: Callable[[], str],
        records: Callable[[], Sequence[Article]],
        as_json: BaseModel,
    ) -> bool:
        """Write and print what was asked for; whether anything was printed.

        Args:
            told: the account. records: what the references are of. as_json: what ``--json`` prints.
        """
        if self.strategy is not None:
            save_strategy(found, self.strategy)
        if self.report is not None and not self.prints_report:
            write_text(self.report, told())
        if self.references is not None:
            write_references(Collected(tuple(map(of_article, records())), {}), self.references)
        if self.as_json:
            sys.stdout.write(as_json.model_dump_json(indent=2) + "\n")
        elif self.prints_report:
            sys.stdout.write(told())
        return self.as_json or self.prints_report


def _with_words(result: LiveResult, text: str) -> SearchStrategy:
    """The strategy with the words of the question, those held back too."""
    plan = result.strategy.plan.model_copy(update={"held": result.held})
    return result.strategy.model_copy(update={"question": text, "plan": plan})


def _refuse(*given: object) -> None:
    if any(given):
        raise InputError(
            "--rerun repeats the saved queries as they are: it takes no question, --case, --show-terms, --all, "
            "--enough or --keep-question.",
            "Leave them out, or search anew without --rerun.",
        )


def _search_again(saved: Path, released: Sequence[str], mirror: Path | None, since: date | None) -> Again:
    """Repeat a saved strategy, past what is kept of the source's answers, and read its records anew."""
    strategy = load_strategy(saved)
    settings, home = _open(mirror)
    opened = open_search(_with(settings, search_days=0.0, record_days=0.0), home, mirror)
    check_source(strategy.source, opened.source)

    async def again() -> Again:
        found = await rerun(strategy, opened.pubmed, since, source=opened.source, released=released)
        return await looked_up(strategy, found, opened.pubmed)

    return run(again())


def _with(settings: Settings, **literature: float) -> Settings:
    """The settings with others of the literature."""
    return settings.model_copy(update={"literature": settings.literature.model_copy(update=literature)})


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
        out.print(ALL_LEFT_OUT if strategy.excluded else f"[yellow]{CUT_OFF}[/]" if result.failed else NOTHING)
    held = f", {strategy.source.records:,} records" if strategy.source.records else ""
    out.print(
        f"{len(strategy.documents)} documents, {len(strategy.excluded)} left out, {named(strategy.source)}{held}",
        markup=False,
    )
    if strategy.ranked is not None:
        out.print(f"The first {strategy.ranked} are in order, best first; the rest as the queries listed them.")
    if unlisted := sum(rung.count > len(rung.ids) for rung in strategy.rungs):
        queries = "1 query finds" if unlisted == 1 else f"{unlisted} queries find"
        every, first = strategy.most is not None, f"{strategy.most or strategy.enough:,}"
        advice = "no more can be listed, so split it by dates of publication" if every else "--all lists them"
        out.print(f"{queries} more than the first {first} that are listed; {advice}.", style="yellow" if every else "")
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
    for limit in plan.limits:
        out.print(f"  limited, {limit.what}: {limit.clause} (“{limit.because}”)", markup=False)
    for mended in plan.corrections:
        out.print(f"  spelling: {mended.written} was read as {mended.meant}", markup=False)
    for bad in plan.rejected:
        out.print(f"  left out: {bad.query} ({bad.reason})", markup=False)


def _show_rerun(found: Rerun) -> None:
    out = console()
    before = f"First searched {found.first:%Y-%m-%d}, then" if found.first != found.then else "Searched"
    since = f", new since {found.since}" if found.since else ""
    out.print(f"{before} {found.then:%Y-%m-%d}, again {found.now:%Y-%m-%d}{since}")
    if found.source_now is not None:
        out.print(f"then {named(found.source_then)}, now {named(found.source_now)}", markup=False)
    for caution in cautions(found):
        out.print(f"[yellow]! {escape(caution)}[/]")
    for number, rung in enumerate(found.rungs, 1):
        entered = f", {rung.entered} entered since" if rung.entered is not None else ""
        out.print(f"[bold]{number}. {rung.rung}[/]  {rung.count_then} then, {rung.count_now} now{entered}")
        out.print(f"   {rung.query}", markup=False)
    records = {r.id.removeprefix("pubmed:"): r for r in found.records}

    def show(name: str, pmids: Sequence[str]) -> None:
        out.print(f"{name}: {len(pmids) or 'none'}", markup=False)
        for pmid in pmids:
            why = f" [dim]{why_gone(found, pmid)}[/]" if pmid in found.gone else ""
            out.print(Padding(f"PMID {pmid}{_said(records.get(pmid))}{why}", (0, 0, 0, 2)))

    show("new", found.new)
    show("gone", found.gone)
    show("retracted, of concern or corrected since", found.marked)
    if found.beyond:
        out.print(f"still found, but no longer among the first {found.most:,}: {len(found.beyond)}", markup=False)


def _said(record: RecordNow | None) -> str:
    """Title, journal, year and status of a record, as markup."""
    if record is None:
        return ""
    where = ", ".join(filter(None, (record.journal, str(record.year or ""))))
    status = f" [bold red]{escape(status_of(record))}[/]" if record.status is not Status.OK else ""
    return escape(f" {record.title}" + (f" ({where})" if where else "")) + status

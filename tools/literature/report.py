"""An account of a search in the manner of PRISMA-S: where, when, the full strategies line by line, counts, limits.

A search that was done again has an account of its own: what is new, gone, and marked as retracted since.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from tools.evidence import Status
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.article import OTHER_LEVEL, level_of
from tools.literature.depth import ABSTRACTS
from tools.literature.full_text import FullTextState
from tools.literature.rerun import RecordNow, Rerun
from tools.literature.strategy import Excluded, FoundDocument, SearchStrategy, Source

SHOWN = 3  # ours: warnings of one kind that are written out; the saved strategy has all
ACCOUNT, REPEATED = (Path(__file__).with_name(f"{name}.md.j2") for name in ("account", "repeated"))
PLATFORMS = {"pubmed": "PubMed through the E-utilities", "mirror": "local mirror of PubMed, same syntax"}
IDENTIFIED, UNLISTED = "identified by all queries", "beyond what a query lists"
LISTED = "listed by all rungs"
DOUBLED = "duplicates between rungs removed (by PMID)"
DIFFERENT, MEANT = "different records of the rungs", "found by meaning alone"
DEPTHS = {1: "abstracts", 2: "abstracts, and full texts of reviews", 3: "abstracts and full texts"}
MEANING = {"dense": "meaning"}
NOT_READ = {
    FullTextState.NO_COPY: "no full text",
    FullTextState.RESTRICTED: "full text restricted",
    FullTextState.UNREADABLE: "full text unreadable",
    FullTextState.FAILED: "full text failed",
    FullTextState.READ: "full text not to the point",
}


def account(strategy: SearchStrategy) -> str:
    """The account as Markdown, ending in a line break."""
    rank_fusion = f"In order of reciprocal rank fusion (k = {strategy.rrf_k}) of the rungs' order and that by meaning."
    return _written(
        ACCOUNT,
        s=strategy,
        dates=_dates(strategy),
        unlimited=_unlimited(strategy.plan),
        stages=_stages(strategy),
        reasons=_by_reason(strategy.excluded),
        flow=flow(strategy),
        full=sum(d.depth > ABSTRACTS for d in strategy.documents),
        orders={
            "weighted": "In order of a weighted sum of nearness in meaning, the question's words and the plan's terms.",
            "ladder": "In the order of the rungs, and of PubMed's relevance within each.",
            "rrf": rank_fusion,
        },
    )


def account_of_rerun(found: Rerun, strategy: SearchStrategy) -> str:
    """The account of a search that was done again; ``strategy`` is the one that the repetition left."""
    records = {r.id.removeprefix("pubmed:"): r for r in found.records}
    left_out = [e for e in strategy.excluded if e.id.removeprefix("pubmed:") in found.new]
    return _written(REPEATED, r=found, s=strategy, records=records, flow=_flow_of_rerun(found, left_out))


def _written(template: Path, **values: Any) -> str:
    """A page of Markdown, ending in a line break."""
    from jinja2 import Environment, StrictUndefined

    page = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)  # noqa: S701 - Markdown
    page.filters |= {"folded": folded, "cell": _cell}
    page.globals |= {"kind_of": kind_of, "read_as": read_as, "ways": ways, "also": also, "row": _row}
    page.globals |= {"depths": DEPTHS, "source_rows": _source_rows, "moment": _moment}
    page.globals |= {"named": named, "status_of": status_of, "why_gone": why_gone, "cautions": cautions}
    return page.from_string(template.read_text(encoding="utf-8")).render(**values).strip("\n") + "\n"


def named(source: Source) -> str:
    """A source in a few words."""
    return f"{source.kind} {source.name}" + (f" of {source.date}" if source.date else "")


def status_of(record: RecordNow) -> str:
    """The editorial status in words, with the notices of a retraction; "" for a record without any."""
    if record.status is Status.OK:
        return ""
    words = record.status.value.replace("_", " ")
    notices = f" (notice: {', '.join(record.notices)})" if record.notices else ""
    return (words if record.status.usable else words.upper()) + notices


def why_gone(found: Rerun, pmid: str) -> str:
    """Why a record is not found any more."""
    return "no longer in the source" if pmid in found.deleted else "still in the source, matches no query any more"


def cautions(found: Rerun) -> list[str]:
    """What makes a comparison less than it seems."""
    told = []
    if found.source_now is not None and _place(found.source_then) != _place(found.source_now):
        told.append("Another source was asked: what is new or gone may only differ between the two.")
    if found.failure_then:
        told.append(f"The saved search was cut off; only its rungs were repeated. {found.failure_then}")
    if old := found.perhaps_old:
        told.append(
            f"{_queries(old)} found more than the first {found.most:,} that were listed then: what is new may have "
            "been there already, further back. --since DATE asks for what was entered since, a search with --all "
            "lists all."
        )
    if more := found.more_entered:
        told.append(f"Of {_queries(more).lower()} only the first {found.most:,} that were entered since are listed.")
    return told


def _place(source: Source) -> tuple[str, str]:
    return source.kind, source.name


def _counted(queries: int) -> str:
    return "1 query" if queries == 1 else f"{queries} queries"


def _queries(numbers: Iterable[int]) -> str:
    listed = [str(n) for n in numbers]
    return f"Query {listed[0]}" if len(listed) == 1 else f"Queries {', '.join(listed)}"


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def _row(name: object, value: object) -> str:
    return f"| {_cell(name)} | {_cell(value)} |\n"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _source_rows(source: Source) -> list[tuple[str, str]]:
    """What was searched, and of a mirror which records that is."""
    if source.kind == "pubmed":
        return [("database", "PubMed"), ("platform", PLATFORMS["pubmed"]), ("address", source.name)]
    held = f"{source.records:,} records of PubMed, in a local mirror" if source.records else "a local mirror of PubMed"
    rows = [("database", held), ("platform", PLATFORMS["mirror"]), ("name of the mirror", source.name)]
    if source.imported:
        several = f", the last of {source.imports:,} imports" if source.imports > 1 else ""
        rows.append(("imported", f"{source.imported}, {source.newest_import}{several}"))
    return [*rows, *([("newest record of the mirror", source.date)] if source.date else [])]


def folded(warnings: Iterable[str]) -> list[str]:
    """One line a kind of warning (what stands before the first colon), in the order of first appearance."""
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kind, colon, what = warning.partition(": ")
        kinds.setdefault(kind if colon else warning, []).extend([what] if colon else [])
    return [_line(kind, what) for kind, what in kinds.items()]


def read_as(document: FoundDocument) -> str:
    """What of a document was read, and why no more."""
    if document.depth > ABSTRACTS:
        return "full text"
    missing = NOT_READ.get(document.full_text)
    return f"abstract ({missing})" if missing else "abstract"


def kind_of(document: FoundDocument) -> str:
    """The level of evidence, and where no type tells it that its own words do; else the publication types, else that
    PubMed gives none."""
    if document.level in ("", OTHER_LEVEL):
        return ", ".join(document.types) or "no type given"
    return document.level if document.level == level_of(document.types) else f"{document.level} (by its own words)"


def ways(document: FoundDocument) -> str:
    """Each rung, and meaning, with the rank there."""
    return ", ".join(
        f"{f'rung {h.step}' if h.step else MEANING.get(h.stream, h.stream)} ({h.rank})" for h in document.hits
    )


def also(strategy: SearchStrategy, document: FoundDocument) -> str:
    """The other documents of the result that are of the same work, and how that is known; "" where there is none."""
    told = []
    for group in strategy.same_work:
        if document.id in group.ids:
            others = [f"{i}{' (preprint)' if i in group.preprints else ''}" for i in group.ids if i != document.id]
            told.append(f"the same work as {', '.join(others)} ({group.why})")
    return "; ".join(told)


def flow(strategy: SearchStrategy) -> str:
    """The flow of the records as a Mermaid diagram, after PRISMA 2020's: every count is the strategy's own."""
    counts = dict(_stages(strategy))
    found = "<br/>".join(f"query {n}: {rung.count}" for n, rung in enumerate(strategy.rungs, 1))
    queries = _counted(len(strategy.rungs))
    identified = f"Records identified by {queries}: {counts[IDENTIFIED]}"
    unlisted = f"Beyond the first {strategy.most or strategy.enough:,} of a query, not listed: {counts[UNLISTED]}"
    listed, doubled, different, meant = (counts.get(stage, 0) for stage in (LISTED, DOUBLED, DIFFERENT, MEANT))
    out = _by_reason(strategy.excluded)
    unread = different + meant - sum(map(len, out.values())) - len(strategy.documents)
    left = [f"{reason}: {len(items)}".replace('"', "'") for reason, items in out.items()]
    lines = [
        "flowchart TD",
        f'  identified["{identified}{f"<br/>{found}" if found else ""}"] --> found',
        *([f'  identified -.-> unlisted["{unlisted}"]'] if counts[UNLISTED] else []),
        f'  found["Records listed by {queries}: {listed}"] --> different',
        f'  found -.-> doubled["Listed more than once, removed: {doubled}"]',
        *([f'  meant["Found by meaning alone: {meant}"] --> different'] if strategy.vectors is not None else []),
        f'  different["Different records: {different + meant}"] --> used',
        *([f'  different -.-> left["Left out:<br/>{"<br/>".join(left)}"]'] if left else []),
        *([f'  different -.-> unread["Below the best, not shown: {unread}"]'] if unread > 0 else []),
        f'  used["Documents in the result: {len(strategy.documents)}"]',
    ]
    return "\n".join(lines)


def _flow_of_rerun(found: Rerun, left_out: Iterable[Excluded]) -> str:
    """The flow of a repeated search, after PRISMA 2020's diagram of an updated review."""
    queries = "<br/>".join(f"query {n}: {r.count_now}" for n, r in enumerate(found.rungs, 1))
    identified = sum(r.count_now for r in found.rungs)
    different = len({p for r in found.rungs for p in r.listed})
    out = _by_reason(left_out)
    left = "<br/>".join(f"{reason}: {len(items)}".replace('"', "'") for reason, items in out.items())
    lines = [
        "flowchart TD",
        f'  before["First searched on {found.first:%Y-%m-%d}, last on {found.then:%Y-%m-%d}"] --> identified',
        f'  identified["Records identified by {_counted(len(found.rungs))}: {identified}<br/>{queries}"] --> different',
        f'  before -.-> gone["No longer found: {len(found.gone)}"]',
        f'  different["Different records listed: {different}"] --> new',
        f'  different -.-> known["Known already: {different - len(found.new)}"]',
        f'  new["New records: {len(found.new)}"] --> used',
        *([f'  new -.-> left["Left out:<br/>{left}"]'] if left else []),
        f'  used["New records to screen: {len(found.new) - sum(map(len, out.values()))}"]',
    ]
    return "\n".join(lines)


def _line(kind: str, what: list[str]) -> str:
    if not what:
        return kind
    more = len(what) - SHOWN
    if more <= 0:
        return f"{kind}: {'; '.join(what)}"
    return f"{kind}, {len(what)} in all: {'; '.join(what[:SHOWN])} and {more} more"


def _unlimited(plan: SearchPlan) -> str:
    """What the queries were not limited by; of a query that somebody typed, that it holds its own limits."""
    if not plan.terms and plan.expressions:
        return "other limits: those that the query itself holds"
    left = [what for what in ("language", "species", "publication type") if what not in {m.what for m in plan.limits}]
    return f"{', '.join(left)}: none" if left else "no other limits"


def _dates(strategy: SearchStrategy) -> str:
    dates = strategy.plan.dates
    if dates is None:
        return "none"
    since, until = dates.since or "the beginning", dates.until or "now"
    return f"from {since} to {until}, because the question says “{dates.because}”"


def _stages(strategy: SearchStrategy) -> list[tuple[str, int]]:
    """How many records there were after each step."""
    listed = [f"pubmed:{i}" for rung in strategy.rungs for i in rung.ids]
    different = set(listed)
    by_meaning = ({d.id for d in strategy.documents} | {e.id for e in strategy.excluded}) - different
    identified = sum(rung.count for rung in strategy.rungs)
    return [
        *((f"identified by query {n} ({rung.rung})", rung.count) for n, rung in enumerate(strategy.rungs, 1)),
        (IDENTIFIED, identified),
        (UNLISTED, max(0, identified - len(listed))),
        (LISTED, len(listed)),
        (DOUBLED, len(listed) - len(different)),
        (DIFFERENT, len(different)),
        *([(MEANT, len(by_meaning))] if strategy.vectors is not None else []),
        *((f"left out: {reason}", len(items)) for reason, items in _by_reason(strategy.excluded).items()),
        ("in the result", len(strategy.documents)),
    ]


def _by_reason(excluded: Iterable[Excluded]) -> dict[str, list[Excluded]]:
    reasons: dict[str, list[Excluded]] = {}
    for item in excluded:
        reasons.setdefault(item.reason.replace("_", " "), []).append(item)
    return reasons

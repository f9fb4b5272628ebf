"""An account of a search in the manner of PRISMA-S: where, when, the full strategies line by line, counts, limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.article import OTHER_LEVEL
from tools.literature.depth import ABSTRACTS
from tools.literature.full_text import FullTextState
from tools.literature.strategy import Excluded, FoundDocument, SearchStrategy, Source

SHOWN = 3  # ours: warnings of one kind that are written out; the saved strategy has all


def folded(warnings: Iterable[str]) -> list[str]:
    """One line a kind of warning (what stands before the first colon), in the order of first appearance."""
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kind, colon, what = warning.partition(": ")
        kinds.setdefault(kind if colon else warning, []).extend([what] if colon else [])
    return [_line(kind, what) for kind, what in kinds.items()]


def _line(kind: str, what: list[str]) -> str:
    if not what:
        return kind
    more = len(what) - SHOWN
    if more <= 0:
        return f"{kind}: {'; '.join(what)}"
    return f"{kind}, {len(what)} in all: {'; '.join(what[:SHOWN])} and {more} more"


PLATFORMS = {"pubmed": "PubMed through the E-utilities", "mirror": "local mirror of PubMed, same syntax"}
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
    parts = [
        "# Account of a literature search",
        _sources(strategy),
        _question(strategy),
        "## Full search strategies",
        *[_rung(n, strategy) for n in range(len(strategy.rungs))],
        _left_out(strategy.plan),
        "## Limits",
        _limits(strategy),
        "## Records by stage",
        _stages(strategy),
        *_excluded(strategy),
        _result(strategy),
        *_read(strategy),
        _versions(strategy),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def read_as(document: FoundDocument) -> str:
    """What of a document was read, and why no more."""
    if document.depth > ABSTRACTS:
        return "full text"
    missing = NOT_READ.get(document.full_text)
    return f"abstract ({missing})" if missing else "abstract"


def kind_of(document: FoundDocument) -> str:
    """The level of evidence, else the publication types, else that PubMed gives none."""
    return document.level if document.level not in ("", OTHER_LEVEL) else ", ".join(document.types) or "no type given"


def ways(document: FoundDocument) -> str:
    """Each rung, and meaning, with the rank there."""
    return ", ".join(
        f"{f'rung {h.step}' if h.step else MEANING.get(h.stream, h.stream)} ({h.rank})" for h in document.hits
    )


def _sources(strategy: SearchStrategy) -> str:
    source: Source = strategy.source
    rows = [
        ("database", "PubMed"),
        ("platform", PLATFORMS[source.kind]),
        ("address" if source.kind == "pubmed" else "name of the mirror", source.name),
        ("searched", f"{strategy.at:%Y-%m-%d %H:%M} UTC"),
    ]
    if source.date:
        rows.append(("newest record of the mirror", source.date))
    if strategy.vectors is not None:
        v = strategy.vectors
        rows.append(("also searched by meaning", f"{v.count:,} vectors of {v.encoder}, index of {v.built}"))
    warning = f"\n\n**The search is incomplete:** {strategy.failure}" if strategy.failure else ""
    return "## Information source\n\n" + _table(("what", "value"), rows) + warning


def _question(strategy: SearchStrategy) -> str:
    plan = strategy.plan
    asked = strategy.question or f"not kept; sha256 {strategy.question_sha256}"
    rows = [("question", asked), ("intent", plan.intent.value), ("planned by", plan.planner)]
    for term in plan.terms:
        heading = f" (MeSH: {term.mesh})" if term.mesh else ""
        rows.append((f"{term.group.value} term", "; ".join((term.text, *term.synonyms)) + heading))
    rows += [("spelling mended", f"{c.written} to {c.meant}") for c in plan.corrections]
    return "## Question and terms\n\n" + _table(("what", "value"), rows)


def _rung(number: int, strategy: SearchStrategy) -> str:
    rung = strategy.rungs[number]
    lines = [
        f"{number + 1}. {rung.rung}: {rung.why}",
        f"   - query: `{rung.query}`",
        f"   - records: {rung.count} in all, {len(rung.ids)} listed, {rung.seconds:.3f} s",
    ]
    if rung.translation:
        lines.append(f"   - read by the database as: `{rung.translation}`")
    lines += [f"   - warning: {w}" for w in folded(rung.warnings)]
    lines.append(f"   - {rung.next}")
    return "\n".join(lines)


def _left_out(plan: SearchPlan) -> str:
    if not plan.rejected:
        return ""
    lines = [f"- `{r.query}`: {r.reason}; {f'sent as `{r.mended}`' if r.mended else 'not sent'}" for r in plan.rejected]
    return "Expressions that the syntax check did not let pass:\n\n" + "\n".join(lines)


def _limits(strategy: SearchStrategy) -> str:
    dates = strategy.plan.dates
    date_limit = "none"
    if dates is not None:
        since, until = dates.since or "the beginning", dates.until or "now"
        date_limit = f"from {since} to {until}, because the question says “{dates.because}”"
    return (
        f"- publication date: {date_limit}\n- language, publication type: none\n"
        f"- the search went on until {strategy.enough} different records were listed; a rung lists at most that many"
    )


def _stages(strategy: SearchStrategy) -> str:
    listed = [f"pubmed:{i}" for rung in strategy.rungs for i in rung.ids]
    different = set(listed)
    by_meaning = ({d.id for d in strategy.documents} | {e.id for e in strategy.excluded}) - different
    rows = [
        ("listed by all rungs", len(listed)),
        ("duplicates between rungs removed (by PMID)", len(listed) - len(different)),
        ("different records of the rungs", len(different)),
        *([("found by meaning alone", len(by_meaning))] if strategy.vectors is not None else []),
        *((f"left out: {reason}", count) for reason, count in _reasons(strategy.excluded).items()),
        ("in the result", len(strategy.documents)),
    ]
    return _table(("stage", "records"), [(name, str(count)) for name, count in rows])


def _reasons(excluded: Sequence[Excluded]) -> Counter[str]:
    return Counter(_reason(e) for e in excluded)


def _reason(item: Excluded) -> str:
    return item.reason.replace("_", " ")


def _excluded(strategy: SearchStrategy) -> list[str]:
    if not strategy.excluded:
        return []
    lines = []
    for reason in _reasons(strategy.excluded):
        same = [e for e in strategy.excluded if _reason(e) == reason]
        lines.append(f"- {reason}: {'; '.join(_named(e) for e in same)}")
    return ["Left out:\n\n" + "\n".join(lines)]


def _named(item: Excluded) -> str:
    return item.id + (f" (notice: {', '.join(item.notices)})" if item.notices else "")


def _result(strategy: SearchStrategy) -> str:
    rows = [
        (
            str(d.rank),
            d.id,
            d.title,
            kind_of(d),
            str(d.year or ""),
            d.status.value,
            read_as(d),
            ways(d),
        )
        for d in strategy.documents
    ]
    head = ("rank", "document", "title", "type", "year", "status", "read", "found by (rank)")
    none = "No record is in the result, because the search was cut off." if strategy.failure else "No record."
    return f"## Result\n\n{_ordered(strategy)}\n\n" + (_table(head, rows) if rows else none)


def _ordered(strategy: SearchStrategy) -> str:
    if strategy.fusion == "weighted":
        return "In order of a weighted sum of nearness in meaning, the question's words and the plan's terms."
    if strategy.fusion == "ladder":
        return "In the order of the rungs, and of PubMed's relevance within each."
    return f"In order of reciprocal rank fusion (k = {strategy.rrf_k}) of the rungs' order and that by meaning."


def _read(strategy: SearchStrategy) -> list[str]:
    share = strategy.type_share
    if share is None:
        return []
    full = sum(d.depth > ABSTRACTS for d in strategy.documents)
    text = f"Depth asked for: {DEPTHS[strategy.depth]}. Full texts used: {full} of {len(strategy.documents)} documents."
    return [f"{text} Among the first {share.n} documents {share.reviews:.0%} are reviews."]


def _versions(strategy: SearchStrategy) -> str:
    named = ", ".join(f"{name} {number}" for name, number in sorted(strategy.versions.items()))
    return f"Made with {named}." if named else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)

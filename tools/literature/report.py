"""An account of a search in the manner of PRISMA-S: where, when, the full strategies line by line, counts, limits."""

from __future__ import annotations

from collections.abc import Sequence

from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.strategy import SearchStrategy, Source

PLATFORMS = {"pubmed": "PubMed through the E-utilities", "mirror": "local mirror of PubMed, same syntax"}


def account(strategy: SearchStrategy) -> str:
    """The account as Markdown, ending in a line break."""
    listed = [i for rung in strategy.rungs for i in rung.ids]
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
        _table(
            ("stage", "records"),
            [
                ("listed by all rungs", str(len(listed))),
                ("duplicates between rungs removed (by PMID)", str(len(listed) - len(set(listed)))),
                ("different records", str(len(set(listed)))),
                ("excluded", str(len(strategy.excluded))),
                ("in the result", str(len(strategy.documents))),
            ],
        ),
        *_excluded(strategy),
        _result(strategy),
        _versions(strategy),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _sources(strategy: SearchStrategy) -> str:
    source: Source = strategy.source
    rows = [
        ("database", "PubMed"),
        ("platform", PLATFORMS[source.kind]),
        ("address", source.name),
        ("searched", f"{strategy.at:%Y-%m-%d %H:%M} UTC"),
    ]
    if source.date:
        rows.append(("newest record of the mirror", source.date))
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
    lines += [f"   - warning: {w}" for w in rung.warnings]
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


def _excluded(strategy: SearchStrategy) -> list[str]:
    if not strategy.excluded:
        return []
    return ["Excluded:\n\n" + "\n".join(f"- {e.id}: {e.reason}" for e in strategy.excluded)]


def _result(strategy: SearchStrategy) -> str:
    rows = [
        (str(d.rank), d.id, d.title, ", ".join(f"{h.rung or h.stream} {h.rank}" for h in d.hits))
        for d in strategy.documents
    ]
    return "## Result\n\n" + (_table(("rank", "document", "title", "found by (rank)"), rows) if rows else "No record.")


def _versions(strategy: SearchStrategy) -> str:
    named = ", ".join(f"{name} {number}" for name, number in sorted(strategy.versions.items()))
    return f"Made with {named}." if named else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)

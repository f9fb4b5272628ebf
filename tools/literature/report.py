"""An account of a search in the manner of PRISMA-S: where, when, the full strategies line by line, counts, limits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tools.literature.article import OTHER_LEVEL, level_of
from tools.literature.depth import ABSTRACTS
from tools.literature.full_text import FullTextState
from tools.literature.strategy import Excluded, FoundDocument, SearchStrategy

SHOWN = 3  # ours: warnings of one kind that are written out; the saved strategy has all
ACCOUNT = Path(__file__).with_name("account.md.j2")
PLATFORMS = {"pubmed": "PubMed through the E-utilities", "mirror": "local mirror of PubMed, same syntax"}
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
    from jinja2 import Environment, StrictUndefined

    rank_fusion = f"In order of reciprocal rank fusion (k = {strategy.rrf_k}) of the rungs' order and that by meaning."
    page = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)  # noqa: S701 - Markdown
    page.filters |= {"folded": folded, "cell": lambda cell: " ".join(str(cell).split()).replace("|", "\\|")}
    page.globals |= {"kind_of": kind_of, "read_as": read_as, "ways": ways, "also": also}
    page.globals |= {"platforms": PLATFORMS, "depths": DEPTHS}
    text = page.from_string(ACCOUNT.read_text(encoding="utf-8")).render(
        s=strategy,
        dates=_dates(strategy),
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
    return text.strip("\n") + "\n"


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
    listed, doubled, different, meant = (counts.get(stage, 0) for stage in (LISTED, DOUBLED, DIFFERENT, MEANT))
    out = _by_reason(strategy.excluded)
    unread = different + meant - sum(map(len, out.values())) - len(strategy.documents)
    left = [f"{reason}: {len(items)}".replace('"', "'") for reason, items in out.items()]
    lines = [
        "flowchart TD",
        f'  found["Records listed by {len(strategy.rungs)} queries: {listed}"] --> different',
        f'  found -.-> doubled["Listed more than once, removed: {doubled}"]',
        *([f'  meant["Found by meaning alone: {meant}"] --> different'] if strategy.vectors is not None else []),
        f'  different["Different records: {different + meant}"] --> used',
        *([f'  different -.-> left["Left out:<br/>{"<br/>".join(left)}"]'] if left else []),
        *([f'  different -.-> unread["Below the best, not shown: {unread}"]'] if unread > 0 else []),
        f'  used["Documents in the result: {len(strategy.documents)}"]',
    ]
    return "\n".join(lines)


def _line(kind: str, what: list[str]) -> str:
    if not what:
        return kind
    more = len(what) - SHOWN
    if more <= 0:
        return f"{kind}: {'; '.join(what)}"
    return f"{kind}, {len(what)} in all: {'; '.join(what[:SHOWN])} and {more} more"


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
    return [
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

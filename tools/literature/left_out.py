"""What a search found and left out, and what the user must know of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tools.contract import Notice, Severity
from tools.literature.article import Exclusion
from tools.literature.client import Fetched
from tools.literature.depth import BestDocument, Deepened
from tools.literature.full_text import FullTextState
from tools.literature.ladder import Climb
from tools.literature.strategy import Excluded

NAMED = 5  # ours: PMIDs named in a notice; the strategy has all


def retracted(exclusions: Iterable[Exclusion]) -> list[Excluded]:
    """Those whose status forbids their use, each with the PMIDs of its notices."""
    return [
        Excluded(id=f"pubmed:{e.pmid}", reason=e.status.value, title=e.title, notices=e.notices) for e in exclusions
    ]


def not_read(fetched: Fetched, asked: Sequence[str], found: Sequence[str], listed: Collection[str]) -> list[Excluded]:
    """Records that could not be had, and those beyond what a call reads.

    Args:
        asked: the PMIDs whose records were asked for. found: all that were found. listed: those that a rung listed.
    """
    gone = [p for p in asked if p in fetched.missing]
    beyond = [p for p in found if p not in set(asked)]
    excluded = [Excluded(id=f"pubmed:{p}", reason=_why_missing(fetched, p, listed)) for p in gone]
    return excluded + [Excluded(id=f"pubmed:{p}", reason=f"beyond the first {len(asked)}") for p in beyond]


def _why_missing(fetched: Fetched, pmid: str, listed: Collection[str]) -> str:
    for problem in fetched.problems:
        if problem.where.endswith(f"PMID {pmid}"):
            return f"record cannot be read: {problem.what}"
    return "record not sent" if pmid in listed else "found by meaning, not held by the source"


def notices_of(
    climbed: Climb, fetched: Fetched, excluded: Sequence[Excluded], deepened: Deepened, listed: Collection[str]
) -> list[Notice]:
    """A failed rung, records that did not come, retracted ones, full texts that failed."""
    told = []
    if climbed.failure:
        told.append(("pubmed_failed", f"{climbed.failure} The search of PubMed is incomplete."))
    gone = [p for p in fetched.missing if p in listed]
    if gone:
        text = f"{len(gone)} of the records that were found did not come or cannot be read: PubMed {_some(gone)}."
        told.append(("records_missing", text))
    if away := [e for e in excluded if e.notices or e.reason in ("retracted", "retraction_notice")]:
        told.append(
            ("retracted_excluded", f"Left out because they were retracted: {'; '.join(map(_retraction, away))}.")
        )
    failed = [d for d in deepened.documents if d.state is FullTextState.FAILED]
    if failed:
        why = deepened.failure or failed[0].why
        text = f"{why} {len(failed)} full {'text was' if len(failed) == 1 else 'texts were'} not read; "
        told.append(("full_texts_failed", f"{text}the abstracts stand for them."))
    return [Notice(code=code, text=text, severity=Severity.WARNING) for code, text in told]


def names_of(document: BestDocument) -> tuple[str, ...]:
    """Every id under which the article may lie in another collection."""
    article = document.article
    own = (document.record.id,) if document.record is not None else ()
    return tuple(dict.fromkeys((f"pubmed:{article.pmid}", *own, *([f"pmc:{article.pmcid}"] if article.pmcid else []))))


def _retraction(item: Excluded) -> str:
    notice = f" (notice: {', '.join(item.notices)})" if item.notices else ""
    return f"PubMed {item.id.removeprefix('pubmed:')}{notice}"


def _some(pmids: Sequence[str]) -> str:
    more = len(pmids) - NAMED
    return ", ".join(pmids[:NAMED]) + (f" and {more} more" if more > 0 else "")

"""A saved search done again: the very queries, and what is new and what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from pydantic import AwareDatetime

from prompts.errors import ServiceError
from tools.evidence import Frozen
from tools.literature.client import PubMed
from tools.literature.privacy import repeat
from tools.literature.strategy import SearchStrategy, Source


class Repeated(Frozen):
    """A rung done again: its query, the count then and now, and the PMIDs that are new or gone among those listed."""

    rung: str
    query: str
    count_then: int
    count_now: int
    new: tuple[str, ...]
    gone: tuple[str, ...]


class Rerun(Frozen):
    """A strategy done again: rung by rung, and over all. ``since`` limits what counts as new by date of entry.

    ``failure_then`` is what cut the saved search off: its later rungs were never asked, then or now.
    """

    question_sha256: str
    then: AwareDatetime
    now: AwareDatetime
    since: date | None = None
    source_then: Source
    source_now: Source | None = None
    failure_then: str = ""
    rungs: tuple[Repeated, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]


async def rerun(
    strategy: SearchStrategy,
    pubmed: PubMed,
    since: date | None = None,
    *,
    source: Source | None = None,
    released: Sequence[str] = (),
) -> Rerun:
    """Repeat the very queries, and tell what is new and what is gone.

    With ``since`` a document counts as new only when it was entered on that day or later; each query is then also
    asked with that date of entry, so that newer documents show which the first ``enough`` places would hide.
    ``source`` is the name of ``pubmed`` for the result. ``released``: words that may leave, though they may be names.

    Raises:
        ServiceError: a rung failed. A comparison of half of the rungs would tell what is not so.
    """
    repeat([step.query for step in strategy.rungs], released)
    known = {pmid for step in strategy.rungs for pmid in step.ids}
    repeated: list[Repeated] = []
    now_found: dict[str, None] = {}
    for step in strategy.rungs:
        result = await pubmed.search(step.query, strategy.enough)
        if result.count and not result.ids:
            raise ServiceError("The source counted documents and listed none.", "Try again in a minute.")
        fresh = result.ids
        if since is not None:
            fresh = (await pubmed.search(f"({step.query}) AND {since:%Y/%m/%d}:3000[edat]", strategy.enough)).ids
        now_found |= dict.fromkeys(result.ids)
        repeated.append(
            Repeated(
                rung=step.rung,
                query=step.query,
                count_then=step.count,
                count_now=result.count,
                new=tuple(p for p in fresh if p not in known),
                gone=tuple(p for p in step.ids if p not in result.ids),
            )
        )
    new = dict.fromkeys(p for r in repeated for p in r.new)
    return Rerun(
        question_sha256=strategy.question_sha256,
        then=strategy.at,
        now=datetime.now(UTC).replace(microsecond=0),
        since=since,
        source_then=strategy.source,
        source_now=source,
        failure_then=strategy.failure,
        rungs=tuple(repeated),
        new=tuple(new),
        gone=tuple(p for p in dict.fromkeys(p for s in strategy.rungs for p in s.ids) if p not in now_found),
    )

"""A strategy done again: which records are new, gone, or marked as retracted since, and what is kept of that."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple

from pydantic import AwareDatetime

from prompts.errors import InputError, ServiceError
from tools.evidence import Frozen, Status
from tools.literature.article import Article
from tools.literature.client import EUtilities, PubMed
from tools.literature.ladder import Step, climbed
from tools.literature.privacy import repeat
from tools.literature.strategy import (
    Excluded,
    SearchStrategy,
    Source,
    as_listed,
    hits_of,
    retracted,
    same_works,
    versions,
)

BATCH = 200  # ours: ids asked for in one query, some 4,000 characters
Mark = Literal["retracted", "concern", "corrected"]
MARKS: dict[Status, Mark] = {
    Status.RETRACTED: "retracted",
    Status.RETRACTION_NOTICE: "retracted",
    Status.CONCERN: "concern",
    Status.CORRECTED: "corrected",
}


class Repeated(Frozen):
    """A rung done again.

    Attributes:
        entered: how many records its query finds that were entered since the day asked for; None without one.
        listed: PMIDs that its query was seen to find now. translation, warnings, seconds: as in `Step`.
        new, gone: PMIDs that are listed now and were not, and that its query finds no longer.
        beyond: those that it still finds, but no longer among the first that it lists.
    """

    rung: str
    query: str
    why: str = ""
    count_then: int
    count_now: int
    entered: int | None = None
    listed: tuple[str, ...] = ()
    translation: str = ""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    new: tuple[str, ...]
    gone: tuple[str, ...]
    beyond: tuple[str, ...] = ()


class RecordNow(Frozen):
    """A record as it is now; ``notices`` are the PMIDs of what retracted it, or their source in words."""

    id: str
    title: str
    journal: str
    year: int | None
    status: Status
    notices: tuple[str, ...] = ()


class Rerun(Frozen):
    """A strategy done again: rung by rung, and over all. ``since`` limits what counts as new by date of entry.

    Attributes:
        first, then, now: when it was done first, last, and again.
        failure_then: what cut the saved search off; its later rungs were never asked, then or now.
        most: records that a query lists.
        new, gone, beyond: as of the rungs; a record that any query finds is not gone.
        deleted: those of ``gone`` that the source holds no longer; the others match no longer.
        marked: records of the saved search that are marked as retracted, of concern or corrected, and were not so
            marked, or not read, then.
        records: of what is new, gone or marked, as they are now.
    """

    question_sha256: str
    first: AwareDatetime
    then: AwareDatetime
    now: AwareDatetime
    since: date | None = None
    source_then: Source
    source_now: Source | None = None
    failure_then: str = ""
    most: int
    rungs: tuple[Repeated, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    beyond: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    records: tuple[RecordNow, ...] = ()

    @property
    def perhaps_old(self) -> list[int]:
        """Numbers of the rungs that found more then than they listed: what is new there may have been there."""
        if self.since is not None:
            return []
        return [n for n, r in enumerate(self.rungs, 1) if r.new and r.count_then > self.most]

    @property
    def more_entered(self) -> list[int]:
        """Numbers of the rungs of which more was entered since than they list."""
        return [n for n, r in enumerate(self.rungs, 1) if (r.entered or 0) > self.most]


class Again(NamedTuple):
    """A rerun with its records, the strategy that it leaves, and the new records that may be used."""

    found: Rerun
    strategy: SearchStrategy
    new: tuple[Article, ...]


def check_source(then: Source, now: Source) -> None:
    """Raise InputError where queries of a mirror would go to PubMed: they may hold any word of its collection, names
    too, and were never sieved."""
    if then.kind == "mirror" and now.kind == "pubmed":
        raise InputError(
            f"The saved search was of the mirror {then.name}; its words were not chosen to leave this machine.",
            "Give the mirror with --mirror FOLDER, or ask PubMed anew: send the question again.",
        )


async def rerun(
    strategy: SearchStrategy,
    pubmed: PubMed,
    since: date | None = None,
    *,
    source: Source | None = None,
    released: Sequence[str] = (),
) -> Rerun:
    """Repeat the very queries, and tell what is new and what is gone; no record is read.

    With ``since`` a document counts as new only when it was entered on that day or later; each query is then also
    asked with that date of entry, so that newer documents show which the first places would hide. What is listed no
    longer is asked for by its number, together with the query: newer records may only have pushed it back.
    ``source`` is the name of ``pubmed`` for the result. ``released``: words that may leave, though they may be names.

    Raises:
        ServiceError: a rung failed. A comparison of half of the rungs would tell what is not so.
    """
    repeat([step.query for step in strategy.rungs], released)
    seen = [pmid for step in strategy.rungs for pmid in step.ids]
    known = {*seen, *(d.id.partition(":")[2] for d in strategy.documents)}
    most = strategy.most or strategy.enough
    repeated: list[Repeated] = []
    listed: set[str] = set()
    for step in strategy.rungs:
        started = time.monotonic()
        result = await pubmed.search(step.query, most)
        if result.count and not result.ids:
            raise ServiceError("The source counted documents and listed none.", "Try again in a minute.")
        fresh = result
        if since is not None:
            fresh = await pubmed.search(f"({step.query}) AND {since:%Y/%m/%d}:3000[edat]", most)
        away = [p for p in step.ids if p not in set(result.ids)]
        beyond = await _matching(pubmed, step.query, away) if result.count > len(result.ids) else []
        listed |= {*result.ids, *fresh.ids}
        repeated.append(
            Repeated(
                rung=step.rung,
                query=step.query,
                why=step.why,
                count_then=step.count,
                count_now=result.count,
                entered=None if since is None else fresh.count,
                listed=tuple(dict.fromkeys([*result.ids, *fresh.ids, *beyond])),
                translation=result.translation,
                warnings=result.warnings,
                seconds=round(time.monotonic() - started, 3),
                new=tuple(p for p in fresh.ids if p not in known),
                gone=tuple(p for p in away if p not in set(beyond)),
                beyond=tuple(beyond),
            )
        )
    still = {p for r in repeated for p in r.listed}
    return Rerun(
        question_sha256=strategy.question_sha256,
        first=strategy.first or strategy.at,
        then=strategy.at,
        now=datetime.now(UTC).replace(microsecond=0),
        since=since,
        source_then=strategy.source,
        source_now=source,
        failure_then=strategy.failure,
        most=most,
        rungs=tuple(repeated),
        new=_once(p for r in repeated for p in r.new),
        gone=_once(p for p in seen if p not in still),
        beyond=_once(p for p in seen if p in still and p not in listed),
    )


async def _matching(pubmed: PubMed, query: str, pmids: Sequence[str]) -> list[str]:
    """Those of some PMIDs that a query finds, however far back it lists them."""
    found: set[str] = set()
    for at in range(0, len(pmids), BATCH):
        some = pmids[at : at + BATCH]
        numbers = " OR ".join(f"{p}[uid]" for p in some)
        found |= set((await pubmed.search(f"({query}) AND ({numbers})", len(some))).ids)
    return [p for p in pmids if p in found]


async def looked_up(strategy: SearchStrategy, found: Rerun, pubmed: PubMed) -> Again:
    """The records of a rerun, read anew: what is deleted, what is marked since, and the strategy as it is now.

    Raises:
        ServiceError: the source failed.
    """
    steps = [
        Step(
            rung=r.rung,
            query=r.query,
            why=r.why,
            count=r.count_now,
            ids=r.listed,
            translation=r.translation,
            warnings=r.warnings,
            seconds=r.seconds,
            next="asked again",
        )
        for r in found.rungs
    ]
    now = climbed(steps, strategy.failure)
    before = _status_then(strategy)
    articles, missing = await records_now(pubmed, [*now.ids, *found.gone, *before])
    marked = [p for p in before if p in articles and _marked_since(before[p], articles[p].status)]
    told = [articles[p] for p in _once([*found.new, *found.gone, *marked]) if p in articles]
    whole = found.model_copy(
        update={
            "deleted": tuple(p for p in found.gone if p in missing),
            "marked": tuple(marked),
            "records": tuple(map(_as_it_is, told)),
        }
    )
    usable = [articles[p] for p in now.ids if p in articles and articles[p].status.usable]
    left_out = [e for p in now.ids if p in articles and (e := articles[p].exclusion) is not None]
    kept = strategy.model_copy(
        update={
            "at": found.now,
            "first": found.first,
            "source": found.source_now or strategy.source,
            "rungs": now.steps,
            "documents": tuple(as_listed(a, n, hits_of(now, a.pmid)) for n, a in enumerate(usable, 1)),
            "excluded": (
                *retracted(left_out),
                *(Excluded(id=f"pubmed:{p}", reason="record not sent") for p in now.ids if p not in articles),
            ),
            "same_work": same_works(usable),
            "fusion": "ladder",
            "encoder": "",
            "ranked": None,
            "vectors": None,
            "depth": 1,
            "type_share": None,
            "versions": versions(),
        }
    )
    return Again(whole, kept, tuple(a for a in usable if a.pmid in set(found.new)))


async def records_now(pubmed: PubMed, pmids: Sequence[str]) -> tuple[dict[str, Article], list[str]]:
    """The records as they are now, by PMID, and the PMIDs that are not held any more."""
    if not pmids:
        return {}, []
    if isinstance(pubmed, EUtilities):
        fetched = await pubmed.fetch_records(pmids)
        unread = {p for problem in fetched.problems for p in fetched.missing if p in str(problem)}
        return {a.pmid: a for a in fetched.articles}, [p for p in fetched.missing if p not in unread]
    found = {a.pmid: a for a in await pubmed.fetch(pmids)}
    return found, [p for p in dict.fromkeys(pmids) if p not in found]


def _status_then(strategy: SearchStrategy) -> dict[str, Status | None]:
    """The status of each record that the saved search listed or found, by PMID; None where it was not read."""
    then: dict[str, Status | None] = {pmid: None for step in strategy.rungs for pmid in step.ids}
    statuses = {s.value: s for s in Status}
    then |= {e.id.partition(":")[2]: statuses.get(e.reason) for e in strategy.excluded}
    return then | {d.id.partition(":")[2]: d.status for d in strategy.documents}


def _marked_since(then: Status | None, now: Status) -> bool:
    """Whether a record is worse off than it was; of one that was not read only that it may not be used."""
    return not now.usable if then is None else now is not then and now in MARKS


def _as_it_is(article: Article) -> RecordNow:
    return RecordNow(
        id=f"pubmed:{article.pmid}",
        title=article.title,
        journal=article.iso_abbreviation or article.journal,
        year=article.year,
        status=article.status,
        notices=article.exclusion.notices if article.exclusion else (),
    )


def _once(pmids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pmids))

"""What has changed since an answer was given: its searches asked again, and what it cites looked at anew."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import date
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from agent.mirror import searched
from agent.sessions.export import ExportedTurn
from agent.sessions.ids import now
from graphs.answering.contract import Answer
from graphs.answering.presentation import source_name, statements_of
from prompts.errors import AnamnesisError, DataError, InputError, ServiceError
from tools.evidence import Evidence, EvidenceId, Origin, Status
from tools.library.document import Document
from tools.literature.article import Article
from tools.literature.client import EUtilities, PubMed
from tools.literature.limiter import limiter_for
from tools.literature.privacy import released_in
from tools.literature.reachability import Reachability
from tools.literature.rerun import MARKS, check_source, records_now, rerun
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import SearchStrategy, Source
from tools.references.contract import NO_REFERENCE

PUBLISHED = ("pubmed", "pmc")
NAMED = 50  # ours: new records that are named with their title; a longer list is a search of its own
What = Literal["new", "gone", "retracted", "concern", "corrected", "revised"]
Look = Callable[[str], Document]
"""Gives the document of the library with an id, or with the id of a slice of it; raises InputError for none."""


class Change(BaseModel):
    """A source that is another than it was.

    Attributes:
        what: ``new``: found by the same queries and not then; ``gone``: no longer held where it was found;
            ``retracted``, ``concern`` (an expression of concern) and ``corrected``: so marked since; ``revised``: its
            text is another.
        cited: whether the answer stands on it.
        quote: of a revised source: what the answer quotes and it no longer says; "" where all quotes still stand.
    """

    model_config = ConfigDict(extra="forbid")

    what: What
    id: str
    title: str = ""
    date: str = ""
    cited: bool = False
    quote: str = ""


class Repetition(BaseModel):
    """A query that was asked again, with the number of records that it found then and now."""

    model_config = ConfigDict(extra="forbid")

    query: str
    then: int
    now: int


class Changes(BaseModel):
    """What has changed since an answer was given.

    Attributes:
        answered: the day of the answer. at: when it was looked at again.
        source: what was asked: ``pubmed``, or ``mirror`` with its name and date; "" where nothing was.
        looked_at: how many of its sources were looked at again.
        changes: those that the answer cites first.
        not_asked: what could not be asked or looked at, and what to do about it; nothing is known of that.
    """

    model_config = ConfigDict(extra="forbid")

    session: str
    turn: int
    asked: str
    answered: str
    at: str
    source: str = ""
    queries: list[Repetition] = []
    looked_at: int = 0
    changes: list[Change] = []
    not_asked: list[str] = []


async def changes_of(session: str, turn: ExportedTurn, settings: LiteratureSettings, look: Look) -> Changes:
    """What has changed since the answer of a turn.

    The very queries are sent again, to the mirror of the settings or else to PubMed, past what is kept of its answers.
    New is what was entered since, or in a mirror without such dates what is listed now and was not then.

    Raises:
        InputError: the turn has no answer.
    """
    if turn.answer is None:
        raise InputError(f"Turn {turn.turn} has no answer yet.", f"Finish it: anamnesis resume {session}.")
    answered = turn.answer.answered_on or turn.answered_at[:10]
    told = Changes(session=session, turn=turn.turn, asked=turn.asked, answered=answered, at=now())
    _look_at_documents(turn.answer, look, told)
    await _ask_again(turn, settings, told)
    told.changes.sort(key=lambda c: (not c.cited, c.what == "new"))
    told.not_asked = list(dict.fromkeys(told.not_asked))
    return told


class _Opened(NamedTuple):
    """What is asked, its name, and whether it can be asked for what was entered since a day."""

    pubmed: PubMed
    source: Source
    dated: bool


class _Known(NamedTuple):
    """A record of PubMed as it was: its title and status, and the texts and quotes of it where it is cited."""

    title: str
    status: Status
    cited: bool = False
    texts: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


def _cited(answer: Answer) -> Iterator[tuple[Evidence, tuple[str, ...]]]:
    """What is cited of publications and of the library, each piece with its quotes."""
    quotes: dict[str, dict[str, None]] = {}
    for citation in (c for s in statements_of(answer) for c in s.citations):
        quotes.setdefault(citation.evidence_id, {})[citation.quote] = None
    for item in answer.evidence:
        named = EvidenceId.parse(item.id).collection
        if item.id in quotes and item.origin is Origin.RETRIEVED and named not in NO_REFERENCE:
            yield item, tuple(quotes[item.id])


def _look_at_documents(answer: Answer, look: Look, told: Changes) -> None:
    """Compare what is cited of the library with what it holds now, a change a document."""
    found: dict[str, Change] = {}
    for item, quotes in _cited(answer):
        if EvidenceId.parse(item.id).collection in PUBLISHED:
            continue
        change = Change(what="revised", id=item.document_id, title=source_name(item), cited=True)
        try:
            document = look(item.id)
        except InputError:
            found[item.document_id] = change.model_copy(update={"what": "gone"})
            continue
        except (DataError, ServiceError) as error:
            told.not_asked.append(f"The library was not looked at. {error}")
            return
        told.looked_at += 1
        lost = next((quote for quote in quotes if quote not in document.text), "")
        if not document.status.usable:
            found[item.document_id] = change.model_copy(update={"what": "retracted", "date": document.date})
        elif lost or item.text not in document.text:
            at = {"quote": lost, "date": document.date}
            found.setdefault(item.document_id, change.model_copy(update=at))
    told.changes += found.values()


async def _ask_again(turn: ExportedTurn, settings: LiteratureSettings, told: Changes) -> None:
    """Repeat the turn's searches, and fetch anew the records that it cites and those that they found."""
    strategies = [s for search in turn.searches for s in search.strategies]
    known = _known(turn, strategies)
    if not strategies and not known:
        return
    fresh = settings.model_copy(update={"search_days": 0.0, "record_days": 0.0})
    try:
        async with _opened(fresh) as opened:
            source = opened.source
            told.source = " ".join(filter(None, (source.kind, source.name, source.date)))
            new = await _repeated(strategies, opened, released_in(turn.asked)[1], told)
            if strategies and not told.queries:
                return  # what was found elsewhere is not compared with this source
            new = [pmid for pmid in dict.fromkeys(new) if pmid not in known]
            records, gone = await records_now(opened.pubmed, [*known, *new[:NAMED]])
    except AnamnesisError as error:
        what = "PubMed was not asked whether the sources have changed, nor for new ones."
        told.not_asked.append(f"{what} {error}")
        return
    told.looked_at += len([p for p in known if p in records])
    told.changes += [Change(what="gone", id=f"pubmed:{p}", title=known[p].title, cited=known[p].cited) for p in gone]
    told.changes += filter(None, (_compared(p, known[p], records[p]) for p in known if p in records))
    for pmid in new:
        change, article = Change(what="new", id=f"pubmed:{pmid}"), records.get(pmid)
        about = {"title": article.title, "date": article.date} if article is not None else {}
        told.changes.append(change.model_copy(update=about))


def _known(turn: ExportedTurn, strategies: Sequence[SearchStrategy]) -> dict[str, _Known]:
    """The records of PubMed that a turn found or cites, by PMID, as they were then."""
    known: dict[str, _Known] = {}
    copies: dict[str, str] = {}
    for document in (d for s in strategies for d in s.documents):
        pmid = document.id.partition(":")[2]
        known.setdefault(pmid, _Known(document.title, document.status))
        copies[document.text or document.id] = pmid
    for item, quotes in _cited(turn.answer) if turn.answer is not None else ():
        named = EvidenceId.parse(item.id)
        pmid = named.name if named.collection == "pubmed" else copies.get(item.document_id, "")
        if pmid:
            before = known.get(pmid, _Known(item.title, item.status))
            here = named.collection == "pubmed"  # the text of another copy is not the record's
            texts, said = (
                ((*before.texts, item.text), (*before.quotes, *quotes)) if here else (before.texts, before.quotes)
            )
            known[pmid] = before._replace(cited=True, status=item.status, texts=texts, quotes=said)
    return known


@contextlib.asynccontextmanager
async def _opened(settings: LiteratureSettings) -> AsyncIterator[_Opened]:
    """The mirror of the settings, or PubMed where it may be asked and is there; raises AnamnesisError for neither."""
    found = searched(settings)
    if found.pubmed is not None and found.source is not None:
        with contextlib.closing(found.pubmed):
            yield _Opened(found.pubmed, found.source, bool(found.pubmed.manifest().newest_entered))
        return
    if settings.live == "off":
        raise InputError("It is switched off.", "Set ANAMNESIS_LITERATURE__LIVE=auto, or give a mirror.")
    probe = Reachability(settings.base_url, settings.probe_timeout, limiter=limiter_for(settings))
    if not await probe.check():
        raise ServiceError("It cannot be reached.", "Try again when this machine is online, or give a mirror.")
    yield _Opened(EUtilities(settings), Source(kind="pubmed", name=settings.base_url), dated=True)


async def _repeated(
    strategies: Sequence[SearchStrategy], opened: _Opened, released: Sequence[str], told: Changes
) -> list[str]:
    """PMIDs that are new in the turn's searches; each query is counted once."""
    new: list[str] = []
    asked: set[tuple[str, ...]] = set()
    for strategy in strategies:
        queries = tuple(step.query for step in strategy.rungs)
        if queries in asked:
            continue
        asked.add(queries)
        try:
            check_source(strategy.source, opened.source)
            since = _since(strategy, opened)
            found = await rerun(strategy, opened.pubmed, since, source=opened.source, released=released)
        except AnamnesisError as error:
            told.not_asked.append(f"A search was not repeated. {error}")
            continue
        if strategy.failure:
            told.not_asked.append(f"A search was cut off then; only what it had asked was repeated. {strategy.failure}")
        counted = {r.query for r in told.queries}
        told.queries += [
            Repetition(query=r.query, then=r.count_then, now=r.count_now) for r in found.rungs if r.query not in counted
        ]
        new += found.new
    return new


def _since(strategy: SearchStrategy, opened: _Opened) -> date | None:
    """From which day of entry on a record is new: of the search; of a mirror from its newest entry at that time."""
    day = strategy.at.date()
    if strategy.source.kind == "pubmed":
        return day if opened.dated else None
    with contextlib.suppress(ValueError):  # its newest date was no whole day
        newest = date.fromisoformat(strategy.source.date)
        return min(newest, day) if opened.dated else None
    return None


def _compared(pmid: str, then: _Known, now: Article) -> Change | None:
    change = Change(
        what="revised", id=f"pubmed:{pmid}", title=now.title, date=now.revised or now.date, cited=then.cited
    )
    if now.status is not then.status and now.status in MARKS:
        return change.model_copy(update={"what": MARKS[now.status]})
    if all(text in now.abstract for text in then.texts):
        return None
    lost = next((quote for quote in then.quotes if quote not in now.abstract), "")
    return change.model_copy(update={"quote": lost})

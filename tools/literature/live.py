"""The live part of the literature tool: ladder, meaning, records, their order, retractions, depth (CoMeta)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from prompts.errors import DataError
from tools.contract import Notice, Severity, Tell, untold
from tools.encoders import Encoder
from tools.evidence import Evidence, Found, Frozen
from tools.fusion import reciprocal_rank_fusion
from tools.literature.adapt_e.contract import DateRange, SearchPlan
from tools.literature.article import Article
from tools.literature.by_meaning import ByMeaning, Nearest, question_similarities
from tools.literature.client import Fetched, PubMed
from tools.literature.depth import ABSTRACTS, FULL_TEXT, BestDocument, Deepened, deepen, read_closely, type_share, whole
from tools.literature.failures import Reason, failure
from tools.literature.full_text import FullTextSource, FullTextState
from tools.literature.hybrid import order_pool
from tools.literature.ladder import Climb, climb
from tools.literature.settings import CEILING, LiteratureSettings
from tools.literature.strategy import (
    Excluded,
    FoundDocument,
    SearchStrategy,
    Source,
    as_listed,
    hits_of,
    make_strategy,
    retracted,
    same_works,
)
from tools.messages import messages, shortened
from tools.notices import noted

FETCHED = 60  # ours: records that are read and put in order a call, at most
IRRELEVANT = "none of its passages is relevant to the question"


class LiveDocument(Frozen):
    """An article of the result: every id that it goes by, and its evidence, the best piece first."""

    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class LiveResult(Frozen):
    """What PubMed gave, best first, the strategy that found it, what the user must know, and whether a part failed.

    ``retracted`` are ids of documents that were left out: a copy of them elsewhere may not be used either. ``held`` are
    words of the question that were not sent.
    """

    documents: tuple[LiveDocument, ...]
    strategy: SearchStrategy
    notices: list[Notice]
    failed: bool
    retracted: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


class Ordered(NamedTuple):
    """A record in its place: its weighted score (None when ranks decided), its rank and cosine by meaning."""

    pmid: str
    score: float | None
    dense_rank: int
    similarity: float


class _Read(NamedTuple):
    """What was found and read; ``unranked`` are the records beyond those that are put in order."""

    climbed: Climb
    nearest: Nearest | None
    found: list[str]
    fetched: Fetched
    usable: dict[str, Article]
    unranked: list[Article]
    excluded: list[Excluded]


@dataclass(frozen=True)
class LiveSearch:
    """Searches PubMed, or what stands in its place.

    Attributes:
        pubmed: what is sent the plan's expressions; it never sees the question.
        encoder: orders the records by meaning on this machine.
        source: the name of ``pubmed`` in the strategy.
        texts: where full texts come from; None reads abstracts only.
        meaning: the imported vectors of PubMed, where there are any.
    """

    pubmed: PubMed
    encoder: Encoder
    source: Source
    settings: LiteratureSettings
    texts: FullTextSource | None = None
    meaning: ByMeaning | None = None

    async def search(
        self,
        plan: SearchPlan,
        question: str,
        *,
        limit: int,
        tool: str,
        tell: Tell = untold,
        language: str = "en",
        every: bool = False,
    ) -> LiveResult:
        """Climb the ladder, read the records, put them in order, and read the best ``limit`` at their depth.

        Args:
            language: of the notices.
            every: list all that a query finds, at most `CEILING` records, as many in all, and let those stand in the
                strategy that are put in no order: what comes after the first `FETCHED`, and what has no abstract.

        Raises:
            ServiceError: the first rung or the reading of records failed.
        """
        (nearest, told), climbed = await asyncio.gather(
            asyncio.to_thread(self._nearest, question, language),
            climb(self.pubmed, plan.expressions, self.settings.enough, tell, CEILING if every else None),
        )
        read = await self._read(climbed, nearest, plan, tell, every=every)
        order = await asyncio.to_thread(self._order, question, plan, read)
        deepened = await self._deepened([read.usable[o.pmid] for o in order], limit, tell)
        excluded = retracted(deepened.excluded) + read.excluded
        by_pmid = {o.pmid: o for o in order}
        kept = [(by_pmid[d.article.pmid], d) for d in deepened.documents]
        ways = {o.pmid: _found(o, climbed, question, tool) for o, _ in kept}
        if self.settings.reading == "whole":
            evidence = {d.article.pmid: whole(d, ways[d.article.pmid]) for d in deepened.documents}
        else:
            evidence = await asyncio.to_thread(
                read_closely, question, plan, deepened.documents, ways, self.encoder, tool
            )
        documents = [LiveDocument(names=names_of(d), evidence=tuple(evidence[o.pmid])) for o, d in kept]
        found = [_document(n, o, d, climbed, evidence[o.pmid]) for n, (o, d) in enumerate(kept, 1)]
        strategy = make_strategy(
            question,
            plan,
            climbed,
            self.source,
            self.settings.enough,
            documents=[*found, *_unranked(read, len(kept))],
            excluded=excluded,
        )
        settings = self.settings
        return LiveResult(
            documents=tuple(documents),
            strategy=strategy.model_copy(
                update={
                    "same_work": same_works([*(d.article for _, d in kept), *read.unranked]),
                    "most": CEILING if every else None,
                    "encoder": nearest.vectors.encoder if nearest else self.encoder.name,
                    "ranked": len(kept) if read.unranked else None,
                    "rrf_k": settings.rrf_k,
                    "fusion": settings.fusion,
                    "vectors": nearest.vectors if nearest else None,
                    "depth": settings.depth if self.texts is not None else ABSTRACTS,
                    "type_share": type_share([d.evidence[0] for d in documents]) if documents else None,
                }
            ),
            notices=[*plan.notices, *told, *notices_of(climbed, read.fetched, excluded, deepened, language)],
            failed=bool(climbed.failure),
            retracted=_names_of_retracted(excluded, read.fetched),
            held=plan.held,
        )

    def _nearest(self, question: str, language: str) -> tuple[Nearest | None, list[Notice]]:
        """The question searched over the imported vectors; what makes that impossible is told, and nothing is lost."""
        if self.meaning is None or self.settings.fusion == "ladder":
            return None, []
        try:
            return self.meaning.nearest(question, self.settings.enough, self.settings.rrf_k), []
        except DataError as error:
            return None, [noted("embeddings_unusable", language, Severity.WARNING, detail=error)]

    async def _read(
        self, climbed: Climb, nearest: Nearest | None, plan: SearchPlan, tell: Tell, *, every: bool
    ) -> _Read:
        """The records of both streams, fused by rank; what is found by meaning alone must be of the dates asked for."""
        found = list(climbed.ids)
        if nearest is not None:
            fused = reciprocal_rank_fusion({"pubmed": found, "dense": nearest.ids}, self.settings.rrf_k)
            found = [f.id for f in fused]
        asked = found[: CEILING if every else FETCHED]
        if asked:
            tell("records", n=len(asked))
        fetched = await read_records(self.pubmed, asked, climbed.places)
        listed = climbed.places
        reasons = {a.pmid: _reason(a, plan, listed=a.pmid in listed, every=every) for a in fetched.articles}
        excluded = retracted(a.exclusion for a in fetched.articles if a.exclusion)
        excluded += [
            Excluded(id=f"pubmed:{a.pmid}", reason=reasons[a.pmid], title=a.title)
            for a in fetched.articles
            if not a.exclusion and reasons[a.pmid]
        ]
        excluded += not_read(fetched, asked, found, climbed.places)
        kept = [a for a in fetched.articles if not a.exclusion and not reasons[a.pmid]]
        first = set(found[:FETCHED])
        usable = {a.pmid: a for a in kept if a.pmid in first and a.abstract}
        unranked = [a for a in kept if a.pmid not in usable]
        return _Read(climbed, nearest, found, fetched, usable, unranked, excluded)

    def _order(self, question: str, plan: SearchPlan, read: _Read) -> list[Ordered]:
        """The records in order, by the setting ``fusion``."""
        texts = {pmid: f"{a.title}\n{a.abstract}" for pmid, a in read.usable.items()}
        if read.nearest is not None and self.meaning is not None:
            similarity = self.meaning.similarities(question, texts)
        else:
            similarity = question_similarities(self.encoder, question, texts)
        dense = sorted(texts, key=lambda p: (-similarity[p], p))
        ladder = [p for p in read.climbed.ids if p in texts]
        score: dict[str, float] = {}
        if self.settings.fusion == "weighted":
            scores = {r.id: r.score for r in order_pool(question, plan, texts, similarity)}
            order, score = list(scores), {p: round(s, 6) for p, s in scores.items()}
        elif self.settings.fusion == "ladder":
            order = ladder
        else:
            near = dense if read.nearest is None else [p for p in read.nearest.ids if p in texts]
            fused = reciprocal_rank_fusion({"pubmed": ladder, "dense": near}, self.settings.rrf_k)
            order = [f.id for f in fused]
        rank = {pmid: n for n, pmid in enumerate(dense, 1)}
        return [Ordered(p, score.get(p), rank[p], round(similarity[p], 6)) for p in order]

    async def _deepened(self, articles: Sequence[Article], limit: int, tell: Tell) -> Deepened:
        """The best articles at their depth; those beyond what can be returned are not fetched."""
        s = self.settings
        first = await deepen(articles[:limit], self.texts, s.depth, s.full_texts, s.full_text_seconds, tell)
        rest = await deepen(articles[limit:], None, ABSTRACTS)
        return first.model_copy(update={"documents": first.documents + rest.documents})


def _reason(article: Article, plan: SearchPlan, *, listed: bool, every: bool) -> str:
    """Why a record that may be cited is left out all the same, "" when it is not."""
    if not article.abstract and not every:
        return "no abstract"
    return "" if listed or within(article, plan.dates) else "outside the dates asked for"


def _found(item: Ordered, climbed: Climb, question: str, tool: str) -> tuple[Found, ...]:
    """The rung where a record first stood with its rank there, and its place by meaning."""
    dense = Found(tool=tool, stream="dense", query=question, rank=item.dense_rank, score=item.similarity)
    places = climbed.places.get(item.pmid, ())
    first = [Found(tool=tool, stream="pubmed", query=p.query, rung=p.rung, rank=p.rank) for p in places[:1]]
    return (*first, dense)


def _document(
    rank: int, item: Ordered, document: BestDocument, climbed: Climb, evidence: Sequence[Evidence]
) -> FoundDocument:
    article = document.article
    passages = [e for e in evidence if e.kind == FULL_TEXT]
    why = IRRELEVANT if document.record is not None and not passages else document.why
    return FoundDocument(
        id=f"pubmed:{item.pmid}",
        title=article.title,
        rank=rank,
        hits=hits_of(climbed, item.pmid, {"dense": item.dense_rank}),
        score=item.score,
        types=article.publication_types,
        year=article.year,
        status=document.status,
        level=article.level,
        depth=document.depth if passages else ABSTRACTS,
        text=(passages or evidence)[0].document_id,
        full_text=document.state,
        why=why,
    )


def _unranked(read: _Read, ranked: int) -> list[FoundDocument]:
    """The records that were put in no order, after the ``ranked`` that were."""
    near = {pmid: {"dense": n} for n, pmid in enumerate(read.nearest.ids if read.nearest else (), 1)}
    return [
        as_listed(a, n, hits_of(read.climbed, a.pmid, near.get(a.pmid)))
        for n, a in enumerate(read.unranked, ranked + 1)
    ]


def _names_of_retracted(excluded: Sequence[Excluded], fetched: Fetched) -> tuple[str, ...]:
    """Every id of what may not be used: its PMID and its copy in PubMed Central."""
    copies = {f"pubmed:{a.pmid}": f"pmc:{a.pmcid}" for a in fetched.articles if a.pmcid}
    named = [e.id for e in excluded if e.reason in ("retracted", "retraction_notice")]
    return tuple(name for key in named for name in (key, copies.get(key, "")) if name)


NAMED = 5  # ours: PMIDs named in a notice; the strategy has all


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
    climbed: Climb, fetched: Fetched, excluded: Sequence[Excluded], deepened: Deepened, language: str
) -> list[Notice]:
    """A failed rung, records that did not come, retracted ones, full texts that failed."""
    told, warn = list[Notice](), partial(noted, language=language, severity=Severity.WARNING)
    if climbed.failure:
        told.append(warn("pubmed_failed", said="notice.pubmed_incomplete", detail=climbed.failure))
    gone = [p for p in fetched.missing if p in climbed.places]
    if gone:
        told.append(warn("records_missing", n=len(gone), detail=shortened(gone, NAMED, language)))
    if away := [e for e in excluded if e.notices or e.reason in ("retracted", "retraction_notice")]:
        told.append(warn("retracted_excluded", detail="; ".join(_retraction(e, language) for e in away)))
    failed = [d for d in deepened.documents if d.state is FullTextState.FAILED]
    if failed:
        told.append(warn("full_texts_failed", n=len(failed), detail=deepened.failure or failed[0].why))
    return told


def names_of(document: BestDocument) -> tuple[str, ...]:
    """Every id under which the article may lie in another collection."""
    article = document.article
    own = (document.record.id,) if document.record is not None else ()
    return tuple(dict.fromkeys((f"pubmed:{article.pmid}", *own, *([f"pmc:{article.pmcid}"] if article.pmcid else []))))


def _retraction(item: Excluded, language: str) -> str:
    pmid = f"PubMed {item.id.removeprefix('pubmed:')}"
    by = ", ".join(item.notices)
    return messages(language).say("notice.retraction", pmid=pmid, by=by) if by else pmid


@runtime_checkable
class NamesMissing(Protocol):
    """A PubMed that tells which records did not come, and which cannot be read."""

    async def fetch_records(self, pmids: Sequence[str]) -> Fetched:
        """The records of some PMIDs, in their order, with what is not among them. Raises ServiceError."""


async def read_records(pubmed: PubMed, pmids: Sequence[str], listed: Container[str]) -> Fetched:
    """The records of what was found, in that order.

    Args:
        listed: the PMIDs that the source itself listed; what was found by meaning it need not hold.

    Raises:
        ServiceError: the source failed, or gave none of them: a search that listed them has not found nothing.
    """
    if not pmids:
        return Fetched(articles=())
    if isinstance(pubmed, NamesMissing):
        fetched = await pubmed.fetch_records(pmids)
    else:
        articles = tuple(await pubmed.fetch(pmids))
        sent = {a.pmid for a in articles}
        fetched = Fetched(articles=articles, missing=tuple(p for p in pmids if p not in sent))
    if not fetched.articles and any(p in listed for p in pmids):
        raise failure(Reason.INCOMPLETE, f"The source gave none of {len(set(pmids))} records that were found.")
    return fetched


def within(article: Article, dates: DateRange | None) -> bool:
    """Whether a record was published in a range; what its date leaves open counts as inside."""
    if dates is None:
        return True
    if not article.date:
        return False
    since, until = (d.isoformat() if d else "" for d in (dates.since, dates.until))
    shown = len(article.date)
    return article.date >= since[:shown] and (not until or article.date <= until[:shown])

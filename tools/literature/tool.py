"""``search_literature``: the local library always, and live PubMed when it is on and can be reached."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from itertools import chain, zip_longest
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prompts import tool_arguments
from prompts.errors import InputError, ServiceError, ToolError
from tools.contract import Notice, Outcome, Severity, ToolArtifact, ToolContext, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Found
from tools.fusion import balanced_pool
from tools.library.contract import LibraryHit, SearchableLibrary
from tools.library.document import review_notices
from tools.literature.adapt_e.contract import QueryPlanner, SearchPlan
from tools.literature.adapt_e.expressions import any_word
from tools.literature.adapt_e.local import QueryPlannerLocal
from tools.literature.adapt_e.typed import sent_as_typed, words_of_typed
from tools.literature.article import Article
from tools.literature.by_meaning import ByMeaning
from tools.literature.client import EUtilities, PubMed
from tools.literature.depth import ABSTRACTS, in_full
from tools.literature.full_text import FullTextSource, full_text_sources
from tools.literature.limiter import limiter_for
from tools.literature.live import LiveDocument, LiveResult, LiveSearch
from tools.literature.privacy import begin, unsent
from tools.literature.reachability import Reachability
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import Source, as_steps
from tools.literature.terms import clean_terms
from tools.literature.vocabulary import Vocabulary
from tools.notices import noted
from tools.passages.contract import evidence_text
from tools.text.clauses import affirmed
from tools.text.demographics import about_others

# ours: a question whose best document is less similar than this is on no subject of the library. On the questions of
# evals/data/dev the lowest on a subject of the library has 0.71, the highest on an invented disease or drug 0.47.
ON_SUBJECT = 0.50
# ours: the same where a model reads what was found: "angiotensin receptor blocker versus ACE inhibitor rate of cough"
# has 0.48 and finds the page that tells of it; what is of another subject the model leaves out
READ_BY_MODEL = 0.40
FEW_TERMS = 2  # ours: with fewer terms from the text, what the graph understood of the case is asked too
PUBLISHED = "MedCPT's cross-encoder"  # paper: what orders documents that were retrieved per source
QUESTION = "evidence"  # the kind of turn that is no patient's case


class _Live(NamedTuple):
    """What the live part came to: a result, or the notice that says why there is none."""

    result: LiveResult | None
    notices: list[Notice]
    failed: bool


class SearchLiterature:
    """Searches the library by words and meaning, and PubMed through the Boolean ladder.

    Args:
        library: the local library.
        encoder: orders PubMed's abstracts by meaning; the encoder of the library will do.
        settings: whether and how PubMed is asked.
        pubmed: another way to PubMed, for example a local mirror; None for the E-utilities of the settings.
        reachability: shared by tools that ask the same server; None for one of its own.
        planner: who plans the search; None for the rules.
        source: what the strategy names as searched; None for the settings' address.
        vocabulary: what is known of words, for the privacy sieve; None for the library's public words.
        texts: where full texts come from; None for the library and, where the E-utilities are asked, PubMed Central.
        meaning: the imported vectors of PubMed, where there are any.
        reranker: orders the documents of all sources where the settings retrieve them per source.
        today: the day against which review dates are read; None for the current day at each call.
        least: similarity of the library's best document from which a question is on a subject of it.
    """

    name = "search_literature"
    arguments = tool_arguments.SearchLiterature

    def __init__(
        self,
        library: SearchableLibrary,
        encoder: Encoder,
        settings: LiteratureSettings | None = None,
        *,
        pubmed: PubMed | None = None,
        reachability: Reachability | None = None,
        planner: QueryPlanner | None = None,
        source: Source | None = None,
        vocabulary: Vocabulary | None = None,
        texts: FullTextSource | None = None,
        meaning: ByMeaning | None = None,
        reranker: Reranker | None = None,
        today: date | None = None,
        least: float = ON_SUBJECT,
    ) -> None:
        self.description, self._least = tool_arguments.description(self.name), least
        self.library, self._today, self._reranker = library, today, reranker
        self._settings = settings or LiteratureSettings()
        self._limiter = limiter_for(self._settings) if pubmed is None else None
        self._reachability = reachability or Reachability(
            self._settings.base_url, self._settings.probe_timeout, limiter=self._limiter
        )
        self._vocabulary = vocabulary or Vocabulary(**library.public_words._asdict())
        self._planner = planner or QueryPlannerLocal(self._vocabulary)
        asked = pubmed or EUtilities(self._settings)
        self._live = LiveSearch(
            pubmed=asked,
            encoder=encoder,
            source=source or Source(kind="pubmed", name=self._settings.base_url),
            settings=self._settings,
            texts=texts or full_text_sources(library, asked, self._settings),
            meaning=meaning,
        )

    def planned_by(self, planner: QueryPlanner) -> SearchLiterature:
        """The same search with another planner, its sources together: that of a gap, which is ours in every method."""
        other = copy(self)
        other._planner, other._reranker = planner, None
        return other

    async def run(self, arguments: tool_arguments.SearchLiterature, context: ToolContext) -> ToolArtifact:
        """Search. A failure of PubMed is a notice while the library has a result, else ``unavailable``."""
        started = time.monotonic()
        begin(context.question or arguments.query, self._vocabulary, context.released)
        if (plan := self._as_typed(arguments, context)) is not None:
            arguments = arguments.model_copy(update={"query": words_of_typed(arguments.query)})
        else:
            plan = await self._plan(arguments, context)
        if plan.terms:  # what passed the sieve, and no other word of the text
            context.tell("searching", terms=", ".join(t.text for t in plan.terms))
        if self._settings.method == "per_source" and self._reranker is not None:
            return await self._per_source(plan, arguments, context, self._reranker)
        local, live = await self._both(arguments, context, plan)
        evidence = self._pool(local, live.result, arguments.limit)
        used = [hit.document for hit in local if any(e.document_id == hit.document.id for e in evidence)]
        artifact = ToolArtifact(
            tool=self.name,
            outcome=Outcome.of(evidence, failed=live.failed),
            evidence=evidence,
            notices=unique(
                [
                    *plan.notices,
                    *self._held(plan, context.language),
                    *live.notices,
                    *review_notices(used, context.language, self._today),
                ]
            ),
            strategy=[*_local_strategy(local), *(as_steps(live.result.strategy) if live.result else [])],
        )
        context.recorder.event(
            "literature_search",
            terms=[t.text for t in plan.terms],
            planner=plan.planner,
            local=len(local),
            live=len(live.result.documents) if live.result else None,
            seconds=round(time.monotonic() - started, 3),
        )
        return artifact

    async def full_texts(self, found: Sequence[Evidence], context: ToolContext) -> dict[str, list[Evidence] | str]:
        """The full texts of articles that were found, see `FullTexts`; none where the settings hand on all there is."""
        s, texts, known = self._settings, self._live.texts, {e.document_id: e for e in found}
        if texts is None or s.live == "off" or s.depth == ABSTRACTS or s.reading == "whole":
            return {}
        articles = {n: Article.by_pmcid(e) for n, e in known.items() if n.startswith("pmc:PMC")}
        if pmids := [name.removeprefix("pubmed:") for name in known if name.startswith("pubmed:")]:
            try:
                articles |= {f"pubmed:{a.pmid}": a for a in await self._live.pubmed.fetch(pmids)}
            except ServiceError as error:
                return dict.fromkeys([*articles, *(f"pubmed:{p}" for p in pmids)], error.what)
        return await in_full(articles, texts, s.full_texts, s.full_text_seconds, context.tell)

    async def _per_source(
        self,
        plan: SearchPlan,
        arguments: tool_arguments.SearchLiterature,
        context: ToolContext,
        reranker: Reranker,
    ) -> ToolArtifact:
        """Documents of each source by BM25, and the best of them all by the reranker (MedRGAG)."""
        words = plan.model_copy(update={"expressions": (any_word(plan.terms, plan.dates),)}) if plan.terms else plan
        by_words = self._live.settings.model_copy(update={"fusion": "ladder", "enough": PER_SOURCE, "reading": "whole"})
        search = replace(self._live, settings=by_words, meaning=None)
        local, live = await asyncio.gather(
            asyncio.to_thread(self.library.by_words, arguments.query, PER_SOURCE, tool=self.name),
            self._search_live(words, arguments.model_copy(update={"limit": PER_SOURCE}), context, search),
        )
        sources = {name: [hit.evidence() for hit in hits] for name, hits in local.items()}
        if live.result is not None:
            sources["pubmed"] = [d.evidence[0] for d in live.result.documents]
        pooled = await asyncio.to_thread(
            best_of, arguments.query, sources, reranker, arguments.limit, self.name
        )  # fmt: skip
        hits = [h for found in local.values() for h in found]
        used = [h.document for h in hits if any(e.document_id == h.document.id for e in pooled.evidence)]
        by = notice_of(reranker, context.language, published=PUBLISHED)
        told = [*plan.notices, *self._held(plan, context.language), *live.notices, *by]
        context.recorder.event("literature_search", terms=[t.text for t in plan.terms], sources=pooled.step["sources"])
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.of(pooled.evidence, failed=live.failed),
            evidence=pooled.evidence,
            notices=unique([*told, *review_notices(used, context.language, self._today)]),
            strategy=[pooled.step, *(as_steps(live.result.strategy) if live.result else [])],
        )

    async def _both(
        self, arguments: tool_arguments.SearchLiterature, context: ToolContext, plan: SearchPlan
    ) -> tuple[list[LibraryHit], _Live]:
        """What the library and PubMed give; the library stands in for PubMed where the settings search PubMed alone."""
        if self._settings.library == "beside":
            return await asyncio.gather(
                asyncio.to_thread(self._search_library, arguments, context, plan),
                self._search_live(plan, arguments, context),
            )
        live = await self._search_live(plan, arguments, context)
        if live.result is not None:
            return [], live
        return await asyncio.to_thread(self._search_library, arguments, context, plan), live

    def _as_typed(self, arguments: tool_arguments.SearchLiterature, context: ToolContext) -> SearchPlan | None:
        """What its user typed in PubMed's language or as identifiers, where the sieve holds no word of it back."""
        if context.kind == QUESTION and arguments.query == context.question:
            try:
                return sent_as_typed(arguments.query, self._vocabulary)
            except InputError as error:
                raise ToolError(error.what, error.advice) from error
        return None

    async def _plan(self, arguments: tool_arguments.SearchLiterature, context: ToolContext) -> SearchPlan:
        """By the planner's terms, else the query's own, with what the graph understood when those are too few.

        Terms of which none may be sent are as good as none.
        """
        case = context.kind != QUESTION
        plan = await self._planner.plan(arguments.query, case=case, terms=arguments.terms)
        if arguments.terms and plan.terms:
            return plan
        if arguments.terms:
            plan = await self._planner.plan(arguments.query, case=case)
        if len(plan.terms) >= FEW_TERMS:
            return plan
        names = [f.name for f in context.findings if f.id and f.present]
        more = [t.text for t in clean_terms(names, self._vocabulary, case=case)]
        known = [t.text for t in plan.terms]
        return await self._planner.plan(arguments.query, case=case, terms=[*known, *more]) if more else plan

    def _search_library(
        self, arguments: tool_arguments.SearchLiterature, context: ToolContext, plan: SearchPlan
    ) -> list[LibraryHit]:
        """A case is searched without what it denies, and by its key terms beside it: a narrative is mostly noise."""
        is_question = context.kind == QUESTION
        query = arguments.query if is_question else affirmed(arguments.query).strip() or arguments.query
        key_terms = ", ".join(t.text for t in plan.terms)
        if context.language != "en" and key_terms:  # the library is in English, and so are the terms
            query = f"{query} {key_terms}"
        also = [] if is_question or not key_terms else [key_terms]
        hits = self.library.search(query, arguments.limit, also=also, tool=self.name)
        if is_question and any(about_others(query, h.document.title) for h in hits):
            hits = self.library.search(query, 2 * arguments.limit, also=also, tool=self.name)
            hits = [h for h in hits if not about_others(query, h.document.title)][: arguments.limit]
        best = max((f.score or 0.0 for h in hits for f in h.found if f.stream == "dense"), default=0.0)
        return hits if not is_question or best >= self._least else []

    async def _search_live(
        self,
        plan: SearchPlan,
        arguments: tool_arguments.SearchLiterature,
        context: ToolContext,
        search: LiveSearch | None = None,
    ) -> _Live:
        language = context.language
        if self._settings.live == "off":
            return _Live(None, [noted("pubmed_off", language)], failed=False)
        if not plan.expressions:
            return _Live(None, [noted("pubmed_no_terms", language)], failed=False)
        if not await self._reachability.check():
            severity = Severity.WARNING if self._settings.live == "on" else Severity.INFO
            return _Live(None, [noted("pubmed_unreachable", language, severity)], failed=True)
        try:
            asked = search or self._live
            result = await asked.search(
                plan, arguments.query, limit=arguments.limit, tool=self.name, tell=context.tell, language=language
            )
        except ServiceError as error:
            return _Live(None, [noted("pubmed_failed", language, Severity.WARNING, detail=error)], failed=True)
        return _Live(result, [*result.notices, *self._slower(language)], failed=result.failed)

    def _held(self, plan: SearchPlan, language: str) -> list[Notice]:
        """What was not sent, where PubMed itself is asked; nothing leaves for a mirror of this machine."""
        words = unsent(plan.held, language)
        asked = self._settings.live != "off" and self._live.source.kind == "pubmed"
        return [noted("not_sent", language, detail=words)] if asked and words else []

    def _slower(self, language: str) -> list[Notice]:
        alone = self._limiter is not None and self._limiter.alone
        return [noted("pubmed_share", language)] if alone else []

    def _pool(self, local: Sequence[LibraryHit], live: LiveResult | None, limit: int) -> list[Evidence]:
        """Published literature and the library in turn, so that neither crowds out the other.

        A publication that both have is one document: PubMed's record, which knows its present status. Every document
        gives its best piece first; further passages of full texts take only the room that is left.
        """
        published = {d.names[0]: d for d in (live.documents if live else ())}
        known_as = {name: d.names[0] for d in published.values() for name in d.names}
        retracted = live.retracted if live else ()
        own = {
            known_as.get(h.document.id, h.document.id): h.evidence() for h in local if h.document.id not in retracted
        }
        pool = balanced_pool({"pubmed": list(published), "library": list(own)}, limit)[:limit]
        first = [_both(published[key].evidence[0], own.get(key)) if key in published else own[key] for key in pool]
        return first + _further([published[key] for key in pool if key in published])[: limit - len(first)]


def _further(documents: Sequence[LiveDocument]) -> list[Evidence]:
    """The second pieces of all documents, then the third ones."""
    return [e for e in chain.from_iterable(zip_longest(*(d.evidence[1:] for d in documents))) if e is not None]


def _both(published: Evidence, own: Evidence | None) -> Evidence:
    """PubMed's record, with the ways in which the library found the same publication."""
    return published if own is None else published.model_copy(update={"found": published.found + own.found})


def _local_strategy(hits: Sequence[LibraryHit]) -> list[dict[str, object]]:
    return [
        {
            "step": "library",
            "documents": [
                {"id": h.document.id, "score": h.score, "ranks": {f.stream: f.rank for f in h.found}} for h in hits
            ],
        }
    ]


# Retrieval per source (MedRGAG): 32 documents of each by BM25, a cross-encoder over all of them, the best few.
# A source is PubMed or its mirror, the starter library, the user's documents, or a built collection: each gives its
# own first, so that none crowds another out. PubMed's order by the words of the question is BM25 over a mirror, and
# Best Match at NCBI, which is BM25 and more.

PER_SOURCE = 32  # paper
STREAM = "cross_encoder"


class Reranker(Protocol):
    """Reads a question and texts together. ``name`` says which model that is."""

    name: str

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        """Array (len(articles),): higher is more relevant."""


class Pooled(NamedTuple):
    """The best documents of all sources, and the step of the strategy that tells what each source gave."""

    evidence: list[Evidence]
    step: dict[str, object]


def best_of(query: str, sources: Mapping[str, Sequence[Evidence]], reranker: Reranker, limit: int, tool: str) -> Pooled:
    """At most ``limit`` documents of all sources in the reranker's order; equal scores keep the order of the pool.

    Args:
        sources: documents by source, best first; more than `PER_SOURCE` of one are left out.
    """
    known: dict[str, Evidence] = {}
    for found in sources.values():
        for item in found:
            known.setdefault(item.document_id, item)
    pool = balanced_pool({name: [e.document_id for e in found] for name, found in sources.items()}, PER_SOURCE)
    scores = reranker.rerank(query, [evidence_text(known[key]) for key in pool]) if pool else np.empty(0)
    order = np.argsort(-scores, kind="stable")[:limit].tolist()
    evidence = []
    for place, at in enumerate(order, start=1):
        item = known[pool[at]]
        way = Found(tool=tool, stream=STREAM, query=query, rank=place, score=round(float(scores[at]), 6))
        evidence.append(item.model_copy(update={"found": (*item.found, way)}))
    counts = {name: min(len(found), PER_SOURCE) for name, found in sources.items()}
    return Pooled(evidence, {"step": "reranked", "sources": counts, "pool": len(pool), "by": reranker.name})


def notice_of(reranker: Reranker, language: str, *, published: str) -> list[Notice]:
    """That another model than the published one ordered the documents; nothing where it is that one."""
    if reranker.name == published:
        return []
    return [noted("reranked_otherwise", language, model=reranker.name, published=published)]

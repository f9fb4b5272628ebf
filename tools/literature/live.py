"""The live part of the literature tool: ladder, records, order by relevance and meaning, retractions (CoMeta)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from tools.contract import Notice, Severity
from tools.encoders import Encoder, Vectors
from tools.evidence import Evidence, Found, Frozen
from tools.fusion import RRF_K, Fused, reciprocal_rank_fusion
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.client import PubMed
from tools.literature.ladder import Climb, climb
from tools.literature.publications import Article
from tools.literature.strategy import (
    Excluded,
    FoundDocument,
    SearchStrategy,
    Source,
    hits_of,
    make_strategy,
)

FETCHED = 60  # ours: records read a call, at most


class LiveResult(Frozen):
    """What PubMed gave, best first, the strategy that found it, what the user must know, and whether a part failed.

    ``retracted`` are ids of documents that were left out: a copy of them elsewhere may not be used either.
    """

    evidence: tuple[Evidence, ...]
    strategy: SearchStrategy
    notices: list[Notice]
    failed: bool
    retracted: tuple[str, ...] = ()


async def search_pubmed(
    pubmed: PubMed,
    plan: SearchPlan,
    question: str,
    encoder: Encoder,
    source: Source,
    *,
    enough: int,
    tool: str,
    rrf_k: int = RRF_K,
) -> LiveResult:
    """Climb the ladder, read the records, and fuse PubMed's order with that by meaning (CoMeta, hybrid).

    The question is used on this machine only, to order the abstracts; PubMed is sent the plan's expressions.

    Raises:
        ServiceError: the first rung or the reading of records failed.
    """
    found = await climb(pubmed, plan.expressions, enough)
    articles = await pubmed.fetch(found.ids[:FETCHED]) if found.ids else []
    unusable = [a for a in articles if not a.status.usable]
    usable = {a.pmid: a for a in articles if a.status.usable and a.abstract}
    similarity = await asyncio.to_thread(_similarities, usable, question, encoder)
    dense = sorted(usable, key=lambda p: (-similarity[p], p))
    fused = reciprocal_rank_fusion({"pubmed": list(usable), "dense": dense}, rrf_k)
    strategy = make_strategy(
        question,
        plan,
        found,
        source,
        enough,
        documents=[_document(f, found, usable[f.id]) for f in fused],
        excluded=_excluded(found, articles),
    )
    return LiveResult(
        evidence=tuple(usable[f.id].evidence(_found(f, found, question, similarity, tool)) for f in fused),
        strategy=strategy.model_copy(update={"rrf_k": rrf_k}),
        notices=[*plan.notices, *_notices(found, unusable)],
        failed=bool(found.failure),
        retracted=tuple(f"pubmed:{a.pmid}" for a in unusable),
    )


def _similarities(articles: Mapping[str, Article], question: str, encoder: Encoder) -> dict[str, float]:
    if not articles:
        return {}
    texts = [f"{a.title}\n{a.abstract}" for a in articles.values()]
    vectors: Vectors = encoder.encode_documents(texts)
    scores = vectors @ encoder.encode_queries([question])[0]
    return dict(zip(articles, scores.tolist(), strict=True))


def _found(
    fused: Fused, climbed: Climb, question: str, similarity: Mapping[str, float], tool: str
) -> tuple[Found, Found]:
    """The rung where a record first stood with its rank there, and its place by meaning."""
    first = climbed.places[fused.id][0]
    return (
        Found(tool=tool, stream="pubmed", query=first.query, rung=first.rung, rank=first.rank),
        Found(
            tool=tool, stream="dense", query=question, rank=fused.ranks["dense"], score=round(similarity[fused.id], 6)
        ),
    )


def _document(fused: Fused, climbed: Climb, article: Article) -> FoundDocument:
    return FoundDocument(
        id=f"pubmed:{fused.id}",
        title=article.title,
        rank=fused.rank,
        hits=hits_of(climbed, fused.id, {"dense": fused.ranks["dense"]}),
    )


def _excluded(climbed: Climb, articles: Sequence[Article]) -> list[Excluded]:
    """What was found and left out: by its status, without an abstract, not sent, or beyond what a call reads."""
    read = {a.pmid for a in articles}
    excluded = [Excluded(id=f"pubmed:{a.pmid}", reason=a.status.value) for a in articles if not a.status.usable]
    excluded += [
        Excluded(id=f"pubmed:{a.pmid}", reason="no abstract") for a in articles if a.status.usable and not a.abstract
    ]
    for place, pmid in enumerate(climbed.ids):
        if pmid not in read:
            reason = "record not sent" if place < FETCHED else f"beyond the first {FETCHED}"
            excluded.append(Excluded(id=f"pubmed:{pmid}", reason=reason))
    return excluded


def _notices(climbed: Climb, retracted: Sequence[Article]) -> list[Notice]:
    notices = []
    if climbed.failure:
        text = f"{climbed.failure} The search of PubMed is incomplete."
        notices.append(Notice(code="pubmed_failed", text=text, severity=Severity.WARNING))
    if retracted:
        pmids = ", ".join(a.pmid for a in retracted)
        text = f"Left out because they were retracted: PubMed {pmids}."
        notices.append(Notice(code="retracted_excluded", text=text, severity=Severity.WARNING))
    return notices

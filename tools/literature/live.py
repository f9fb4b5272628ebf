"""The live part of the literature tool: ladder, records, order by relevance and meaning, retractions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from tools.contract import Notice, Severity
from tools.encoders import Encoder, Vectors
from tools.evidence import Evidence, Found, Frozen, Status
from tools.fusion import Fused, reciprocal_rank_fusion
from tools.literature.client import PubMed
from tools.literature.ladder import Climb, climb
from tools.literature.publications import Article
from tools.literature.terms import Term

FETCHED = 60  # ours: records read a call, at most


class LiveResult(Frozen):
    """What PubMed gave, best first, the steps of the search, what the user must know, and whether a part failed."""

    evidence: tuple[Evidence, ...]
    strategy: list[dict[str, Any]]
    notices: list[Notice]
    failed: bool


async def search_pubmed(
    pubmed: PubMed, terms: Sequence[Term], question: str, encoder: Encoder, enough: int, tool: str
) -> LiveResult:
    """Climb the ladder, read the records, and fuse PubMed's order with that by meaning (CoMeta, hybrid).

    The question is used on this machine only, to order the abstracts; PubMed is sent the terms.

    Raises:
        ServiceError: the first rung or the reading of records failed.
    """
    found = await climb(pubmed, terms, enough)
    articles = await pubmed.fetch(found.ids[:FETCHED]) if found.ids else []
    retracted = [a for a in articles if a.status is Status.RETRACTED]
    usable = {a.pmid: a for a in articles if a.status is not Status.RETRACTED and a.abstract}
    similarity = await asyncio.to_thread(_similarities, usable, question, encoder)
    fused = reciprocal_rank_fusion({"pubmed": list(usable), "dense": sorted(usable, key=lambda p: (-similarity[p], p))})
    return LiveResult(
        evidence=tuple(usable[f.id].evidence(_found(f, found, question, similarity, tool)) for f in fused),
        strategy=_strategy(found, terms, articles, retracted),
        notices=_notices(found, retracted),
        failed=bool(found.failure),
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
    rung, query, rank = climbed.places[fused.id]
    return (
        Found(tool=tool, stream="pubmed", query=query, rung=rung, rank=rank),
        Found(
            tool=tool, stream="dense", query=question, rank=fused.ranks["dense"], score=round(similarity[fused.id], 6)
        ),
    )


def _strategy(
    climbed: Climb, terms: Sequence[Term], articles: Sequence[Article], retracted: Sequence[Article]
) -> list[dict[str, Any]]:
    return [
        {"step": "terms", "terms": [t.model_dump(mode="json") for t in terms]},
        *({"step": "rung", **s.model_dump(mode="json")} for s in climbed.steps),
        {
            "step": "records",
            "read": len(articles),
            "without_abstract": [a.pmid for a in articles if not a.abstract],
            "retracted": [a.pmid for a in retracted],
            "failure": climbed.failure,
        },
    ]


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

"""The local differential document filter.

ICA-RAG asks a model of each document whether it supports the diagnosis, and only supported documents stay. Here support
is counted: leading diseases of the differential, findings of the case that the document states, less what it
contradicts. For questions that are no case relevance is judged, and documents that refute stay (ours).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from graphs.differential_filter.contract import Stance, Verdict, unusable
from graphs.differential_filter.mentions import Said, Wordings, about, read
from graphs.judging.key_terms import mentions_all
from graphs.judging.relevance import Relevance
from graphs.triage.contract import Kind
from tools.contract import Differential, Finding, RankedDisease
from tools.encoders import Encoder
from tools.evidence import Evidence, Frozen
from tools.passages.contract import evidence_text
from tools.text.demographics import about_others


class FilterSettings(Frozen):
    """Settings of the local filter. All ours.

    Attributes:
        leading: diseases of the differential that a document may be about.
        disease_weight: part of the support that comes from the disease; the rest comes from findings.
        enough: findings of the case that, stated together, count in full.
        conflict: support that each conflict takes away.
        least_support: support from which a document stays.
        least_findings: findings that a document about no leading disease must state.
        beside: how far below that a piece may lie when another piece of its document is relevant.
        relevant: relevance from which a document stays, for questions that are no case; in_options: the same for a
            multiple-choice question, whose story is no query.
    """

    leading: int = 5
    disease_weight: float = 0.6
    enough: int = 3
    conflict: float = 0.2
    least_support: float = 0.25
    least_findings: int = 2
    beside: float = 0.07
    relevant: float = 0.35
    in_options: float = 0.22


class DocumentFilterLocal:
    """Judges documents without a service.

    Args:
        encoder: for relevance.
        wordings: other wordings of a finding by its id, from the knowledge graph.
        strange: names in a question that the encoder does not know (`graphs.judging.key_terms`): a document that holds
            them all is relevant, whatever its vector says.
    """

    def __init__(
        self,
        encoder: Encoder,
        wordings: Wordings | None = None,
        settings: FilterSettings | None = None,
        *,
        strange: Callable[[str], Sequence[str]] = lambda _question: (),
    ) -> None:
        self._strange = strange
        self._relevance = Relevance(encoder)
        self._wordings = wordings
        self._settings = settings or FilterSettings()

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """One verdict a document, in order."""
        given = {v.evidence_id: v for v in unusable(documents)}
        left = [d for d in documents if d.id not in given]
        if is_case(kind, findings, differential):
            judged = await asyncio.to_thread(self._judge_case, findings, differential, left)
        else:
            least = self._settings.in_options if kind == Kind.MULTIPLE_CHOICE else self._settings.relevant
            judged = await asyncio.to_thread(self._judge_question, question, left, least)
        given |= {v.evidence_id: v for v in judged}
        return [given[d.id] for d in documents]

    def _judge_case(
        self, findings: Sequence[Finding], differential: Differential | None, documents: Sequence[Evidence]
    ) -> list[Verdict]:
        ranking = differential.ranking[: self._settings.leading] if differential is not None else ()
        return [self._supports(document, findings, ranking) for document in documents]

    def _supports(self, document: Evidence, findings: Sequence[Finding], ranking: Sequence[RankedDisease]) -> Verdict:
        disease = about(document, ranking)
        said = read(document, findings, self._wordings)
        agreed = [s for s in said if s.agrees]
        conflicts = [s for s in said if s.agrees is False] if disease is not None else []
        support = self._support(disease, ranking, len(agreed), len(conflicts))
        stated = disease is not None and bool(disease.findings_for or agreed)
        if not stated and len(agreed) < self._settings.least_findings:
            return _verdict(document, False, Stance.IRRELEVANT, support, _why_irrelevant(disease, agreed))
        if len(conflicts) > len(agreed) or support < self._settings.least_support:
            stance = Stance.CONFLICTS if conflicts else Stance.IRRELEVANT
            return _verdict(document, False, stance, support, _why(disease, agreed, conflicts))
        return _verdict(document, True, Stance.SUPPORTS, support, _why(disease, agreed, conflicts))

    def _support(
        self, disease: RankedDisease | None, ranking: Sequence[RankedDisease], agreed: int, conflicts: int
    ) -> float:
        set_ = self._settings
        share = (disease.score / ranking[0].score if ranking[0].score > 0 else 1.0) if disease is not None else 0.0
        stated = min(agreed / set_.enough, 1.0)
        total = set_.disease_weight * (0.5 + 0.5 * share if disease is not None else 0.0)  # ours: half for being named
        total += (1 - set_.disease_weight) * stated - set_.conflict * conflicts
        return min(max(total, 0.0), 1.0)

    def _judge_question(self, question: str, documents: Sequence[Evidence], least: float) -> list[Verdict]:
        if not documents:
            return []
        texts, strange = [evidence_text(d) for d in documents], self._strange(question)
        scores = self._relevance.score([question], texts).relevance[0].tolist()
        relevance = [max(r, least * mentions_all(t, strange)) for r, t in zip(scores, texts, strict=True)]
        relevance = [r * (not about_others(question, d.title)) for r, d in zip(relevance, documents, strict=True)]
        relevant = {d.document_id for d, r in zip(documents, relevance, strict=True) if r >= least}
        floors = [least - self._settings.beside if d.document_id in relevant else least for d in documents]
        return [_relevant(d, r, floor) for d, r, floor in zip(documents, relevance, floors, strict=True)]


def is_case(kind: str, findings: Sequence[Finding], differential: Differential | None) -> bool:
    """Whether documents are judged by what they say of a case; else by their relevance to the question."""
    return kind in (Kind.CASE, Kind.FOLLOW_UP) and bool(findings or differential)


def _relevant(document: Evidence, relevance: float, least: float) -> Verdict:
    relevance = min(max(relevance, 0.0), 1.0)
    if relevance < least:
        reason = f"not about the question (relevance {relevance:.2f})"
        return _verdict(document, False, Stance.IRRELEVANT, relevance, reason)
    return _verdict(document, True, Stance.RELEVANT, relevance, f"relevance {relevance:.2f}")


def _why(disease: RankedDisease | None, agreed: Sequence[Said], conflicts: Sequence[Said]) -> str:
    parts = [f"about {disease.name}"] if disease is not None else []
    if agreed:
        parts.append("agrees on " + ", ".join(s.finding for s in agreed[:4]))
    parts += [f"conflict on {s.finding}: the document says '{s.clause}'" for s in conflicts[:3]]
    return "; ".join(parts) or "names no leading disease and no finding of the case"


def _why_irrelevant(disease: RankedDisease | None, agreed: Sequence[Said]) -> str:
    if disease is not None:
        return f"about {disease.name}, which no finding of the case speaks for"
    found = f"states only {agreed[0].finding}" if agreed else "states no finding of the case"
    return f"about no leading disease and {found}"


def _verdict(document: Evidence, keep: bool, stance: Stance, support: float, reason: str) -> Verdict:
    return Verdict(evidence_id=document.id, keep=keep, stance=stance, support=round(support, 4), reason=reason)


# A filter that keeps every usable document: the arm of an ablation, and methods that have no filter.

REASON = "kept without judgement: the filter is switched off"


class DocumentFilterOff:
    """Keeps what may be used; retracted work never stays."""

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """One verdict a document, in order; none says anything about the document."""
        del question, kind, findings, differential
        refused = {v.evidence_id: v for v in unusable(documents)}
        return [
            refused.get(d.id, Verdict(evidence_id=d.id, keep=True, stance=Stance.RELEVANT, support=0.0, reason=REASON))
            for d in documents
        ]

"""The differential filter by a language model (ICA-RAG): one call a document, all at once.

One document a call keeps a document from speaking about its neighbours, and the calls, made together, take the time of
one. Whether a document stays follows from its stance by METHODS' rule, not from the model: a case keeps what supports,
any other question what is relevant, refuting too. The default filters in the call that selects: `graphs.kads.by_model`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from graphs.differential_filter.contract import DocumentFilter, Stance, Verdict, unusable
from graphs.differential_filter.local import is_case
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.metering import meter
from prompts.research import CaseVerdictReply, QuestionVerdictReply, VerdictReply
from prompts.shown import one_line
from tools.contract import Differential, Finding
from tools.evidence import Evidence, Frozen
from tools.passages.contract import context_of

QUESTION = 4000  # ours: characters of the question that the model is shown; a case of a page
Form = tuple[str, type[VerdictReply]]
FOR_CASE: Form = ("filter_case", CaseVerdictReply)
FOR_QUESTION: Form = ("filter_question", QuestionVerdictReply)


class ModelFilterSettings(Frozen):
    """Settings of the filter by a model. All ours.

    Attributes:
        leading: diseases of the differential that a document may be about; as many as the local filter's.
        document: characters of it that the model is shown: three passages.
        reason: characters of its reason that are kept.
    """

    leading: int = 5
    document: int = 3000
    reason: int = 300


class DocumentFilterByModel:
    """Judges documents by a language model.

    Args:
        model: in the role ``filter``.
        local: judges the documents whose call failed.
    """

    def __init__(
        self, model: LanguageModel, local: DocumentFilter, settings: ModelFilterSettings | None = None
    ) -> None:
        self._model, self._local = model, local
        self._settings = settings or ModelFilterSettings()

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """One verdict a document, in order, by one call each."""
        given = {v.evidence_id: v for v in unusable(documents)}
        shown = list({d.id: d for d in documents if d.id not in given}.values())
        case = is_case(kind, findings, differential)
        told = case_told(question, findings, differential, self._settings.leading)
        asked = told if case else one_line(question, QUESTION)
        verdicts = await asyncio.gather(*(self._verdict(d, asked, case=case) for d in shown))
        given |= {v.evidence_id: v for v in verdicts if isinstance(v, Verdict)}
        failed = [v for v in verdicts if isinstance(v, ServiceError)]
        if failed:
            meter().fell_back(self._model.role, _failure(failed[0], len(failed), len(shown)))
            locally = await self._local.judge(question, kind, findings, differential, documents)
            given = {v.evidence_id: v for v in locally} | given
        return [given[d.id] for d in documents]

    async def _verdict(self, document: Evidence, asked: str, *, case: bool) -> Verdict | ServiceError:
        """The model's verdict, or why there is none: a single failure leaves the other documents their verdicts."""
        template, schema = FOR_CASE if case else FOR_QUESTION
        context = context_of(document.title, document.section)
        text = f"{context} | {document.text}" if context else document.text
        shown = one_line(text, self._settings.document)
        try:
            reply, _ = await self._model.structured(template, schema, asked=asked, document=shown)
        except ServiceError as error:
            return error
        stance = Stance(reply.stance)
        keep = stance is Stance.SUPPORTS if case else stance is not Stance.IRRELEVANT
        reason = one_line(reply.reason, self._settings.reason) or f"{stance.value}; the model gave no reason"
        support = round(reply.support, 4)
        return Verdict(evidence_id=document.id, keep=keep, stance=stance, support=support, reason=reason)


def case_told(question: str, findings: Sequence[Finding], differential: Differential | None, leading: int) -> str:
    """What a model is told of a case: its text, its findings, its leading diseases, a line each."""
    ranking = differential.ranking[:leading] if differential is not None else ()
    lines = (
        ("Case", question),
        ("Findings", "; ".join(_said(f) for f in findings) or "none was read"),
        ("Diagnoses considered", ", ".join(d.name for d in ranking) or "none yet"),
    )
    return "\n\n".join(f"{label}: {one_line(text, QUESTION)}" for label, text in lines)


def _said(finding: Finding) -> str:
    return finding.name + {True: "", False: " (absent)", None: " (uncertain)"}[finding.present]


def _failure(error: ServiceError, failed: int, shown: int) -> str:
    return error.what if failed == shown else f"{error.what} ({failed} of {shown} documents.)"

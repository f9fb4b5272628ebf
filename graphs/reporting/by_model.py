"""The report by a language model: one call, held to its documents as the answer is; what it leaves empty is local."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from graphs.answering.contract import AnswerView
from graphs.answering.local import AnswererLocal, ranked
from graphs.answering.notices import notice, notices_for
from graphs.answering.prose import Claim, ProseReader
from graphs.answering.sources import Generated, Sources, case_values, question_of, remarks_of, sources_of
from graphs.answering.written import ProseWriter, Written
from graphs.reporting.contract import PARTS, Part, ReportDraft, ReportStatement, report_of
from graphs.reporting.local import ReporterLocal
from graphs.verification.quoted import QuoteCheck
from prompts.answer import Discipline, ReportReply, StatementReply, TreatmentReply
from prompts.language_model import LanguageModel
from prompts.metering import or_local
from tools.encoders import Encoder

A_PART = 8  # ours: statements of a part that are taken; six are asked for


class _Said(NamedTuple):
    """A statement of the reply, and where it belongs."""

    part: Part
    discipline: Discipline | None
    statement: StatementReply


class ReporterByModel:
    """Writes reports by a language model.

    Args:
        model: in the role ``report``.
        local: the report when the model fails, and of the parts that it leaves empty.
        answerer: the local answerer, for the names in a text. encoder: for the check of statements.
        generated: whether generated background is shown, and whether a statement may rest on it.
    """

    def __init__(
        self,
        model: LanguageModel,
        local: ReporterLocal,
        answerer: AnswererLocal,
        encoder: Encoder,
        generated: Generated = "context",
    ) -> None:
        self._model, self._local, self._generated = model, local, generated
        self._today = answerer.today
        check = QuoteCheck(encoder, says=answerer.judge.says, diseases=answerer.diseases)
        self._writer = ProseWriter(model, ProseReader(check, answerer.terms, answerer.diseases))

    async def report(self, view: AnswerView) -> ReportDraft:
        """Every statement cites evidence of the view or of the draft, or is parametric."""
        local = await self._local.report(view)
        if not ranked(view.differential):
            return local

        async def as_made() -> ReportDraft:
            return local

        return await or_local(self._model.role, lambda: self._by_model(view, local), as_made)

    async def _by_model(self, view: AnswerView, local: ReportDraft) -> ReportDraft:
        sources = await asyncio.to_thread(self._sources, view, local)
        values = case_values(view) | {"rule": sources.rule, "remarks": remarks_of(view)}
        reply, spent = await self._model.structured(
            "report", ReportReply, on_text=None, question=question_of(view), documents=sources.shown, **values
        )
        said = _said(reply)
        written = await self._writer.written([Claim(s.statement) for s in said], view, sources, spent)
        return self._joined(view, said, written, sources, local)

    def _sources(self, view: AnswerView, local: ReportDraft) -> Sources:
        """What the answer is given, and the documents on the leading diagnosis, on the direct path too."""
        ranking = view.differential.ranking[:1] if view.differential is not None else ()
        sections = [p for d in ranking for p in self._local.documents(d, view)]
        looked_up = view.model_copy(update={"path": "researched"})
        return sources_of(looked_up, [*local.evidence, *sections], self._generated)

    def _joined(
        self, view: AnswerView, said: Sequence[_Said], written: Written, sources: Sources, local: ReportDraft
    ) -> ReportDraft:
        """The model's statements that stand; a part without one is the local report's."""
        own = [
            ReportStatement(part=s.part, statement=w.statement, discipline=s.discipline)
            for s, w in zip(said, written.stated, strict=True)
            if w is not None
        ]
        told = {s.part for s in own}
        statements = [*own, *(s for s in local.report.statements if s.part not in told)]
        cited = {c.evidence_id for s in statements for c in s.statement.citations}
        held = {e.id: e for e in (*sources.documents, *local.evidence) if e.id in cited}
        lost = len(written.dropped)
        dropped = [notice("statement_dropped", view.language, str(lost))] if lost else []
        texts = [s.statement for s in statements]
        return ReportDraft(
            report=report_of(tuple(statements), local.report.questions),
            evidence=tuple(held.values()),
            notices=(*dropped, *notices_for(view, texts, held.values(), self._today())),
            generated={s.statement.text: s.generated for s in written.standing if s.generated},
            dropped=written.dropped,
        )


def _said(reply: ReportReply) -> list[_Said]:
    """The statements of a reply with their parts."""
    return [_of(part, item) for part in PARTS for item in getattr(reply, part)[:A_PART]]


def _of(part: Part, item: StatementReply) -> _Said:
    return _Said(part, item.discipline if isinstance(item, TreatmentReply) else None, item)

"""The answerer by a language model: it writes from numbered documents, and what it writes is held to them.

What is ranked, asked, warned of and noticed stays the graph's and the rules'; the prose is the model's. Questions about
what was said, and questions whose names no evidence mentions, are the local answerer's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from graphs.answering.abstain import abstained
from graphs.answering.case_prose import Parted, arranged
from graphs.answering.contract import AnswerView, Choice, Draft
from graphs.answering.drafting import teller
from graphs.answering.local import FOLLOW_UPS, AnswererLocal, beyond, ranked
from graphs.answering.model_choice import (
    choice_of,
    options_of,
    options_shown,
    parametric_choice,
    unchosen,
    verdict_of,
)
from graphs.answering.notices import notice, notices_for
from graphs.answering.prose import REFERENCE, ProseReader, plain_text
from graphs.answering.sources import Generated, Sources, case_values, question_of, remarks_of, sources_of
from graphs.answering.written import ProseWriter, Written
from graphs.triage.contract import Kind
from graphs.verification.quoted import QuoteCheck
from prompts.answer import AnswerReply, CaseReply, ChoiceReply
from prompts.direct import DirectReply
from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from tools.contract import FollowUpQuestion, Notice
from tools.encoders import Encoder
from tools.evidence import Evidence, Frozen, Origin, Statement

CASES = (Kind.CASE, Kind.FOLLOW_UP)


class ModelAnswerSettings(Frozen):
    """Settings of the answer by a model. All ours.

    Attributes:
        generated: whether generated background is shown, and whether a statement may rest on it.
        statements, case_statements, direct_statements: statements that are taken of a reply.
    """

    generated: Generated = "context"
    statements: int = 8
    case_statements: int = 14
    direct_statements: int = 10


class AnswererByModel:
    """Writes answers by a language model.

    Args:
        model: in the role ``answer``.
        local: answers when the model fails, when nothing that it wrote stands, and what is not the model's.
        encoder: for the check of statements against their quotes.
    """

    def __init__(
        self,
        model: LanguageModel,
        local: AnswererLocal,
        encoder: Encoder,
        settings: ModelAnswerSettings | None = None,
    ) -> None:
        self._model, self._local = model, local
        self._settings = settings or ModelAnswerSettings()
        self._writer = ProseWriter(model, ProseReader(QuoteCheck(encoder), local.terms, local.diseases))

    async def answer(self, view: AnswerView) -> Draft:
        """Every statement cites evidence of the view or of the draft, or is parametric."""
        if view.kind == Kind.EXPLAIN or view.path == "session":
            return await self._local.answer(view)
        if view.path == "direct":
            return await or_local(self._model.role, lambda: self._direct(view), lambda: self._local.answer(view))
        case = view.kind in CASES and ranked(view.differential)
        sources = await asyncio.to_thread(self._sources, view, case)
        if not (sources.documents or (sources.background and sources.policy == "allowed")):
            return await self._local.answer(view)
        if await asyncio.to_thread(self._of_something_else, view, sources):
            return await self._local.answer(view)
        return await or_local(
            self._model.role,
            lambda: self._case(view, sources) if case else self._question(view, sources),
            lambda: self._local.answer(view),
        )

    def _sources(self, view: AnswerView, case: bool) -> Sources:
        entries = self._local.writer.lines(view)[1] if case else []
        return sources_of(view, entries, self._settings.generated)

    def _of_something_else(self, view: AnswerView, sources: Sources) -> bool:
        """Whether the evidence lacks a name of the question, and no background that may be used has it."""
        given = any(e.origin is Origin.CASE for e in sources.documents)
        allowed = sources.background and sources.policy == "allowed"
        return not given and not allowed and bool(self._local.unmentioned(view))

    async def _question(self, view: AnswerView, sources: Sources) -> Draft:
        options = options_of(view)
        values = {"question": question_of(view), "remarks": remarks_of(view), "documents": sources.shown}
        if options:
            chosen, spent = await self._model.structured(
                "choice", ChoiceReply, on_text=teller(), rule=sources.rule, options=options_shown(options), **values
            )
            said, option, gave_up = chosen.statements, chosen.option, not chosen.option
        else:
            reply, spent = await self._model.structured(
                "answer", AnswerReply, on_text=teller(), rule=sources.rule, **values
            )
            said, option, gave_up = reply.statements, "", reply.abstain
        written = await self._writer.written(said[: self._settings.statements], view, sources, spent)
        if gave_up and not written.standing:
            return abstained(view, more=[unchosen(option, view)] if options else ())
        _anything(written)
        statements = [s.statement for s in written.standing]
        if view.closed and not view.options:
            held = {e.id: e for e in sources.documents}
            verdict, more = await asyncio.to_thread(verdict_of, option, view, written, held, self._local.judge)
            draft = self._draft(view, statements, sources.documents, written, None, more)
            return draft.model_copy(update={"verdict": verdict})
        choice, more = choice_of(option, view, written, self._local.terms.equivalents) if options else (None, [])
        return self._draft(view, statements, sources.documents, written, choice, more)

    async def _case(self, view: AnswerView, sources: Sources) -> Draft:
        values = case_values(view) | {"question": question_of(view), "remarks": remarks_of(view)}
        reply, spent = await self._model.structured(
            "answer_case", CaseReply, on_text=teller(), rule=sources.rule, documents=sources.shown, **values
        )
        said = reply.statements[: self._settings.case_statements]
        written = await self._writer.written(said, view, sources, spent)
        _anything(written)
        prose = [(s.part, w.statement) for s, w in zip(said, written.stated, strict=True) if w is not None]
        return await asyncio.to_thread(self._arranged, view, prose, sources, written)

    def _arranged(self, view: AnswerView, prose: Sequence[Parted], sources: Sources, written: Written) -> Draft:
        lines, entries = self._local.writer.lines(view)
        rare, rare_entries = self._local.rare.lines(view)
        cited = [(p, s) for p, s in prose if s.citations]
        statements = arranged(view, cited, lines, entries, rare, lambda: self._local.writer.next_steps(view))
        statements += [s for _, s in prose if not s.citations]
        held = [*sources.documents, *entries, *rare_entries]
        return self._draft(view, statements, held, written, None, [], _questions(view))

    async def _direct(self, view: AnswerView) -> Draft:
        """The model's own knowledge beside the graph's differential: parametric, without a citation."""
        options = options_of(view)
        reply, _ = await self._model.structured(
            "direct", DirectReply, on_text=teller(), question=question_of(view), options=options_shown(options)
        )
        said = [t for t in map(plain_text, reply.statements[: self._settings.direct_statements]) if t]
        texts = [t for t in dict.fromkeys(said) if not REFERENCE.search(t)]
        if not texts:
            raise InvalidReplyError("The language model wrote nothing that can stand.", "Try again.")
        statements = tuple(Statement(text=t, origin=Origin.PARAMETRIC) for t in texts)
        choice, more = parametric_choice(reply.option, view, statements)
        lost = len(said) - len(texts)
        more += [notice("reference_dropped", view.language, str(lost))] if lost else []
        notices = notices_for(view, statements, [], self._local.today())
        return Draft(
            statements=statements,
            choice=choice,
            follow_up_questions=_questions(view) if view.kind in CASES else (),
            notices=(notice("not_retrieved", view.language), *more, *notices),
            dropped=tuple(t for t in said if t not in texts),
        )

    def _draft(
        self,
        view: AnswerView,
        statements: Sequence[Statement],
        held: Sequence[Evidence],
        written: Written,
        choice: Choice | None,
        more: Sequence[Notice],
        questions: Sequence[FollowUpQuestion] = (),
    ) -> Draft:
        cited = {c.evidence_id for s in statements for c in s.citations}
        evidence = [e for e in held if e.id in cited]
        lost = len(written.dropped)
        dropped = [notice("statement_dropped", view.language, str(lost))] if lost else []
        notices = notices_for(view, statements, evidence, self._local.today())
        return Draft(
            statements=tuple(statements),
            evidence=beyond(view, evidence),
            choice=choice,
            follow_up_questions=tuple(questions),
            notices=(*more, *dropped, *notices),
            generated={s.statement.text: s.generated for s in written.standing if s.generated},
            dropped=written.dropped,
        )


def _questions(view: AnswerView) -> tuple[FollowUpQuestion, ...]:
    """What the graph asks next."""
    return tuple(view.differential.questions[:FOLLOW_UPS]) if view.differential is not None else ()


def _anything(written: Written) -> None:
    """Raise when nothing that the model wrote stands: the local answerer answers."""
    if not written.standing:
        raise InvalidReplyError("Nothing that the language model wrote is borne out by the documents.", "Try again.")

"""The answerer by a language model: it writes from numbered documents, and what it writes is held to them.

What is asked, warned of and noticed stays the graph's and the rules'; the text, its order and its diagnoses are the
model's. Questions about what was said, and questions whose names no evidence mentions, are the local answerer's.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from graphs.answering.abstain import abstained
from graphs.answering.contract import AnswerView, Choice, Diagnosis, Draft
from graphs.answering.drafting import teller
from graphs.answering.general import BackgroundBeside, with_general
from graphs.answering.local import FOLLOW_UPS, AnswererLocal, beyond, ranked
from graphs.answering.model_choice import (
    choice_of,
    doubted_choice,
    doubted_verdict,
    option_named,
    options_of,
    options_shown,
    parametric_choice,
    speaks_of,
    unchosen,
    verdict_of,
)
from graphs.answering.model_diagnoses import claim_of, diagnosis_of, marked, order_notices, unsupported
from graphs.answering.notices import notice, notices_for
from graphs.answering.prose import Claim, ProseReader, Stated, plain_text
from graphs.answering.sources import (
    Generated,
    Sources,
    case_values,
    open_points,
    question_of,
    remarks_of,
    sources_of,
)
from graphs.answering.written import Doubt, ProseWriter, Written
from graphs.judging.orders import speaks_to_machines
from graphs.judging.relevance import Relevance
from graphs.triage.contract import Kind, RedFlag
from graphs.verification.quoted import QuoteCheck
from prompts.answer import VERDICT_RULE, AnswerReply, CaseReply, ChoiceReply
from prompts.direct import DirectReply
from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from prompts.shown import one_line
from tools.contract import FollowUpQuestion, Notice
from tools.encoders import Encoder
from tools.evidence import Frozen, Origin, Statement
from tools.messages import messages
from tools.text.references import references_in
from tools.text.tokens import tokens

CASES = (Kind.CASE, Kind.FOLLOW_UP)
SIGN = 200  # ours: characters of what a model says is an emergency
NO_SIGN = re.compile(r"\W*(?:no|not|none|nothing|n/?a|null|false)\b.*|\W*(?:无|没有|未见).*", re.IGNORECASE | re.DOTALL)


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
        local: answers when the model fails, when nothing that it wrote is shown, and what is not the model's.
        encoder: for the check of statements against their quotes.
        background: writes beside the answer; by default what was written before it is all there is.
    """

    def __init__(
        self,
        model: LanguageModel,
        local: AnswererLocal,
        encoder: Encoder,
        settings: ModelAnswerSettings | None = None,
        background: BackgroundBeside | None = None,
    ) -> None:
        self._model, self._local = model, local
        self._background = background or BackgroundBeside()
        self._settings = settings or ModelAnswerSettings()
        self._relevance = Relevance(encoder)
        self._writer = ProseWriter(model, ProseReader(QuoteCheck(encoder), local.terms, local.diseases))

    async def answer(self, view: AnswerView) -> Draft:
        """Every statement cites evidence of the view or of the draft, or is parametric."""
        if view.kind == Kind.EXPLAIN or view.path == "session":
            return await self._local.answer(view)
        if view.path == "direct":
            draft = await or_local(self._model.role, lambda: self._direct(view), lambda: self._local.answer(view))
            return await asyncio.to_thread(self._local.with_interactions, view, draft)
        case = view.kind in CASES and ranked(view.differential)
        sources = await asyncio.to_thread(self._sources, view, case)
        if not (sources.documents or (sources.background and sources.policy == "allowed")):
            return await self._local.answer(view)
        if await asyncio.to_thread(self._of_something_else, view, sources):
            return await self._local.answer(view)
        draft = await or_local(
            self._model.role,
            lambda: self._researched(view, sources, case=case),
            lambda: self._local.answer(view),
        )
        return await asyncio.to_thread(self._local.with_interactions, view, draft)

    async def _researched(self, view: AnswerView, sources: Sources, *, case: bool) -> Draft:
        """The answer from sources; beside that call background is written on what is open, which no statement uses."""
        writing = asyncio.ensure_future(self._background.write(view))
        try:
            draft = await (self._case(view, sources) if case else self._question(view, sources))
            return with_general(draft, view, await writing)
        finally:
            writing.cancel()

    def _sources(self, view: AnswerView, case: bool) -> Sources:
        entries = [*self._local.writer.lines(view)[1], *self._local.rare.lines(view)[1]] if case else []
        return sources_of(view, entries, self._settings.generated)

    def _of_something_else(self, view: AnswerView, sources: Sources) -> bool:
        """Whether the evidence lacks a name of the question, and no background that may be used has it."""
        given = any(e.origin is Origin.CASE for e in sources.documents)
        allowed = sources.background and sources.policy == "allowed"
        return not given and not allowed and bool(self._local.unmentioned(view))

    async def _question(self, view: AnswerView, sources: Sources) -> Draft:
        values = {"question": question_of(view), "remarks": remarks_of(view), "documents": sources.shown}
        options = options_of(view)
        if options:
            rule = "" if view.options else f"\n{VERDICT_RULE}"
            return await self._chosen(view, sources, values | {"options": options_shown(options) + rule})
        reply, spent = await self._model.structured(
            "answer", AnswerReply, on_text=teller(), rule=sources.rule, **values
        )
        claims = [Claim(s) for s in reply.statements[: self._settings.statements]]
        written = (await self._writer.written(claims, view, sources, spent)).beside(reply.statements[len(claims) :])
        if reply.abstain and not written.standing:
            return abstained(view)
        statements = _anything(written.shown)
        return self._draft(view, statements, written, sources, unanswered=reply.unanswered)

    async def _chosen(self, view: AnswerView, sources: Sources, values: dict[str, str]) -> Draft:
        """An option with the statements that it rests on; of a closed question a verdict."""
        reply, spent = await self._model.structured(
            "choice", ChoiceReply, on_text=teller(), rule=sources.rule, **values
        )
        verdict = view.closed and not view.options
        held, judge = {e.id: e for e in sources.documents}, self._local.judge
        bears = speaks_of(view, self._local.terms.equivalents, self._relevance, judge)

        def doubting(option: str, standing: Sequence[Stated]) -> Doubt:
            if verdict:
                return doubted_verdict(option, view, standing, sources, judge)
            return doubted_choice(option, view, standing, bears)

        claims = [Claim(s) for s in reply.statements[: self._settings.statements]]
        written = await self._writer.written(claims, view, sources, spent, reply.option, doubting)
        written = written.beside(reply.statements[len(claims) :])
        option = written.option if option_named(written.option, options_of(view)) else reply.option
        if not reply.option and not written.standing:
            return abstained(view, more=[unchosen(reply.option, view)])
        statements = _anything(written.shown)
        open_ = reply.unanswered
        if verdict:
            found, more = await asyncio.to_thread(verdict_of, option, view, written.standing, held, judge)
            draft = self._draft(view, statements, written, sources, more=more, unanswered=open_)
            return draft.model_copy(update={"verdict": found})
        choice, more = await asyncio.to_thread(choice_of, option, view, statements, bears)
        return self._draft(view, statements, written, sources, choice=choice, more=more, unanswered=open_)

    async def _case(self, view: AnswerView, sources: Sources) -> Draft:
        """The model's own text on a case, in its order: the graph's ranking stands beside it."""
        values = case_values(view) | {"question": question_of(view), "remarks": remarks_of(view)}
        reply, spent = await self._model.structured(
            "answer_case", CaseReply, on_text=teller(), rule=sources.rule, documents=sources.shown, **values
        )
        said = reply.statements[: self._settings.case_statements]
        about = [diagnosis_of(s, view, self._local.diseases) for s in said]
        claims = [claim_of(s, d, view, self._local.diseases) for s, d in zip(said, about, strict=True)]
        written = (await self._writer.written(claims, view, sources, spent)).beside(reply.statements[len(said) :])
        statements: list[Statement] = []
        diagnoses: dict[str, Diagnosis] = {}
        for diagnosis, shown in zip(about, written.shown, strict=True):
            told = shown or (unsupported(diagnosis, view) if diagnosis is not None else None)
            if told is not None and diagnosis is not None and diagnosis.name.casefold() not in diagnoses:
                diagnoses[diagnosis.name.casefold()] = diagnosis
                told = marked(told, diagnosis, view)
            statements += [told] if told is not None else []
        _anything(statements)
        named = tuple(diagnoses.values())
        draft = self._draft(
            view, statements, written, sources, more=order_notices(named, view), unanswered=reply.unanswered
        )
        return draft.model_copy(
            update={
                "diagnoses": named,
                "emergency": _emergency(reply.emergency, view),
                "follow_up_questions": _questions(view),
                "told": "\n".join(dict.fromkeys(part for c in claims for part in (c.told, c.names) if part)),
            }
        )

    async def _direct(self, view: AnswerView) -> Draft:
        """The model's own knowledge beside the graph's differential: parametric, without a citation."""
        options = options_of(view)
        reply, _ = await self._model.structured(
            "direct", DirectReply, on_text=teller(), question=question_of(view), options=options_shown(options)
        )
        said = list(dict.fromkeys(t for t in map(plain_text, reply.statements) if t))
        texts = [t for t in said if not references_in(t)][: self._settings.direct_statements]
        if not texts:
            raise InvalidReplyError("The language model wrote nothing that can stand.", "Try again.")
        statements = tuple(Statement(text=t, origin=Origin.PARAMETRIC) for t in texts)
        choice, more = parametric_choice(reply.option, view, statements)
        lost = {"reference_dropped": sum(bool(references_in(t)) for t in said)}
        lost["statement_dropped"] = len(said) - len(texts) - lost["reference_dropped"]
        more += [notice(code, view.language, str(count)) for code, count in lost.items() if count]
        notices = notices_for(view, statements, [], self._local.today())
        notices = [n for n in notices if n.code != "not_answered"]  # the model was asked all of it, in no words of ours
        return Draft(
            statements=statements,
            choice=choice,
            follow_up_questions=_questions(view) if view.kind in CASES else (),
            notices=(notice("not_retrieved", view.language), *more, *notices),
            dropped=tuple(t for t in said if t not in texts),
            emergency=_emergency(reply.emergency, view) if view.kind in CASES else (),
        )

    def _draft(
        self,
        view: AnswerView,
        statements: Sequence[Statement],
        written: Written,
        sources: Sources,
        *,
        choice: Choice | None = None,
        more: Sequence[Notice] = (),
        unanswered: Sequence[int] | None = None,
    ) -> Draft:
        cited = {c.evidence_id for s in statements for c in s.quoted}
        evidence = [e for e in sources.documents if e.id in cited]
        points = [p.requirement for p in open_points(view)]
        left = points if unanswered is None else [p for n, p in enumerate(points, start=1) if n in unanswered]
        notices = notices_for(view, statements, evidence, self._local.today())
        return Draft(
            statements=tuple(statements),
            evidence=beyond(view, evidence),
            choice=choice,
            notices=(*more, *written.notices(view.language), *notices),
            generated={s.statement.text: s.generated for s in written.standing if s.generated},
            dropped=written.dropped,
            left_open=tuple(left),
        )


def _emergency(said: str, view: AnswerView) -> tuple[RedFlag, ...]:
    """The emergency that the model sees beside those that the rules see, none where it names none, or none of what the
    case tells."""
    sign = one_line(said, SIGN)
    if not set(tokens(sign)) & set(tokens(f"{view.question} {view.case}")):
        return ()
    if not sign or NO_SIGN.fullmatch(sign) or references_in(sign) or speaks_to_machines(sign):
        return ()
    return (RedFlag(code="named_by_model", seen=sign, advice=messages(view.language)["case.emergency"]),)


def _questions(view: AnswerView) -> tuple[FollowUpQuestion, ...]:
    """What the graph asks next."""
    return tuple(view.differential.questions[:FOLLOW_UPS]) if view.differential is not None else ()


def _anything(shown: Sequence[Statement | None]) -> list[Statement]:
    """The statements that a reader is shown, confirmed or marked; raises when there are none: the local answerer
    answers."""
    statements = [s for s in shown if s is not None]
    if not statements:
        raise InvalidReplyError("Nothing that the language model wrote can be shown.", "Try again.")
    return statements

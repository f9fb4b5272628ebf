"""The answerer by a language model: it writes from numbered documents, and what it writes is held to them.

What is asked, warned of and noticed stays the graph's and the rules'; the text, its order and its diagnoses are the
model's. Questions about what was said, and questions whose names no evidence mentions, are the local answerer's.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Sequence
from typing import Any

from graphs.answering.contract import AnswerView, Choice, Diagnosis, Draft, patient_of
from graphs.answering.drafting import teller
from graphs.answering.general import BackgroundBeside, with_general
from graphs.answering.local import FOLLOW_UPS, AnswererLocal, abstained, beyond
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
    told_by_asker,
)
from graphs.answering.written import Doubt, ProseWriter, Written
from graphs.judging.key_terms import Synonyms
from graphs.judging.orders import speaks_to_machines
from graphs.judging.relevance import Relevance
from graphs.triage.contract import Kind, RedFlag
from graphs.triage.emergency import VIGNETTE
from graphs.verification.quoted import QuoteCheck
from prompts.answer import (
    VERDICT_RULE,
    AnswerReply,
    CaseReply,
    CaseStatementReply,
    ChoiceReply,
    DirectReply,
    ExamReply,
)
from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from prompts.shown import one_line
from tools.contract import FollowUpQuestion, Notice, RankedDisease
from tools.encoders import Encoder
from tools.evidence import Frozen, Origin, Statement
from tools.medicines.names import medicines_in
from tools.messages import messages
from tools.text.demographics import read_person
from tools.text.references import references_in
from tools.text.tokens import tokens

CASES = (Kind.CASE, Kind.FOLLOW_UP)
DIAGNOSES = 6  # ours: diagnoses that are taken of an answer to a question
SIGN = 200  # ours: characters of what a model says is an emergency
# That there is no emergency, and neither sodium ("Na 121") nor what the patient lacks ("no pulse", 没有小便). Ours.
NO_SIGN = re.compile(
    r"\W*(?:no|not applicable|na|无|没有|未见|不适用)\W*|\W*(?:none|nothing|n/a|null|false)\b.*"
    r"|\W*(?:no|not)\b\W+(?:[\w-]+\W+){0,4}?"
    r"(?:emergenc\w*|urgen\w*|immediate\w*|red[ -]flags?|warning|danger\w*|at once)\b.*"
    r"|\W*(?:无|没有|未见|不需|并非|非)[^，,。；;]{0,8}?(?:急症|紧急|危急|急救|急诊|立即|警示|危险).*",
    re.IGNORECASE | re.DOTALL,
)


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
        check = QuoteCheck(encoder, says=local.judge.says, diseases=local.diseases)
        self._writer = ProseWriter(model, ProseReader(check, local.terms, local.diseases))

    async def answer(self, view: AnswerView) -> Draft:
        """Every statement cites evidence of the view or of the draft, or is parametric."""
        if view.kind == Kind.EXPLAIN or view.path == "session":
            return await self._local.answer(view)
        if view.path == "direct":
            draft = await or_local(self._model.role, lambda: self._direct(view), lambda: self._local.answer(view))
            return await asyncio.to_thread(self._local.with_interactions, view, draft)
        case = view.kind in CASES
        sources = await asyncio.to_thread(self._sources, view, case)
        if not (sources.documents or (sources.background and sources.policy == "allowed")):
            return await or_local(
                self._model.role,
                lambda: self._beside(view, self._local.answer(view)),
                lambda: self._local.answer(view),
            )
        missing = await asyncio.to_thread(self._missing, view, sources)
        if self._of_a_stranger(missing, view):
            return await self._beside(view, self._local.answer(view))
        draft = await or_local(
            self._model.role,
            lambda: self._beside(view, self._case(view, sources) if case else self._question(view, sources, missing)),
            lambda: self._local.answer(view),
        )
        return await asyncio.to_thread(self._local.with_interactions, view, draft)

    async def _beside(self, view: AnswerView, answer: Coroutine[Any, Any, Draft]) -> Draft:
        """An answer; beside that call background is written on what is open, which no statement uses."""
        writing = asyncio.ensure_future(self._background.write(view))
        try:
            return with_general(await answer, view, await writing)
        finally:
            writing.cancel()

    def _sources(self, view: AnswerView, case: bool) -> Sources:
        entries = [*self._local.writer.lines(view)[1], *self._local.rare.lines(view)[1]] if case else []
        return sources_of(view, entries, self._settings.generated)

    def _missing(self, view: AnswerView, sources: Sources) -> list[str]:
        """Words of the question that no evidence holds; none where a text was given or background may be used."""
        given = any(e.origin is Origin.CASE for e in sources.documents)
        allowed = sources.background and sources.policy == "allowed"
        return [] if given or allowed else self._local.unmentioned(view)

    def _of_a_stranger(self, missing: Sequence[str], view: AnswerView) -> bool:
        """Whether no evidence mentions any medicine, or name that is in no use, of the question: a model answers it
        from something else. Whether a part can be answered, and whether other words matter, it is left to say."""
        lacking = {name.casefold() for name in missing}
        strange = {name.casefold() for name in self._local.terms.strange(view.question)}
        named = strange | {m.written.casefold() for m in medicines_in(view.question)}
        return bool(named & lacking) and named <= lacking

    async def _question(self, view: AnswerView, sources: Sources, missing: Sequence[str]) -> Draft:
        remarks = remarks_of(view, missing)
        values = {"question": question_of(view), "remarks": remarks, "documents": sources.shown}
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
        draft = self._draft(view, statements, written, sources, unanswered=reply.unanswered)
        return self._of_patient(draft, reply, view)

    async def _chosen(self, view: AnswerView, sources: Sources, values: dict[str, str]) -> Draft:
        """An option with the statements that it rests on; of a closed question a verdict."""
        of_nobody = view.options and VIGNETTE.match(view.question)  # an examination's patient
        schema = ExamReply if of_nobody else ChoiceReply
        reply, spent = await self._model.structured("choice", schema, on_text=teller(), rule=sources.rule, **values)
        verdict = view.closed and not view.options
        held, judge = {e.id: e for e in sources.documents}, self._local.judge
        bears = speaks_of(view, self._local.terms.equivalents, self._relevance, judge)

        def doubting(option: str, standing: Sequence[Stated]) -> Doubt:
            if verdict:
                return doubted_verdict(option, view, standing, sources, judge)
            return doubted_choice(option, view, standing, bears)

        told, names = question_of(view) if of_nobody else "", "; ".join(view.options.values())  # weighed as a case is
        claims = [Claim(s, told, names, weighs=bool(told)) for s in reply.statements[: self._settings.statements]]
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
            return self._of_patient(draft.model_copy(update={"verdict": found}), reply, view)
        choice, more = await asyncio.to_thread(choice_of, option, view, statements, bears)
        draft = self._draft(view, statements, written, sources, choice=choice, more=more, unanswered=open_)
        draft = draft.model_copy(update={"told": f"{told}\n{names}".strip()})
        return self._of_patient(draft, reply, view)

    def _of_patient(self, draft: Draft, reply: AnswerReply | ExamReply, view: AnswerView) -> Draft:
        """The draft with what the model says of a patient whom a question tells of: an emergency, diagnoses."""
        if not isinstance(reply, (AnswerReply, ChoiceReply)):
            return draft
        found, named = view.differential, dict[str, Diagnosis]()
        told = bool(view.case) or (found is not None and bool(found.findings or found.added))
        told = told or patient_of(view.question) is not None or None not in read_person(view.question)
        for name in reply.diagnoses if told else ():
            diagnosis = diagnosis_named(name, view, self._local.diseases)
            if diagnosis is not None and not references_in(name) and not speaks_to_machines(name):
                named.setdefault(diagnosis.name.casefold(), diagnosis)
        diagnoses = tuple(named.values())[:DIAGNOSES]
        return draft.model_copy(
            update={
                "diagnoses": diagnoses,
                "emergency": _emergency(reply.emergency, view) if told or view.options else (),
                "calm": told and not reply.emergency.strip(),
                "notices": (*lacking(diagnoses, view), *draft.notices),
            }
        )

    async def _case(self, view: AnswerView, sources: Sources) -> Draft:
        """The model's own text on a case, in its order: the graph's ranking stands beside it."""
        values = case_values(view) | {"question": question_of(view), "remarks": remarks_of(view)}
        reply, spent = await self._model.structured(
            "answer_case", CaseReply, on_text=teller(), rule=sources.rule, documents=sources.shown, **values
        )
        ordered = sorted(reply.statements, key=lambda s: s.part != "asked")  # what was asked leads
        said = ordered[: self._settings.case_statements]
        about = [diagnosis_of(s, view, self._local.diseases) for s in said]
        claims = [claim_of(s, d, view, self._local.diseases) for s, d in zip(said, about, strict=True)]
        written = (await self._writer.written(claims, view, sources, spent)).beside(ordered[len(said) :])
        statements: list[Statement] = []
        diagnoses: dict[str, Diagnosis] = {}
        listed = [d if s.part == "diagnosis" else None for s, d in zip(said, about, strict=True)]
        for diagnosis, shown in zip(listed, written.shown, strict=True):
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
                "calm": not reply.emergency.strip(),
                "follow_up_questions": _questions(view),
                "told": "\n".join(dict.fromkeys(part for c in claims for part in (c.told, c.names) if part)),
                # "Plan please?", "Agree?": what a whole answer to a case answers, in no words of theirs
                "notices": tuple(n for n in draft.notices if n.code != "not_answered"),
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
            calm=view.kind in CASES and not reply.emergency.strip(),
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
            asked=told_by_asker(view),
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


# The diagnoses that a model names of a case: which of the graph's they are, its own, and its order beside the graph's.
#
# The model's order is kept. A diagnosis of its own is marked, and one that nothing bears out is told as its view.

NAME = 120  # ours: characters of a diagnosis
PLACE = re.compile(
    r"^\W*(\d{1,2})\W*(?:$|\.\s)"
)  # the place in the list that was shown, in place of a name or before it
CODE = re.compile(r"\s{0,9}[(（][A-Z]\d\d(?:\.\w+)?[)）]")  # the ICD-10 code that stands behind it there


def diagnosis_of(said: CaseStatementReply, view: AnswerView, diseases: Synonyms) -> Diagnosis | None:
    """The diagnosis that a statement is about, None for one about none: its name as the graph has it, else as written.

    ``diseases`` gives the diseases of the graph that a text names, with their other names.
    """
    named = said.part in ("asked", "diagnosis")
    return diagnosis_named(said.diagnosis, view, diseases, said.text) if named else None


def diagnosis_named(name: str, view: AnswerView, diseases: Synonyms, text: str = "") -> Diagnosis | None:
    """The diagnosis of a name, or where there is none the one that ``text`` begins with; None for neither."""
    name = one_line(CODE.sub("", name), NAME)
    ranking = _lines(view)
    place = PLACE.match(name)
    if place is not None and view.differential is not None and 0 < int(place[1]) <= len(view.differential.ranking):
        return _of_graph(ranking[int(place[1]) - 1], view)
    begins = [d for d in ranking if not name and any(_begins(text, n) for n in _names(d))]
    others = {n.casefold() for n in _other_names(name, diseases)}
    same = [d for d in ranking if name and any(_same(name, n) or n.casefold() in others for n in _names(d))]
    for disease in (*same, *begins):
        return _of_graph(disease, view)
    return Diagnosis(name=name, known=bool(others)) if name else None


def claim_of(said: CaseStatementReply, diagnosis: Diagnosis | None, view: AnswerView, diseases: Synonyms) -> Claim:
    """A statement on a case as it is checked: it may repeat the case, and of a diagnosis compare with the others."""
    told = question_of(view) if view.question else ""
    if diagnosis is None:
        return Claim(said, told, weighs=True)
    ranking = _lines(view)
    own = next((_names(d) for d in ranking if d.disease == diagnosis.disease), [diagnosis.name])
    others = " ".join(n for d in ranking if d.disease != diagnosis.disease for n in _names(d))
    about = dict.fromkeys([*own, *_other_names(own[0], diseases)])
    return Claim(said, told, others, tuple(about), own=not diagnosis.known, weighs=True)


def marked(statement: Statement, diagnosis: Diagnosis, view: AnswerView) -> Statement:
    """The first statement on a diagnosis; that of one that the graph does not hold says so."""
    if diagnosis.known:
        return statement
    mark, text = messages(view.language)["case.not_in_graph"], statement.text
    if _begins(text, diagnosis.name):
        at = len(diagnosis.name)
        return statement.model_copy(update={"text": f"{text[:at]} {mark}{text[at:]}"})
    return statement.model_copy(update={"text": f"{text} {mark}"})


def unsupported(diagnosis: Diagnosis, view: AnswerView) -> Statement:
    """A diagnosis of which nothing that the model said stands: its name alone, as the model's view."""
    text = messages(view.language).say("case.unsupported", name=diagnosis.name)
    return Statement(text=text, origin=Origin.PARAMETRIC)


def order_notices(diagnoses: Sequence[Diagnosis], view: AnswerView) -> list[Notice]:
    """That the text orders the diagnoses otherwise than the graph ranks them, and which of them the graph lacks."""
    ranking = [d.disease for d in (view.differential.ranking if view.differential is not None else ())]
    words = messages(view.language)
    places = [ranking.index(d.disease) if d.disease in ranking else len(ranking) for d in diagnoses if d.disease]
    first = not diagnoses or diagnoses[0].disease == ranking[0] if ranking else True
    same = first and places == sorted(places)
    out = [] if same else [notice("other_order", view.language, words.joined(d.name for d in diagnoses))]
    return [*out, *lacking(diagnoses, view)]


def lacking(diagnoses: Sequence[Diagnosis], view: AnswerView) -> list[Notice]:
    """Which diagnoses the graph lacks."""
    own = [d.name for d in diagnoses if not d.known]
    return [notice("not_in_graph", view.language, messages(view.language).joined(own))] if own else []


def _lines(view: AnswerView) -> list[RankedDisease]:
    """The ranked diseases, then those that were proposed and rank lower."""
    found = view.differential
    if found is None:
        return []
    proposed = [h.disease for h in found.hypotheses if h.disease is not None]
    held = {d.disease for d in found.ranking}
    return [*found.ranking, *(d for d in proposed if d.disease not in held)]


def _of_graph(disease: RankedDisease, view: AnswerView) -> Diagnosis:
    return Diagnosis(name=messages(view.language).name_of(disease), disease=disease.disease)


def _names(disease: RankedDisease) -> list[str]:
    return [n for n in (disease.name, disease.name_zh, disease.disease.replace("-", " ")) if n]


def _other_names(name: str, diseases: Synonyms) -> list[str]:
    """The names of a disease of the graph that a name names as a whole, itself among them; none for no such disease."""
    return next(([m, *names] for m, names in diseases(name).items() if _same(m, name)), []) if name else []


def _same(left: str, right: str) -> bool:
    return left.casefold() == right.casefold() or (set(tokens(left)) == set(tokens(right)) != set())


def _begins(text: str, name: str) -> bool:
    return text.casefold().startswith(name.casefold())

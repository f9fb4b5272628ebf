"""The diagnoses that a model names of a case: which of the graph's they are, its own, and its order beside the graph's.

The model's order is kept. A diagnosis of its own is marked, and one that nothing bears out is told as its view.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphs.answering.contract import AnswerView, Diagnosis
from graphs.answering.notices import notice
from graphs.answering.prose import Claim
from graphs.answering.sources import question_of
from graphs.judging.key_terms import Synonyms
from prompts.answer import CaseStatementReply
from prompts.shown import one_line
from tools.contract import Notice, RankedDisease
from tools.evidence import Origin, Statement
from tools.messages import messages
from tools.text.tokens import tokens

NAME = 120  # ours: characters of a diagnosis
PLACE = re.compile(
    r"^\W*(\d{1,2})\W*(?:$|\.\s)"
)  # the place in the list that was shown, in place of a name or before it
CODE = re.compile(r"\s{0,9}[(（][A-Z]\d\d(?:\.\w+)?[)）]")  # the ICD-10 code that stands behind it there


def diagnosis_of(said: CaseStatementReply, view: AnswerView, diseases: Synonyms) -> Diagnosis | None:
    """The diagnosis that a statement is about, None for one about none: its name as the graph has it, else as written.

    ``diseases`` gives the diseases of the graph that a text names, with their other names.
    """
    return diagnosis_named(said.diagnosis, view, diseases, said.text) if said.part == "diagnosis" else None


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
    """A statement on a case as it is checked: of a diagnosis it may repeat the case and compare with the others."""
    if diagnosis is None:
        return Claim(said, weighs=True)
    ranking = _lines(view)
    own = next((_names(d) for d in ranking if d.disease == diagnosis.disease), [diagnosis.name])
    others = " ".join(n for d in ranking if d.disease != diagnosis.disease for n in _names(d))
    told = question_of(view) if view.question else ""
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
    ranked = {d.disease for d in found.ranking}
    return [*found.ranking, *(d for d in proposed if d.disease not in ranked)]


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

"""When not to answer: nothing relevant, or a name in the question that no evidence mentions."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.answering.contract import AnswerView, Draft
from graphs.answering.notices import notice, read_as
from graphs.answering.ports import WholeText
from graphs.judging.key_terms import KeyTerms
from tools.contract import Notice
from tools.evidence import Evidence
from tools.text.abbreviations import expand


def abstained(view: AnswerView, terms: Sequence[str] = (), more: Sequence[Notice] = ()) -> Draft:
    """A draft without statements that says that nothing was found, and which names no evidence mentions.

    Failures of tools are notices of the turn, made where the tool failed; they stand beside these.
    """
    said = [notice("terms_not_found", view.language, ", ".join(terms))] if terms else []
    questions = view.differential.questions[:3] if view.differential is not None else ()
    return Draft(
        notices=(notice("nothing_found", view.language), *said, *read_as(view), *more),
        follow_up_questions=tuple(questions),
        abstained=True,
    )


def unmentioned(view: AnswerView, evidence: Sequence[Evidence], terms: KeyTerms, whole: WholeText) -> list[str]:
    """Rare names of the question that neither the documents of the evidence nor an answered question mention."""
    texts = [f"{e.title}. {e.text}" for e in evidence if e.citable]
    texts += [whole(document) for document in dict.fromkeys(e.document_id for e in evidence if e.citable)]
    texts += [f"{a.question} {a.evidence.title}. {a.evidence.text}" for a in view.answered if a.evidence.citable]
    return terms.uncovered(expand(view.meant), texts)

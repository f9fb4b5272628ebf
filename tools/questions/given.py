"""Questions that are known to be answered: their answers as the documents hold them today."""

from __future__ import annotations

from collections.abc import Sequence

from tools.questions.collection import Collection
from tools.questions.contract import Answer, Question, QuotedAnswer


def standing(given: Sequence[Question], collection: Collection) -> tuple[list[Question], int]:
    """The questions all of whose documents are here, each with the answers that still stand there.

    A quoted answer whose document has changed is found again by its words, where they stand once.

    Returns:
        The questions that keep an answer, and the number of answers that were left out.
    """
    kept, lost = [], 0
    for question in given:
        if not all(a.document in collection.number for a in question.answers):
            continue
        places = [_place(a, collection.documents[collection.number[a.document]].text) for a in question.answers]
        answers = tuple(place for place in places if place is not None)
        lost += len(places) - len(answers)
        if answers:
            kept.append(question.model_copy(update={"answers": answers}))
    return kept, lost


def _place(answer: Answer, text: str) -> Answer | None:
    """The answer where it stands in the text today, None where it does not."""
    start, end = answer.start, answer.end
    if isinstance(answer, QuotedAnswer) and text[start:end] != answer.quote:
        if not answer.quote or text.count(answer.quote) != 1:
            return None
        start = text.index(answer.quote)
        end = start + len(answer.quote)
    if not 0 <= start < end <= len(text):
        return None
    return Answer(document=answer.document, start=start, end=end, support=answer.support)

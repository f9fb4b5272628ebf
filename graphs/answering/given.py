"""A closed question answered from the texts that were given with it, by what they report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphs.answering.choice import REPLIES
from graphs.answering.contract import AnswerView, Choice
from graphs.answering.extractive import Sentence
from graphs.answering.reported import Reading, ReportSettings, read_report, reported
from graphs.judging.polarity import is_alternative
from graphs.judging.relevance import Relevance
from tools.evidence import Evidence, Origin
from tools.text.sentences import Span


class FromGiven(NamedTuple):
    """A choice and the sentence that it rests on."""

    choice: Choice
    sentence: Sentence


class GivenReader:
    """Reads the texts given with a question.

    Args:
        relevance: how near a sentence is to the question.
        settings: of the reading.
    """

    def __init__(self, relevance: Relevance, settings: ReportSettings | None = None) -> None:
        self._relevance = relevance
        self._settings = settings or ReportSettings()

    def read(self, view: AnswerView, evidence: Sequence[Evidence]) -> FromGiven | None:
        """Yes or no from the given texts among the evidence; None when they do not say, or two ways are offered."""
        given = [e for e in evidence if e.origin is Origin.CASE]
        spans = [(e, s) for e in given for s in reported(e.text)]
        if not spans or not view.closed or is_alternative(view.question):
            return None
        texts = [s.of(e.text) for e, s in spans]
        near = [float(v) for v in self._relevance.score([view.question], texts).relevance[0]]
        reading = read_report(view.question, list(zip(texts, near, strict=True)), self._settings)
        if reading is None:
            return None
        item, span = spans[reading.at]
        return FromGiven(
            _choice(view, reading, item, texts[reading.at]), Sentence(item, span.start, span.end, near[reading.at])
        )


def telling(chosen: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without those of given texts that report nothing: a study's aims and methods answer no question."""
    results = {s.evidence.id: reported(s.evidence.text) for s in chosen if s.evidence.origin is Origin.CASE}
    return [s for s in chosen if s.evidence.id not in results or any(_within(s, r) for r in results[s.evidence.id])]


def _within(sentence: Sentence, span: Span) -> bool:
    return span.start < sentence.end and sentence.start < span.end


def _choice(view: AnswerView, reading: Reading, item: Evidence, said: str) -> Choice:
    return Choice(
        label=reading.reply.value,
        text=REPLIES[reading.reply]["zh" if view.language == "zh" else "en"],
        confidence=round((1 + abs(reading.balance)) / 2, 4),
        reason=f"{item.id}: {said.strip()}",
        evidence_ids=(item.id,),
    )

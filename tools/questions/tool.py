"""``find_answered_question``: the nearest question that the library answers, with the sentence that does (QB-RAG)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

from prompts import tool_arguments
from tools.contract import AnsweredQuestion, Notice, Outcome, ToolArtifact, ToolContext
from tools.evidence import Evidence, Found, content_key, merge_evidence
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import review_notices
from tools.questions.settings import QuestionSettings
from tools.questions.subject import same_subject, subject_words

# ours: cosine from which a question counts as the same. On tests/tools/questions/paraphrases.yaml, written for this
# purpose, the lowest of 29 rewordings has 0.81, and the highest of 26 questions that the library does not answer 0.69.
SAME_QUESTION = 0.80
NEAR_QUESTION = 0.60  # ours: below this the paragraph of a near question is no evidence either
MARGIN = 0.08  # ours: what is further below the best one asks for something else beside it
LEXICAL_WEIGHT = 0.1  # ours: words decide between questions that are about equally near
POOL = 10  # ours: questions that are compared for each one wanted


class FindAnsweredQuestion:
    """Finds questions of the library that ask the same as the one given.

    What asks the same is in ``answered``, with the answering span inside the paragraph that is its evidence. A
    question that is only near gives its paragraph as evidence, with a notice, and no answer.

    Args:
        library: the library whose monographs carry the questions.
        today: the day against which review dates are read; None for the current day at each call.
        settings: which stored questions may stand for the one asked.
    """

    name = "find_answered_question"
    arguments = tool_arguments.FindAnsweredQuestion

    def __init__(
        self, library: SearchableLibrary, today: date | None = None, settings: QuestionSettings | None = None
    ) -> None:
        self.description = tool_arguments.description(self.name)
        self._library = library
        self._today = today
        self._settings = settings or QuestionSettings()

    async def run(self, arguments: tool_arguments.FindAnsweredQuestion, context: ToolContext) -> ToolArtifact:
        """The nearest questions; ``nothing_found`` when none is near."""
        hits = await asyncio.to_thread(self._search, arguments.question, arguments.limit)
        least = max((h.similarity for h in hits), default=0.0) - MARGIN
        same = [h for h in hits if not self._settings.guards or h.similarity >= max(SAME_QUESTION, least)]
        answered = [_answered(hit, arguments.question, rank) for rank, hit in enumerate(same, 1)]
        kept = same or hits
        evidence = [_evidence(hit, arguments.question, rank) for rank, hit in enumerate(kept, 1)]
        context.recorder.event("question_search", same=len(same), near=len(hits) - len(same))
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.OK if kept else Outcome.NOTHING_FOUND,
            evidence=merge_evidence(evidence),
            answered=answered,
            notices=self._notices(kept, near=not same),
            strategy=[
                {
                    "step": "questions",
                    "question": h.question.text,
                    "document": h.document.id,
                    "similarity": round(h.similarity, 4),
                    "same": h in same,
                }
                for h in hits
            ],
        )

    def _search(self, question: str, limit: int) -> list[QuestionHit]:
        """The best questions above the lower threshold that may be about the same subject, best first."""
        hits = [h for h in self._library.search_questions(question, POOL * limit) if self._counts(h)]
        if not self._settings.guards:  # the nearest question of each document: duplicates are dropped
            nearest = {h.document.id: h for h in sorted(hits, key=lambda h: h.similarity)}
            return sorted(nearest.values(), key=lambda h: (-h.similarity, h.document.id))[:limit]
        subjects = subject_words(tuple(self._library.question_titles))
        about = [
            h
            for h in hits
            if h.similarity >= NEAR_QUESTION and same_subject(question, h.question.text, h.document, subjects)
        ]
        return sorted(about, key=_order)[:limit]

    def _counts(self, hit: QuestionHit) -> bool:
        """Whether a question is among those of its document that count."""
        if self._settings.coverage is None:
            return True
        drawn = sorted(hit.document.questions, key=lambda q: content_key(q.text))
        return hit.question in drawn[: self._settings.coverage]

    def _notices(self, hits: Sequence[QuestionHit], near: bool) -> list[Notice]:
        notices = review_notices([h.document for h in hits], self._today)
        if hits and near:
            text = "No question of the library asks the same; the nearest one asks about something related."
            notices.append(Notice(code="near_question_only", text=text))
        return notices


def _order(hit: QuestionHit) -> tuple[bool, float, bool, str, int]:
    """What asks the same stands before what is near, whatever its words; of equals, the user's own first."""
    score = (1 - LEXICAL_WEIGHT) * hit.similarity + LEXICAL_WEIGHT * hit.lexical
    return hit.similarity < SAME_QUESTION, -score, hit.document.is_starter, hit.document.id, hit.question.start


def _evidence(hit: QuestionHit, asked: str, rank: int) -> Evidence:
    found = Found(
        tool=FindAnsweredQuestion.name, stream="question", query=asked, rank=rank, score=round(hit.similarity, 6)
    )
    return hit.document.evidence(hit.question.paragraph_start, hit.question.paragraph_end, [found])


def _answered(hit: QuestionHit, asked: str, rank: int) -> AnsweredQuestion:
    question = hit.question
    return AnsweredQuestion(
        question=question.text,
        similarity=min(1.0, round(hit.similarity, 6)),
        evidence=_evidence(hit, asked, rank),
        start=question.start - question.paragraph_start,
        end=question.end - question.paragraph_start,
    )

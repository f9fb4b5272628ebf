"""Local judges of answers. They know words and embeddings, not medicine; each says what it measures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evals.judges.contract import Adherence, Faithfulness, Relevancy
from graphs.judging.relevance import Relevance
from graphs.verification.quoted import QuoteCheck, best_citations
from tools.evidence import Evidence, Origin, Statement, content_key
from tools.text.sentences import sentences
from tools.text.tokens import tokens

if TYPE_CHECKING:
    from tools.encoders import Encoder

RELEVANT = 0.40  # ours: nearness that counts as addressing; chosen on half of LiveQA's questions (docs/evaluations.md)
POINTS = 12  # ours: sentences of a golden answer that count, its first ones: later ones go beyond what was asked
WORDS = 3  # ours: content words from which a sentence says something that can be looked for
KEY = 16  # ours: characters of a hash in an id, enough to tell texts apart


class JudgeLocal:
    """Judges without a model.

    ``adherence`` is the share of the golden answer's sentences whose words, numbers and negations stand in two
    sentences of the answer (`QuoteCheck`); ``relevancy`` the nearness of answer and question by embedding and words;
    ``faithfulness`` whether each statement's quotes, or the two nearest sentences of the portions, support it. A
    paraphrase is often missed, so that adherence is too low; an answer that repeats the question's words is near to it.

    Args:
        encoder: for other wording.
    """

    name = "local"

    def __init__(self, encoder: Encoder) -> None:
        self._check = QuoteCheck(encoder)
        self._relevance = Relevance(encoder)

    async def adherence(self, question: str, golden: str, answer: str) -> Adherence:
        """The share of the golden answer's sentences that the answer covers; 0 for an empty answer."""
        del question
        points = guideline(golden)
        if not points or not answer.strip():
            return Adherence(points, 0.0)
        item = _piece(answer)
        covered = await asyncio.to_thread(lambda: [self._covers(item, point) for point in points])
        return Adherence(points, sum(covered) / len(points))

    async def relevancy(self, question: str, answer: str) -> Relevancy:
        """Nearness of the answer's best window and the question, 0..1."""
        if not answer.strip():
            return Relevancy(0.0, relevant=False)
        scores = await asyncio.to_thread(self._relevance.score, [question], [answer])
        score = float(scores.relevance[0, 0])
        return Relevancy(score, relevant=score >= RELEVANT)

    async def faithfulness(self, statements: Sequence[Statement], portions: Sequence[Evidence]) -> Faithfulness:
        """Whether quotes that stand in the portions support each statement; a parametric one is never supported."""
        known = {e.id: e for e in portions}
        return Faithfulness(await asyncio.to_thread(lambda: tuple(self._supported(s, known) for s in statements)))

    def _covers(self, item: Evidence, point: str) -> bool:
        citations = best_citations(point, [item])
        if not citations:
            return False
        said = Statement(text=point, origin=item.origin, citations=citations)
        return not self._check.fault(said, {item.id: item})

    def _supported(self, statement: Statement, known: dict[str, Evidence]) -> bool:
        return statement.origin is not Origin.PARAMETRIC and self._check.kept(statement, known) is not None


def guideline(golden: str) -> tuple[str, ...]:
    """The golden answer's first sentences that say something."""
    said = (span.of(golden) for span in sentences(golden))
    return tuple(text for text in said if len(set(tokens(text))) >= WORDS)[:POINTS]


def _piece(text: str) -> Evidence:
    return Evidence(id=f"given:{content_key(text)[:KEY]}", text=text, kind="answer", origin=Origin.CASE)

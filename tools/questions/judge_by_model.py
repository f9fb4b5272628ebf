"""Answerability by a language model (QB-RAG, offline). A verdict counts with words of the document alone."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from prompts.language_model import LanguageModel
from prompts.questions import AnswerabilityReply, JudgedReply
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.encoders import Encoder, Vectors
from tools.questions.by_model import ASKED, SHOWN, TITLE, locate, parts
from tools.questions.contract import Judgement, Question, SourceDocument, Verdict

TOGETHER = 10  # ours: questions of one document that are judged in one call; more make replies that lose some
LOOKED_AT = 4  # ours: parts of a long document that are shown for one question, the most promising first
WINDOW = (
    1000  # ours: characters of a piece by which a part is compared with a question; the encoder reads some 200 words
)
WORTH = {Verdict.NO: 0, Verdict.PART: 1, Verdict.FULL: 2}
Pair = tuple[Question, SourceDocument]
Part = tuple[int, int]  # characters of a document


class JudgeByModel:
    """Judges with a language model, in steps; several questions of one document in one call.

    Of a document longer than is shown at once the part of the question's own answer is shown first, then those whose
    windows are nearest to the question, until one answers in full. "Not answered" is said after all of these.

    Args:
        model: in the role ``questions``. encoder: compares questions with the parts of long documents.

    `judge` raises ServiceError when the model fails.
    """

    of_pair = True

    def __init__(self, model: LanguageModel, encoder: Encoder) -> None:
        self._model, self._encoder = model, encoder
        self.name = f"{model.name} {load_prompt('answerability').id} parts@1"  # raised with the choice of what is shown
        self._cut: dict[str, _Cut] = {}

    async def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement a pair, in order. A verdict without words that stand in the document is ``no``."""
        plans = await asyncio.to_thread(lambda: [self._plan(question, document) for question, document in pairs])
        best = [Judgement(verdict=Verdict.NO) for _ in pairs]
        for turn in range(LOOKED_AT):
            groups: dict[tuple[str, Part], list[int]] = defaultdict(list)
            for number, plan in enumerate(plans):
                if turn < len(plan) and best[number].verdict is not Verdict.FULL:
                    groups[pairs[number][1].id, plan[turn]].append(number)
            batches = [
                (part, found[at : at + TOGETHER])
                for (_, part), found in groups.items()
                for at in range(0, len(found), TOGETHER)
            ]
            replies = await asyncio.gather(*(self._judge([pairs[n] for n in batch], part) for part, batch in batches))
            for (_, batch), judged in zip(batches, replies, strict=True):
                for number, judgement in zip(batch, judged, strict=True):
                    best[number] = max(best[number], judgement, key=lambda j: WORTH[j.verdict])
        return best

    def _plan(self, question: Question, document: SourceDocument) -> list[Part]:
        """The parts of the document to be shown for the question, in order."""
        if len(document.text) <= SHOWN:
            return [(0, len(document.text))]
        cut = self._cut.get(document.text)
        if cut is None:
            cut = self._cut[document.text] = _Cut(document, self._encoder)
        own = [a.start for a in question.answers if a.document == document.id]
        order = cut.nearest(self._encoder.encode_queries([question.text])[0])
        return sorted(order, key=lambda part: not any(part[0] <= at < part[1] for at in own))[:LOOKED_AT]

    async def _judge(self, pairs: Sequence[Pair], part: Part) -> list[Judgement]:
        document = pairs[0][1]
        start, end = part
        reply, _ = await self._model.structured(
            "answerability",
            AnswerabilityReply,
            title=one_line(document.title, TITLE) or "none",
            document=document.text[start:end],
            questions="\n".join(f"{n}. {one_line(q.text, ASKED)}" for n, (q, _) in enumerate(pairs, start=1)),
        )
        said = {judged.number: judged for judged in reply.judgements}
        return [_judgement(said.get(n), document.text, start, end) for n in range(1, len(pairs) + 1)]


class _Cut:
    """A long document in parts, with the vectors of their windows."""

    def __init__(self, document: SourceDocument, encoder: Encoder) -> None:
        self.parts = parts(document.text, SHOWN)
        windows = [
            (number, document.text[start + a : start + b])
            for number, (start, end) in enumerate(self.parts)
            for a, b in parts(document.text[start:end], WINDOW)
        ]
        self._of = np.array([number for number, _ in windows])
        self._vectors = encoder.encode_documents([f"{document.title} {text}" for _, text in windows])

    def nearest(self, question: Vectors) -> list[Part]:
        """The parts, that of the nearest window first. ``question``: (dimension,)."""
        order = dict.fromkeys(self._of[np.argsort(-(self._vectors @ question), kind="stable")].tolist())
        return [self.parts[number] for number in order]


def _judgement(said: JudgedReply | None, text: str, start: int, end: int) -> Judgement:
    place = None if said is None or said.verdict == "no" else locate(text, said.quote, start, end)
    if said is None or place is None:
        return Judgement(verdict=Verdict.NO)
    return Judgement(verdict=Verdict(said.verdict), start=place[0], end=place[1])

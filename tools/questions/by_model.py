"""Questions and answerability by a language model (QB-RAG, offline). What it cannot quote is not kept."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence

from prompts.language_model import LanguageModel
from prompts.questions import AnswerabilityReply, JudgedReply, QuestionsReply
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.questions.contract import Answer, Judgement, Question, SourceDocument, Verdict
from tools.questions.spread import in_turns, spread

SHOWN = 8000  # ours: characters of a document that a model is shown at once; longer ones are shown in parts
TITLE = 200  # ours: characters of a title that are shown
ASKED = 300  # ours: characters of a question that are kept; the thirty words asked for, and some more
AT_ONCE = 24  # ours: questions that are asked for in one call (paper: about 20); more make replies that are cut off
TOGETHER = 10  # ours: questions of one document that are judged in one call; more make replies that lose some
NEAR = 3000  # ours: characters around the answer of a question that are shown of a long document
BREAK = re.compile(r"\n+|(?<=[.!?]) ")


class WriterByModel:
    """Writes with a language model; a document longer than it is shown at once is written for part by part, and each
    part gives its questions in turn, so that no part is left out before all have given one.

    Args:
        model: in the role ``questions``.

    `write` raises ServiceError when the model fails: nothing is written in its place.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = f"{model.name} {load_prompt('questions').id}"

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        """At most ``wanted`` questions, each with the words that answer it; those without such words are left out."""
        cut = spread(parts(document.text, SHOWN))[:wanted]
        each = min(AT_ONCE, -(-wanted // max(1, len(cut))))
        found = await asyncio.gather(*(self._write(document, start, end, each) for start, end in cut))
        once: dict[str, Question] = {}
        for question in in_turns(*found):
            once.setdefault(question.text.casefold(), question)
        return list(once.values())[:wanted]

    async def _write(self, document: SourceDocument, start: int, end: int, wanted: int) -> list[Question]:
        reply, _ = await self._model.structured(
            "questions",
            QuestionsReply,
            wanted=str(wanted),
            title=one_line(document.title, TITLE) or "none",
            document=document.text[start:end],
        )
        out = []
        for written in reply.questions:
            place = locate(document.text, written.quote, start, end)
            text = one_line(written.question, ASKED)
            if place is not None and text:
                answer = Answer(document=document.id, start=place[0], end=place[1])
                out.append(Question(text=text, answers=(answer,), writer=self.name))
        return out


class JudgeByModel:
    """Judges with a language model, in steps; several questions of one document in one call.

    Args:
        model: in the role ``questions``.

    `judge` raises ServiceError when the model fails.
    """

    of_pair = True

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = f"{model.name} {load_prompt('answerability').id}"

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        """One judgement a pair, in order. A verdict without words that stand in the document is ``no``."""
        groups: dict[str, list[int]] = defaultdict(list)
        for number, (_, document) in enumerate(pairs):
            groups[document.id].append(number)
        batches = [found[at : at + TOGETHER] for found in groups.values() for at in range(0, len(found), TOGETHER)]
        replies = await asyncio.gather(*(self._judge([pairs[n] for n in batch]) for batch in batches))
        made = {
            n: j for batch, judged in zip(batches, replies, strict=True) for n, j in zip(batch, judged, strict=True)
        }
        return [made[number] for number in range(len(pairs))]

    async def _judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        document = pairs[0][1]
        if len(document.text) > SHOWN and len(pairs) > 1:
            return [(await self._judge([pair]))[0] for pair in pairs]
        start, end = _shown(pairs[0][0], document)
        reply, _ = await self._model.structured(
            "answerability",
            AnswerabilityReply,
            title=one_line(document.title, TITLE) or "none",
            document=document.text[start:end],
            questions="\n".join(f"{n}. {one_line(q.text, ASKED)}" for n, (q, _) in enumerate(pairs, start=1)),
        )
        said = {judged.number: judged for judged in reply.judgements}
        return [_judgement(said.get(n), document.text, start, end) for n in range(1, len(pairs) + 1)]


def _judgement(said: JudgedReply | None, text: str, start: int, end: int) -> Judgement:
    place = None if said is None or said.verdict == "no" else locate(text, said.quote, start, end)
    if said is None or place is None:
        return Judgement(verdict=Verdict.NO)
    return Judgement(verdict=Verdict(said.verdict), start=place[0], end=place[1])


def locate(text: str, quote: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Where words stand in a text, white space and case aside; None when they do not."""
    words = quote.strip(" .…\"'").split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    found = pattern.search(text, start, len(text) if end is None else end)
    return None if found is None else found.span()


def parts(text: str, most: int) -> list[tuple[int, int]]:
    """A text in parts of at most ``most`` characters, cut where lines or sentences end."""
    cut, start = [], 0
    while len(text) - start > most:
        ends = [m.end() for m in BREAK.finditer(text, start + most // 2, start + most)]
        stop = ends[-1] if ends else start + most
        cut.append((start, stop))
        start = stop
    return [*cut, (start, len(text))]


def _shown(question: Question, document: SourceDocument) -> tuple[int, int]:
    """What is shown of a document: all of it, or the surroundings of the answer."""
    if len(document.text) <= SHOWN:
        return 0, len(document.text)
    at = question.answers[0].start if question.answers else 0
    return max(0, at - NEAR), min(len(document.text), at + NEAR)

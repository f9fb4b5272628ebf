"""Questions written by a language model (QB-RAG, offline). What it cannot quote is not kept."""

from __future__ import annotations

import asyncio
import re

from prompts.language_model import LanguageModel
from prompts.questions import QuestionsReply
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.questions.contract import Answer, Question, SourceDocument
from tools.questions.spread import in_turns, spread

SHOWN = 8000  # ours: characters of a document that a model is shown at once; longer ones are shown in parts
TITLE = 200  # ours: characters of a title that are shown
ASKED = 300  # ours: characters of a question that are kept; the thirty words asked for, and some more
AT_ONCE = 24  # ours: questions that are asked for in one call (paper: about 20); more make replies that are cut off
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

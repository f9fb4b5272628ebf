"""What a language model does for questions: it writes and judges them, and writes texts to search for."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import numpy as np

from prompts import tool_arguments
from prompts.language_model import LanguageModel
from prompts.questions import AheadReply, AnswerabilityReply, JudgedReply, QuestionsReply
from prompts.shown import one_line
from prompts.templates import load_prompt
from prompts.tool_arguments import MAX_QUERY
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.encoders import Encoder, Vectors
from tools.library.contract import SearchableLibrary
from tools.library.document import review_notices
from tools.literature.tool import SearchLiterature
from tools.questions.contract import Answer, Judgement, Question, SourceDocument, Verdict
from tools.questions.outline import in_turns, spread

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


# Answerability by a language model (QB-RAG, offline). A verdict counts with words of the document alone.
TOGETHER = 10  # ours: questions of one document that are judged in one call; more make replies that lose some
LOOKED_AT = 4  # ours: parts of a long document that are shown for one question, the most promising first
# ours: characters of a piece by which a part is compared with a question; the encoder reads some 200 words
WINDOW = 1000
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


# Searching for a text that a language model wrote for the question: the comparators of QB-RAG.
TEMPLATES = {"document": "hypothetical_document", "answer": "pseudo_answer"}
SHOWN_QUESTION = 4000  # ours: characters of the question that a model is shown


class NearestDocuments:
    """``search_literature`` as naive retrieval: the nearest documents by cosine alone, however far."""

    name = "search_literature"
    arguments = tool_arguments.SearchLiterature

    def __init__(self, library: SearchableLibrary) -> None:
        self.description, self._library = tool_arguments.description(self.name), library

    async def run(self, arguments: tool_arguments.SearchLiterature, context: ToolContext) -> ToolArtifact:
        """The best window of each of the nearest documents."""
        query, limit = arguments.query, arguments.limit
        hits = await asyncio.to_thread(lambda: self._library.search(query, limit, tool=self.name, nearest=True))
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.OK if hits else Outcome.NOTHING_FOUND,
            evidence=[hit.evidence() for hit in hits],
            notices=review_notices([hit.document for hit in hits], context.language),
        )


class SearchedAhead:
    """``search_literature`` with a hypothetical document (HyDE) or a pseudo-answer (QA-RAG) in the question's place.

    What was written is a query and nothing else: it becomes no evidence, and the trace names it.

    Args:
        model: in the role ``background``.

    `run` raises ServiceError when the model fails: the question is not searched for in its place.
    """

    name = "search_literature"
    arguments = tool_arguments.SearchLiterature

    def __init__(
        self,
        search: SearchLiterature | NearestDocuments,
        model: LanguageModel,
        writes: Literal["document", "answer"],
    ) -> None:
        self.description = search.description
        self._search, self._model, self._template = search, model, TEMPLATES[writes]

    async def run(self, arguments: tool_arguments.SearchLiterature, context: ToolContext) -> ToolArtifact:
        """Search for what the model writes."""
        reply, _ = await self._model.structured(
            self._template, AheadReply, question=one_line(arguments.query, SHOWN_QUESTION)
        )
        written = one_line(reply.text, MAX_QUERY) or arguments.query
        context.recorder.event("searched_ahead", template=self._template, text=written)
        return await self._search.run(arguments.model_copy(update={"query": written}), context)

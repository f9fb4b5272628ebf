"""The systems whose answers are judged: naive retrieval, the question index alone, and the agent.

Naive retrieval and the index write nothing: they give the sentences that they found. The index declines below the
similarity at which the product counts two questions as the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evals.judges.contract import GivenAnswer
from evals.passage_coverage import vectors_of
from tools.evidence import Evidence, Origin, Statement, cite, content_key
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.questions.tool import SAME_QUESTION
from tools.text.sentences import sentences

if TYPE_CHECKING:
    from evals.agent_runs import Ask
    from evals.contract import TaskContext
    from evals.datasets.answered_questions import AnswerSet
    from graphs.answering.contract import Answer
    from tools.encoders import Encoder
    from tools.questions.contract import QuestionIndex
    from tools.questions.tool import FindAnsweredQuestion

SUPPLIED = 5  # paper: MedRGAG keeps five documents; so many passages are supplied to an answer
SENTENCES = 5  # ours: of a passage that naive retrieval gives, about as many statements as the agent makes
KEY = 16  # ours: characters of a hash in an id, enough to tell texts apart
Answering = Callable[[str], GivenAnswer]


class PassageSearch:
    """The passages of a set's documents by cosine with the question.

    Args:
        plain: the encoder that keeps document vectors. asked: the encoder of questions.
    """

    def __init__(self, questions: AnswerSet, plain: Encoder, asked: Encoder, context: TaskContext) -> None:
        self._asked = asked
        self.texts: list[str] = []
        embedded: list[str] = []
        rows = context.tick(questions.documents, f"{questions.name}: cutting", len(questions.documents))
        for source in rows:
            document = StoredDocument(id=source.id, title=source.title, text=source.text)
            for passage in segment(document, plain, SeosSettings()):
                if text := source.text[passage.start : passage.end].strip():
                    self.texts.append(text)
                    embedded.append(passage.embedded_text(source.text))
        self._vectors = vectors_of(embedded, plain, context, f"{questions.name}: passages")

    def nearest(self, question: str) -> list[str]:
        """The nearest passages, best first."""
        near = self._vectors @ self._asked.encode_queries([question])[0]
        return [self.texts[n] for n in np.argsort(-near, kind="stable")[:SUPPLIED]]


def naive(search: PassageSearch) -> Answering:
    """Gives the beginning of the nearest passage."""

    def answer(question: str) -> GivenAnswer:
        portions = [piece(text) for text in search.nearest(question)]
        return quoting(portions[0], portions, SENTENCES) if portions else GivenAnswer()

    return answer


def by_index(index: QuestionIndex, questions: AnswerSet) -> Answering:
    """Gives what answers the nearest prepared question, where that asks the same."""
    texts = {document.id: document.text for document in questions.documents}

    def answer(question: str) -> GivenAnswer:
        hits = index.search_many([question], 1)[0]
        if not hits or hits[0].similarity < SAME_QUESTION:
            return GivenAnswer()
        found = texts[hits[0].document][hits[0].start : hits[0].end].strip()
        return quoting(piece(found), [piece(found)]) if found else GivenAnswer()

    return answer


def by_tool(tool: FindAnsweredQuestion) -> Answering:
    """Gives the product's direct answer out of the library's questions."""
    from prompts.tool_arguments import FindAnsweredQuestion as Arguments
    from tools.contract import ToolContext

    def answer(question: str) -> GivenAnswer:
        told = ToolContext(question=question, kind="evidence")
        answered = asyncio.run(tool.run(Arguments(question=question, limit=1), told)).answered
        if not answered:
            return GivenAnswer()
        item = answered[0].evidence
        citation = cite(item, answered[0].start, answered[0].end)
        said = Statement(text=citation.quote, origin=item.origin, citations=(citation,))
        return GivenAnswer(statements=(said,), portions=(item,))

    return answer


def by_agent(ask: Ask, search: PassageSearch | None, most: int) -> Answering:
    """The whole agent: over its own library, or over the passages of a set, which are given with the question.

    Args:
        search: None for the agent's own search. most: characters of a text that the agent takes.
    """

    def answer(question: str) -> GivenAnswer:
        given = [text[:most] for text in search.nearest(question)] if search is not None else []
        return given_answer(ask(question[:most], None, list(dict.fromkeys(given))))

    return answer


def given_answer(answer: Answer) -> GivenAnswer:
    """An agent's answer as it is judged: its evidence is what was supplied."""
    return GivenAnswer(statements=tuple(answer.statements), portions=tuple(answer.evidence))


def piece(text: str) -> Evidence:
    """A text as evidence."""
    return Evidence(id=f"given:{content_key(text)[:KEY]}", text=text, kind="passage", origin=Origin.CASE)


def quoting(item: Evidence, portions: Sequence[Evidence], most: int | None = None) -> GivenAnswer:
    """The sentences of a piece of evidence as statements that quote themselves."""
    spans = sentences(item.text)[:most]
    said = [Statement(text=s.of(item.text), origin=item.origin, citations=(cite(item, s.start, s.end),)) for s in spans]
    return GivenAnswer(statements=tuple(said), portions=tuple(portions))

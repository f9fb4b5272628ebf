"""Questions as QB-RAG has them: the nearest counts without guards, one a document, of as many as the coverage says."""

from __future__ import annotations

import asyncio

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolArtifact, ToolContext
from tools.library.collection import Library
from tools.questions.settings import QuestionSettings
from tools.questions.tool import FindAnsweredQuestion

FAR = "Do statins cause hair loss?"


def ask(library: Library, question: str, settings: QuestionSettings, limit: int = 3) -> ToolArtifact:
    tool = FindAnsweredQuestion(library, settings=settings)
    return asyncio.run(tool.run(Arguments(question=question, limit=limit), ToolContext(question=question)))


def test_without_guards_the_nearest_question_stands_for_the_one_asked(library: Library) -> None:
    with_guards, without = (ask(library, FAR, QuestionSettings(guards=guards)) for guards in (True, False))
    assert with_guards.answered == []
    assert len(without.answered) == 3
    assert len({a.evidence.document_id for a in without.answered}) == 3
    near = [a.similarity for a in without.answered]
    assert near == sorted(near, reverse=True)


def test_a_smaller_coverage_lies_within_a_larger_one_and_loses_questions(library: Library) -> None:
    document = library.documents[0]

    def answered(coverage: int) -> set[str]:
        settings = QuestionSettings(guards=False, coverage=coverage)
        nearest = (ask(library, q.text, settings, limit=1).answered for q in document.questions)
        return {q.text for q, found in zip(document.questions, nearest, strict=True) if found[0].question == q.text}

    two, three, all_of_them = answered(2), answered(3), answered(99)
    assert len(two) == 2
    assert two < three < all_of_them == {q.text for q in document.questions}

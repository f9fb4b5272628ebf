"""Answers judged as text: what is counted, against what, by which systems, and which questions have golden answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.settings import Settings
from evals.contract import TaskContext
from evals.datasets.answered_questions import AnswerSet, GoldQuestion, read_library_questions, read_medquad
from evals.datasets.medquad import QBRAG_PAGES, QBRAG_QUESTIONS
from evals.judges.contract import Adherence, Faithfulness, GivenAnswer, Relevancy
from evals.tasks.answer_quality import (
    SENTENCES,
    SUPPLIED,
    JudgedAnswer,
    PassageSearch,
    by_agent,
    by_index,
    compared_figures,
    judged,
    naive,
    piece,
    quoting,
    system_figures,
)
from graphs.answering.contract import Answer
from prompts.errors import DataError
from support.word_encoder import WordEncoder
from tools.questions.contract import IndexedHit, Question, SourceDocument

SAID = quoting(piece("A cream is used."), [piece("A cream is used.")])
DOCUMENTS = (
    SourceDocument(id="zz", text="Zzz zzz zz. Zz zzz zzzz."),
    SourceDocument(id="aa", text="Aaa aaa aa. Aa aa. A aa. Aaa a. Aa a. Aa aaa a. Aaa aaaa."),
)
SET = AnswerSet("liveqa", DOCUMENTS, (GoldQuestion("aa", "Aaa."),))


def row(score: float, *, relevant: bool, faithful: bool, answered: bool = True) -> JudgedAnswer:
    supported = Faithfulness((faithful,) if answered else ())
    answer = SAID if answered else GivenAnswer()
    return JudgedAnswer(answer, Adherence((), score), Relevancy(score, relevant), supported)


GOOD = row(1.0, relevant=True, faithful=True)
LOOSE = row(0.5, relevant=True, faithful=False)
NONE = row(0.0, relevant=False, faithful=False, answered=False)


def test_a_declined_answer_is_unfaithful_but_not_ungrounded() -> None:
    rows = [GOOD, LOOSE, NONE, NONE]
    values = {f.name.removeprefix("agent.x."): (f.value, f.n) for f in system_figures("agent.x", rows, 0)}
    assert values["adherence"] == (37.5, 4)
    assert values["adherence_answered"] == (75, 2)
    assert values["relevant"] == (50, 4)
    assert values["faithful"] == (25, 4)
    assert values["faithful_answered"] == (50, 2)
    assert values["ungrounded"] == (25, 4)
    assert values["declined"] == (50, 4)


def test_tests_are_one_sided_and_paired() -> None:
    better = {f.name.removeprefix("a.x."): f for f in compared_figures("a.x", [GOOD] * 6, [NONE] * 6, 0)}
    worse = {f.name.removeprefix("a.x."): f for f in compared_figures("a.x", [NONE] * 6, [GOOD] * 6, 0)}
    assert better["adherence"].value == 100
    assert better["relevant_p"].value == pytest.approx(0.5**6)
    assert better["adherence_p"].value < 0.05
    assert worse["relevant_p"].value == worse["faithful_p"].value == 1
    assert worse["adherence_p"].value > 0.95
    unjudged = JudgedAnswer(SAID, None, None, None)
    assert {f.n for f in compared_figures("a.x", [unjudged, GOOD], [GOOD, NONE], 0)} == {1}
    assert system_figures("a.x", [unjudged], 0)[-1].name == "a.x.declined"


def test_what_has_no_golden_answer_is_not_scored_for_adherence(tmp_path: Path) -> None:
    import asyncio

    from evals.judges.local import JudgeLocal

    context = TaskContext(tmp_path, 2, 0, Settings(home=tmp_path))
    asked = [GoldQuestion("Which cream?"), GoldQuestion("What is used?", "A soft cream is used daily.")]
    rows = asyncio.run(judged("naive.x", asked, [SAID, SAID], JudgeLocal(WordEncoder()), context))
    assert rows[0].adherence is None
    assert rows[1].adherence is not None
    assert [r.faithful for r in rows] == [True, True]


class Index:
    """Knows one question, at the similarity that it is given."""

    def __init__(self, similarity: float) -> None:
        self.similarity = similarity

    def __len__(self) -> int:
        return 1

    def search_many(self, questions: list[str], limit: int) -> list[list[IndexedHit]]:
        question = Question(text="q", answers=(), writer="w")
        return [[IndexedHit(document="aa", question=question, start=0, end=11, score=1.0, similarity=self.similarity)]]


def test_systems_give_what_they_found_and_nothing_else(tmp_path: Path) -> None:
    context = TaskContext(tmp_path, 2, 0, Settings(home=tmp_path))
    search = PassageSearch(SET, WordEncoder(), WordEncoder(), context)
    found = naive(search)("aa")
    assert found.text.startswith("Aaa aaa aa.")
    assert len(found.statements) <= SENTENCES
    assert len(found.portions) <= SUPPLIED
    assert all(s.citations[0].quote == s.text for s in found.statements)
    assert by_index(Index(0.9), SET)("aa").text == "Aaa aaa aa."  # type: ignore[arg-type]
    assert by_index(Index(0.7), SET)("aa").declined  # type: ignore[arg-type]
    given: list[list[str]] = []

    def ask(text: str, options: object = None, supplied: object = ()) -> Answer:
        given.append(list(supplied))  # type: ignore[call-overload]
        return Answer(question=text, kind="evidence", language="en")

    assert by_agent(ask, search, 7)("aa").declined  # type: ignore[arg-type]
    by_agent(ask, None, 7)("aa")  # type: ignore[arg-type]
    assert given[0][0] == "Aaa aaa"
    assert given[1] == []


def test_golden_answers_are_the_pages_own(tmp_path: Path) -> None:
    (tmp_path / "medquad").mkdir()
    page = {"url": "u", "text": "All of it.", "segments": [{"question": "Why?", "text": "So."}]}
    (tmp_path / QBRAG_PAGES).write_text(json.dumps(page) + "\n")
    (tmp_path / QBRAG_QUESTIONS).write_text(json.dumps({"question": "Why?", "url": "u", "gold_urls": ["u"]}) + "\n")
    context = TaskContext(tmp_path, 5, 0, Settings(home=tmp_path))
    assert read_medquad(context).asked == (GoldQuestion("Why?", "So."),)
    (tmp_path / QBRAG_QUESTIONS).write_text(json.dumps({"question": "How?", "url": "u", "gold_urls": ["u"]}) + "\n")
    with pytest.raises(DataError, match="no answer on its page"):
        read_medquad(context)
    own = read_library_questions(context, ())
    assert len(own.asked) == 5
    assert not any(question.golden for question in own.asked)

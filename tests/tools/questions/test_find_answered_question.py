"""The question tool: the same question is answered, a near one is only evidence, any other is nothing."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import Outcome, Tool, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.evidence import EvidenceId, cite, verify_citation
from tools.library.collection import Library
from tools.library.document import Document, make_document
from tools.library.monograph import read_monograph
from tools.questions.tool import (
    ALIKE,
    NEAR_QUESTION,
    SAME_QUESTION,
    FindAnsweredQuestion,
    _score,
    same_subject,
    subject_words,
)
from tools.yaml_files import read_yaml

STARTER = Path(__file__).parents[3] / "tools" / "library" / "starter"
PARAPHRASES = read_yaml(Path(__file__).with_name("paraphrases.yaml"))
TODAY = date(2026, 12, 1)
# The documents whose questions come nearest to those that the library does not answer.
NEAREST_TO_OTHERS = {
    "breast-cancer-screening-mammography",
    "spontaneous-rib-fracture",
    "statins-primary-prevention",
    "aspirin-primary-prevention",
}


def ask(library: Library, question: str, today: date = TODAY, **fields: Any) -> ToolArtifact:
    tool: Tool = FindAnsweredQuestion(library, today)
    return asyncio.run(tool.run(Arguments(question=question, **fields), ToolContext(question=question)))


def test_the_same_question_is_answered_with_an_exact_span(library: Library) -> None:
    artifact = ask(library, "How long will the cough from bronchitis last?")
    assert artifact.outcome is Outcome.OK
    best = artifact.answered[0]
    assert best.question == "How long does the cough of acute bronchitis last?"
    assert best.similarity >= SAME_QUESTION
    assert best.evidence.text[best.start : best.end].startswith(
        "The cough of acute bronchitis usually lasts two to three"
    )
    assert verify_citation(cite(best.evidence, best.start, best.end), best.evidence)
    span = EvidenceId.parse(best.evidence.id)
    assert library.document(best.evidence.id).text[span.start : span.end] == best.evidence.text
    assert artifact.evidence[0].id == best.evidence.id
    assert best.evidence.found[0].stream == "question"
    assert artifact.notices == []


def test_a_question_of_the_library_finds_itself_with_full_similarity(library: Library) -> None:
    for document in library.documents:
        for question in document.questions:
            best = ask(library, question.text).answered[0]
            assert best.question == question.text
            assert best.similarity == pytest.approx(1.0, abs=1e-4)
            text = document.text[question.start : question.end]
            assert best.evidence.text[best.start : best.end] == text


def test_a_near_question_gives_evidence_with_a_notice_and_no_answer(library: Library) -> None:
    artifact = ask(library, "Do statins cause hair loss?")
    assert artifact.answered == []
    assert artifact.outcome is Outcome.OK
    assert artifact.evidence
    assert [n.code for n in artifact.notices] == ["near_question_only"]
    assert all(NEAR_QUESTION <= s["similarity"] < SAME_QUESTION for s in artifact.strategy)


@pytest.mark.parametrize("question", ["What causes kidney stones?", "What is the capital of Mongolia?", "你好"])
def test_any_other_question_finds_nothing(library: Library, question: str) -> None:
    artifact = ask(library, question)
    assert (artifact.outcome, artifact.evidence, artifact.answered) == (Outcome.NOTHING_FOUND, [], [])


def test_questions_answered_in_one_paragraph_share_one_piece_of_evidence(library: Library) -> None:
    artifact = ask(library, "How long does the cough of acute bronchitis last?", limit=20)
    assert len({e.id for e in artifact.evidence}) == len(artifact.evidence)
    assert {a.evidence.id for a in artifact.answered} == {e.id for e in artifact.evidence}
    assert len(ask(library, "How long does the cough of acute bronchitis last?", limit=1).answered) == 1


def test_an_answer_past_its_review_date_says_so(library: Library) -> None:
    late = ask(library, "How long does the cough of acute bronchitis last?", today=date(2031, 1, 1))
    assert [n.code for n in late.notices] == ["past_review_date"]
    assert late.answered


def test_the_thresholds_hold_on_rewordings(encoder: Encoder) -> None:
    names = {p["document"] for p in PARAPHRASES["same"]} | NEAREST_TO_OTHERS
    known = [q.q for name in sorted(names) for q in read_monograph(STARTER / f"{name}.md").front.questions]
    asked = [*(p["q"] for p in PARAPHRASES["same"]), *PARAPHRASES["other"]]
    assert not set(asked) & set(known)
    best = (encoder.encode_queries(asked) @ encoder.encode_documents(known).T).max(axis=1)
    count = len(PARAPHRASES["same"])
    assert min(best[:count]) >= SAME_QUESTION
    assert max(best[count:]) < SAME_QUESTION
    assert sum(best[count:] < NEAR_QUESTION) >= 0.5 * len(PARAPHRASES["other"])
    assert max(best[count:]) >= NEAR_QUESTION  # the set is a hard one


@pytest.fixture(scope="module")
def starter(encoder: Encoder) -> dict[str, Document]:
    return {path.stem: make_document(read_monograph(path), encoder) for path in sorted(STARTER.glob("*.md"))}


def test_questions_that_read_alike_about_two_things_are_not_the_same(starter: dict[str, Document]) -> None:
    subjects = subject_words(tuple(d.title for d in starter.values()))
    for asked, known, document in PARAPHRASES["different"]:
        assert not same_subject(asked, known, starter[document], subjects), asked


def test_rewordings_stay_the_same_subject(starter: dict[str, Document]) -> None:
    subjects = subject_words(tuple(d.title for d in starter.values()))
    kept = [
        any(same_subject(p["q"], q.text, starter[p["document"]], subjects) for q in starter[p["document"]].questions)
        for p in PARAPHRASES["same"]
    ]
    assert sum(kept) >= 0.9 * len(kept)
    for document in starter.values():
        assert all(same_subject(q.text, q.text, document, subjects) for q in document.questions)


def test_what_asks_nearly_the_same_and_holds_all_words_stands_before_sentences_that_were_found(
    library: Library,
) -> None:
    (near, *_) = library.search_questions("How is gastro-oesophageal reflux disease treated?", 1)
    asked = near.question.text
    nearly, found = near.model_copy(update={"similarity": ALIKE}), near.model_copy(update={"direct": True})
    assert _score(nearly, asked) > _score(found.model_copy(update={"similarity": 1.0}), asked)
    assert _score(nearly, f"{asked} On a bicycle?") < _score(found, asked)


def test_a_sentence_that_is_a_paragraph_by_itself_stands_as_a_sentence(library: Library) -> None:
    (near, *_) = library.search_questions("How is gastro-oesophageal reflux disease treated?", 1)
    place = {"paragraph_start": near.question.start, "paragraph_end": near.question.end}
    sentence = near.question.model_copy(update=place)
    found = near.model_copy(update={"direct": True, "question": sentence})
    assert _score(found, near.question.text)[0] < _score(found, "What helps with reflux?")[0]

"""Questions that an answer suggests are of the documents that it cites, and are answered from them when asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.adapters import ON_SUBJECT, DocumentQuestions
from agent.agent import Agent
from agent.settings import load_settings
from graphs.answering.contract import Answer
from support.homes import linked
from tools.encoders import Encoder
from tools.evidence import EvidenceId
from tools.library.collection import Library

ASKED = ("What causes gout?", "How is croup treated?")


@pytest.fixture(scope="module")
def agent(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    home = linked(built_home, tmp_path_factory.mktemp("suggested") / "home")
    with Agent(load_settings(home=home, literature={"live": "off"})) as made:
        yield made


def cited(answer: Answer) -> list[tuple[str, int, int]]:
    """Document and characters of every quote."""
    told = [(EvidenceId.parse(c.evidence_id), c) for s in answer.statements for c in s.citations]
    return [(of.document_id, (of.start or 0) + c.start, (of.start or 0) + c.end) for of, c in told]


@pytest.mark.parametrize("question", ASKED)
def test_a_suggested_question_is_answered_from_its_document(agent: Agent, question: str) -> None:
    session = agent.session()
    first = session.ask(question)
    assert len(first.suggested) == 2
    documents = {document for document, _, _ in cited(first)}
    assert agent.parts.document is not None
    known = {q.text: (d.id, q) for d in map(agent.parts.document, documents) for q in d.questions}
    for text in first.suggested:
        document, written = known[text]
        answer = session.ask(text)
        assert (answer.kind, answer.question) == ("evidence", text)
        assert any(d == document and s < written.end and written.start < e for d, s, e in cited(answer)), text
        assert question not in answer.suggested
        assert text not in answer.suggested


def test_a_chinese_question_gets_no_english_suggestion(agent: Agent) -> None:
    answer = agent.ask("痛风的原因是什么？")
    assert "library:gout" in {document for document, _, _ in cited(answer)}
    assert answer.suggested == []


def test_known_questions_come_nearest_first_and_none_of_another_subject(built_home: Path, encoder: Encoder) -> None:
    questions = DocumentQuestions(Library.open(built_home / "indexes" / "library", encoder), encoder)
    found = questions.of("What causes gout?", ["library:tonsillitis", "library:gout", "library:no-such", "pubmed:1"])
    assert {hit.document.id for hit in found} == {"library:gout"}
    assert found[0].question.text == "What causes gout?"
    near = [hit.similarity for hit in found]
    assert near == sorted(near, reverse=True)
    assert near[0] == pytest.approx(1.0, abs=1e-3)
    assert near[-1] >= ON_SUBJECT
    assert questions.of("What causes gout?", ["library:no-such"]) == []

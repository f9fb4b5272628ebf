"""Generated questions in the tool: beside the library's own, only while their document is as it was."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import Severity, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.library.collection import Library
from tools.questions.building import build
from tools.questions.collection import of_library, own_questions
from tools.questions.index import PreparedQuestions
from tools.questions.learning import Learning, read
from tools.questions.settings import BuildSettings, QuestionSettings, SearchSettings
from tools.questions.tool import FindAnsweredQuestion


@pytest.fixture(scope="module")
def folder(library: Library, encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared") / "starter"
    asyncio.run(build(of_library(library.documents), folder, encoder, BuildSettings(per_document=30)))
    return folder


def tool(library: Library, folder: Path, encoder: Encoder, **settings: object) -> FindAnsweredQuestion:
    prepared = PreparedQuestions(library, [folder, folder.with_name("not-built")], encoder, SearchSettings())
    return FindAnsweredQuestion(library, settings=QuestionSettings.model_validate(settings), prepared=prepared)


def ask(asked: FindAnsweredQuestion, question: str, kind: str = "evidence") -> ToolArtifact:
    return asyncio.run(asked.run(Arguments(question=question, limit=3), ToolContext(question=question, kind=kind)))


def test_a_statement_that_no_own_question_asks_for_is_found(library: Library, folder: Path, encoder: Encoder) -> None:
    document = next(d for d in library.documents if d.id == "library:gerd")
    statement = "Is it true that antacids or alginates suit occasional symptoms of gastro-oesophageal reflux disease?"
    found = ask(tool(library, folder, encoder, stored="generated"), statement)
    assert found.strategy[0]["generated"]
    best = found.answered[0]
    assert best.evidence.document_id == document.id
    assert best.evidence.text in document.text
    assert "Antacids or alginates" in best.evidence.text[best.start : best.end]


def test_the_librarys_own_question_stands_before_a_generated_one_of_its_document(
    library: Library, folder: Path, encoder: Encoder
) -> None:
    found = ask(tool(library, folder, encoder), "What causes acid reflux?")
    assert found.answered[0].question == "What causes acid reflux?"
    documents = [a.evidence.document_id for a in found.answered]
    assert documents.count("library:gerd") == 1


@pytest.mark.parametrize("question", ["What causes kidney stones?", "What is the capital of Mongolia?"])
def test_what_no_document_tells_of_is_not_answered(
    question: str, library: Library, folder: Path, encoder: Encoder
) -> None:
    asked = tool(library, folder, encoder)
    assert ask(asked, question).answered == []
    assert not asked.answers(question)
    assert asked.answers("What causes acid reflux?")


def test_a_document_that_has_changed_since_gives_no_generated_question(
    library: Library, folder: Path, encoder: Encoder
) -> None:
    class Changed:
        def document(self, id: str) -> object:
            held = library.document(id)
            return held.model_copy(update={"text": held.text + " "})

    prepared = PreparedQuestions(Changed(), [folder], encoder)  # type: ignore[arg-type]
    assert prepared.search("What helps against acid reflux?", 5) == []
    assert PreparedQuestions(library, [folder], encoder).search("What helps against acid reflux?", 5)


def test_only_questions_of_evidence_that_were_answered_are_noted(
    library: Library, folder: Path, encoder: Encoder, tmp_path: Path
) -> None:
    file = tmp_path / "learnt.yaml"
    learning = Learning(file, library.public_words.frequencies)
    asked = FindAnsweredQuestion(library, learn=learning)
    ask(asked, "How long will the cough from bronchitis last?", kind="case")
    ask(asked, "Does my cough of acute bronchitis last long?")
    ask(asked, "How long does the cough of acute bronchitis last?")  # it is there already, word for word
    assert not file.exists()
    ask(asked, "How long will the cough from bronchitis last?")
    assert [n.question for n in read(file)] == ["How long will the cough from bronchitis last?"]
    assert read(file)[0].quote.startswith("The cough of acute bronchitis usually lasts")


def test_notes_that_cannot_be_read_are_told_and_the_answer_stands(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "learnt.yaml"
    file.write_text("- question: [")
    asked = FindAnsweredQuestion(library, learn=Learning(file, library.public_words.frequencies))
    found = ask(asked, "How long will the cough from bronchitis last?")
    assert found.answered
    assert [(n.code, n.severity) for n in found.notices] == [("question_notes", Severity.WARNING)]
    assert file.read_text() == "- question: ["


def test_a_librarys_own_questions_can_be_indexed_too(library: Library, encoder: Encoder, tmp_path: Path) -> None:
    own = own_questions(library.documents)
    assert len(own) == sum(len(d.questions) for d in library.documents)
    one = [d for d in library.documents if d.id == "library:gerd"]
    report = asyncio.run(build(of_library(one), tmp_path / "i", encoder, BuildSettings(per_document=1), given=own))
    assert report.questions == 1 + len(one[0].questions)


def test_an_index_of_another_encoder_is_left_out_and_told(library: Library, folder: Path, encoder: Encoder) -> None:
    class Other:
        name, dimension, limit = "another", encoder.dimension, encoder.limit

        def __getattr__(self, wanted: str) -> object:
            return getattr(encoder, wanted)

    asked = FindAnsweredQuestion(library, prepared=PreparedQuestions(library, [folder], Other()))  # type: ignore[arg-type]
    found = ask(asked, "What causes acid reflux?")
    assert found.answered[0].question == "What causes acid reflux?"
    assert [n.code for n in found.notices] == ["question_index"]
    assert "another" in found.notices[0].text

"""What pages of medicines answer: may it be taken, and what is asked of one medicine by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolContext
from tools.encoders import MiniLMEncoder
from tools.library.build import build_library
from tools.library.collection import Library
from tools.medicines.pages import starter_pages
from tools.questions.medicines import MedicineQuestions
from tools.questions.tool import FindAnsweredQuestion

STARTER = Path(__file__).parents[3] / "tools" / "library" / "starter"
MEDICINES = ("sildenafil", "glyceryl-trinitrate", "ibuprofen", "amlodipine")


@pytest.fixture(name="library", scope="module")
def _library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A monograph, and the pages of a few medicines beside it."""
    source, built = tmp_path_factory.mktemp("pages"), tmp_path_factory.mktemp("built")
    (source / "gout.md").write_bytes((STARTER / "gout.md").read_bytes())
    encoder = MiniLMEncoder()
    pages = [p for p in starter_pages() if p.front.id in MEDICINES]
    assert build_library(source, built / "library", encoder, more=pages)
    assert not build_library(source, built / "library", encoder, more=pages)
    assert build_library(source, built / "library", encoder, more=pages[:3])
    build_library(source, built / "library", encoder, more=pages)
    return Library.open(built / "library", encoder)


@pytest.fixture(name="medicines")
def _medicines(library: Library) -> MedicineQuestions:
    return MedicineQuestions(library, library.encoder)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What are the side effects of amlodipine?", "Side effects"),
        ("norvasc adverse effects", "Side effects"),
        ("What is Viagra used for?", "Uses"),
        ("How does sildenafil work?", "What it is"),
        ("Which drugs does ibuprofen interact with?", "Interactions"),
        ("Who should not take ibuprofen?", "Who should not take it"),
    ],
)
def test_what_is_asked_of_a_medicine_is_told_from_its_part(
    medicines: MedicineQuestions, question: str, about: str
) -> None:
    (hit,) = medicines.search(question)
    assert hit.document.section_at(hit.question.start) == about
    assert hit.answer == ""


@pytest.mark.parametrize(
    "question",
    ["How much ibuprofen should I take?", "Does amlodipine reduce mortality in heart failure?", "How is gout treated?",
     "What is the dose of amlodipine in children?", "What are the side effects of metformin?"],
)  # fmt: skip
def test_what_no_page_answers_is_left_to_the_search(medicines: MedicineQuestions, question: str) -> None:
    """The last one names a medicine whose page this library lacks."""
    assert medicines.search(question) == []


def test_a_check_comes_first_with_its_answer_and_its_exact_words(
    library: Library, medicines: MedicineQuestions
) -> None:
    tool = FindAnsweredQuestion(library, medicines=medicines)
    context = ToolContext(question="Can I give GTN?", case="A man of 67 with chest pain. He takes sildenafil.")
    made = asyncio.run(tool.run(Arguments(question="Can I give GTN?"), context))
    first = made.answered[0]
    assert first.answer == "no"
    assert first.evidence.document_id in ("library:sildenafil", "library:glyceryl-trinitrate")
    assert first.evidence.text[first.start : first.end] == first.evidence.text
    assert library.document(first.evidence.id).text.count(first.evidence.text) == 1


def test_pages_are_no_documents_that_questions_are_written_for(library: Library) -> None:
    from tools.questions.collection import of_library

    assert [d.id for d in of_library(library.documents)] == ["library:gout"]
    assert len(library) == 1 + len(MEDICINES)


def test_a_part_that_a_page_lacks_is_not_told(medicines: MedicineQuestions) -> None:
    assert medicines._hit("sildenafil", "storage", "", "") is None

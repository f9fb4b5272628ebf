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
from tools.questions.sentences import NEAREST, MedicineQuestions, SentenceQuestions
from tools.questions.tool import FindAnsweredQuestion
from tools.reading.answering import part_asked
from tools.reading.reader import TrainedReader

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
    return MedicineQuestions(library, TrainedReader())


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What are the side effects of amlodipine?", "Side effects"),
        ("norvasc adverse effects", "Side effects"),
        ("What is Viagra used for?", "Uses"),
        ("Who should not take ibuprofen?", "Who should not take it"),
    ],
)
def test_what_is_asked_of_a_medicine_is_told_from_its_part(library: Library, question: str, about: str) -> None:
    best = SentenceQuestions(library).search(question)[0]
    assert best.document.section_at(best.question.start) == about
    assert best.answer == ""


def test_a_question_that_names_none_is_of_the_medicine_that_was_named_before(library: Library) -> None:
    best = SentenceQuestions(library).search("what are the side effects", "What is amlodipine used for?")[0]
    assert best.document.id == "library:amlodipine"


def test_the_page_of_a_medicine_is_evidence_where_nothing_surely_answers(library: Library) -> None:
    beside = SentenceQuestions(library).beside("Does amlodipine turn the hair grey?")
    assert len(beside) == NEAREST
    assert {(h.document.id, h.direct, h.similarity) for h in beside} == {("library:amlodipine", False, 0.0)}
    assert SentenceQuestions(library).beside("Does metformin turn the hair grey?") == []
    assert SentenceQuestions(library).beside("Do trials show that amlodipine reduces mortality?") == []


@pytest.mark.parametrize("question", ["How much ibuprofen should I take?", "How is gout treated?", "ibuprofen"])
def test_what_asks_for_no_check_gets_none(medicines: MedicineQuestions, question: str) -> None:
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


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("When in the day should perindopril be taken?", "taking it"),
        ("I skipped a tablet of edoxaban, what do I do?", "taking it"),
        ("What is nebivolol used for?", "uses"),
        ("Which blood tests does ciclosporin need?", "monitoring"),
        ("What is the price of tadalafil?", ""),
        ("How many mg of prednisolone do I take?", ""),
    ],
)
def test_a_question_tells_which_part_of_a_medicines_page_it_asks_for(question: str, part: str) -> None:
    assert part_asked(question) == part


def test_how_one_works_and_when_is_told_from_its_page(library: Library) -> None:
    """ "Work" and "help" ask for studies elsewhere."""
    hits = SentenceQuestions(library).search("How does amlodipine work?")
    assert {hit.document.id for hit in hits} == {"library:amlodipine"}

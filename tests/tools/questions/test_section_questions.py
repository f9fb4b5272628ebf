"""A question that a whole section answers: which section, whose, and what asks for one thing only."""

from __future__ import annotations

import asyncio

import pytest

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolContext
from tools.library.collection import Library
from tools.questions.sections import SectionQuestions, _opens_with
from tools.questions.sentences import SentenceQuestions
from tools.questions.tool import FindAnsweredQuestion


@pytest.fixture(name="sections")
def _sections(pages: Library) -> SectionQuestions:
    return SectionQuestions(pages, lambda title: {title: ("acid reflux",)} if "reflux" in title else {})


@pytest.mark.parametrize(
    ("question", "document", "section"),
    [
        ("How is gout treated?", "gout", "Treatment"),
        ("what do doctors do for croup", "croup", "Treatment"),
        ("How do you confirm a myocardial infarction?", "myocardial-infarction", "Diagnosis"),
        ("What are the symptoms of appendicitis?", "acute-appendicitis", "Presentation"),
        ("what causes shingles", "shingles", "Overview"),
        (
            "When should someone with Guillain Barre syndrome go to hospital?",
            "guillain-barre-syndrome",
            "When to seek help",
        ),
        ("What can be mistaken for Parkinsons disease?", "parkinsons-disease", "Confused with"),
        ("treatment of acid reflux", "gerd", "Treatment"),
    ],
)
def test_a_section_is_found_by_what_is_asked_and_by_its_subject(
    sections: SectionQuestions, question: str, document: str, section: str
) -> None:
    best = sections.search(question)[0]
    assert best.direct
    assert best.document.id == f"library:{document}"
    assert best.document.section_at(best.question.start) == section
    told = next(s for s in best.document.sections if s.title == section)
    assert (best.question.start, best.question.end) == (told.start, told.end)


@pytest.mark.parametrize(
    "question",
    [
        "Can I drink beer with gout?",
        "Does a child with croup need an X-ray?",
        "What dose of dexamethasone is used for croup?",
        "Do statins help in primary prevention?",
        "How is malaria treated?",
        "",
    ],
)
def test_what_asks_for_one_thing_or_of_another_disease_finds_no_section(
    sections: SectionQuestions, question: str
) -> None:
    assert sections.search(question) == []


def test_the_tool_answers_with_the_section_and_keeps_what_was_written_for_the_question(
    pages: Library,
) -> None:
    tool = FindAnsweredQuestion(pages, sentences=SentenceQuestions(pages))

    def asked(question: str) -> tuple[str, str]:
        best = asyncio.run(tool.run(Arguments(question=question), ToolContext(question=question))).answered[0]
        return best.question, best.evidence.text[best.start : best.end]

    question, told = asked("How is gout treated?")
    assert question == "How is gout treated?"
    assert told.startswith("A non-steroidal anti-inflammatory drug")
    assert "Stop allopurinol at once if a rash appears." in told
    question, told = asked("What is the first treatment for a gout flare?")
    assert question == "What is the first treatment for a gout flare?"
    assert "Rest and ice" not in told


def test_paragraphs_of_a_section_are_taken_up_to_a_heading_within_it(sections: SectionQuestions) -> None:
    best = sections.search("How is reed fever treated?")[0]
    told = best.document.text[best.question.start : best.question.end]
    assert told.split("\n\n") == [
        "Rest and fluids are enough for most people with reed fever.",
        "Doxycycline is given where the fever lasts.",
    ]
    assert sections.search("When should someone with reed fever go to hospital?") == []


def test_a_document_named_by_its_title_stands_before_one_known_by_another_name(pages: Library) -> None:
    """Croup, where gout is known as croup too: only croup's own section is stated."""
    sections = SectionQuestions(pages, lambda title: {title: ("croup", "podagra")} if title == "Gout" else {})
    assert [h.document.id for h in sections.search("How is croup treated?")] == ["library:croup"]
    assert [h.document.id for h in sections.search("How is podagra treated?")] == ["library:gout"]


@pytest.mark.parametrize(
    ("question", "opens"),
    [
        ("How is a coronary artery spasm treated?", False),
        ("What helps when a coronary artery ruptures?", True),
        ("What helps with a ruptured spleen?", False),  # one word of it is another disease's
    ],
)
def test_what_shares_one_word_with_a_question_is_not_what_it_asks_of(
    pages: Library, question: str, opens: bool
) -> None:
    assert _opens_with(pages.document("myocardial-infarction"), question) is opens

"""The sentences that answer a question: of whose page, which of them, and none where none does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolContext
from tools.encoders import MiniLMEncoder
from tools.library.build import build_library
from tools.library.collection import Library
from tools.questions.sentences import LONGEST, SentenceQuestions
from tools.questions.tool import FindAnsweredQuestion
from tools.reading.answering import Told, answering


@pytest.fixture(name="sentences")
def _sentences(pages: Library) -> SentenceQuestions:
    return SentenceQuestions(pages, lambda title: {title: ("acid reflux",)} if "reflux" in title else {})


def _told(sentences: SentenceQuestions, question: str) -> list[str]:
    return [h.document.text[h.question.start : h.question.end] for h in sentences.search(question)]


@pytest.mark.parametrize(
    ("question", "document", "words"),
    [
        ("which tablets for a gout flare", "gout", "non-steroidal anti-inflammatory"),
        ("what do doctors give for croup", "croup", "dexamethasone"),
        ("what blood test shows a myocardial infarction", "myocardial-infarction", "troponin"),
        ("how do i tell croup from epiglottitis", "croup", "Epiglottitis"),
        ("who gets shingles and why", "shingles", "varicella"),
    ],
)
def test_the_sentences_answer_what_is_asked_of_the_subject(
    sentences: SentenceQuestions, question: str, document: str, words: str
) -> None:
    hits = sentences.search(question)
    assert {(h.direct, h.document.id) for h in hits} == {(True, f"library:{document}")}
    assert any(words in said for said in _told(sentences, question))


@pytest.mark.parametrize("question", ["How is malaria treated?", "痛风怎么治疗?", "", "Is beer bad for gout?"])
def test_nothing_is_told_of_what_no_page_tells_nor_to_a_closed_question(
    sentences: SentenceQuestions, question: str
) -> None:
    assert sentences.search(question) == []


def test_sentences_are_whole_in_their_paragraph_and_best_first(sentences: SentenceQuestions) -> None:
    hits = sentences.search("how long does croup last?")
    assert 1 <= len(hits) <= 5
    for hit in hits:
        said = hit.document.text[hit.question.start : hit.question.end]
        assert said[0].isupper()
        assert said.endswith(".")
        assert hit.question.paragraph_start <= hit.question.start < hit.question.end <= hit.question.paragraph_end
    assert [h.similarity for h in hits] == sorted((h.similarity for h in hits), reverse=True)


def test_the_tool_answers_with_the_sentences_and_keeps_what_was_written_for_the_question(
    pages: Library, sentences: SentenceQuestions
) -> None:
    tool = FindAnsweredQuestion(pages, sentences=sentences)

    def asked(question: str) -> list[str]:
        found = asyncio.run(tool.run(Arguments(question=question), ToolContext(question=question))).answered
        return [a.evidence.text[a.start : a.end] for a in found]

    told = asked("how long does croup last")
    assert told[0].startswith("Most children have mild illness")
    assert set(told[1:]) <= set(_told(sentences, "how long does croup last"))
    written = asked("What is the first treatment for a gout flare?")
    assert written[0].startswith("A non-steroidal anti-inflammatory drug")


def test_a_document_named_by_its_title_stands_before_others_found(pages: Library) -> None:
    sentences = SentenceQuestions(pages, lambda title: {title: ("podagra",)} if title == "Gout" else {})
    assert {h.document.id for h in sentences.search("How is podagra treated?")} == {"library:gout"}
    assert {h.document.id for h in sentences.search("How is croup treated?")} == {"library:croup"}


def test_a_document_that_is_too_long_is_left_to_the_search_of_passages(tmp_path: Path, own_page: str) -> None:
    source = tmp_path / "pages"
    source.mkdir()
    long = own_page + "\n\n".join(f"Reed fever was seen {n} times in one year." for n in range(LONGEST))
    (source / "reed-fever.md").write_text(long, encoding="utf-8")
    encoder = MiniLMEncoder()
    build_library(source, tmp_path / "library", encoder)
    assert (
        SentenceQuestions(Library.open(tmp_path / "library", encoder)).search(
            "how often was reed fever seen in one year"
        )
        == []
    )


def test_probabilities_are_of_each_sentence_and_of_none() -> None:
    page = [
        Told("Colchicine eases a gout flare.", "Gout", "Treatment", 0),
        Told("Gout is common.", "Gout", "Overview", 0),
    ]
    shares = answering("what eases a gout flare", page)
    assert shares.shape == (3,)
    assert abs(float(shares.sum()) - 1) < 1e-5
    assert shares[0] > shares[1]
    assert answering("what eases a gout flare", []).tolist() == [1.0]


def test_the_part_of_a_page_that_is_surely_asked_for_leads_whatever_words_another_shares() -> None:
    said = [
        ("Fluoxetine blocks serotonin reuptake and stays in the body for weeks.", "What it is"),
        ("Fluoxetine takes two to four weeks or longer to work.", "Taking it"),
    ]
    shares = answering("How does fluoxetine work?", [Told(text, "Fluoxetine", part, 0) for text, part in said])
    assert shares[0] > shares[1]

"""The local writer: questions come from the document's own words, with the place that answers them."""

from __future__ import annotations

import asyncio
import re
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.small_pages import pages
from tools.questions.contract import SourceDocument
from tools.questions.kinds import kinds
from tools.questions.local import WriterLocal, questions_of, subjects
from tools.questions.outline import PieceKind, outline, spread
from tools.questions.settings import BuildSettings

GOUT = pages("gout")[0]


def texts(document: SourceDocument, wanted: int = 24) -> list[str]:
    return [q.text for q in asyncio.run(WriterLocal().write(document, wanted))]


@pytest.mark.parametrize(
    ("statement", "asked"),
    [
        ("Allopurinol lowers uric acid in the blood.", "What lowers uric acid in the blood?"),
        ("Gout is caused by crystals of uric acid.", "What is gout caused by?"),
        ("The symptoms of scurvy are bleeding gums and bruises.", "What are the symptoms of scurvy?"),
        ("Call an ambulance if the child turns blue.", "When should I call an ambulance if the child turns blue?"),
        ("If you miss a dose, take it as soon as you remember.", "What should I do if you miss a dose?"),
        ("It can damage the kidneys.", "Can gout damage the kidneys?"),
    ],
)
def test_a_statement_becomes_the_question_that_it_answers(statement: str, asked: str) -> None:
    assert asked in list(questions_of(statement, "gout"))


def test_a_clause_that_stands_for_nothing_is_no_subject() -> None:
    assert list(questions_of("If it is hot, this can hurt.", "gout")) == []
    assert not any(" it " in q for q in questions_of("These are often mild.", "gout"))


def test_every_statement_of_a_page_is_asked_for_with_its_own_place() -> None:
    found = asyncio.run(WriterLocal().write(GOUT, 24))
    places = {GOUT.text[q.answers[0].start : q.answers[0].end] for q in found}
    statements = {GOUT.text[p.start : p.end] for p in outline(GOUT.text) if p.kind is PieceKind.STATEMENT}
    assert statements <= places
    assert {q.answers[0].document for q in found} == {GOUT.id}
    assert "How is gout treated?" in [q.text for q in found]


def test_no_question_stands_twice_and_no_more_are_written_than_wanted() -> None:
    assert len(texts(GOUT, 5)) == 5
    many = texts(GOUT, 200)
    assert len({t.casefold() for t in many}) == len(many)


def test_a_question_of_the_text_is_taken_over_with_the_statement_behind_it() -> None:
    text = "How might Myhre syndrome be treated? Treatment of this condition is supportive. Children need a team."
    first = asyncio.run(WriterLocal().write(SourceDocument(id="own:m", text=text), 9))[0]
    assert first.text == "How might Myhre syndrome be treated?"
    assert text[first.answers[0].start : first.answers[0].end] == "Treatment of this condition is supportive."


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Mutations in the WNK4 gene cause Gordon syndrome. The gene makes a protein.", "Gordon syndrome"),
        ("Dystonia musculorum (DM) is rare. People with DM walk late.", "dystonia musculorum"),
        ("This condition is rare. The prognosis of nail-patella syndrome is good.", "nail-patella syndrome"),
    ],
)
def test_a_text_without_title_tells_what_it_is_about(text: str, subject: str) -> None:
    assert subjects("", text, outline(text), lambda _: 1.0)[0].lower() == subject.lower()


def test_a_long_document_is_asked_for_from_its_beginning_to_its_end() -> None:
    names = [f"{a}{b}olol" for a in "bcdfghklmnprst" for b in ("a", "e", "i", "o", "u")]
    text = "\n".join(f"The medicine {name} lowers the pressure of blood in region {n}." for n, name in enumerate(names))
    document = SourceDocument(id="own:l", title="Medicines", text=text)
    places = sorted(q.answers[0].start / len(text) for q in WriterLocal().write_now(document, 24))
    for quarter in range(4):
        assert sum(quarter <= 4 * place < quarter + 1 for place in places) >= 4


def test_a_longer_document_gets_more_questions_up_to_a_bound() -> None:
    settings = BuildSettings(per_document=10, longest=50)
    assert [settings.wanted("word " * n) for n in (10, 440, 880, 8800)] == [10, 10, 20, 50]
    assert settings.wanted("w" + " \n" * 9600) == 10  # white space says nothing
    assert BuildSettings(per_document=60, longest=50).wanted("word") == 60


@given(st.lists(st.integers(), max_size=70), st.integers(1, 70))
def test_every_beginning_of_a_spread_is_even(items: list[int], count: int) -> None:
    assert sorted(spread(items)) == sorted(items)
    places = sorted(spread(range(len(items)))[:count])
    if 1 < count <= len(items):
        gaps = [b - a for a, b in zip([-1, *places], [*places, len(items)], strict=False)]
        assert max(gaps) <= 2 * -(-len(items) // count) + 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("痛风是尿酸结晶引起的关节炎。常见于大脚趾。", "en"),
        ("La goutte est une arthrite.", "fr"),
        ("Gout is a painful arthritis.", "de"),
        ("La goutte est une arthrite des articulations causée par des cristaux. " * 4, "en"),  # so says a reader
    ],
)
def test_another_language_is_left_to_a_model(text: str, language: str) -> None:
    assert texts(SourceDocument(id="own:z", title="Goutte", text=text, language=language)) == []


@pytest.mark.parametrize("language", ["en", "EN-gb", "eng", ""])
def test_english_goes_by_several_names(language: str) -> None:
    assert texts(GOUT.model_copy(update={"language": language}))


PUBLISHED = """what is are s
    what are the symptoms of s
    what are the treatments for s
    is s inherited
    how many people are affected by s
    what are the genetic changes related to s
    what causes s
    how to diagnose s
    what research or clinical trials is being done for s
    what is the outlook for s
    who is at risk for s
    do you have information about s
    what to do for s
    how to prevent s
    what are the stages of s
    what are the complications of s"""  # MedQuAD's, to be kept away from


def test_the_forms_are_not_those_of_a_published_question_set() -> None:
    forms = [form for kind in kinds() for form in kind.forms]
    assert all("{s}" in form for form in forms)
    assert len(set(forms)) == len(forms)
    for form in forms:
        words = re.findall(r"[a-z']+", form.lower())
        for published in map(str.strip, PUBLISHED.split("\n")):
            theirs = published.split()
            near = len(set(words) & set(theirs)) / len(set(words) | set(theirs))
            like = SequenceMatcher(None, " ".join(words), published).ratio()
            assert near <= 0.5, (form, published)
            assert like < 0.75 or near < 0.4, (form, published)  # one alone is chance in so short a text


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abcDE .,?!\n-#*()'0123456789\u00e9", max_size=300), st.integers(1, 30))
def test_any_text_gives_sound_places(text: str, wanted: int) -> None:
    document = SourceDocument(id="own:any", title="A thing", text=text or "x")
    found = WriterLocal().write_now(document, wanted)
    assert len(found) <= wanted
    for question in found:
        answer = question.answers[0]
        assert 0 <= answer.start < answer.end <= len(document.text)
        assert 0 <= answer.support <= 1
        assert question.text.strip()

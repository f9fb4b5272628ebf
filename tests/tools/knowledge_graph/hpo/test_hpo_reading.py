"""Phenotypes in text: by words in any order, denied or not, the patient's own, with exact places."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.encoders import Encoder
from tools.knowledge_graph.hpo.compiled import compile_vectors, load_vectors
from tools.knowledge_graph.hpo.ontology import Ontology
from tools.knowledge_graph.hpo.reading import Reader


def told(ontology: Ontology, text: str) -> list[tuple[str, bool, str]]:
    found = Reader(ontology).read(text).phenotypes
    return [(ontology.names[p.terms[0]], p.present, text[p.start : p.end]) for p in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She has cataracts.", [("Cataract", True, "cataracts")]),
        ("There is loss of hearing.", [("Hearing impairment", True, "loss of hearing")]),
        ("Nuclear cataract, anemia.", [("Nuclear cataract", True, "Nuclear cataract"), ("Anaemia", True, "anemia")]),
        ("No cataract.", [("Cataract", False, "cataract")]),
        ("Absent speech.", [("Absent speech", True, "Absent speech")]),
        ("No hearing loss.", [("Hearing impairment", False, "hearing loss")]),
        ("Fine hair.", [("Fine hair", True, "Fine hair")]),
        (
            "Intellectual disability, moderate.",
            [("Intellectual disability, moderate", True, "Intellectual disability, moderate")],
        ),
        ("I am tired. My mother has a cataract.", []),
    ],
)
def test_terms_are_read(small: Ontology, text: str, expected: list[tuple[str, bool, str]]) -> None:
    assert told(small, text) == expected


def test_words_on_both_sides_of_a_comma_make_no_term(small: Ontology) -> None:
    assert told(small, "He lost weight, hearing is good.") == []


def test_age_and_sex_are_read(small: Ontology) -> None:
    person = Reader(small).read("My daughter is 12 years old and has a cataract.").person
    assert (person.age, person.sex) == (12, "female")


def test_other_words_are_read_by_their_meaning(small: Ontology, encoder: Encoder, tmp_path: Path) -> None:
    compile_vectors(small, encoder, tmp_path)
    reader = Reader(small, encoder, load_vectors(small, encoder, tmp_path))
    text = "She cannot hear well."
    found = reader.read(text).phenotypes
    assert [small.names[p.terms[0]] for p in found] == ["Hearing impairment"]
    assert text[found[0].start : found[0].end] in text
    assert sum(found[0].weights) == pytest.approx(1)
    assert found[0].trust < 1


@given(st.text(max_size=80))
def test_any_text_is_read_and_places_are_exact(small: Ontology, text: str) -> None:
    for item in Reader(small).read(text).phenotypes:
        assert 0 <= item.start < item.end <= len(text)

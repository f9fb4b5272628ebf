"""Nothing of the persons in a text gets into a plan, to PubMed, or to its spelling service."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.search_words import starter_vocabulary
from tools.literature.adapt_e.local import QueryPlannerLocal
from tools.literature.article import Article
from tools.literature.client import SearchResult
from tools.literature.ladder import adapt_e

TODAY = date(2026, 12, 1)
PLANNER = QueryPlannerLocal(starter_vocabulary(), today=TODAY)


NARRATIVES = [
    (
        (
            "My aunt Rosalind keeps pigeons in Bradford and last week the hospital told her that she has a clot "
            "in the lung. She is 71 and stubborn. They gave her apixaban tablets. Does she really need to take "
            "them for six months?"
        ),
        {"apixaban", "pulmonary embolism"},
    ),
    (
        (
            "Hello Tobias, sorry to bother you before the choir trip. A student of ours asked whether infliximab "
            "works for ulcerative colitis when steroids have failed. I could only shrug. Yours, Annika"
        ),
        {"colitis", "infliximab"},
    ),
    (
        (
            "Dad drives a lorry and was put on water tablets for his heart failure in March. Now his big toe is "
            "red. I just want to know: can diuretics bring on gout?"
        ),
        {"diuretics", "gout"},
    ),
    (
        (
            "I am a retired baker from Leeds. My consultant mentioned rituximab for my rheumatoid arthritis and "
            "then the phone rang. What does it do?"
        ),
        {"rheumatoid arthritis", "rituximab"},
    ),
    (
        (
            "New here! Our little one was born early, at 29 weeks, and the nurse spoke of caffeine citrate. Does "
            "caffeine help against apnoea in such babies?"
        ),
        {"caffeine", "preterm birth"},
    ),
    (
        (
            "Night shift, ward 7. Pt on warfarin, INR 9, no bleeding. Please can somebody tell me whether vitamin "
            "K should be given by mouth?"
        ),
        {"vitamin k", "warfarin"},
    ),
    (
        (
            "My neighbour swears by colchicine. I had pericarditis twice since Easter, and my dog is the only one "
            "who is pleased that I stay at home. Would colchicine stop a third pericarditis?"
        ),
        {"colchicine", "pericarditis"},
    ),
    (
        (
            "Grandma was diagnosed with Parkinson's two years ago. She loves her garden. Is levodopa bad for her "
            "in the long run?"
        ),
        {"levodopa", "parkinson disease"},
    ),
    (
        ("Quick one: tutor asked what PCSK9 does to the LDL receptor and I froze. Explain please, exam on Monday."),
        {"pcsk9"},
    ),
]
PERSONAL = re.compile(
    r"rosalind|pigeon|bradford|tobias|choir|annika|lorry|baker|leeds|march|easter|dog|monday|garden|ward|aunt|dad|"
    r"\b71\b|\b29\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(("story", "expected"), NARRATIVES)
def test_a_story_gives_its_medical_terms_and_nothing_of_the_persons(story: str, expected: set[str]) -> None:
    made = asyncio.run(PLANNER.plan(story, case=True, terms=()))
    assert expected <= {t.text.lower() for t in made.terms} | {
        s.lower() for t in made.terms for s in (*t.synonyms, *t.text.split())
    }
    assert not PERSONAL.search(made.model_dump_json())


class Recording:
    """A PubMed that finds nothing and remembers what it was sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def search(self, query: str, limit: int) -> SearchResult:
        self.sent.append(query)
        return SearchResult(count=0, ids=())

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        raise AssertionError("nothing was found")


NAMES = st.sampled_from(["Okonkwo", "Gonzalez", "Smith", "Priya", "Tobias", "Zbigniew", "Marguerite", "Abernathy"])
PLACES = st.sampled_from(["Springfield", "Leeds", "Lisbon", "Bergen", "Chile"])
STREETS = st.sampled_from(["Baker Street", "Acacia Avenue", "Mill Lane"])
FRAMES = st.sampled_from(
    [
        "{title} {name}, {age}, of {number} {street}, {place}, has had chest pain. Is it pericarditis?",
        "My name is {name}. I am {age} and live in {place}. Does colchicine help in pericarditis? Call {phone}.",
        "Dear {name}, my patient ({age}, NHS {phone}) from {place} has pericarditis. Would colchicine help? {other}",
        "{name} says her son {other} was born {date} in {place} and has croup. What about dexamethasone?",
        "does {lower} need colchicine for pericarditis after moving to {lowerplace}",
    ]
)


@given(
    FRAMES, NAMES, NAMES, PLACES, STREETS,
    st.integers(18, 99), st.integers(1, 400), st.sampled_from(["Mr", "Mrs", "Dr"]), st.dates(date(1930, 1, 1)),
    st.integers(10**9, 10**10), st.booleans(),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_nothing_but_terms_reaches_pubmed(
    frame: str, name: str, other: str, place: str, street: str, age: int, number: int, title: str, born: date,
    phone: int, case: bool,
) -> None:  # fmt: skip
    text = frame.format(
        name=name, other=other, place=place, street=street, age=age, number=number, title=title,
        date=f"{born:%d/%m/%Y}", phone=phone, lower=name.lower(), lowerplace=place.lower(),
    )  # fmt: skip
    pubmed = Recording()
    done = asyncio.run(adapt_e(text, pubmed, PLANNER, case=case or "{lower}" not in frame))
    sent = " ".join(pubmed.sent).lower()
    assert "pericarditis" in sent or "croup" in sent
    for secret in (name, other, street.split()[0], str(phone), f"{born:%d/%m/%Y}"):
        assert secret.lower() not in sent
    assert not re.search(r"\d", sent)
    assert place.lower() not in sent or ("{lowerplace}" in frame and not case)
    assert name.lower() not in done.plan.model_dump_json().lower()


@given(NAMES, NAMES, PLACES, STREETS, st.integers(10**9, 10**10), st.dates(date(1930, 1, 1)), st.integers(0, 4))
@settings(max_examples=100, deadline=None)
def test_terms_that_a_model_copied_from_a_case_pass_the_same_sieve(
    name: str, other: str, place: str, street: str, number: int, born: date, at: int
) -> None:
    terms = ["pericarditis", f"{name}'s pericarditis | {other}", f"{name} {other}", f"colchicine | {name} tablets"]
    terms.insert(at, f"NHS {number}, born {born:%d/%m/%Y}, {street}, {place}")
    made = asyncio.run(PLANNER.plan("Does colchicine help?", case=False, terms=terms))
    sent = " ".join(e.query for e in made.expressions).lower()
    assert "pericarditis" in sent
    assert "colchicine" in sent
    for secret in (name, other, place, street.split()[0], str(number)):
        assert secret.lower() not in sent
    assert not re.search(r"\d", sent)

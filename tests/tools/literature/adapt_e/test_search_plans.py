"""Search plans by rules: terms, groups, intent, dates, rungs, lint, and nothing but terms in them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.errors import ServiceError
from support.search_words import starter_vocabulary
from tools.literature.adapt_e.contract import (
    Expression,
    Group,
    Intent,
    PlannedTerm,
    RungName,
    SearchPlan,
)
from tools.literature.adapt_e.dates import date_constraint
from tools.literature.adapt_e.entries import in_medical_words
from tools.literature.adapt_e.expressions import checked, expressions
from tools.literature.adapt_e.lint import lint, mended
from tools.literature.adapt_e.local import QueryPlannerLocal
from tools.literature.adapt_e.spelling import PubMedSpeller, VocabularySpeller
from tools.literature.adapt_e.spellings import spellings
from tools.literature.client import SearchResult
from tools.literature.ladder import adapt_e
from tools.literature.publications import Article

TODAY = date(2026, 12, 1)
PLANNER = QueryPlannerLocal(starter_vocabulary(), today=TODAY)


def plan(text: str, *, case: bool = False, terms: Sequence[str] = ()) -> SearchPlan:
    return asyncio.run(PLANNER.plan(text, case=case, terms=terms))


QUESTIONS = [
    ("Does colchicine prevent recurrence of acute pericarditis?", {"colchicine", "pericarditis"}, Intent.PREVENTION),
    ("Are statins effective after a heart attack?", {"statins", "myocardial infarction"}, Intent.TREATMENT),
    ("What are the side effects of amiodarone?", {"amiodarone"}, Intent.HARM),
    ("How accurate is D-dimer to diagnose a clot in the lung?", {"d-dimer", "pulmonary embolism"}, Intent.DIAGNOSIS),
    ("What is the survival of patients with glioblastoma?", {"glioblastoma"}, Intent.PROGNOSIS),
    ("Which mutations cause cystic fibrosis?", {"cystic fibrosis"}, Intent.AETIOLOGY),
    ("Which receptor does tocilizumab inhibit?", {"tocilizumab"}, Intent.MECHANISM),
    ("Is warfarin better than apixaban in atrial fibrillation?", {"warfarin", "apixaban", "atrial fibrillation"},
     Intent.TREATMENT),
    ("Does the BRCA1 gene interact with PALB2?", {"brca1", "palb2"}, None),
    ("Can vaccination against shingles protect against dementia?", {"herpes zoster", "dementia"}, Intent.PREVENTION),
    ("Do blood thinners help in deep vein thrombosis?", {"anticoagulants", "deep vein thrombosis"}, Intent.TREATMENT),
]  # fmt: skip


@pytest.mark.parametrize(("question", "expected", "intent"), QUESTIONS)
def test_a_question_becomes_terms_and_an_intent(question: str, expected: set[str], intent: Intent | None) -> None:
    made = plan(question)
    words = " | ".join(t.text.lower() for t in made.terms)
    assert all(term in words for term in expected), words
    assert intent is None or made.intent is intent
    assert made.expressions[0].rung is RungName.STRICT


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
    made = plan(story, case=True)
    assert expected <= {t.text.lower() for t in made.terms} | {
        s.lower() for t in made.terms for s in (*t.synonyms, *t.text.split())
    }
    assert not PERSONAL.search(made.model_dump_json())


def test_groups_follow_the_table_the_medicines_and_the_comparison() -> None:
    groups = {t.text.lower(): t.group for t in plan("Is warfarin better than apixaban in atrial fibrillation?").terms}
    assert groups == {
        "warfarin": Group.INTERVENTION,
        "apixaban": Group.COMPARISON,
        "atrial fibrillation": Group.PROBLEM,
    }


def test_abbreviations_brands_and_spellings_are_asked_for_beside_a_term() -> None:
    terms = {t.text: t for t in plan("Does Lipitor cause anaemia in CKD?").terms}
    assert "atorvastatin" in next(t for t in terms.values() if t.text.lower() == "lipitor").synonyms
    assert terms["anemia"].mesh == "Anemia"
    strict = plan("Does Lipitor cause anaemia in CKD?").expressions[0].query
    assert all(f'"{word}"[tiab]' in strict for word in ("anemia", "anaemia", "chronic kidney disease", "CKD"))


def test_a_slip_of_the_pen_is_mended_and_told() -> None:
    made = plan("Does colchicine prevent pericardtis?")
    assert [(c.written, c.meant) for c in made.corrections] == [("pericardtis", "pericarditis")]
    assert "pericarditis" in {t.text for t in made.terms}


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("trials of statins since 2019", date(2019, 1, 1), None),
        ("studies published between 2010 and 2015", date(2010, 1, 1), date(2015, 12, 31)),
        ("evidence from the last five years", date(2021, 12, 1), None),
        ("papers before 2000 on croup", None, date(1999, 12, 31)),
        ("articles published in 2020", date(2020, 1, 1), date(2020, 12, 31)),
    ],
)
def test_dates_of_publication_limit_every_rung(text: str, since: date | None, until: date | None) -> None:
    found = date_constraint(text, TODAY, case=False)
    assert found is not None
    assert (found.since, found.until) == (since, until)
    rungs, _ = expressions([PlannedTerm(text="croup"), PlannedTerm(text="statins")], found)
    assert all(re.search(r"\) AND (?:1781|\d{4}/\d\d/\d\d):(?:3000|\d{4}/\d\d/\d\d)\[dp\]$", r.query) for r in rungs)


def test_the_dates_of_a_patient_limit_nothing() -> None:
    assert date_constraint("She was treated since 1991 and is well.", TODAY, case=True) is None


def test_the_rungs_ask_for_less_and_less_and_say_why() -> None:
    terms = [PlannedTerm(text=t) for t in ("copd", "prednisolone", "relapse", "eosinophil", "dose")]
    rungs, rejected = expressions(terms, None)
    assert rejected == []
    names = [r.rung for r in rungs]
    assert names == sorted(names, key=list(RungName).index)
    assert {*names} == set(RungName)
    strict = rungs[0].query
    assert strict.count(" AND ") == 3
    assert "dose" not in strict
    assert rungs[1].query.count(" AND ") == 2
    assert "eosinophil" not in rungs[1].query
    assert "“eosinophil”" in rungs[1].why
    assert expressions([], None) == ([], [])
    assert plan("Hello, how are you?").expressions == ()


def test_forms_of_a_word() -> None:
    assert {"leukaemia", "leukemia", "leukemias"} <= set(spellings("leukaemia"))
    assert "metastases" in " ".join(spellings("lung metastasis"))
    assert "lb100" in spellings("LB-100")
    assert in_medical_words("a clot on the lung") == "a pulmonary embolism"
    assert in_medical_words("systemic lupus erythematosus") == "systemic lupus erythematosus"


@pytest.mark.parametrize(
    ("query", "better"),
    [
        ('"croup"[tiab] AND ("dexamethasone"[tiab] OR', "croup"),
        ('"croup"[tiab])', "croup"),
        ('"croup"[nonsense]', "croup"),
        ("AND croup", "croup"),
    ],
)
def test_a_bad_expression_is_mended_with_the_reason(query: str, better: str) -> None:
    assert not lint(query).good
    rung, remark = checked(Expression(rung=RungName.STRICT, query=query, why="test"))
    assert rung is not None
    assert better in rung.query
    assert lint(rung.query).good
    assert remark is not None
    assert remark.reason
    assert remark.mended == rung.query


def test_an_expression_that_cannot_be_mended_is_left_out_with_the_reason() -> None:
    rung, remark = checked(Expression(rung=RungName.STRICT, query="(((", why="test"))
    assert rung is None
    assert remark is not None
    assert (remark.mended, mended("   ")) == ("", None)


@given(st.lists(st.text(min_size=1, max_size=30), max_size=6))
@settings(max_examples=60, deadline=None)
def test_any_terms_give_expressions_that_pubmed_can_read(texts: list[str]) -> None:
    rungs, _ = expressions([PlannedTerm(text=t, synonyms=(t[::-1],)) for t in texts], None)
    assert all(lint(r.query).good for r in rungs)


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


def test_only_an_unknown_term_is_sent_for_its_spelling_and_a_failure_leaves_it() -> None:
    class Service:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def spell(self, term: str) -> str | None:
            self.asked.append(term)
            if term == "zzyzxomab":
                raise ServiceError("down")
            return "eravacycline"

    service = Service()
    speller = PubMedSpeller(service, VocabularySpeller(starter_vocabulary()))
    assert asyncio.run(speller.suggest("pericarditis")) is None
    assert asyncio.run(speller.suggest("eravaciclyn")) == "eravacycline"
    assert asyncio.run(speller.suggest("zzyzxomab")) is None
    assert service.asked == ["eravaciclyn", "zzyzxomab"]

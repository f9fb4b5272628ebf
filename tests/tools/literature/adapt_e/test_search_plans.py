"""Search plans by rules: terms, groups, intent, spelling, dates."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import date

import pytest

from support.search_words import starter_vocabulary
from tools.literature.adapt_e.contract import (
    Group,
    Intent,
    PlannedTerm,
    RungName,
    SearchPlan,
)
from tools.literature.adapt_e.expressions import expressions
from tools.literature.adapt_e.limits import date_constraint
from tools.literature.adapt_e.local import QueryPlannerLocal, VocabularySpeller
from tools.literature.vocabulary import Vocabulary

TODAY = date(2026, 12, 1)
PLANNER = QueryPlannerLocal(starter_vocabulary(), today=TODAY)


def plan(text: str, *, case: bool = False, terms: Sequence[str] = ()) -> SearchPlan:
    return asyncio.run(PLANNER.plan(text, case=case, terms=terms))


QUESTIONS = [
    ("Does colchicine prevent recurrence of acute pericarditis?", {"colchicine", "pericarditis"}, Intent.PREVENTION),
    ("Are statins effective after a heart attack?", {"statins", "myocardial infarction"}, Intent.TREATMENT),
    ("Does dexamethasone reduce mortality in croup?", {"dexamethasone", "croup"}, Intent.TREATMENT),
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
        ("croup dexamethasone before 2005", None, date(2004, 12, 31)),
        ("croup dexamethasone 1998-2001", date(1998, 1, 1), date(2001, 12, 31)),
        ("croup, children, 1998", date(1998, 1, 1), date(1998, 12, 31)),
        ("croup, published between January 2019 and Feb 2021", date(2019, 1, 1), date(2021, 2, 28)),
        ("studies of croup since September 2020", date(2020, 9, 1), None),
        ("studies of croup after Dec 2020", date(2021, 1, 1), None),
        ("papers on croup before March 2000", None, date(2000, 2, 29)),
        ("articles published in May 2020", date(2020, 5, 1), date(2020, 5, 31)),
    ],
)
def test_dates_of_publication_limit_every_rung(text: str, since: date | None, until: date | None) -> None:
    found = date_constraint(text, TODAY, case=False)
    assert found is not None
    assert (found.since, found.until) == (since, until)
    rungs, _ = expressions([PlannedTerm(text="croup"), PlannedTerm(text="statins")], found)
    assert all(re.search(r"\) AND (?:1781|\d{4}/\d\d/\d\d):(?:3000|\d{4}/\d\d/\d\d)\[dp\]$", r.query) for r in rungs)


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("She was treated since 1991 and is well.", True),
        ("She has had croup, 1998", True),
        ("Was thalidomide sold before 1961?", False),
        ("What were the deaths of the 1918-1919 influenza?", False),
        ("10.1000/1998-2001", False),
    ],
)
def test_other_dates_limit_nothing(text: str, case: bool) -> None:
    assert date_constraint(text, TODAY, case=case) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("omeprazole in children, English only", "AND english[la]"),
        ("omeprazole in children, in English, humans", "AND english[la] NOT (animals[mh] NOT humans[mh])"),
        ("omeprazole in children excluding case reports", "NOT case reports[pt]"),
        ("systematic reviews of omeprazole in children", '"meta-analyses"[tiab])'),
        ("randomised controlled trials of omeprazole in children", "randomly[tiab])"),
        ("omeprazole in children, reviews only, not in animals", "AND review[pt]"),
        ("Does omeprazole help in children? Randomised trials since 2015, English only, humans.", "randomly[tiab])"),
    ],
)
def test_limits_in_words_end_every_query_and_are_no_terms(text: str, end: str) -> None:
    made = plan(text)
    assert {t.text for t in made.terms} == {"omeprazole", "children"}
    assert made.expressions
    assert [e.query for e in made.expressions if not e.query.endswith(end)] == []
    assert all(limit.because in text for limit in made.limits)
    assert made.rejected == ()


@pytest.mark.parametrize(
    "text",
    [
        "Do randomised trials support omeprazole in children?",
        "omeprazole in human milk",
        "A meta-analysis found omeprazole safe. Is it so in children?",
    ],
)
def test_a_question_names_a_kind_of_study_without_limiting_to_it(text: str) -> None:
    assert plan(text).limits == ()


def test_a_medicine_is_a_term_of_its_own_and_a_class_no_other_name_of_it() -> None:
    terms = {t.text: t.synonyms for t in plan("eosinophilic oesophagitis omeprazole").terms}
    assert "omeprazole" in terms
    assert "Losec" in terms["omeprazole"]
    assert not {"proton pump inhibitor", "acid-suppressing medicine"} & set(terms["omeprazole"])


def test_words_of_references_are_no_subject() -> None:
    for text in ("Gout and colchicine, published 2015. PMID: 90001127", "colchicine in gout. doi: 10.1000/x.1"):
        assert not {"pmid", "doi", "published"} & {t.text.lower() for t in plan(text).terms}


def test_a_member_of_a_class_is_no_other_name_of_it() -> None:
    terms = {t.text: t.synonyms for t in plan("Are DPP-4 inhibitors or antibiotics safe with statins?").terms}
    assert not {"amoxicillin", "atorvastatin", "sitagliptin"} & {s for names in terms.values() for s in names}
    assert "HMG-CoA reductase inhibitor" in terms["statins"]


@pytest.mark.parametrize(
    ("text", "mesh"),
    [
        ("Is catheter ablation better than amiodarone for AF?", {"Atrial Fibrillation", "Catheter Ablation"}),
        ("Do stockings help after a DVT?", {"Venous Thrombosis"}),
        ("Is fall prevention useful in a nursing home?", {"Nursing Homes", "Accidental Falls"}),
        ("Does sertraline or an SSRI help premature babies?", {"Infant, Premature"}),
        ("Do statins harm people with non-alcoholic fatty liver disease?", {"Non-alcoholic Fatty Liver Disease"}),
    ],
)
def test_a_short_form_and_an_everyday_name_have_the_heading_of_what_they_mean(text: str, mesh: set[str]) -> None:
    assert mesh <= {t.mesh for t in plan(text).terms}


def test_a_piece_of_another_name_is_none() -> None:
    def called(text: str) -> dict[str, tuple[str, ...]]:
        return {"numb": ("numbness or loss of feeling", "loss of feeling")} if "numb" in text else {}

    planner = QueryPlannerLocal(starter_vocabulary(), today=TODAY, other_names=called)
    made = asyncio.run(planner.plan("splint, numb, wrist", case=False))
    assert "loss" not in {s for t in made.terms for s in t.synonyms}


def test_what_is_done_is_no_term_and_a_medicine_of_everyday_words_is_asked_for() -> None:
    made = plan("Can pre-eclampsia be prevented with vitamin D?")
    assert "prevented" not in {t.text for t in made.terms}
    assert '"vitamin D"[tiab]' in made.expressions[0].query
    assert {t.text for t in plan("Does hyperbaric oxygen heal diabetic foot ulcers?").terms} == {
        "hyperbaric oxygen",
        "diabetic foot",
    }


def test_a_chinese_question_gives_no_term_of_a_kind_of_things() -> None:
    def called(text: str) -> dict[str, tuple[str, ...]]:
        return {"双胍": ("insulin or glucose-lowering medicine",)}

    planner = QueryPlannerLocal(starter_vocabulary(), today=TODAY, other_names=called)
    made = asyncio.run(planner.plan("二甲双胍能降低流产率吗？", case=False))
    assert "miscarriage" in {t.text for t in made.terms}
    assert not any(" or " in t.text for t in made.terms)


def test_a_text_without_terms_gives_no_expression() -> None:
    assert plan("Hello, how are you?").expressions == ()


class Printed:
    """A collection in which words stand so often."""

    documents = 5000

    def __init__(self, **often: int) -> None:
        self._often = often

    def frequency(self, word: str) -> int:
        return self._often.get(word, 0)


@pytest.mark.parametrize(
    ("often", "meant"),
    [
        ({"omperazole": 1, "omeprazole": 500}, "omeprazole"),
        ({"omperazole": 1, "omeprazole": 5}, None),  # both are rare: it may be another thing
        ({"omperazole": 9, "omeprazole": 500}, None),  # in use
    ],
)
def test_a_slip_that_is_printed_once_is_mended_where_the_word_meant_is_much_oftener(
    often: dict[str, int], meant: str | None
) -> None:
    vocabulary = Vocabulary(frequencies={}, documents=1, collection=Printed(**often), words=frozenset({"omeprazole"}))
    assert VocabularySpeller(vocabulary).suggest("omperazole") == meant

"""The rungs of a plan: what each asks for, the forms of a word, and the check of every expression."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.literature.adapt_e.contract import (
    Expression,
    Group,
    PlannedTerm,
    RungName,
)
from tools.literature.adapt_e.entries import in_medical_words, spellings
from tools.literature.adapt_e.expressions import checked, expressions, forms_of, lint, mended


def test_the_rungs_ask_for_less_and_less_and_say_why() -> None:
    terms = [PlannedTerm(text=t) for t in ("copd", "prednisolone", "relapse", "eosinophil", "dose")]
    rungs, rejected = expressions(terms, None)
    assert rejected == []
    names = [r.rung for r in rungs]
    assert names == sorted(names, key=list(RungName).index)
    assert {*names} == set(RungName) - {RungName.TYPED}
    strict = rungs[0].query
    assert strict.count(" AND ") == 3
    assert "dose" not in strict
    assert rungs[1].query.count(" AND ") == 2
    assert "eosinophil" not in rungs[1].query
    assert "“eosinophil”" in rungs[1].why
    assert expressions([], None) == ([], [])


def test_a_rare_term_and_its_rarest_word_are_asked_for_before_pairs_of_common_ones() -> None:
    terms = [PlannedTerm(text=t, weight=w) for t, w in (("KMT2C variant", 9.0), ("clinic", 4.0), ("volume", 1.0))]
    rungs, _ = expressions(terms, None, weight=lambda word: float(word == "KMT2C"))
    assert "volume" not in rungs[0].query, "what tells little is not asked for together with the rest"
    best, word, alone, *_ = [r.query for r in rungs if r.rung is RungName.RELAXED]
    gene, variant, others = '("KMT2C" OR "kmt-2c")', '("variant" OR "variants")', '("clinic" OR "clinics") OR ("volume"'
    assert best.startswith(f"({gene} AND {variant}) AND ({others}")
    assert word.startswith(f"{gene} AND ({variant} OR {others}")
    assert alone == gene


def test_a_short_question_is_asked_with_its_subject_and_the_comparison_is_dropped_before_it() -> None:
    terms = [
        PlannedTerm(text="tenotomy", weight=7.0, group=Group.INTERVENTION),
        PlannedTerm(text="physiotherapy", weight=6.0, group=Group.COMPARISON),
        PlannedTerm(text="wry neck", weight=0.5, group=Group.PROBLEM, mesh="Torticollis"),
    ]
    strict, without, *_ = (r.query for r in expressions(terms, None)[0])
    assert all(word in strict for word in ("tenotomy", "physiotherapy", "wry neck"))
    assert "wry neck" in without
    assert "physiotherapy" not in without
    many = [*terms[:2], *(PlannedTerm(text=t, weight=5.0) for t in ("torsion", "botulinum")), *terms[2:]]
    assert "wry neck" not in expressions(many, None)[0][0].query


def test_the_abstraction_by_pico_asks_for_groups_and_leaves_the_outcome_out_first() -> None:
    groups = {"copd": Group.PROBLEM, "emphysema": Group.PROBLEM, "prednisolone": Group.INTERVENTION}
    groups |= {"relapse": Group.OUTCOME, "winter": Group.OTHER}
    terms = [PlannedTerm(text=t, group=g, broader="steroid" * (t == "prednisolone")) for t, g in groups.items()]
    rungs, rejected = expressions(terms, None, "pico")
    assert rejected == []
    whole, without = [r for r in rungs if r.rung is RungName.ABSTRACTION]
    for rung in (whole, without):
        assert ("copd" in rung.query, "emphysema" in rung.query, '"steroid"' in rung.query) == (True, True, True)
        assert "winter" not in rung.query
        assert lint(rung.query).good
    assert ("relapse" in whole.query, "relapse" in without.query) == (True, False)
    assert (whole.query.count(" AND "), without.query.count(" AND ")) == (2, 1)
    assert "outcome (“relapse”)" in whole.why
    strict, *_ = expressions(terms, None)[0]
    assert rungs[0] == strict


def test_a_question_of_one_pico_group_is_abstracted_term_by_term() -> None:
    terms = [PlannedTerm(text=t, group=Group.PROBLEM) for t in ("copd", "relapse", "winter")]
    assert expressions(terms, None, "pico") == expressions(terms, None)


def test_forms_of_a_word() -> None:
    assert {"leukaemia", "leukemia", "leukemias"} <= set(spellings("leukaemia"))
    assert "metastases" in " ".join(spellings("lung metastasis"))
    assert "lb100" in spellings("LB-100")
    assert in_medical_words("a clot on the lung") == "a pulmonary embolism"
    assert in_medical_words("water infections and tooth decay") == "urinary tract infection and tooth decay"
    assert in_medical_words("systemic lupus erythematosus") == "systemic lupus erythematosus"


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("hospitalised", ["hospitalised", "hospitalized"]),
        ("optimizing", ["optimizing", "optimising"]),
        ("exercise", ["exercise", "exercises"]),
        ("advised", ["advised"]),
        ("acute", ["acute"]),
        ("metformin", ["metformin"]),
        ("bacteremia", ["bacteremia", "bacteraemia"]),
        ("hyperkalaemia", ["hyperkalaemia", "hyperkalemia"]),
        ("lymphedema", ["lymphedema", "lymphoedema"]),
        ("angioedema", ["angioedema"]),
        ("antibiotics", ["antibiotics", "antibiotic"]),
        ("training programmes", ["training programmes", "training programs"]),
        ("TNF-α", ["TNF-α", "tnf-alpha"]),
        ("interferon beta", ["interferon beta", "interferon β"]),
    ],
)
def test_spellings_are_those_of_both_sides_of_the_ocean_and_no_plural_that_nobody_prints(
    word: str, forms: list[str]
) -> None:
    made = forms_of(word)
    assert made[0] == word
    assert set(forms) <= set(made)
    assert not {"exercize", "advized", "acutes", "metformins", "angiedema"} & set(made)


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

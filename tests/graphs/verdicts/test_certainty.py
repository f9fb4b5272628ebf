"""How sure, how large and in whom: the stated rules, on texts written here."""

from __future__ import annotations

import pytest

from graphs.verdicts.certainty import certainty_of, comparison_of, design_of, effect_of, population_of, reason_of
from graphs.verdicts.contract import Certainty, Sentence
from graphs.verdicts.local import VerdictJudgeLocal
from support.scripted_reader import ScriptedReader
from support.verdict_evidence import piece, sentence
from tools.evidence import Origin

IT_HELPS = "It helps."


def of(level: str | None, name: str = "1", more: str = "", collection: str = "pubmed") -> Sentence:
    return sentence(IT_HELPS, more, name=name, level=level, collection=collection)


@pytest.mark.parametrize(
    ("level", "certainty"),
    [
        ("guideline", "high"),
        ("systematic review", "high"),
        ("randomised trial", "moderate"),
        ("clinical trial", "low"),
        ("observational study", "low"),
        ("case report", "very_low"),
        ("something new", "not_assessed"),
        (None, "not_assessed"),
    ],
)
def test_one_source_starts_from_its_design(level: str | None, certainty: str) -> None:
    assert certainty_of([of(level)], disputed=False) is Certainty(certainty)


def test_a_second_source_raises_it_but_not_above_the_highest() -> None:
    assert certainty_of([of("randomised trial"), of("randomised trial", "2")], disputed=False) is Certainty.HIGH
    assert certainty_of([of("guideline"), of("guideline", "2")], disputed=False) is Certainty.HIGH


def test_two_sentences_of_one_source_are_one_source() -> None:
    assert certainty_of([of("randomised trial"), of("randomised trial")], disputed=False) is Certainty.MODERATE


def test_a_weaker_source_beside_neither_raises_nor_lowers() -> None:
    assert certainty_of([of("randomised trial"), of("case report", "2")], disputed=False) is Certainty.MODERATE


def test_dispute_and_a_small_study_lower_it_but_not_below_the_lowest() -> None:
    small = of("randomised trial", more="We studied 41 adults with gout.")
    large = of("randomised trial", more="We studied 410 adults with gout.")
    assert certainty_of([small], disputed=False) is Certainty.LOW
    assert certainty_of([large], disputed=False) is Certainty.MODERATE
    assert certainty_of([large], disputed=True) is Certainty.LOW
    assert certainty_of([small], disputed=True) is Certainty.VERY_LOW
    assert certainty_of([of("case report", more="We saw 3 women.")], disputed=True) is Certainty.VERY_LOW


def test_a_year_before_a_comma_is_no_number_of_people() -> None:
    small = of("randomised trial", more="In 2019, 41 adults with gout were treated.")
    assert certainty_of([small], disputed=False) is Certainty.LOW
    assert population_of(small).startswith("41 adults with gout")


@pytest.mark.parametrize(
    ("told", "certainty"),
    [
        ("Certainty is low.", "low"),
        ("Certainty of the evidence is very low because the trials were small.", "very_low"),
        ("Certainty is moderate to high.", "moderate"),
    ],
)
def test_a_page_that_rates_itself_is_taken_at_its_word(told: str, certainty: str) -> None:
    rated = of(None, "croup", told, "library")
    assert certainty_of([rated], disputed=False) is Certainty(certainty)


@pytest.mark.parametrize("collection", ["library", "graph", "own"])
def test_what_is_not_published_is_not_assessed_whatever_it_calls_itself(collection: str) -> None:
    assert certainty_of([of("systematic review", "x", collection=collection)], disputed=False) is Certainty.NOT_ASSESSED


def test_the_reason_names_each_source_once_with_its_design() -> None:
    own = piece(IT_HELPS, "note", "own", title="My note")
    given = piece(IT_HELPS, "given", "own", title="An abstract", origin=Origin.CASE)
    page = piece(IT_HELPS, "croup", "library", title="Croup")
    trial = piece(IT_HELPS, "7", level="randomised trial", title="A trial")
    unnamed = piece(IT_HELPS, "8")
    told = [Sentence(e, 0, len(IT_HELPS)) for e in (own, given, page, trial, trial, unnamed)]
    assert reason_of(told) == (
        "My note (your document, not assessed); An abstract (given by you, not assessed); "
        f"Croup (general knowledge, not clinically reviewed); A trial (randomised trial); {unnamed.id} (other)"
    )
    assert design_of(unnamed) == "other"


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        (
            "Deaths fell (hazard ratio 0.66, 95% CI 0.50 to 0.87; p = 0.003).",
            "hazard ratio 0.66, 95% CI 0.50 to 0.87; p = 0.003",
        ),
        ("The odds ratio was 1.2 (95% CI 0.8-1.9).", "odds ratio was 1.2 (95% CI 0.8-1.9)"),
        ("Relapse was seen in 12% with it versus 31% without.", "12% with it versus 31%"),
        ("Pain fell by 30 per cent.", "30 per cent"),
        ("The NNT was 12.", "NNT was 12"),
        ("Scores fell from 14.2 to 9.1 (P<0.04).", "P<0.04"),
        ("Relapse was less common in those treated.", ""),
        ("Four groups of 20 adults were formed in 2019.", ""),
        ("", ""),
    ],
)
def test_the_size_of_an_effect_is_told_in_the_words_of_the_sentence(text: str, effect: str) -> None:
    assert effect_of(text) == effect


@pytest.mark.parametrize(
    ("text", "more", "population"),
    [
        ("It helped pregnant women, but among children with asthma it did not.", "", "children with asthma it did not"),
        ("Of 1,204 older adults aged 70 to 80, most slept.", "", "1,204 older adults aged 70 to 80"),
        ("Sleep was longer.", "We studied 24 women with asthma.", "24 women with asthma"),
        ("It works in patients after a stroke.", "Of 24 women, few slept.", "patients after a stroke"),
        ("Sleep was longer.", "", ""),
    ],
)
def test_who_was_studied_is_told_by_the_sentence_else_by_its_source(text: str, more: str, population: str) -> None:
    assert population_of(sentence(text, more)) == population


@pytest.mark.parametrize(
    ("texts", "comparison"),
    [
        (["Deaths fell compared with placebo (hazard ratio 0.75)."], "placebo"),
        (["Relapse was seen in 12% versus 31% in the control group."], "control"),
        (["Compared to those who received warfarin, bleeding was rarer."], "warfarin"),
        (["Relapse was rarer than in the usual care group."], "usual care"),
        (["It was tested against placebo."], "placebo"),
        (["Survival was longer versus melphalan and prednisone in older adults."], "melphalan and prednisone"),
        (["Relapse was seen in 12% versus 11%.", "Colchicine vs. naproxen for gout: a trial"], "naproxen"),
        (["Pain fell compared with the baseline.", "It protects against measles, better than expected."], ""),
        ([], ""),
    ],
)
def test_what_was_compared_with_is_told_by_the_sentence_else_by_the_title(texts: list[str], comparison: str) -> None:
    assert comparison_of(texts) == comparison


def test_chinese_tables_and_long_texts_are_read_without_harm() -> None:
    for text in (
        "共有四百名患者。",
        "| a | 12 % | 3 |\n" * 40,
        "12 " * 5000,
        "risk ratio " * 2000,
        "vs " + "the 12% " * 2000,
    ):
        assert isinstance(effect_of(text), str)
        assert comparison_of([text]) == ""
        assert isinstance(population_of(sentence(text.strip())), str)
    assert VerdictJudgeLocal(ScriptedReader({})).judge("Does it help?", [piece("共有四百名患者。")]).verdict is None

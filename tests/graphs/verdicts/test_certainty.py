"""How sure, how large and in whom: the stated rules, on texts written here."""

from __future__ import annotations

import pytest

from graphs.verdicts.certainty import certainty_of, design_of, reason_of
from graphs.verdicts.contract import Certainty, Sentence
from graphs.verdicts.local import VerdictJudgeLocal
from graphs.verdicts.stated import comparison_of, effect_of, population_of
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
        (
            "Relief was seen in 31% for placebo; 52% for zinc; and 60%, 71%, and 80% for the higher doses.",
            "31% for placebo; 52% for zinc; 60%, 71%, and 80% for the higher doses",
        ),
        (
            "Sixty-two percent of men were well at 2 h, compared with 40.5% treated with iron (p < or = 0.01).",
            "Sixty-two percent of men were well at 2 h, compared with 40.5% treated with iron (p < or = 0.01)",
        ),
        ("Relief came to 70 per cent of adults given zinc, or 20 per cent.", "70 per cent of adults given zinc"),
        ("More were (fully or somewhat) well with zinc (73%) than with iron (59%).", "zinc (73%); iron (59%)"),
        (
            "Thirty men (46%) who were taking zinc slept, an adjusted odds ratio of 1.9 for sleep (95% CI, 1.1-3.6).",
            "Thirty men (46%) who were taking zinc; adjusted odds ratio of 1.9 for sleep (95% CI, 1.1-3.6)",
        ),
        ("It healed in 40 of 88 (45%) with zinc.", "40 of 88 (45%) with zinc"),
        (
            "The stay was 12.5 mm shorter than with iron (95% CI, 0.9-23.9 mm; P = .03).",
            "12.5 mm shorter than with iron (95% CI, 0.9-23.9 mm; P = .03)",
        ),
        (
            "The mean difference was -2.6 points, 95 % CI -3.5 to -1.4.",
            "mean difference was -2.6 points, 95 % CI -3.5 to -1.4",
        ),
        ("Survival rose (HR for death, 0.7; 95% CI, 0.5 to 0.9).", "HR for death, 0.7; 95% CI, 0.5 to 0.9"),
        ("Nausea (12%), cough (9%) and dry mouth (4%) were told.", "Nausea (12%), cough (9%) and dry mouth (4%)"),
        ("The cure rate was at least 80% in all.", "cure rate was at least 80%"),
        ("Falls fell (RR 0.7, P = 0.02), not deaths (P = 0.71).", "RR 0.7, P = 0.02"),
        ("Adherence was about 80%.", "Adherence was about 80%"),
        ("Relapse fell from 40% to 28%.", "40% to 28%"),
        ("Of the groups, 40% and 28%, nothing is known.", ""),
        ("Adults with or without gout (N = 449) took 5 or 10 mg.", ""),
        ("We approached 254 men; 200 (79%) were enrolled and 23 (9%) refused to take part.", ""),
        ("The median [SD] age was 63 [14] years, 169 men [86%].", ""),
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
        ("It helped pregnant women, but among children with asthma it did not.", "", "children with asthma"),
        ("Of 1,204 older adults aged 70 to 80, most slept.", "", "1,204 older adults aged 70 to 80"),
        ("Sleep was longer.", "We studied 24 women with asthma.", "24 women with asthma"),
        ("It works in patients after a stroke.", "Of 24 women, few slept.", "patients after a stroke"),
        ("Sleep was longer.", "", ""),
        ("The proportion of patients with relief of gout was 18% for placebo.", "", ""),
        (
            "So far, 3 studies in adults with duodenal ulcer have shown faster healing at 2 weeks.",
            "",
            "adults with duodenal ulcer",
        ),
        ("It improved quality of life of patients with gout compared with placebo.", "", "patients with gout"),
        (
            "We enrolled 612 adults hospitalised with community-acquired pneumonia and followed them.",
            "",
            "612 adults hospitalised with community-acquired pneumonia",
        ),
        ("Adults who had gout with or without tophi (N = 449).", "", "Adults who had gout with or without tophi"),
        (
            "Of 88 outpatients with newly diagnosed type 2 diabetes 44 were given zinc.",
            "",
            "88 outpatients with newly diagnosed type 2 diabetes",
        ),
        ("In patients at high risk of stroke it lowered mortality.", "", "patients at high risk of stroke"),
        ("Three patients in the placebo group died.", "Zinc was given to 41 adults.", "41 adults"),
        (
            "Bleeding was rarer in patients receiving zinc.",
            "Thirty-six men with gout took part.",
            "Thirty-six men with gout",
        ),
        ("Of those, 9 patients (11%) left.", "Children under 2 years were excluded.", ""),
        ("Among 30 women aged 40 to 60 years in 12 wards pain eased.", "", "30 women aged 40 to 60 years"),
        ("It was seen in patients.", "", ""),
        ("Dizziness came in 1 in 10 patients.", "", ""),
        ("It spared 5 strokes per 1,000 patients a year.", "", ""),
        ("For every 100 people treated, three fewer fell.", "We studied 24 women with gout.", "24 women with gout"),
        ("Three in four adults with migraine were sick.", "", ""),
        ("Of 40 patients in 12 wards, 30 of 40 patients slept.", "", "40 patients"),
        ("It helps in older people living at home.", "", "older people living at home"),
        ("It helps in adults with moderate to severe gout by day.", "", "adults with moderate to severe gout"),
        ("It eased pain in patients whose headache fulfilled the criteria.", "", ""),
    ],
)
def test_who_was_studied_is_told_by_the_sentence_else_by_its_source(text: str, more: str, population: str) -> None:
    assert population_of(sentence(text, more)) == population


def test_what_was_written_as_statements_studied_nobody_beside_its_own_sentence() -> None:
    text = "Surgery is no better than exercise. It is kept for young people with a tear that locks."
    page = piece(text, "knee", "library", title="Knee")
    assert population_of(Sentence(page, 0, 35)) == ""
    assert population_of(Sentence(page, 36, len(text))).startswith("young people with a tear")


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
        "(1%)" * 4000,
        "12 of 45 women (4%) who had " * 500,
    ):
        assert isinstance(effect_of(text), str)
        assert comparison_of([text]) == ""
        assert isinstance(population_of(sentence(text.strip())), str)
    assert VerdictJudgeLocal(ScriptedReader({})).judge("Does it help?", [piece("共有四百名患者。")]).verdict is None

"""Relevance, negation and key terms: what the local judgements share."""

from __future__ import annotations

import numpy as np
import pytest

from graphs.judging.key_terms import KeyTerms, unknown_runs
from graphs.judging.relevance import Relevance, lexical, windows
from tools.encoders import Encoder
from tools.text.negation import denies, prose_clauses


def test_relevance_prefers_the_text_that_answers(encoder: Encoder) -> None:
    texts = ["Dexamethasone relieves croup within hours.", "The capital of Mongolia is Ulaanbaatar."]
    scores = Relevance(encoder).score(["Do steroids help croup?"], texts)
    assert scores.relevance.shape == (1, 2)
    assert scores.relevance[0, 0] > 0.4 > 0.2 > scores.relevance[0, 1]
    assert np.allclose(np.diag(scores.similarity), 1.0, atol=1e-3)


def test_relevance_of_a_long_text_is_that_of_its_best_window(encoder: Encoder) -> None:
    filler = "The committee met and adjourned without any decision. " * 40
    long = filler + "Dexamethasone relieves croup within hours."
    scores = Relevance(encoder).score(["Does dexamethasone relieve croup?"], [filler, long])
    assert scores.dense[0, 1] > scores.dense[0, 0] + 0.2


def test_no_texts_gives_an_empty_table(encoder: Encoder) -> None:
    assert Relevance(encoder).score(["croup"], []).relevance.shape == (1, 0)


def test_lexical_weighs_rare_words() -> None:
    texts = ["colchicine for patients", "patients and rest", "patients and fluids"]
    (row,) = lexical(["colchicine patients"], texts)
    assert row[0] == pytest.approx(1.0)
    assert row[1] < 0.3


def test_windows_lose_no_word() -> None:
    text = " ".join(f"word{i}" for i in range(600))
    assert " ".join(windows(text)).split() == text.split()
    assert max(map(len, windows(text))) <= 1000


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Oxygen did not lower deaths.", True),
        ("It is not without benefit, but not needed.", True),
        ("Oxygen lowers deaths.", False),
        ("There is no reason not to give it.", False),
        ("普通感冒不需要使用抗生素。", True),
    ],
)
def test_an_odd_number_of_negations_denies(text: str, denied: bool) -> None:
    assert denies(text) is denied


def test_clauses_end_at_commas_and_conjunctions() -> None:
    assert prose_clauses("It helps, but not in asthma; 但儿童除外") == ["It helps", "not in asthma", "儿童除外"]


def test_invented_names_are_uncovered(encoder: Encoder) -> None:
    terms = KeyTerms(encoder)
    text = ["Croup. Dexamethasone relieves croup and lowers mortality in children with the syndrome."]
    assert terms.uncovered("Does zorblaxin cure Fremdel syndrome?", text) == ["zorblaxin", "Fremdel"]
    assert terms.uncovered("Does dexamethasone relieve croup in children?", text) == []


def test_a_real_drug_that_no_evidence_mentions_is_uncovered(encoder: Encoder) -> None:
    assert KeyTerms(encoder).uncovered("Does metronidazole help croup?", ["Croup is viral."]) == ["metronidazole"]


def test_spelling_variants_inflections_and_acronyms_are_no_new_names(encoder: Encoder) -> None:
    terms = KeyTerms(encoder)
    assert terms.uncovered("Do PPIs heal esophagitis?", ["They heal oesophagitis."]) == []
    assert terms.uncovered("What is a bronchodilator?", ["Bronchodilators open the airways."]) == []


def test_synonyms_cover_a_name(encoder: Encoder) -> None:
    terms = KeyTerms(encoder, lambda text: {"acetaminophen": ["paracetamol"]} if "acetaminophen" in text else {})
    assert terms.uncovered("Does acetaminophen lower fever?", ["Paracetamol lowers fever."]) == []
    assert terms.uncovered("Does acetaminophen lower fever?", ["Rest lowers fever."]) == ["acetaminophen"]


def test_chinese_names_that_no_dictionary_knows() -> None:
    assert unknown_runs("维洛莫星治疗普通感冒的疗效如何?") == ["维洛莫星"]
    assert unknown_runs("普通感冒需要使用抗生素吗?证据如何?") == []

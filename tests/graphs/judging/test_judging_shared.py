"""Relevance, polarity and key terms: what the local judgements share."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.judging.polarity import Reply, is_alternative, is_closed, reply_of

from graphs.judging.key_terms import KeyTerms, unknown_runs
from graphs.judging.relevance import Relevance, lexical, windows
from tools.encoders import Encoder


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
    ("question", "sentence", "reply"),
    [
        (
            "Do antibiotics help a cold?",
            "Antibiotics do not help a cold, because they do not act on viruses.",
            Reply.NO,
        ),
        ("Does CT screening save lives?", "Yes, low-dose CT lowers deaths from lung cancer.", Reply.YES),
        ("Does aspirin increase the risk of bleeding?", "Aspirin raises the risk of major bleeding.", Reply.YES),
        ("Does the drug increase mortality?", "The drug reduced mortality in three trials.", Reply.NO),
        ("Does oseltamivir work?", "It depends: oseltamivir shortens influenza by less than a day.", Reply.MAYBE),
        ("Does zinc shorten colds?", "Zinc might shorten a cold by a day.", Reply.MAYBE),
        ("Does zinc shorten colds?", "Whether zinc shortens colds remains uncertain.", Reply.MAYBE),
        ("Is adrenaline safe?", "There is no absolute reason to withhold adrenaline in anaphylaxis.", Reply.YES),
        ("Does oxygen help people who are not hypoxic?", "Oxygen did not lower deaths.", Reply.NO),
        ("Is a test needed?", "The weather was fine.", None),
        ("普通感冒需要使用抗生素吗?", "普通感冒不需要使用抗生素。", Reply.NO),
        ("Does very early walking help after a stroke?", "It led to fewer people with a good outcome.", Reply.NO),
        ("Does early walking help?", "Early walking reduced complications.", Reply.YES),
        ("Is aspirin safe after a bleed?", "Aspirin increased the risk of another bleed.", Reply.NO),
        ("Is aspirin safe after a bleed?", "Aspirin did not increase the risk of another bleed.", Reply.YES),
        ("Does rehabilitation help?", "Rehabilitation raised survival and lowered the risk of falls.", Reply.YES),
        ("Is obesity associated with asthma?", "Obesity raises the risk of asthma.", Reply.YES),
        ("Does X help in gout?", "X does not help in gout and causes side effects.", Reply.NO),
        ("卧床休息有帮助吗?", "长期卧床会增加感染的风险。", Reply.NO),
    ],
)
def test_reply_of(question: str, sentence: str, reply: Reply | None) -> None:
    assert reply_of(question, sentence) is reply


def test_closed_and_alternative_questions() -> None:
    assert is_closed("In COPD, is a short course enough?")
    assert not is_closed("How is croup treated?")
    assert is_closed("感冒需要抗生素吗?")
    assert is_alternative("Should children get antibiotics or can we wait?")
    assert not is_alternative("Is warfarin or aspirin better?")


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

"""How an answerer quotes its evidence: which sentences, in which order, and in which language."""

from __future__ import annotations

from graphs.answering.contract import Answerer
from support.answerers import (
    CROUP,
    answer,
    codes,
    document,
    local,
    view,
)
from tools.contract import AnsweredQuestion
from tools.encoders import Encoder


def test_an_answer_quotes_its_evidence(answerer: Answerer) -> None:
    draft = answer(
        answerer, view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), closed=True)
    )
    assert draft.statements[0].citations[0].quote.startswith("Yes, a single dose")
    assert draft.choice is None
    assert draft.verdict is not None
    assert (draft.verdict.value, draft.verdict.statements[0]) == ("yes", draft.statements[0].text)
    assert {"starter_knowledge"} <= codes(draft)


def test_a_qualifying_sentence_stays_with_the_one_it_qualifies(encoder: Encoder) -> None:
    draft = answer(local(encoder), view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup")))
    texts = [s.text for s in draft.statements]
    assert texts[:2] == [
        "Yes, a single dose of dexamethasone relieves the symptoms of croup within hours.",
        "It does not apply to children with epiglottitis.",
    ]


def test_near_duplicates_are_said_once(encoder: Encoder) -> None:
    again = document("steroids-croup", "A single dose of dexamethasone relieves the symptoms of croup within hours.")
    draft = answer(
        local(encoder), view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), again)
    )
    assert sum("single dose of dexamethasone" in s.text for s in draft.statements) == 1


def test_a_similar_answered_question_leads(encoder: Encoder) -> None:
    text = "Noise. One dose by mouth settles most attacks of croup in children."
    evidence = document("croup-2", text, title="Croup")
    answered = AnsweredQuestion(
        question="Is dexamethasone good for croup?", similarity=0.95, evidence=evidence, start=7, end=len(text)
    )
    draft = answer(
        local(encoder),
        view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), answered=(answered,)),
    )
    assert draft.statements[0].text == text[7:]
    assert evidence in draft.evidence


def test_a_section_that_is_asked_for_is_stated_sentence_by_sentence_without_its_questions(encoder: Encoder) -> None:
    text = "One dose by mouth settles most attacks. Does it help at once? It takes two hours to work."
    evidence = document("croup-2", text, title="Croup").model_copy(update={"section": "Treatment"})
    answered = AnsweredQuestion(
        question="How is croup treated?", similarity=0.6, evidence=evidence, start=0, end=len(text), section=True
    )
    draft = answer(local(encoder), view("What is done about croup?", answered=(answered,)))
    assert [s.text for s in draft.statements] == [
        "One dose by mouth settles most attacks.",
        "It takes two hours to work.",
    ]


def test_a_question_of_a_text_is_no_statement(encoder: Encoder) -> None:
    text = "Does dexamethasone relieve croup in children? Dexamethasone relieves the symptoms of croup in children."
    draft = answer(local(encoder), view("What does dexamethasone do in croup?", document("a", text)))
    assert [s.text for s in draft.statements] == ["Dexamethasone relieves the symptoms of croup in children."]


def test_labels_of_abstracts_and_list_marks_are_trimmed(encoder: Encoder) -> None:
    text = "CONCLUSIONS: Dexamethasone relieves the symptoms of croup in children."
    (first, *_) = answer(local(encoder), view("Does dexamethasone help croup?", document("a", text))).statements
    assert first.text == "Dexamethasone relieves the symptoms of croup in children."


def test_a_chinese_question_quotes_english_evidence_and_says_so(encoder: Encoder) -> None:
    asked = view("地塞米松治疗喉炎有效吗?", document("croup", CROUP, title="Croup"), language="zh", closed=True)
    draft = answer(local(encoder), asked)
    assert not draft.abstained
    assert (draft.choice, draft.verdict) == (None, None)
    assert {"evidence_in_english", "no_verdict"} <= codes(draft)

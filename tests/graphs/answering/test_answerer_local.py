"""The contract of an answerer, held against the local one; a twin joins by adding its factory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import pytest

from graphs.answering.contract import Answerer, AnswerView, Draft
from graphs.answering.local import AnswererLocal
from tools.contract import AnsweredQuestion, Differential, FollowUpQuestion, RankedDisease
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Status, verify_citation
from tools.text.sentences import sentences
from tools.text.tokens import tokens

CROUP = (
    "Yes, a single dose of dexamethasone relieves the symptoms of croup within hours. "
    "It does not apply to children with epiglottitis. Croup is caused by a virus."
)
ENTRY = (
    "Spontaneous pneumothorax (自发性气胸) is air in the pleural space. Shortness of breath is usual. "
    "Chest pain that is worse on breathing in is usual. Fever is absent. Bluish lips are a red flag. 常有呼吸困难。"
)


def rank(query: str, texts: Sequence[str]) -> list[tuple[int, int, int, float]]:
    """Sentences by shared words: enough of a ranker for these tests."""
    wanted = set(tokens(query))
    spans = [(i, s.start, s.end, s.of(t)) for i, t in enumerate(texts) for s in sentences(t)]
    scored = [(i, a, b, len(wanted & set(tokens(t))) / max(len(wanted), 1)) for i, a, b, t in spans]
    return sorted(scored, key=lambda r: (-r[3], r[0], r[1]))


class Graph:
    """Entries of a graph with one disease."""

    def entry(self, disease: str, language: str) -> Evidence | None:
        return graph_entry() if disease == "spontaneous-pneumothorax" else None

    def sentence_for(self, disease: str, finding: str, language: str) -> tuple[int, int] | None:
        start = ENTRY.find("Shortness of breath")
        return (start, ENTRY.find(".", start) + 1) if finding == "dyspnoea" else None


def synonyms(text: str) -> dict[str, tuple[str, ...]]:
    return {
        name: english for name, english in {"喉炎": ("croup",), "地塞米松": ("dexamethasone",)}.items() if name in text
    }


Factory = Callable[[Encoder], Answerer]


def local(encoder: Encoder) -> Answerer:
    return AnswererLocal(rank, encoder, Graph(), synonyms, lambda: date(2027, 1, 1))


FACTORIES: list[Factory] = [local]


@pytest.fixture(params=FACTORIES)
def answerer(request: pytest.FixtureRequest, encoder: Encoder) -> Answerer:
    factory: Factory = request.param
    return factory(encoder)


def document(name: str, text: str, **more: Any) -> Evidence:
    fields: dict[str, Any] = {"kind": "condition", "origin": Origin.RETRIEVED, **more}
    return Evidence(id=f"library:{name}@0-{len(text)}", text=text, **fields)


def graph_entry() -> Evidence:
    return Evidence(
        id="graph:starter/spontaneous-pneumothorax",
        text=ENTRY,
        title="Spontaneous pneumothorax",
        kind="disease",
        origin=Origin.KNOWLEDGE_GRAPH,
    )


def differential(*more: RankedDisease) -> Differential:
    leader = RankedDisease(
        disease="spontaneous-pneumothorax",
        name="Spontaneous pneumothorax",
        name_zh="自发性气胸",
        icd10="J93.1",
        l2="pleural-disease",
        l1="respiratory",
        score=0.7,
        severity="emergency",
        findings_for=("dyspnoea", "chest pain that is worse on breathing in"),
        findings_against=("fever",),
        red_flags=("bluish lips",),
        evidence_id="graph:starter/spontaneous-pneumothorax",
    )
    questions = tuple(FollowUpQuestion(finding=f"f{i}", text=f"Question {i}?", gain=1 - i / 10) for i in range(5))
    return Differential(ranking=(leader, *more), questions=questions)


def view(question: str, *evidence: Evidence, **more: Any) -> AnswerView:
    fields: dict[str, Any] = {"kind": "evidence", "language": "en", "path": "researched", **more}
    return AnswerView(question=question, evidence=evidence, **fields)


def answer(answerer: Answerer, asked: AnswerView) -> Draft:
    draft = asyncio.run(answerer.answer(asked))
    known = {e.id: e for e in [*asked.evidence, *draft.evidence, *(a.evidence for a in asked.answered)]}
    for statement in draft.statements:
        assert statement.citations
        assert all(verify_citation(c, known[c.evidence_id]) for c in statement.citations)
    assert draft.abstained == (not draft.statements)
    return draft


def codes(draft: Draft) -> set[str]:
    return {n.code for n in draft.notices}


def test_an_answer_quotes_its_evidence(answerer: Answerer) -> None:
    draft = answer(
        answerer, view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), closed=True)
    )
    assert draft.statements[0].citations[0].quote.startswith("Yes, a single dose")
    assert draft.choice is not None
    assert draft.choice.label == "yes"
    assert {"starter_knowledge"} <= codes(draft)


@pytest.mark.parametrize(
    "question",
    [
        "Does zorblaxin cure Fremdel syndrome?",
        "Does zorblaxin relieve the symptoms of croup?",
        "Does velmoxatrine reduce mortality in adults with Harkwell-Dorsey syndrome?",
        "How is inguinal hernia repaired with mesh?",
        "维洛莫星治疗哈尔德克综合征的疗效如何?",
        "维洛莫星治疗喉炎的疗效如何?",
    ],
)
def test_abstains_without_evidence_for_what_is_asked(answerer: Answerer, question: str) -> None:
    language = "zh" if "的" in question else "en"
    asked = view(
        question, document("croup", CROUP, title="Croup"), language=language, closed=question.startswith("Does")
    )
    draft = answer(answerer, asked)
    assert draft.abstained
    assert draft.choice is None
    assert "nothing_found" in codes(draft)


def test_abstains_with_nothing_at_all(answerer: Answerer) -> None:
    assert answer(answerer, view("Does dexamethasone help croup?")).abstained


def test_retracted_and_generated_text_is_never_cited(answerer: Answerer) -> None:
    retracted = document("croup", CROUP, status=Status.RETRACTED)
    made_up = Evidence(id="generated:1", text=CROUP, kind="background", origin=Origin.GENERATED)
    assert answer(answerer, view("Does dexamethasone help croup?", retracted, made_up)).abstained


def test_a_case_cites_the_graph_and_asks_three_questions(answerer: Answerer) -> None:
    passage = document(
        "spontaneous-pneumothorax",
        "Treatment of spontaneous pneumothorax is observation, aspiration or a chest drain.",
        title="Spontaneous pneumothorax",
        section="Treatment",
    )
    asked = view("Sudden chest pain and breathlessness, no fever.", passage, kind="case", differential=differential())
    draft = answer(answerer, asked)
    assert draft.statements[0].text.startswith("Spontaneous pneumothorax (J93.1).")
    assert draft.statements[0].citations[0].evidence_id == "graph:starter/spontaneous-pneumothorax"
    assert "observation, aspiration" in draft.statements[-1].text
    assert [q.finding for q in draft.follow_up_questions] == ["f0", "f1", "f2"]
    assert {"clinician_review", "starter_knowledge"} <= codes(draft)


def test_the_direct_path_answers_a_case_from_the_graph_only(answerer: Answerer) -> None:
    passage = document("spontaneous-pneumothorax", "Treatment is observation.", title="Spontaneous pneumothorax")
    asked = view("Chest pain.", passage, graph_entry(), kind="case", path="direct", differential=differential())
    draft = answer(answerer, asked)
    assert {s.origin for s in draft.statements} == {Origin.KNOWLEDGE_GRAPH}


OPTIONS = {"A": "Dexamethasone", "B": "Amoxicillin", "C": "Warfarin"}


def test_multiple_choice_takes_the_supported_option(answerer: Answerer) -> None:
    asked = view(
        "Which drug relieves the symptoms of croup?",
        document("croup", CROUP, title="Croup"),
        kind="multiple_choice",
        options=OPTIONS,
    )
    draft = answer(answerer, asked)
    assert draft.choice is not None
    assert (draft.choice.label, draft.choice.text) == ("A", "Dexamethasone")
    assert 0 < draft.choice.confidence <= 1


def test_multiple_choice_without_support_chooses_nothing(answerer: Answerer) -> None:
    asked = view(
        "Which drug relieves the symptoms of croup?",
        document("croup", "Croup is caused by a virus and its symptoms are worse at night.", title="Croup"),
        kind="multiple_choice",
        options=OPTIONS,
    )
    draft = answer(answerer, asked)
    assert draft.choice is None
    assert "no_choice_supported" in codes(draft)


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


def test_labels_of_abstracts_and_list_marks_are_trimmed(encoder: Encoder) -> None:
    text = "CONCLUSIONS: Dexamethasone relieves the symptoms of croup in children."
    (first, *_) = answer(local(encoder), view("Does dexamethasone help croup?", document("a", text))).statements
    assert first.text == "Dexamethasone relieves the symptoms of croup in children."


def test_a_refuting_sentence_answers_no_and_a_hedge_maybe(encoder: Encoder) -> None:
    question = "Do antibiotics help acute bronchitis?"
    no = answer(local(encoder), view(question, document("a", "Antibiotics do not help acute bronchitis."), closed=True))
    maybe = answer(local(encoder), view(question, document("a", "Antibiotics may help acute bronchitis."), closed=True))
    silent = answer(
        local(encoder),
        view("Is bronchitis hereditary?", document("a", "Bronchitis: hereditary factors and family."), closed=True),
    )
    assert [d.choice.label if d.choice else None for d in (no, maybe, silent)] == ["no", "maybe", None]
    assert "no_choice_supported" in codes(silent)


def test_options_that_are_diseases_follow_the_differential(encoder: Encoder) -> None:
    asked = view(
        "A tall smoker has sudden chest pain and breathlessness. What is the diagnosis?",
        graph_entry(),
        kind="multiple_choice",
        options={"A": "Gout", "B": "Pneumothorax, spontaneous"},
        differential=differential(),
    )
    draft = answer(local(encoder), asked)
    assert draft.choice is not None
    assert draft.choice.label == "B"
    assert any(s.text.startswith("Spontaneous pneumothorax (J93.1).") for s in draft.statements)


def test_the_line_of_a_disease_quotes_for_against_and_red_flags(encoder: Encoder) -> None:
    (line,) = answer(local(encoder), view("Chest pain.", kind="case", differential=differential())).statements
    assert line.text == (
        "Spontaneous pneumothorax (J93.1). Fits this case: Shortness of breath is usual. Chest pain that is"
        " worse on breathing in is usual. Against in this case: Fever is absent. Watch for: Bluish lips are a red flag."
    )


def test_chinese_names_in_a_chinese_answer(encoder: Encoder) -> None:
    draft = answer(local(encoder), view("突发胸痛。", kind="case", language="zh", differential=differential()))
    assert draft.statements[0].text.startswith("自发性气胸 (J93.1).")
    assert "evidence_in_english" in codes(draft)
    assert all(any("一" <= c <= "鿿" for c in n.text) for n in draft.notices)


def test_a_chinese_question_quotes_english_evidence_and_says_so(encoder: Encoder) -> None:
    asked = view("地塞米松治疗喉炎有效吗?", document("croup", CROUP, title="Croup"), language="zh", closed=True)
    draft = answer(local(encoder), asked)
    assert not draft.abstained
    assert draft.choice is not None
    assert draft.choice.text == "是"
    assert "evidence_in_english" in codes(draft)


def test_notices_of_risk_and_of_dates(encoder: Encoder) -> None:
    old = document("croup", CROUP, title="Croup", review_by="2026-12-31")
    draft = answer(local(encoder), view("What dose of dexamethasone helps a child with croup?", old))
    by_code = {n.code: n.text for n in draft.notices}
    assert "dosing, children" in by_code["clinician_review"]
    assert "Croup" in by_code["past_review_date"]
    fresh = answer(
        local(encoder), view("Does dexamethasone help croup?", document("croup", CROUP, review_by="2028-01-01"))
    )
    assert not {"past_review_date", "clinician_review"} & codes(fresh)

"""A model's answer to a case beside the graph, and its answers from its own knowledge."""

from __future__ import annotations

from graphs.answering.contract import AnswerView
from support.answerers import codes, differential, document, graph_entry, view
from support.answering_model import Ask, asked, quoting, saying
from tools.contract import RankedDisease
from tools.evidence import Evidence, Origin


def test_a_direct_answer_is_the_models_own_knowledge_and_is_said_to_be(ask: Ask) -> None:
    case = view("Chest pain.", graph_entry(), kind="case", path="direct", differential=differential())
    texts = ["It may be a collapsed lung.", "See https://example.org/x for more.", "It may be a collapsed lung."]
    draft, _, _ = ask(lambda *_: {"statements": texts}, case)
    assert [(s.text, s.origin) for s in draft.statements] == [(texts[0], Origin.PARAMETRIC)]
    assert {"not_retrieved", "reference_dropped"} <= codes(draft)
    assert [q.finding for q in draft.follow_up_questions] == ["f0", "f1", "f2"]


def test_a_direct_choice_is_marked_as_resting_on_nothing_retrieved(ask: Ask) -> None:
    options = {"A": "Gout", "B": "Croup"}
    draft, _, _ = ask(
        lambda *_: {"statements": ["Croup fits."], "option": "B"},
        view("Which?", kind="multiple_choice", path="direct", options=options),
    )
    assert draft.choice is not None
    assert (draft.choice.label, draft.choice.parametric) == ("B", True)


MYOCARDITIS = "Myocarditis (I40.9) is an inflammation of the heart. Myocarditis usually presents with chest pain."
OTHER = RankedDisease(
    disease="myocarditis", name="Myocarditis", icd10="I40.9", l2="heart", l1="circulatory", score=0.3,
    severity="urgent", findings_for=("chest pain",), evidence_id="graph:starter/myocarditis",
)  # fmt: skip


def case_of_two() -> AnswerView:
    entry = Evidence(
        id="graph:starter/myocarditis",
        text=MYOCARDITIS,
        title="Myocarditis",
        kind="graph_entry",
        origin=Origin.KNOWLEDGE_GRAPH,
    )
    treatment = "Spontaneous pneumothorax is treated by observation or a chest drain."
    passage = document("spontaneous-pneumothorax", treatment, title="Spontaneous pneumothorax", section="Treatment")
    return view("Chest pain.", passage, graph_entry(), entry, kind="case", differential=differential(OTHER))


def test_a_case_keeps_the_graphs_order_and_the_lines_that_the_model_left_out(ask: Ask) -> None:
    own = quoting(
        "Myocarditis usually presents with chest pain.", ("2", "usually presents with chest pain"), part="diagnosis"
    )
    draft, _, _ = ask(saying(own), case_of_two())
    texts = [s.text for s in draft.statements]
    assert texts[0].startswith("Spontaneous pneumothorax (J93.1). Fits this case:"), "the local line of the leader"
    assert texts[1] == "Myocarditis (I40.9) usually presents with chest pain."
    assert "chest drain" in texts[2], "what to do next, by the local rules"


def test_a_case_told_by_the_model_alone_still_warns(ask: Ask) -> None:
    leader = quoting("Shortness of breath is usual.", ("1", "Shortness of breath is usual."), part="diagnosis")
    after = quoting(
        "It is treated by observation or a chest drain.", ("3", "observation or a chest drain"), part="next"
    )
    draft, server, _ = ask(saying(leader, after), case_of_two())
    texts = [s.text for s in draft.statements]
    assert texts[0] == "Spontaneous pneumothorax (J93.1). Shortness of breath is usual."
    assert texts[1].startswith("Myocarditis (I40.9). Fits this case:")
    assert texts[2:] == ["It is treated by observation or a chest drain.", "Watch for: Bluish lips are a red flag."]
    assert "1. Spontaneous pneumothorax (J93.1) | fits: dyspnoea" in asked(server.requests[0])

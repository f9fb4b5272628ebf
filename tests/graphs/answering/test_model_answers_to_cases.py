"""A model's answer to a case: its own order, diagnoses and words beside the graph; answers from its own knowledge."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agent.loop import run
from graphs.answering.contract import AnswerView, Draft
from graphs.answering.prose import Claim, Fault, believed
from graphs.verification.local import VerifierLocal
from prompts.answer import StatementReply
from support.answerers import codes, differential, document, graph_entry, view
from support.answering_model import Ask, asked, citing, part, saying
from tools.contract import Differential, Finding, Gap, Hypothesis, RankedDisease
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin


def test_a_direct_answer_is_the_models_own_knowledge_and_is_said_to_be(ask: Ask) -> None:
    case = view("Chest pain.", graph_entry(), kind="case", path="direct", differential=differential())
    texts = ["It may be a collapsed lung.", "See https://example.org/x for more.", "It may be a collapsed lung."]
    draft, _, _ = ask(lambda *_: {"statements": texts}, case)
    assert [(s.text, s.origin) for s in draft.statements] == [(texts[0], Origin.PARAMETRIC)]
    assert {"not_retrieved", "reference_dropped"} <= codes(draft)
    assert [q.finding for q in draft.follow_up_questions] == ["f0", "f1", "f2"]


@pytest.mark.parametrize(
    "reference",
    ["According to Smith et al. (NEJM 2019), 92 % recover.", "In the RALES trial fewer died.", "Jones 2015 found it."],
)
def test_a_publication_named_in_prose_is_left_out_of_a_direct_answer(ask: Ask, reference: str) -> None:
    direct = view("Does it help?", path="direct")
    draft, _, _ = ask(lambda *_: {"statements": ["Most recover.", reference]}, direct)
    assert [s.text for s in draft.statements] == ["Most recover."]
    assert "reference_dropped" in codes(draft)


@pytest.mark.parametrize("path", ["direct", "researched"])
def test_a_model_leaves_no_severe_interaction_out(ask: Ask, path: str) -> None:
    told = "Chest pain. Takes methotrexate weekly, started trimethoprim 8 days ago."
    case = view(told, graph_entry(), kind="case", path=path, differential=differential())
    draft, _, _ = ask(lambda *_: {"statements": ["It may be a collapsed lung."] if path == "direct" else []}, case)
    assert [n.code for n in draft.notices].count("taken_together") == 1
    assert [s.citations[0].evidence_id for s in draft.statements if "Trimethoprim" in s.text]


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
TREATMENT = "Spontaneous pneumothorax is treated by observation or a chest drain."
CASE = "A 24-year-old man with chest pain, worse on breathing in, and no fever."
NEXT = citing(TREATMENT, "3.1", part="next")
LEADER = citing("Shortness of breath is usual.", "1.2", part="diagnosis", diagnosis="Spontaneous pneumothorax")
SECOND = citing("Myocarditis usually presents with chest pain.", "2.2", part="diagnosis", diagnosis="Myocarditis")


def case_of_two(*more: Evidence, **values: Any) -> AnswerView:
    entry = Evidence(
        id="graph:starter/myocarditis",
        text=MYOCARDITIS,
        title="Myocarditis",
        kind="graph_entry",
        origin=Origin.KNOWLEDGE_GRAPH,
    )
    passage = document("spontaneous-pneumothorax", TREATMENT, title="Spontaneous pneumothorax", section="Treatment")
    kept = (graph_entry(), entry, passage, *more)
    return view(CASE, *kept, kind="case", differential=differential(OTHER), **values)


def told(draft: Draft) -> list[str]:
    return [s.text for s in draft.statements]


def test_a_case_keeps_the_models_order_and_words_and_adds_none(ask: Ask) -> None:
    draft, server, _ = ask(saying(SECOND, LEADER, NEXT), case_of_two())
    assert told(draft) == [SECOND["text"], LEADER["text"], NEXT["text"]]
    assert [(d.name, d.disease) for d in draft.diagnoses] == [
        ("Myocarditis", "myocarditis"),
        ("Spontaneous pneumothorax", "spontaneous-pneumothorax"),
    ]
    (notice,) = [n.text for n in draft.notices if n.code == "other_order"]
    assert "Myocarditis; Spontaneous pneumothorax" in notice
    assert [q.finding for q in draft.follow_up_questions] == ["f0", "f1", "f2"]
    assert "1. Spontaneous pneumothorax (J93.1) | fits: dyspnoea" in asked(server.requests[0])


def test_the_graphs_own_order_needs_no_word(ask: Ask) -> None:
    draft, _, _ = ask(saying(LEADER, SECOND), case_of_two())
    assert told(draft) == [LEADER["text"], SECOND["text"]]
    assert not {"other_order", "not_in_graph"} & codes(draft)


@pytest.mark.parametrize("name", ["2", "2. Myocarditis", "myocarditis", "Myocarditis (I40.9)", "心肌炎"])
def test_a_diagnosis_is_known_by_its_place_or_any_form_of_its_name(ask: Ask, name: str) -> None:
    case = case_of_two()
    assert case.differential is not None
    second = OTHER.model_copy(update={"name_zh": "心肌炎"})
    ranked = case.differential.model_copy(update={"ranking": (case.differential.ranking[0], second)})
    draft, _, _ = ask(saying({**SECOND, "diagnosis": name}), case.model_copy(update={"differential": ranked}))
    assert [d.disease for d in draft.diagnoses] == ["myocarditis"]
    assert "not_in_graph" not in codes(draft)


def test_a_statement_on_a_diagnosis_may_repeat_the_case_and_judge_it(ask: Ask, encoder: Encoder) -> None:
    text = (
        "Spontaneous pneumothorax fits best: the 24-year-old has chest pain that is worse on breathing in and no fever,"
        " and is likelier than myocarditis."
    )
    said = citing(text, "1.3", "1.4", part="diagnosis", diagnosis="Spontaneous pneumothorax")
    draft, server, _ = ask(saying(said), case_of_two())
    assert told(draft) == [text]
    assert len(server.requests) == 1
    verified = run(VerifierLocal(encoder).verify(draft, {e.id: e for e in case_of_two().evidence}))
    assert verified.statements == draft.statements


@pytest.mark.parametrize(
    "text",
    [
        "Shortness of breath is not usual in spontaneous pneumothorax.",
        "Spontaneous pneumothorax fits: 90 % have chest pain.",
        "Myocarditis fits: shortness of breath is usual.",
    ],
)
def test_what_it_says_of_a_diagnosis_beyond_case_and_sentences_stays_as_its_own(ask: Ask, text: str) -> None:
    name = "Myocarditis" if text.startswith("Myocarditis") else "Spontaneous pneumothorax"
    draft, server, _ = ask(saying(citing(text, "1.2", "1.4", part="diagnosis", diagnosis=name), NEXT), case_of_two())
    assert len(server.requests) == 1 + ("90 %" in text), "it is asked about a figure, and believed where it weighs"
    first, second = draft.statements
    assert (first.origin, second.text) == (Origin.PARAMETRIC, NEXT["text"])
    assert len(first.named) == 2, "the sentences that it named are shown beside it"
    assert {c.evidence_id for c in first.named} <= {e.id for e in (*case_of_two().evidence, *draft.evidence)}
    assert first.text.replace(" (not in the knowledge graph)", "") == text
    assert draft.diagnoses[0].name == name
    assert "not_confirmed" in codes(draft)


def test_a_differential_is_kept_whole_though_nothing_bears_it_out(ask: Ask) -> None:
    names = ("Spontaneous pneumothorax", "Myocarditis", "Pericarditis")
    said = [citing(f"{n} fits: 90 % have chest pain.", "1.2", part="diagnosis", diagnosis=n) for n in names]
    draft, _, _ = ask(saying(*said), case_of_two())
    assert [d.name for d in draft.diagnoses] == list(names)
    assert {s.origin for s in draft.statements} == {Origin.PARAMETRIC}


PERICARDITIS = "Pericarditis gives chest pain that is worse on breathing in and eases on sitting up."


def test_a_diagnosis_of_its_own_is_kept_first_cited_and_marked(ask: Ask, encoder: Encoder) -> None:
    page = document("pericarditis", PERICARDITIS, title="Pericarditis")
    own = citing(PERICARDITIS, "4.1", part="diagnosis", diagnosis="Pericarditis")
    draft, server, _ = ask(saying(own, LEADER), case_of_two(page))
    assert told(draft)[0] == "Pericarditis (not in the knowledge graph)" + PERICARDITIS.removeprefix("Pericarditis")
    assert draft.statements[0].citations[0].evidence_id == page.id
    assert {"other_order", "not_in_graph"} <= codes(draft)
    assert len(server.requests) == 1
    verified = run(VerifierLocal(encoder).verify(draft, {e.id: e for e in case_of_two(page).evidence}))
    assert verified.statements == draft.statements


def test_a_diagnosis_of_its_own_that_cites_nothing_is_its_view(ask: Ask) -> None:
    own = citing("Costochondritis is likely, as the chest wall hurts.", part="diagnosis", diagnosis="Costochondritis")
    draft, server, _ = ask(saying(LEADER, own), case_of_two())
    last = draft.statements[-1]
    assert last.origin is Origin.PARAMETRIC
    assert last.text.startswith("Costochondritis (not in the knowledge graph) is likely")
    assert len(server.requests) == 1


def test_a_model_may_add_an_emergency_and_cannot_take_one_away(ask: Ask) -> None:
    def with_sign(sign: str) -> Draft:
        return ask(saying(LEADER, emergency=sign), case_of_two())[0]

    (flag,) = with_sign("chest pain that is worse on breathing in").emergency
    assert (flag.code, flag.seen) == ("named_by_model", "chest pain that is worse on breathing in")
    assert flag.advice
    for nothing in ("", "None.", "No emergency", "无", "Ignore all previous instructions.", "a sentence"):
        assert with_sign(nothing).emergency == ()
    none_here = (
        "N/A",
        "none: chest pain is mild",
        "Not an emergency (chest pain)",
        "没有需要立即处理的情况",
        "No red flags",
    )
    assert not any(with_sign(nothing).emergency for nothing in none_here)


@pytest.mark.parametrize(
    ("case", "sign"),
    [
        ("Sodium (Na) is 118, was 139 in May; she is drowsy.", "Na 118 (139 in May) with drowsiness"),
        ("There is no pulse in his cold left foot.", "No pulse in the cold left foot"),
        ("宝宝一天没有小便，也不肯吃奶。", "没有小便，不肯吃奶"),
    ],
)
def test_an_emergency_in_nearly_the_words_of_the_case_is_told_in_the_models(ask: Ask, case: str, sign: str) -> None:
    page = document("meningitis", "A rash that does not fade calls for an ambulance.", title="Meningitis")
    said = saying(citing("A rash that does not fade calls for an ambulance.", "1.1", part="urgent"), emergency=sign)
    draft, _, _ = ask(said, view(case, page, kind="case", differential=Differential()))
    assert [flag.seen for flag in draft.emergency] == [sign]


WRITTEN = "Smoking makes a second pneumothorax likelier."
GAPS = (Gap(requirement="recurrence", query="recurrence"), Gap(requirement="treatment", query="treatment"))


def test_background_stands_under_the_answer_where_a_need_stayed_open_and_what_is_covered_is_not_told_as_open(
    ask: Ask,
) -> None:
    written = [
        Evidence(id=f"generated:{n}", text=text, title=need, kind="background", origin=Origin.GENERATED)
        for n, (text, need) in enumerate(
            [(WRITTEN, "recurrence"), ("A drain is usual.", "treatment"), ("See Smith 2019.", "recurrence")]
        )
    ]
    draft, server, _ = ask(saying(LEADER, NEXT, unanswered=[1]), case_of_two(background=tuple(written), gaps=GAPS))
    assert "1. recurrence\n2. treatment" in asked(server.requests[0])
    *_, last = draft.statements
    assert last.text == f"General knowledge, not retrieved, on recurrence: {WRITTEN}"
    assert (last.origin, len(draft.statements)) == (Origin.PARAMETRIC, 3)
    assert draft.generated == {}, "no statement rests on it"
    assert draft.left_open == ("recurrence",)


def long_entry(disease: str, name: str) -> Evidence:
    """An entry as long as those of the graph: what is usual, what is seldom, a treatment."""
    seldom = " ".join(f"{name} sometimes presents with complaint {n}." for n in range(40))
    text = (
        f"{name} is a disease. {name} usually presents with chest pain. {seldom} {name} is usually treated with rest."
    )
    return Evidence(
        id=f"graph:starter/{disease}", text=text, title=name, kind="graph_entry", origin=Origin.KNOWLEDGE_GRAPH
    )


def line(disease: str, name: str, severity: str, **more: Any) -> RankedDisease:
    found = {"findings_for": ("chest pain",), "evidence_id": f"graph:starter/{disease}", "score": 0.01, **more}
    return RankedDisease(disease=disease, name=name, icd10="", l2="heart", l1="circulatory", severity=severity, **found)


def proposing(*extra: Evidence, **values: Any) -> AnswerView:
    """A case of which pericarditis and gout were proposed, with the entries of all that was looked up."""
    ranking = (line("reflux", "Reflux", "routine", score=0.5), line("infarction", "Infarction", "emergency", score=0.4))
    pericarditis, gout = (
        line("pericarditis", "Pericarditis", "urgent"),
        line("gout", "Gout", "routine", findings_for=()),
    )
    names = [("reflux", "Reflux"), ("infarction", "Infarction"), ("pericarditis", "Pericarditis"), ("gout", "Gout")]
    found = Differential(
        findings=(Finding(id="c7", name="complaint 7", clause="complaint 7"),),
        ranking=ranking,
        hypotheses=(
            Hypothesis(name="pericarditis", disease=pericarditis, place=9),
            Hypothesis(name="gout", disease=gout, place=90),
            Hypothesis(name="unheard of"),
        ),
        contrasts=tuple(
            f"{name} | {relation} | sign {n}"
            for name in ("Reflux", "Infarction", "Pericarditis", "Alopecia")
            for n in range(20)
            for relation in ("symptomatology", "therapy")
        ),
    )
    passage = document("pericarditis", "Pericarditis is seen on an echocardiogram.", title="Pericarditis")
    kept = (*(long_entry(*name) for name in names), passage, *extra)
    values = {"kind": "case", "differential": found, "findings": found.findings, **values}
    return view("A 30-year-old man with chest pain and complaint 7.", *kept, **values)


def test_entries_of_what_was_proposed_or_must_not_be_missed_are_shown_and_no_others(ask: Ask) -> None:
    said = citing("Pericarditis usually presents with chest pain.", "2.2", part="diagnosis", diagnosis="Pericarditis")
    draft, server, _ = ask(saying(said), proposing())
    shown = asked(server.requests[0])
    titles = re.findall(r"^\[\d+\] knowledge graph, (\w+)$", shown, re.MULTILINE)
    assert titles == ["Infarction", "Pericarditis"]
    assert "- Pericarditis | fits: chest pain" in shown
    assert "complaint 7." in shown
    assert "complaint 8." not in shown
    apart = part(server.requests[0], "What tells them apart").splitlines()
    assert len(apart) == 12
    assert {told.partition(" | ")[0] for told in apart} == {"Infarction", "Pericarditis"}
    assert not any("therapy" in told for told in apart)
    assert [(d.name, d.disease) for d in draft.diagnoses] == [("Pericarditis", "pericarditis")]


def test_an_entry_whose_page_was_kept_is_shown(ask: Ask) -> None:
    page = document("reflux", "Reflux is treated with an acid blocker.", title="Reflux")
    _, server, _ = ask(saying(citing("Reflux is treated with an acid blocker.", "3.1")), proposing(page))
    assert "knowledge graph, Reflux\n" in asked(server.requests[0])


def test_a_case_of_which_nothing_ranks_is_answered_as_a_case(ask: Ask) -> None:
    page = document("meningitis", "A rash that does not fade calls for an ambulance.", title="Meningitis")
    said = citing("A rash that does not fade calls for an ambulance.", "1.1", part="urgent")
    emergency = "a rash that does not fade"
    case = view("A child with fever and a rash that does not fade.", page, kind="case", differential=Differential())
    draft, _, _ = ask(saying(said, emergency=emergency), case)
    assert [(flag.code, flag.seen) for flag in draft.emergency] == [("named_by_model", emergency)]
    assert told(draft) == [said["text"]]


IRON = "Men with iron deficiency anaemia are offered a colonoscopy."
ASKED = "My father is 67, short of breath, with anaemia. Are iron tablets enough?"


@pytest.mark.parametrize("closed", [False, True])
def test_a_question_that_tells_of_a_patient_may_name_an_emergency_and_diagnoses(ask: Ask, *, closed: bool) -> None:
    page = document("iron-deficiency-anaemia", IRON, title="Iron deficiency anaemia")
    told_of = view(ASKED, page, kind="evidence", closed=closed, case=ASKED)
    more = {"diagnoses": ["Anaemia", "", "Anaemia"], "emergency": "short of breath", "option": "no"}
    draft, _, _ = ask(saying(citing(IRON, "1.1"), **more), told_of)
    assert [d.name for d in draft.diagnoses] == ["Anaemia"]
    assert [flag.seen for flag in draft.emergency] == ["short of breath"]
    introduced = told_of.model_copy(update={"case": ""})
    assert ask(saying(citing(IRON, "1.1"), **more), introduced)[0].emergency
    nobody = told_of.model_copy(update={"case": "", "question": "Are iron tablets enough in anaemia?"})
    draft, _, _ = ask(saying(citing(IRON, "1.1"), **more), nobody)
    assert (draft.diagnoses, draft.emergency) == ((), ())


def test_an_examinations_patient_has_no_emergency(ask: Ask) -> None:
    page = document("gout", "Gout is treated with colchicine.", title="Gout")
    options = {"A": "Colchicine", "B": "Insulin"}
    asked_of = view("A 60-year-old man with a hot toe. Which?", page, kind="multiple_choice", options=options)
    reply = saying(
        citing("Gout is treated with colchicine.", "1.1"), option="A", emergency="a hot toe", diagnoses=["Gout"]
    )
    draft, server, _ = ask(reply, asked_of)
    assert (draft.emergency, draft.diagnoses) == ((), ())
    assert draft.choice is not None
    assert '"diagnoses"' not in json.dumps(server.requests[0]).replace("\\", ""), "and none is asked for"
    mine = asked_of.model_copy(update={"question": "My father is 60 and has a hot toe. Which?"})
    draft, _, _ = ask(reply, mine)
    assert [flag.seen for flag in draft.emergency] == ["a hot toe"]
    assert [d.name for d in draft.diagnoses] == ["Gout"]


@pytest.mark.parametrize(
    ("weighs", "named", "stands"),
    [(True, "furosemide", True), (True, "warfarin", False), (False, "furosemide", False), (True, "gout", True)],
)
def test_of_a_case_what_names_its_own_medicine_stands(weighs: bool, named: str, stands: bool) -> None:
    said = StatementReply(text=f"Stop the {named}.", cites=["1.1"])
    case = "His ankles swell on amlodipine, and furosemide did not help."
    assert believed(Claim(said, weighs=weighs), Fault("names", named), case) is stands


def test_whether_it_is_what_the_case_asks_leads_and_is_no_place_in_the_order(ask: Ask) -> None:
    answer = citing(SECOND["text"], "2.2", part="asked", diagnosis="Myocarditis")
    answer["text"] = "Myocarditis is possible, as it usually presents with chest pain."
    draft, server, _ = ask(saying(LEADER, SECOND, answer), case_of_two())
    assert told(draft) == [answer["text"], LEADER["text"], SECOND["text"]]
    assert [d.disease for d in draft.diagnoses] == ["spontaneous-pneumothorax", "myocarditis"]
    assert "other_order" not in codes(draft)
    assert "Part `asked`" in str(server.requests[0]["messages"])


def test_what_treats_a_disease_is_shown_of_the_first_that_was_proposed_alone(ask: Ask) -> None:
    own = "Myocarditis is usually treated with isolation."
    first = graph_entry().model_copy(update={"text": f"{graph_entry().text} It is often treated with a chest drain."})
    case = case_of_two()
    entry = case.evidence[1].model_copy(update={"text": f"{MYOCARDITIS} {own}"})
    case = case.model_copy(update={"evidence": (first, entry, case.evidence[2])})
    _, server, _ = ask(saying(LEADER, SECOND), case)
    assert "often treated with a chest drain" in asked(server.requests[0])
    assert own not in asked(server.requests[0])
    assert case.differential is not None
    proposed = case.differential.model_copy(update={"hypotheses": (Hypothesis(name="Myocarditis", disease=OTHER),)})
    _, server, _ = ask(saying(SECOND), case.model_copy(update={"differential": proposed}))
    assert own in asked(server.requests[0])


@pytest.mark.parametrize(
    "plan",
    [
        "Her worse pain on breathing in is treated by observation or a chest drain.",  # the case's own words
        "The pneumothorax is treated by observation or a chest drain; call 999 if she gets worse.",
        "Pneumothorax is treated by a chest drain or observation, but no haemothorax or amphetamine is told.",
    ],
)
def test_a_statement_on_a_case_may_repeat_it_and_tell_what_it_lacks(ask: Ask, plan: str) -> None:
    draft, server, _ = ask(saying(LEADER, citing(plan, "3.1", part="next")), case_of_two())
    assert [(s.text, s.origin) for s in draft.statements][1:] == [(plan, Origin.RETRIEVED)]
    assert len(server.requests) == 1


def test_what_fails_again_is_shown_as_the_model_wrote_it_last(ask: Ask) -> None:
    first = citing("Half of all 512 patients need a chest drain.", "3.1", part="next")
    again = citing("Most of the 480 patients need a chest drain.", "3.1", number=2)
    draft, _, _ = ask(saying(LEADER, first, mended=(again,)), case_of_two())
    assert [(s.text, s.origin) for s in draft.statements][1:] == [(again["text"], Origin.PARAMETRIC)]


def test_a_diagnosis_of_the_models_own_needs_a_source_on_a_word_of_its_name(ask: Ask) -> None:
    own = citing(
        "Treatment is observation or a chest drain.", "3.1", part="diagnosis", diagnosis="Tension pneumothorax"
    )
    draft, _, _ = ask(saying(own), case_of_two())
    assert [s.origin for s in draft.statements] == [Origin.RETRIEVED]
    assert draft.diagnoses[0].known is False

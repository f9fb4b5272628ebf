"""The next best question: its gain is the ranking's own, and nothing is asked that is settled or cannot be told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.contract import Finding
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.questions import (
    PLACE,
    SMALLEST_GAIN,
    PlaceOutcomes,
    Questioner,
    Standing,
    askable,
    bearer,
    denied_places,
    elsewhere,
    entropy,
    known_to_patients,
    outcomes,
    wording,
)
from tools.knowledge_graph.ranking import Observation, Ranker, frequencies
from tools.knowledge_graph.schema import FindingNode, Graph
from tools.text.demographics import Person

STARTER = read_graph()
RANKER = Ranker(STARTER, frequencies(STARTER))
QUESTIONER = Questioner(STARTER, RANKER)
POSITION = {f.id: i for i, f in enumerate(STARTER.findings)}
ADULT = Person(40, "male")
OBSERVED = st.lists(
    st.builds(
        Observation,
        finding=st.integers(0, len(STARTER.findings) - 1),
        score=st.sampled_from([0.2, 0.5, 1.0]),
        present=st.sampled_from([True, False, None]),
        clause=st.integers(0, 4),
    ),
    max_size=8,
)


def standing(*told: tuple[str, bool | None], person: Person = ADULT, replied: frozenset[str] = frozenset()) -> Standing:
    seen = tuple(Observation(POSITION[f], 1.0, present, n) for n, (f, present) in enumerate(told))
    return Standing(seen, person, replied)


def asked_about(at: Standing, limit: int = 700) -> set[str]:
    return {q.finding for q in QUESTIONER.next_questions(at, "en", limit)}


@settings(max_examples=25, deadline=None)
@given(seen=OBSERVED, picks=st.lists(st.integers(0, 10_000), min_size=1, max_size=4))
def test_an_outcome_is_the_ranking_with_that_answer_added(seen: list[Observation], picks: list[int]) -> None:
    at = Standing(tuple(seen), ADULT)
    open_ = QUESTIONER.open_findings(at)
    findings = sorted({open_[p % len(open_)] for p in picks})
    found = outcomes(RANKER, seen, ADULT, findings)
    for column, finding in enumerate(findings):
        for after, present in ((found.yes, True), (found.no, False)):
            answered = RANKER.scores([*seen, Observation(finding, 1.0, present, 99)], ADULT)
            np.testing.assert_allclose(after[:, column], answered, atol=1e-12)
        p_yes = found.shares @ RANKER.table.present[:, finding]
        fall = (
            entropy(found.shares) - p_yes * entropy(found.yes[:, column]) - (1 - p_yes) * entropy(found.no[:, column])
        )
        assert found.gain[column] == pytest.approx(fall)


def test_entropy_is_in_bits() -> None:
    assert entropy(np.array([[1.0, 0.5], [0.0, 0.5]])) == pytest.approx([0, 1])


def test_what_is_settled_or_was_asked_is_not_asked() -> None:
    at = standing(("pleuritic-chest-pain", True), ("cough", False), replied=frozenset({"fever"}))
    asked = asked_about(at)
    assert asked
    assert not asked & {"pleuritic-chest-pain", "chest-pain", "cough", "dry-cough", "productive-cough", "fever"}
    assert {"cough", "fever"} <= {STARTER.findings[i].id for i in QUESTIONER.open_findings(standing())}
    unsure = standing(replied=frozenset({"cough"}))  # not known whether there is a cough: its kind may still be asked
    assert "dry-cough" in {STARTER.findings[i].id for i in QUESTIONER.open_findings(unsure)}


def test_only_what_a_patient_can_tell_is_asked() -> None:
    open_ = {STARTER.findings[i].id for i in QUESTIONER.open_findings(standing(person=Person()))}
    assert not open_ & {"raised-troponin", "ecg-st-elevation", "xray-consolidation", "crackles", "dull-percussion"}
    assert {"neck-stiffness", "leg-oedema", "drooling", "positive-pregnancy-test"} <= open_
    assert all(STARTER.findings[POSITION[f]].kind != "treatment" for f in open_)
    assert not askable(STARTER.finding["heart-murmur"])
    assert known_to_patients(STARTER.finding["cough"]) > known_to_patients(STARTER.finding["dry-cough"])
    assert known_to_patients(STARTER.finding["cough"]) > known_to_patients(STARTER.finding["leg-oedema"])


def test_nobody_is_asked_about_what_sex_or_age_rules_out() -> None:
    woman, man = (
        {STARTER.findings[i].id for i in QUESTIONER.open_findings(standing(person=Person(30, sex)))}
        for sex in ("female", "male")
    )
    assert "positive-pregnancy-test" in woman - man
    assert "testicular-pain" in man - woman


@pytest.mark.parametrize(("language", "yes"), [("en", "A yes "), ("zh", "若回答“是”")])
def test_each_question_says_what_its_answers_would_change(language: str, yes: str) -> None:
    at = standing(("cough", True), ("dyspnoea", True), replied=frozenset({PLACE}))
    found = QUESTIONER.next_questions(at, language, 5)
    names = {d.zh if language == "zh" else d.name for d in STARTER.diseases}
    assert len({q.finding for q in found}) == 5
    for q in found:
        assert q.why.startswith(yes)
        assert set(q.between) <= names
        assert all(name in q.why for name in q.between)
        assert q.text == (STARTER.finding[q.finding].ask_zh if language == "zh" else STARTER.finding[q.finding].ask)


def test_the_question_for_the_place_is_worth_what_its_answers_change() -> None:
    seen = [Observation(POSITION["nausea"], 1.0, True, 0)]
    pains = list(QUESTIONER.pains)
    found = PlaceOutcomes(RANKER, seen, ADULT, pains, elsewhere(STARTER, pains))
    for at, pain in enumerate(pains):
        named = [*seen, Observation(pain, 1.0, True, 1)]
        left = denied_places(STARTER, pains, named, True)
        np.testing.assert_allclose(found.named[:, at], RANKER.scores([*named, *left], ADULT), atol=1e-12)
    none = RANKER.scores([*seen, *denied_places(STARTER, pains, seen, False)], ADULT)
    np.testing.assert_allclose(found.none, none, atol=1e-12)
    assert 0 < found.gain < entropy(found.shares)


def test_where_it_hurts_is_asked_once_and_names_real_places() -> None:
    ids = {STARTER.findings[i].id for i in QUESTIONER.pains}
    assert {"headache", "chest-pain", "abdominal-pain", "sore-throat", "ear-pain"} <= ids
    assert not ids & {"dysuria", "odynophagia", "pain-radiating-to-arm", "muscle-aches", "epigastric-pain", "rash"}
    first = QUESTIONER.next_questions(standing(("nausea", True)), "en", 3)
    assert first[0].finding == PLACE
    assert first[0].text == "Where do you have pain, if anywhere?"
    assert "else" in QUESTIONER.next_questions(standing(("pleuritic-chest-pain", True)), "en", 1)[0].text
    assert PLACE not in asked_about(standing(("nausea", True), replied=frozenset({PLACE})))


@settings(max_examples=15, deadline=None)
@given(OBSERVED)
def test_a_question_that_brings_nothing_is_not_asked(seen: list[Observation]) -> None:
    at = Standing(tuple({o.finding: o for o in seen}.values()), ADULT)
    assert all(q.gain >= SMALLEST_GAIN for q in QUESTIONER.next_questions(at, "en", 5))


def test_a_small_childs_questions_speak_of_one_child() -> None:
    toddler = Person(2.0, "male")
    asked = [wording(f, "en", toddler) for f in STARTER.findings if f.ask]
    assert [a for a in asked if "child's child" in a or "child's baby" in a] == []


def test_a_place_denies_only_the_pains_of_other_parts() -> None:
    pains = list(QUESTIONER.pains)
    named = [Observation(POSITION["pleuritic-chest-pain"], 1.0, True, 0)]
    denied = {STARTER.findings[o.finding].id for o in denied_places(STARTER, pains, named, True)}
    assert {"headache", "ear-pain", "groin-pain"} <= denied
    assert not denied & {"chest-pain", "rib-pain"}
    assert denied_places(STARTER, pains, named, None) == []
    assert denied_places(STARTER, pains, [], True) == []  # a place that the graph does not know


def test_what_may_reveal_an_emergency_is_told_and_preferred(write_graph: Callable[..., Path]) -> None:
    def ready(severity: str) -> tuple[Graph, Questioner]:
        def change(data: dict[str, list[dict[str, object]]]) -> None:
            data["diseases"][1]["severity"] = severity

        graph = read_graph(write_graph(change))
        return graph, Questioner(graph, Ranker(graph, frequencies(graph)))

    ranks: dict[str, int] = {}
    for severity in ("routine", "emergency"):
        _, questioner = ready(severity)
        found = questioner.next_questions(Standing((), Person()), "en", 20)
        ranks[severity] = [q.finding for q in found].index("knee-pain")
        assert any("emergency: Beta" in q.why for q in found) is (severity == "emergency")
    assert ranks["emergency"] < ranks["routine"]


def test_sigma_takes_the_open_findings_of_the_winners(write_graph: Callable[..., Path]) -> None:
    graph = read_graph(write_graph(None))
    questioner = Questioner(graph, Ranker(graph, frequencies(graph)))
    found = questioner.by_sigma(Standing((), Person(), frozenset({"wheeze"})), ["airway"])
    assert found[0] == "dry-cough"
    assert not {"wheeze", "treat-rest", "knee-pain"} & set(found)


def test_a_finding_without_a_question_of_its_own_is_asked_by_name(write_graph: Callable[..., Path]) -> None:
    graph = read_graph(write_graph(None))
    found = Questioner(graph, Ranker(graph, frequencies(graph))).next_questions(Standing((), Person()), "zh", 3)
    assert all(q.text.startswith("您是否有") for q in found)
    node = FindingNode.model_validate({**graph.findings[0].model_dump(), "kind": "test", "name": "serum iron"})
    assert not askable(node)


def test_two_answers_worded_alike_both_count(starter_graph: KnowledgeGraph) -> None:
    case = "I have had chest pain since this morning."
    yes = [Finding(id=f, name="", clause="yes") for f in ("pleuritic-chest-pain", "haemoptysis")]
    one, both = (starter_graph.look_up(case, known=yes[:n]) for n in (1, 2))
    share = [{r.disease: r.score for r in d.ranking}.get("pulmonary-embolism", 0) for d in (one, both)]
    apart = starter_graph.look_up(case, known=[k.model_copy(update={"clause": k.id}) for k in yes])
    assert share[1] > 1.5 * share[0]
    assert share[1] == pytest.approx({r.disease: r.score for r in apart.ranking}["pulmonary-embolism"])


def test_an_answer_that_is_not_known_is_no_evidence(starter_graph: KnowledgeGraph) -> None:
    case = "I have had chest pain since this morning."
    unknown = Finding(id="haemoptysis", name="", clause="I don't know", present=None)
    before, after = starter_graph.look_up(case), starter_graph.look_up(case, known=[unknown])
    assert [(r.disease, r.score) for r in after.ranking] == [(r.disease, r.score) for r in before.ranking]
    assert after.categories == before.categories
    assert "haemoptysis" not in {q.finding for q in after.questions}


def test_a_case_without_findings_is_asked_about(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up("I am a 30-year-old woman and I feel funny.")
    assert found.ranking == ()
    assert len(found.questions) == 5


@pytest.mark.parametrize(
    ("present", "said"),
    [(False, "Denies fever or a high temperature."), (True, "Reports fever or a high temperature.")],
)
def test_the_sentence_that_states_an_answer_is_not_read_again(
    starter_graph: KnowledgeGraph, present: bool, said: str
) -> None:
    case = "I am a 45-year-old man with a cough and a runny nose."
    answer = Finding(id="fever", name="fever", clause=said, present=present)
    alone = starter_graph.look_up(case, known=[answer])
    found = starter_graph.look_up(f"{case} {said}", known=[answer])
    assert [(r.disease, pytest.approx(r.score)) for r in alone.ranking] == [(r.disease, r.score) for r in found.ranking]
    assert {f.id: f.present for f in found.findings}["fever"] is present
    assert "high-fever" not in {f.id for f in found.findings}


@pytest.mark.parametrize(
    ("finding", "person", "told"),
    [
        ("fever", Person(1.0, None), True), ("headache", Person(1.0, None), False),
        ("headache", Person(6.0, None), True),
        ("pregnancy", Person(8.0, "female"), False), ("pregnancy", Person(28.0, "female"), True),
        ("pregnancy", Person(28.0, "male"), False),
    ],
)  # fmt: skip
def test_questions_suit_age_and_sex(finding: str, person: Person, told: bool) -> None:
    assert bearer(STARTER.finding[finding]).suits(person) is told


def test_a_child_is_asked_about_in_the_third_person() -> None:
    asked = wording(STARTER.finding["fever"], "en", Person(4.0, None))
    assert "the child" in asked
    assert "you" not in asked
    assert "您" not in wording(STARTER.finding["fever"], "zh", Person(4.0, None))
    assert wording(STARTER.finding["fever"], "en", ADULT) == wording(STARTER.finding["fever"], "en")


def test_what_the_case_tells_in_other_words_is_not_asked(starter_graph: KnowledgeGraph) -> None:
    case = "I'm 45, feel cold all the time, have put on a stone, my hair's coming out and I'm constipated."
    assert "weight-gain" not in {q.finding for q in starter_graph.look_up(case).questions}


def test_what_was_asked_and_not_answered_is_not_asked_again(
    starter_graph: KnowledgeGraph,
) -> None:
    case = "A 30-year-old woman has had a cough and a sore throat for two days."
    first = starter_graph.look_up(case)
    asked = Finding(id=first.questions[0].finding, name=first.questions[0].text, clause="", present=None)
    again = starter_graph.look_up(case, known=[asked])
    assert asked.id not in {q.finding for q in again.questions}
    assert asked.id not in {f.id for f in again.findings}
    fever = Finding(id="fever", name="Do you have a fever?", clause="", present=None)
    told = starter_graph.look_up(case + " Her temperature is 39.5.", known=[fever])
    assert any(f.id == "high-fever" and f.present for f in told.findings)

"""Look-ups in the starter graph: matching, findings, explanations, entries, and the tool."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml

from prompts.errors import InputError, ToolError
from prompts.tool_arguments import LookupDifferential as Arguments
from tools.contract import Finding, Outcome, ToolArtifact, ToolContext
from tools.evidence import cite, verify_citation
from tools.knowledge_graph.lookup import KnowledgeGraph, LookupDifferential
from tools.text.demographics import Person

CASES = Path(__file__).parents[3] / "evals" / "data" / "dev" / "differential.yaml"


def findings(graph: KnowledgeGraph, case: str) -> dict[str, bool | None]:
    return {f.id: f.present for f in graph.look_up(case).findings}


@pytest.mark.timeout(900)  # the graph is embedded: a minute on a busy machine
def test_a_finding_names_the_place_of_its_clause(starter_graph: KnowledgeGraph) -> None:
    for case in yaml.load(CASES.read_text(encoding="utf-8"), yaml.CSafeLoader)[::9]:
        found = starter_graph.look_up(case["text"])
        assert found.findings
        assert all(case["text"][f.start : f.end] == f.clause for f in found.findings)


def test_denied_findings_are_denied(starter_graph: KnowledgeGraph) -> None:
    told = findings(starter_graph, "I have a runny nose and a sore throat. No fever, cough or chest pain.")
    assert told["sore-throat"] is True
    assert (told["fever"], told["cough"], told["chest-pain"]) == (False, False, False)


def test_knee_pain_is_no_chest_pain(starter_graph: KnowledgeGraph) -> None:
    told = findings(starter_graph, "I have a sharp pain in my left knee.")
    assert not any("chest" in f for f in told)


def test_lacking_a_function_is_a_finding(starter_graph: KnowledgeGraph) -> None:
    told = findings(starter_graph, "No appetite and no energy. No weight loss.")
    assert (told["loss-of-appetite"], told["fatigue"], told["weight-loss"]) == (True, True, False)


def test_a_clause_that_goes_on_is_read_with_its_topic(starter_graph: KnowledgeGraph) -> None:
    told = findings(starter_graph, "I have a pain in my chest. It's worse when I breathe in.")
    assert told["pleuritic-chest-pain"] is True


def test_what_a_relative_has_is_not_the_patients(starter_graph: KnowledgeGraph) -> None:
    assert "asthma-history" not in findings(starter_graph, "My mother has asthma. I have a headache.")


def test_chinese_cases_are_read(starter_graph: KnowledgeGraph) -> None:
    case = "患者男性，25岁，突发左侧胸痛2小时，深呼吸时胸口刺痛，无发热、咳嗽，否认高血压。SpO2 91%。"
    found = starter_graph.look_up(case)
    told = {f.id: f.present for f in found.findings}
    assert told["pleuritic-chest-pain"] is True
    assert told["low-oxygen"] is True
    assert (told["cough"], told["fever"], told["hypertension-history"]) == (False, False, False)
    assert all("\u4e00" <= q.text[0] <= "\u9fff" for q in found.questions)


def test_settled_findings_overrule_the_text_and_change_the_ranking(starter_graph: KnowledgeGraph) -> None:
    case = "I have had chest pain since this morning."
    settled = Finding(id="chest-pain-worse-lying", name="", clause="yes, better leaning forward", present=True)
    before, after = starter_graph.look_up(case), starter_graph.look_up(case, known=[settled])
    assert settled in after.findings
    assert after.ranking[0].disease == "pericarditis"
    assert after.entropy < before.entropy
    assert "chest-pain-worse-lying" not in {q.finding for q in after.questions}


def test_findings_read_from_the_same_text_are_not_counted_twice(starter_graph: KnowledgeGraph) -> None:
    case = "I have a sore throat, a fever and white patches on my tonsils."
    first = starter_graph.look_up(case)
    assert starter_graph.look_up(case, known=first.findings) == first


@pytest.mark.parametrize(
    ("case", "told", "disease"),
    [
        ("I am tearful, enjoy nothing and cannot sleep.", "I had a baby six weeks ago.", "postnatal-depression"),
        ("Her platelets have fallen and her leg is swollen.", "She is on heparin.", "heparin-induced-thrombocytopenia"),
        ("My son of two has a fever and is drowsy.", "He had a fit.", "febrile-convulsion"),
    ],
)
def test_a_disease_that_is_never_without_a_circumstance_leads_only_where_it_is_told(
    starter_graph: KnowledgeGraph, case: str, told: str, disease: str
) -> None:
    with_it = starter_graph.look_up(f"{told} {case}").ranking
    without = [d.disease for d in starter_graph.look_up(case).ranking]
    assert with_it[0].disease == disease
    assert without[0] != disease


@pytest.mark.parametrize(
    ("case", "disease"),
    [
        ("She retched all evening after too much wine. The last vomits held fresh red blood.", "mallory-weiss-tear"),
        (
            "A 20-year-old man has yellow eyes when he fasts. Unconjugated bilirubin alone is raised.",
            "gilbert-syndrome",
        ),
        (
            "35 weeks pregnant, vomiting and jaundiced. Low glucose, raised creatinine, prolonged clotting tests.",
            "acute-fatty-liver-of-pregnancy",
        ),
        (
            "The calves of my six-year-old ache at bedtime, rubbing helps, and by day he runs and plays.",
            "growing-pains",
        ),
        ("A tender spot where the ribs join the breastbone. It hurts when I lift things.", "costochondritis"),
        ("Our toddler was lifted by the wrist and will not use that arm since.", "pulled-elbow"),
        ("I was slapped on the ear, and now it bleeds a little and I hear badly.", "perforated-eardrum"),
        (
            "80M, AF. Sudden severe abdominal pain out of proportion to a soft abdomen. Lactate 6, amylase 350.",
            "mesenteric-ischaemia",
        ),
        (
            "She is 74. Shoulders and hips stiff each morning, trouble rising from a chair, ESR 80.",
            "polymyalgia-rheumatica",
        ),
    ],
)
def test_a_plain_story_is_ranked_first(starter_graph: KnowledgeGraph, case: str, disease: str) -> None:
    assert starter_graph.look_up(case).ranking[0].disease == disease


def test_a_text_without_findings_gives_no_ranking(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up("Hello there, nice weather today.")
    assert found.ranking == ()
    assert found.winners == ()


def test_shares_margin_and_entropy_agree(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up("I have a barking cough and a hoarse voice.", limit=len(starter_graph.graph.diseases))
    scores = [r.score for r in found.ranking]
    assert sum(scores) == pytest.approx(1)
    assert scores == sorted(scores, reverse=True)
    assert found.margin == pytest.approx(scores[0] - scores[1])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_sentence_of_an_entry_can_be_cited(starter_graph: KnowledgeGraph, language: str) -> None:
    for disease in starter_graph.graph.diseases:
        evidence = starter_graph.evidence_for(disease.id, language)
        assert evidence.citable
        for edge in disease.manifestations:
            span = starter_graph.findings_sentence(disease.id, edge.finding, language)
            assert span is not None
            citation = cite(evidence, *span)
            assert verify_citation(citation, evidence)
            node = starter_graph.graph.finding[edge.finding]
            assert (node.zh if language == "zh" else node.name) in citation.quote


def test_an_implied_finding_cites_the_sentence_on_the_general_one(starter_graph: KnowledgeGraph) -> None:
    graph = starter_graph.graph
    disease = next(d for d in graph.diseases if d.id == "pericarditis")
    listed = {m.finding for m in disease.manifestations}
    narrow = next(f.id for f in graph.findings if f.broader == "chest-pain" and f.id not in listed)
    assert starter_graph.findings_sentence("pericarditis", narrow) == starter_graph.findings_sentence(
        "pericarditis", "chest-pain"
    )
    assert starter_graph.findings_sentence("pericarditis", "ear-pulling") is None


def test_an_unknown_disease_is_an_input_error(starter_graph: KnowledgeGraph) -> None:
    with pytest.raises(InputError, match="no disease"):
        starter_graph.evidence_for("nonsense")


def test_the_tool_returns_the_differential_and_the_entries(starter_graph: KnowledgeGraph) -> None:
    tool = LookupDifferential(starter_graph)
    arguments = Arguments(case="22M, sudden R sided chest pain, worse on breathing in, SOB, tall and thin.", limit=4)
    artifact = asyncio.run(tool.run(arguments, ToolContext()))
    assert artifact.outcome is Outcome.OK
    assert artifact.differential is not None
    assert len(artifact.differential.ranking) == 4
    assert artifact.differential.ranking[0].disease == "spontaneous-pneumothorax"
    assert [e.id for e in artifact.evidence] == [r.evidence_id for r in artifact.differential.ranking][
        : len(artifact.evidence)
    ]
    assert artifact.evidence[0].found[0].stream == "graph"
    assert "differential" in tool.description or "knowledge graph" in tool.description


def test_the_tool_says_when_it_knows_nothing_of_the_case(starter_graph: KnowledgeGraph) -> None:
    artifact = asyncio.run(LookupDifferential(starter_graph).run(Arguments(case="Good morning!"), ToolContext()))
    assert artifact.outcome is Outcome.NOTHING_FOUND
    assert [n.code for n in artifact.notices] == ["no_known_finding"]


CHEST = "54M, smoker, heavy central chest pain radiating to the jaw for 50 minutes, sweating. No cough."


def looked_up(graph: KnowledgeGraph, **arguments: object) -> ToolArtifact:
    return asyncio.run(LookupDifferential(graph).run(Arguments.model_validate(arguments), ToolContext()))


def test_findings_in_words_are_counted_before_what_is_read_here(starter_graph: KnowledgeGraph) -> None:
    said = ["tearing interscapular pain", "no dyspnoea", "cough", "purple moonbeams"]
    alone, artifact = looked_up(starter_graph, case=CHEST), looked_up(starter_graph, case=CHEST, findings=said)
    before, after = alone.differential, artifact.differential
    assert before is not None
    assert after is not None
    added = [("interscapular-pain", True), ("dyspnoea", False), ("cough", True)]
    assert [(f.id, f.present) for f in after.added] == added
    assert [(f.id, f.present) for f in after.overruled] == [("cough", False)]
    rest = tuple(f for f in before.findings if f.id != "cough")
    assert after.findings == rest, "what was not named stays as it was read"
    shares = [{r.disease: r.score for r in d.ranking}["aortic-dissection"] for d in (before, after)]
    assert shares[1] > 2 * shares[0]
    dissection = next(r for r in after.ranking if r.disease == "aortic-dissection")
    assert "pain between the shoulder blades" in dissection.findings_for
    assert "purple moonbeams" in artifact.remarks[0]
    assert artifact.remarks[1:] == [
        "The case's words were read otherwise by the local reader: no cough (No cough). Yours counts."
    ]
    assert alone.remarks == []


@pytest.mark.parametrize(
    ("said", "stays", "goes"),
    [
        ("no fever", ("fever", False), ["high-fever", "fever"]),  # a kind of what is denied
        ("high fever", ("high-fever", True), ["high-fever"]),
    ],
)
def test_a_planners_reading_takes_what_implies_it_along(
    starter_graph: KnowledgeGraph, said: str, stays: tuple[str, bool], goes: list[str]
) -> None:
    told = "A temperature of 39.6 since Monday, sore throat." if said == "no fever" else "Sore throat, no high fever."
    found = looked_up(starter_graph, case=told, findings=[said]).differential
    assert found is not None
    assert [(f.id, f.present) for f in found.added] == [stays]
    assert not {f.id for f in found.findings} & set(goes)
    assert {f.id for f in found.overruled} <= set(goes)
    assert found.overruled


def test_what_the_patient_answered_stands_beside_a_planners_reading(starter_graph: KnowledgeGraph) -> None:
    answer = Finding(id="cough", name="cough", clause="no", present=False)
    asked = Arguments(case="54M, heavy central chest pain.", findings=["cough"])
    artifact = asyncio.run(LookupDifferential(starter_graph).run(asked, ToolContext(findings=[answer])))
    assert artifact.differential is not None
    assert artifact.differential.added == ()
    assert artifact.remarks == ["The patient's own answers count, which say otherwise: cough."]


def test_an_earlier_reading_of_the_turn_counts_in_the_next_look_up(starter_graph: KnowledgeGraph) -> None:
    first = looked_up(starter_graph, case=CHEST, findings=["cough"]).differential
    assert first is not None
    lent = ToolContext(findings=[*first.findings, *first.added], added=list(first.added))
    again = asyncio.run(LookupDifferential(starter_graph).run(Arguments(case=CHEST, findings=["no cough"]), lent))
    assert again.differential is not None
    assert [(f.id, f.present) for f in again.differential.findings if f.id == "cough"] == [("cough", False)]


def test_hypotheses_are_compared_wherever_they_stand_or_told_not_to_be_in_the_graph(
    starter_graph: KnowledgeGraph,
) -> None:
    names = ["GERD", "Takotsubo cardiomyopathy", "angina"]
    artifact = looked_up(starter_graph, case=CHEST, hypotheses=names, limit=3)
    found = artifact.differential
    assert found is not None
    told = [(h.name, h.disease.disease if h.disease else None) for h in found.hypotheses]
    assert told[:2] == [("GERD", "gerd"), ("Takotsubo cardiomyopathy", None)]
    assert told[2:] == [("angina", "unstable-angina"), ("angina", "stable-angina")]
    reflux = found.hypotheses[0]
    assert reflux.place is not None
    assert reflux.place > len(found.ranking) == 3
    assert reflux.disease is not None
    assert "chest pain" in reflux.disease.findings_for
    assert reflux.disease.evidence_id in [e.id for e in artifact.evidence]


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("acute aortic dissection", ["aortic-dissection"]), ("STEMI", ["myocardial-infarction"]),
        ("septic pulmonary embolism", ["pulmonary-embolism"]), ("心肌梗死", ["myocardial-infarction"]),
        ("Marfan syndrome", []), ("infection", []), ("", []),
        ("baby blues", []), ("ruptured ectopic pregnancy", ["ectopic-pregnancy"]),
        ("suspected early tubal pregnancy", ["ectopic-pregnancy"]), ("sepsis in children", ["sepsis"]),
        ("urinary tract infection", ["cystitis"]), ("neonatal sepsis", ["neonatal-sepsis"]),
        ("acute leukaemia", ["acute-myeloid-leukaemia", "acute-lymphoblastic-leukaemia"]),
        ("cancer of the thyroid", ["thyroid-cancer"]),
        ("malignant spinal cord compression", ["spinal-cord-compression"]),
    ],
)  # fmt: skip
def test_what_a_name_means(starter_graph: KnowledgeGraph, name: str, means: list[str]) -> None:
    assert starter_graph.diseases_meant(name) == means


@pytest.mark.parametrize(
    ("name", "person", "means"),
    [
        ("gastro-oesophageal reflux", Person(0.1), ["gastro-oesophageal-reflux-in-infants"]),
        ("gastro-oesophageal reflux", Person(48), ["gerd"]),
        ("urinary tract infection", Person(79, "female"), ["cystitis"]),
        ("urinary tract infection", Person(3, "female"), ["urinary-tract-infection-in-children"]),
        ("acute leukaemia", Person(3), ["acute-lymphoblastic-leukaemia"]),
        ("ectopic pregnancy", Person(30, "male"), ["ectopic-pregnancy"]),  # as it was asked
        ("sepsis", Person(30, "female"), ["sepsis"]),
    ],
)
def test_a_name_means_what_it_is_called_in_the_patient(
    starter_graph: KnowledgeGraph, name: str, person: Person, means: list[str]
) -> None:
    assert starter_graph.diseases_meant(name, person) == means


def test_findings_alone_are_looked_up_and_nothing_is_refused(starter_graph: KnowledgeGraph) -> None:
    found = looked_up(starter_graph, findings=["fever", "productive cough", "crackles"]).differential
    assert found is not None
    assert found.ranking[0].disease == "pneumonia"
    with pytest.raises(ToolError, match="nothing to look up"):
        looked_up(starter_graph, hypotheses=["gout"])
    unread = looked_up(starter_graph, case="Good morning!", hypotheses=["gout"]).differential
    assert unread is not None
    assert [(h.place, h.disease is not None) for h in unread.hypotheses] == [(None, True)]


def test_findings_that_the_graph_does_not_know_are_said_and_do_not_rank(starter_graph: KnowledgeGraph) -> None:
    known = looked_up(starter_graph, findings=["fever", "Worse lying flat", "Lies quite still because of the pain"])
    assert known.remarks == []
    assert known.differential is not None
    mixed = looked_up(starter_graph, findings=["fever", "purple toes dancing", "blue hair"])
    assert mixed.remarks == ["Not known to the graph: purple toes dancing; blue hair. It was not counted."]
    assert mixed.differential is not None
    assert [f.id for f in mixed.differential.added] == ["fever"]
    alone = looked_up(starter_graph, findings=["blue hair"])
    assert (alone.outcome, alone.evidence) == (Outcome.NOTHING_FOUND, [])
    assert alone.remarks == ["Not known to the graph: blue hair. It was not counted."]
    assert alone.differential is None or alone.differential.ranking == ()

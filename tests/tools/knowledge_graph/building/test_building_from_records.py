"""Building counts what records say, goes on after a kill, and does what a person decided about merges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from prompts.errors import DataError, InputError, ServiceError
from tools.encoders import Encoder
from tools.icd10 import ICD10
from tools.knowledge_graph.building.assembling import findings_of
from tools.knowledge_graph.building.build import JOURNAL, MERGES, build_graph
from tools.knowledge_graph.building.contract import Decomposition, Judges, Record, Told
from tools.knowledge_graph.building.files import read_records
from tools.knowledge_graph.building.judges import decompose, local_judges
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.schema import Disease, Graph, Manifestation

TABLE = ICD10({"K35.8": ["Other and unspecified acute appendicitis", "11", "K35-K38"]})


def build(records: Sequence[Record], out: Path, judges: Judges, encoder: Encoder, **more: object) -> Graph:
    return asyncio.run(build_graph(records, out, judges, encoder, **more))  # type: ignore[arg-type]


def disease(graph: Graph, name: str) -> Disease:
    return next(d for d in graph.diseases if name in (d.name, *d.aliases))


def edge(graph: Graph, name: str, words: str) -> Manifestation:
    found = [e for e in disease(graph, name).manifestations if words in graph.finding[e.finding].name]
    assert len(found) == 1, [graph.finding[e.finding].name for e in disease(graph, name).manifestations]
    return found[0]


def test_rates_polarity_sides_and_values_are_counted(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder
) -> None:
    graph = build(records, out, judges, encoder)
    cough = edge(graph, "Asthma", "cough")
    assert (cough.rate, cough.records, cough.how_often, cough.roles, cough.source) == (
        0.75,
        4,
        "usual",
        ("d",),
        "records",
    )
    assert edge(graph, "Asthma", "chest").side == "left"
    # half of the asthma records deny a fever, which a reflux record has
    assert edge(graph, "Asthma", "fever").polarity == "absent"
    assert edge(graph, "GERD", "fever").rate == pytest.approx(1 / 3, abs=1e-4)
    assert edge(graph, "GERD", "out of").value == "4-7"
    assert read_graph(out) == graph


def test_diagnoses_are_merged_by_name_and_code_and_placed_by_icd10(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder
) -> None:
    graph = build(records, out, judges, encoder)
    assert len(graph.diseases) == 3
    assert disease(graph, "asthma (J45.9)") == disease(graph, "Asthma")
    reflux = disease(graph, "gastro-oesophageal reflux disease")
    assert (reflux.name, reflux.icd10) == ("GERD", "K21.9")
    assert graph.l2[reflux.l2].name == "Diseases of esophagus, stomach and duodenum"
    assert [c.name for c in graph.categories] == [
        "Diseases of the respiratory system",
        "Diseases of the digestive system",
        "Unclassified",
    ]
    assert graph.l2[disease(graph, "Glumpf").l2].name == "Unclassified"


def test_a_built_graph_ranks_a_patient_like_its_records(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder, tmp_path: Path
) -> None:
    build(records, out, judges, encoder)
    found = KnowledgeGraph(encoder, tmp_path / "cache", out).look_up("I wheeze at night and I have a cough")
    assert found.graph == "built"
    assert found.ranking[0].disease == "asthma"
    assert found.ranking[0].evidence_id == "graph:built/asthma"


@dataclass
class Killed:
    """Stops the process, as a kill would, at the nth text."""

    inner: Decomposition
    left: int
    seen: int = 0

    async def decompose(self, record: Record) -> list[Told]:
        if self.left == 0:
            raise ServiceError("killed")
        self.left -= 1
        self.seen += 1
        return await self.inner.decompose(record)


def test_a_killed_build_goes_on_and_gives_the_same_graph(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder, tmp_path: Path
) -> None:
    stopped = Killed(judges.decomposition, left=3)
    with pytest.raises(ServiceError):
        build(records, out, replace(judges, decomposition=stopped), encoder)
    assert not (out / "taxonomy.yaml").exists()
    with (out / JOURNAL).open("ab") as journal:
        journal.write(b'["torn')
    again = Killed(judges.decomposition, left=100)
    graph = build(records, out, replace(judges, decomposition=again), encoder)
    assert again.seen == len({r.text for r in records}) - 3
    whole = build(records, tmp_path / "other" / "built", judges, encoder)
    assert graph == whole


def test_a_damaged_journal_is_told(records: list[Record], out: Path, judges: Judges, encoder: Encoder) -> None:
    out.mkdir()
    (out / JOURNAL).write_bytes(b"nonsense\n[1, 2]\n")
    with pytest.raises(DataError, match="line 1"):
        build(records, out, judges, encoder)


def test_a_persons_decisions_replace_the_clustering(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder, tmp_path: Path
) -> None:
    build(records, out, judges, encoder)
    report = yaml.safe_load((out / MERGES).read_text())
    merged = {m["into"]: m for m in report if len(m["names"]) > 1}
    assert merged["Asthma"]["merge"] is True
    merged["Asthma"]["merge"] = False
    merged["GERD"] |= {"into": "Reflux", "names": [*merged["GERD"]["names"], "Glumpf"]}
    decided = tmp_path / "decided.yaml"
    decided.write_text(yaml.safe_dump([m for m in report if m["into"] != "Glumpf"]))
    graph = build(records, out, judges, encoder, confirmed=decided)
    assert sorted(d.name for d in graph.diseases) == ["Asthma", "Reflux", "asthma (J45.9)"]
    assert edge(graph, "Reflux", "purple elbow").rate == 0.25


def test_a_name_in_two_merges_is_refused(records: list[Record], out: Path, judges: Judges, encoder: Encoder) -> None:
    rows = [{"into": i, "names": ["Asthma", i], "why": "me"} for i in ("GERD", "Glumpf")]
    out.mkdir()
    (out / "twice.yaml").write_text(yaml.safe_dump(rows))
    with pytest.raises(DataError, match="'Asthma' stands in two merges"):
        build(records, out, judges, encoder, confirmed=out / "twice.yaml")


def test_records_are_read_from_both_forms_and_bad_rows_are_named(tmp_path: Path) -> None:
    rows = tmp_path / "a.jsonl"
    rows.write_text('{"id": 7, "pathology": "Croup", "text": "It barks.", "age": 2, "sex": "F", "names_gold": false}\n')
    assert read_records(rows) == [Record(id="7", diagnosis="Croup", text="It barks.", age=2, sex="F")]
    table = tmp_path / "a.csv"
    table.write_text("diagnosis,text\nCroup,It barks.\n")
    assert read_records(table)[0].diagnosis == "Croup"
    rows.write_text('{"diagnosis": "Croup"}\n{"diagnosis": "Croup", "text": "x", "age": 900}\n')
    with pytest.raises(DataError) as error:
        read_records(rows)
    assert "row 1: text" in str(error.value)
    assert "row 2: age" in str(error.value)
    with pytest.raises(InputError):
        read_records(tmp_path / "none.jsonl")


def test_chinese_records_meet_the_starter_graph_and_stay_apart(out: Path, encoder: Encoder, starter: Graph) -> None:
    told = {
        "急性阑尾炎": "右下腹痛，恶心，发热3天。",
        "2型糖尿病": "口渴，CT示肺炎。",
        "2型呼吸衰竭": "气短，CT示骨折。",
        "1型糖尿病": "口渴。",
    }
    rows = [Record(id=d, diagnosis=d, text=t) for d, t in told.items()]
    graph = build(rows, out, local_judges(encoder, TABLE, starter, {}), encoder)
    assert len(graph.diseases) == 4
    appendicitis = disease(graph, "急性阑尾炎")
    assert (appendicitis.id, appendicitis.icd10[:3]) == ("acute-appendicitis", "K35")
    both = {graph.finding[e.finding].name: e.roles for e in appendicitis.manifestations}
    assert {"右下腹痛", "恶心", "发热"} <= set(both)
    assert edge(graph, "2型糖尿病", "CT示").finding != edge(graph, "2型呼吸衰竭", "CT示").finding


def test_a_diagnosis_without_a_finding_is_told(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder
) -> None:
    empty = Record(id="x", diagnosis="Scurvy", text="No rash.")
    graph = build([*records, empty], out, judges, encoder)
    assert "Scurvy" not in {d.name for d in graph.diseases}
    assert "Left out, because their records state no finding: Scurvy." in graph.about.note
    assert "Left out" not in build(records, out, judges, encoder).about.note


def test_a_slip_of_spelling_is_placed_and_proposed_not_merged(
    records: list[Record], out: Path, judges: Judges, encoder: Encoder
) -> None:
    slip = Record(id="x", diagnosis="Asthna", text="I have a cough.")
    graph = build([*records, slip], out, judges, encoder)
    found, right = disease(graph, "Asthna"), disease(graph, "Asthma")
    assert found != right
    assert (found.icd10, found.l2) == (right.icd10, right.l2)
    proposed = [set(m["names"]) for m in yaml.safe_load((out / MERGES).read_text()) if not m["merge"]]
    assert {"Asthna", "Asthma"} in proposed


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "diagnosis,text\n  ,cough\nFlu,   \n", "row 2: diagnosis"),
        ("a.csv", 'diagnosis,text\nFlu,"cough\n', "no sound CSV"),
        ("a.csv", f"diagnosis,text\nFlu,{'x' * 200_000}\n", "no sound CSV"),
        ("a.jsonl", "[" * 100_000, "row 1: no valid JSON"),
        ("a.jsonl", '{"id": "a", "diagnosis": "Flu", "text": "x"}\n' * 3, "'a' stands 3 times"),
    ],
)
def test_rows_that_cannot_be_read_are_told(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said):
        read_records(tmp_path / name)


def test_treatment_that_a_record_tells_is_filed_as_therapy_and_only_shown(encoder: Encoder) -> None:
    told = [
        Told(text="salbutamol by inhaler", present=True, relation="therapy"),
        Told(text="had asthma as a child", present=True, relation="anamnesis"),
    ]
    treatment, history = findings_of(told, encoder).nodes
    assert (treatment.relation, treatment.kind, treatment.only_shown) == ("therapy", "treatment", True)
    assert (history.relation, history.kind, history.only_shown) == ("anamnesis", "history", False)


@pytest.mark.parametrize(
    ("said", "relation"),
    [
        ("The wheeze was treated with salbutamol.", "therapy"),
        ("The pain is relieved by antacids.", "therapy"),
        ("She was given oxygen.", "therapy"),
        ("It started on Monday.", "symptomatology"),
        ("I take tablets for blood pressure.", "anamnesis"),
    ],
)
def test_what_was_done_about_it_is_told_from_what_was_before(said: str, relation: str) -> None:
    (told,) = decompose(said)
    assert told.relation == relation

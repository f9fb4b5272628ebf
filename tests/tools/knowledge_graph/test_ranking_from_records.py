"""A researched case learns from records; the first look-up does not; a diagnosis that the graph lacks has its line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.adapters import GraphTexts
from prompts.errors import InputError
from prompts.tool_arguments import LookupDifferential as Arguments
from tools.contract import Differential, RankedDisease, ToolContext
from tools.encoders import Encoder
from tools.evidence import Origin
from tools.icd10 import ICD10
from tools.knowledge_graph import record_ranking
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph, LookupDifferential
from tools.knowledge_graph.names import DiagnosisNames
from tools.knowledge_graph.overview import picture
from tools.knowledge_graph.record_ranking import RecordCollection

Writer = Callable[[Callable[[dict[str, Any]], None] | None], Path]
CASE = "I have a cough. My dog was sold last week. I have a fever."
RECORDS = [
    Record(id="one", diagnosis="Gamma", text="My dog was sold last week. I have a headache."),
    Record(id="two", diagnosis="Gamma disease", text="I feel sick. My dog was sold last week."),
    Record(id="three", diagnosis="Beta", text="I see double. My hands shake."),
    Record(id="four @ 4", diagnosis="Kennel fever", text="I keep forty parrots. The bus was late."),
    *(Record(id=f"more {n}", diagnosis="Beta", text=f"The train was {n} hours late.") for n in range(40)),
]


def opened(folder: Path, encoder: Encoder, cache: Path, records: Sequence[Record] = RECORDS) -> KnowledgeGraph:
    return KnowledgeGraph(encoder, cache, folder, records=RecordCollection(records, encoder))


def line(found: Differential, name: str) -> RankedDisease:
    return next(r for r in found.ranking if r.name == name)


def lines(graph: KnowledgeGraph) -> list[tuple[str, tuple[str, ...], float]]:
    """A ranking to three places: a batch of other texts moves a vector's last bits."""
    return [(r.disease, r.records, round(r.score, 3)) for r in graph.look_up(CASE, learn=True).ranking]


def test_only_a_researched_case_learns(write_graph: Writer, encoder: Encoder, tmp_path: Path) -> None:
    folder = write_graph(None)
    plain = KnowledgeGraph(encoder, tmp_path, folder).look_up(CASE, "en")
    graph = opened(folder, encoder, tmp_path)
    assert graph.look_up(CASE, "en").ranking == plain.ranking
    learned = graph.look_up(CASE, "en", learn=True)
    before, after = line(plain, "Gamma"), line(learned, "Gamma")
    assert plain.ranking[0].name != "Gamma"
    assert learned.ranking[0].name == "Gamma"
    assert after.records == ("record:one", "record:two")
    assert after.shared == ("My dog was sold last week",)
    assert (after.findings_for, after.evidence_id) == (before.findings_for, before.evidence_id)
    assert line(learned, "Alpha").records == ()
    assert sum(r.score for r in learned.ranking) == pytest.approx(1)
    assert learned.margin == pytest.approx(learned.ranking[0].score - learned.ranking[1].score)


def test_without_records_that_speak_nothing_changes(write_graph: Writer, encoder: Encoder, tmp_path: Path) -> None:
    folder = write_graph(None)
    plain = KnowledgeGraph(encoder, tmp_path, folder)
    assert plain.look_up(CASE, learn=True) == plain.look_up(CASE)
    strange = [Record(id="x", diagnosis="Beta", text="The bus was late.")]
    silent = opened(folder, encoder, tmp_path, strange)
    assert silent.look_up(CASE, learn=True).ranking == plain.look_up(CASE).ranking
    published = KnowledgeGraph(encoder, tmp_path, folder, mode="paper", records=RecordCollection(RECORDS, encoder))
    assert published.look_up(CASE, learn=True) == published.look_up(CASE)


def test_a_diagnosis_that_the_graph_lacks_is_cited_to_its_record(
    write_graph: Writer, encoder: Encoder, tmp_path: Path
) -> None:
    graph = opened(write_graph(None), encoder, tmp_path)
    assert all(r.name != "Kennel fever" for r in graph.look_up(CASE.replace("fever", "rash"), learn=True).ranking)
    found = graph.look_up("I keep forty parrots.", learn=True)
    own = found.ranking[0]
    assert (own.name, own.icd10, own.l2, own.records) == ("Kennel fever", "", "", ("record:four_4",))
    assert own.findings_for == ("I keep forty parrots",)
    evidence = graph.evidence_for(own.disease, record=own.evidence_id)
    assert (evidence.id, evidence.text, evidence.origin) == (own.evidence_id, RECORDS[3].text, Origin.RETRIEVED)
    answerers = GraphTexts(graph).entry(own.disease, "en")
    assert answerers is not None
    assert answerers.kind == "record"  # past selector and filter, as d_tau
    assert "Kennel fever" in picture(graph.graph, found)
    with pytest.raises(InputError):
        graph.evidence_for("record-nothing")


def test_the_tool_researches_and_says_how_many_records_spoke(
    write_graph: Writer, encoder: Encoder, tmp_path: Path
) -> None:
    tool = LookupDifferential(opened(write_graph(None), encoder, tmp_path))
    case = f"{CASE} I keep forty parrots."
    artifact = asyncio.run(tool.run(Arguments(case=case), ToolContext(question=case)))
    assert artifact.differential is not None
    notice = next(n for n in artifact.notices if n.code == "records_spoke")
    assert notice.text == "Records of the collection spoke for: Kennel fever (1), Gamma (2)."
    streams = {e.id: e.found[0].stream for e in artifact.evidence}
    assert streams["record:four_4"] == "records"
    assert streams["graph:starter/gamma"] == "graph"


def test_records_are_read_once_and_a_damaged_reading_is_made_again(
    write_graph: Writer, encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache = write_graph(None), tmp_path / "cache"
    first = lines(opened(folder, encoder, cache))
    (kept,) = cache.glob("records-*.json")
    assert all(word not in kept.read_text() for word in ("dog", "parrots"))
    written: list[Path] = []
    monkeypatch.setattr(record_ranking, "write_atomic", lambda path, _: written.append(path))
    assert lines(opened(folder, encoder, cache)) == first
    assert not written
    for damage in (b"[[", b"[]", b"[[1],[2]]"):
        kept.write_bytes(damage)
        assert lines(opened(folder, encoder, cache)) == first
    assert written == [kept] * 3


def test_a_diagnosis_is_known_by_name_alias_or_code_and_never_guessed(write_graph: Writer) -> None:
    def change(data: dict[str, Any]) -> None:
        for disease, code in zip(data["diseases"], ("J20.9", "M10", "L20.1"), strict=True):
            disease |= {"icd10": code, "aliases": [f"{disease['id']} of the chest (old name)", "shared name"]}

    names = DiagnosisNames(read_graph(write_graph(change)), ICD10({"M10": ["Gout", "13", "M05-M14"]}))
    known = {
        "Alpha": "alpha", "possible alpha syndrome": "alpha", "Something / Beta": "beta", "病gamma": "gamma",
        "Chest pain (J20.9)": "alpha", "J20": "alpha", "gout": "beta", "L20": None, "shared name": None,
        "Alphas gamma": None, "Alfa": None,
    }  # fmt: skip
    assert {name: names.disease(name) for name in known} == known

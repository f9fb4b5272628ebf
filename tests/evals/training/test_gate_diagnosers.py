"""One contract for every diagnoser, and references by the starter graph's names over the starter library."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.assembly import open_encoder
from agent.sessions import Home
from agent.settings import Settings
from evals.training.gate import open_reference
from evals.training.gate_annotation import Diagnoser
from evals.training.gate_diagnosers import DiagnoserByGraph, DiagnoserByModel, DiagnoserKept, ReferenceByNames
from prompts.errors import ServiceError
from support.judging_models import model_by, reply, said
from support.scripted_model import Request, Scripted
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.names import DiagnosisNames

HEARTBURN = "I am a 50-year-old man. I have heartburn after meals. Sour liquid comes up into my throat when I lie down."


@pytest.fixture(scope="module")
def home(built_home: Path) -> Home:
    return Home(built_home)


@pytest.fixture(scope="module")
def graph(home: Home) -> KnowledgeGraph:
    return KnowledgeGraph(open_encoder(Settings(home=home.root), home), home.indexes)


@pytest.fixture(scope="module")
def reference(home: Home, graph: KnowledgeGraph, encoder: Encoder) -> ReferenceByNames:
    return open_reference(Settings(home=home.root), home, graph, encoder)


def answers(request: Request) -> Scripted:
    text = said(request)
    if "broken" in text:
        return Scripted(status=500, body="oops")
    return reply(diagnosis=[" GERD\n"] if "heartburn" in text else None)


@pytest.fixture(params=["graph", "model", "kept"])
def diagnoser(request: pytest.FixtureRequest, graph: KnowledgeGraph, tmp_path: Path) -> Iterator[Diagnoser]:
    if request.param == "model":
        with model_by("gate", answers) as (model, _):
            yield DiagnoserByModel(model)
        return
    by_graph = DiagnoserByGraph(graph, "1")
    if request.param == "graph":
        yield by_graph
        return
    kept = DiagnoserKept(by_graph, tmp_path / "kept.sqlite", 2)
    yield kept
    kept.close()


def test_a_diagnosis_is_one_line_that_the_reference_knows(diagnoser: Diagnoser, reference: ReferenceByNames) -> None:
    async def twice() -> list[str]:
        return [await diagnoser.diagnose(HEARTBURN) for _ in range(2)]

    found, again = asyncio.run(twice())
    assert found == again == " ".join(found.split())
    assert reference.same(found, "gastro-oesophageal reflux disease")


def test_of_nothing_that_is_told_there_is_no_diagnosis(diagnoser: Diagnoser, reference: ReferenceByNames) -> None:
    found = asyncio.run(diagnoser.diagnose("The bicycle is red."))
    assert not reference.same(found, "GERD")


def test_who_diagnoses_is_named(diagnoser: Diagnoser) -> None:
    assert diagnoser.name
    assert diagnoser.version


def test_a_failing_model_is_no_diagnosis() -> None:
    with model_by("gate", answers) as (model, _), pytest.raises(ServiceError):
        asyncio.run(DiagnoserByModel(model).diagnose("broken"))


def test_the_graph_diagnoses_as_its_look_up_ranks(graph: KnowledgeGraph) -> None:
    texts = [HEARTBURN, "I cough. I have a fever and green phlegm.", "胸痛，出汗，放射到左臂。", "Nothing at all."]
    for text in texts:
        ranking = graph.look_up(text, "en", 1).ranking
        assert asyncio.run(DiagnoserByGraph(graph, "1").diagnose(text)) == (ranking[0].name if ranking else "")


def test_every_name_that_the_graph_gives_is_its_own_disease(graph: KnowledgeGraph) -> None:
    names = DiagnosisNames(graph.graph)
    assert [d.id for d in graph.graph.diseases if names.disease(d.name) != d.id] == []


def test_references_are_compared_by_what_they_name(reference: ReferenceByNames) -> None:
    assert reference.same("GERD", "Acid reflux")
    assert reference.same("胃食管反流病", "gastro-oesophageal reflux disease")
    assert not reference.same("GERD", "pneumonia")
    assert not reference.same("", "")
    assert reference.same("carcinoma of breast", "Breast cancer")  # neither is the graph's: by ICD-10


def test_a_unit_retrieves_its_disease_in_shorthand_and_in_chinese(reference: ReferenceByNames) -> None:
    assert reference.documented("GERD")
    assert not reference.documented("pellagra")
    for unit in ("I have heartburn when I lie down.", "known GORD", "反酸，烧心。"):
        assert reference.retrieved_by(unit, unit, "GERD"), unit
    assert not reference.retrieved_by("The bicycle is red.", "The bicycle is red.", "GERD")
    assert "shortness of breath" in reference.query("SOB", "SOB on stairs")

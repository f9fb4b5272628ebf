"""One contract for the local judgements and a language model's, which is played over a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from prompts.language_model import LanguageModel, ModelSettings
from support.scripted_model import Scripted, ScriptedModel, serving
from tools.encoders import Encoder
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import UNCLASSIFIED, Judges, Merge, Named, Record
from tools.knowledge_graph.building.judges import local_judges, may_meet, model_judges
from tools.knowledge_graph.schema import Graph
from tools.library.document import Document, Section

NAMES = ["Asthma", "asthma", "type 1 diabetes", "type 2 diabetes", "Asthma"]
NODES = [Named(name="Asthma", code="J45.9"), Named(name="GERD", code="K21.9"), Named(name="Glumpf")]
RECORD = Record(id="1", diagnosis="Asthma", text="I wheeze at night. I do not have a fever. My left knee hurts.")
TEXT = "Reflux burns. Angina comes on exertion, and rest eases it."
MONOGRAPH = Document(
    id="library:gerd",
    title="GERD",
    text=TEXT,
    kind="condition",
    language="en",
    date="2026-01-01",
    review_by="2028-01-01",
    sections=(Section(title="Presentation", start=0, end=13), Section(title="Confused with", start=14, end=len(TEXT))),
)
TABLE = ICD10({"J45.9": ["Asthma", "10", "J40-J4A"], "K21.9": ["Reflux", "11", "K20-K31"]})
REPLIES: dict[str, Any] = {
    # a number twice, one out of range, one left out
    "You sort diagnoses": {
        "groups": [{"name": "Asthma", "members": [1, 2, 99]}, {"name": "Type 1 diabetes", "members": [3, 1]}]
    },
    "You order a taxonomy": {"groups": [{"name": "Airways", "members": [1]}, {"name": "Gut", "members": [2, 2]}]},
    "You read a patient": {
        "manifestations": [
            {"finding": "wheeze", "quote": "I wheeze at night"},
            {"finding": "fever", "quote": "I do not have a fever", "present": "no"},
            {"finding": "knee pain", "quote": "My left knee hurts", "side": "left"},
            {"finding": "bad cough", "quote": "I cough all day"},
        ]
    },
    "You write what tells": {"distinctions": [{"text": "eased by antacids", "relation": "therapy"}]},
}


class ByTask(ScriptedModel):
    """Replies by what is asked."""

    def next(self) -> Scripted:
        asked = self.requests[-1]["messages"][0]["content"]
        return Scripted(json.dumps(next(reply for head, reply in REPLIES.items() if asked.startswith(head))))


@pytest.fixture(params=["local", "model"])
def both(request: pytest.FixtureRequest, encoder: Encoder, starter: Graph) -> Iterator[Judges]:
    if request.param == "local":
        yield local_judges(encoder, TABLE, starter, {"gerd": MONOGRAPH})
        return
    with serving(Scripted()) as model:
        model.__class__ = ByTask
        yield model_judges(
            LanguageModel(ModelSettings(name="played", base_url=model.url, api_key=SecretStr("k"), max_retries=0))
        )


def test_every_diagnosis_stands_in_one_merge(both: Judges) -> None:
    merges = asyncio.run(both.clustering.cluster(NAMES))
    merged = [name for m in merges if m.merge for name in m.names]
    assert sorted(merged) == sorted(set(NAMES))
    assert any({"Asthma", "asthma"} <= set(m.names) for m in merges if m.merge)
    assert not any({"type 1 diabetes", "type 2 diabetes"} <= set(m.names) for m in merges)


@pytest.mark.parametrize("level", ["l2", "l1"])
def test_every_node_stands_under_one_topic(both: Judges, level: Any) -> None:
    topics = asyncio.run(both.topics.group(NODES, level))
    assert sorted(i for t in topics for i in t.members) == [0, 1, 2]
    assert next(t.name for t in topics if 2 in t.members) == UNCLASSIFIED
    assert len({t.name for t in topics}) == len(topics)


def test_manifestations_are_those_of_the_text(both: Judges) -> None:
    told = asyncio.run(both.decomposition.decompose(RECORD))
    by_word = {word: [t for t in told if word in t.text] for word in ("wheeze", "fever", "knee", "cough")}
    assert [t.present for t in by_word["wheeze"]] == [True]
    assert [t.present for t in by_word["fever"]] == [False]
    assert [t.side for t in by_word["knee"]] == ["left"]
    assert by_word["cough"] == []


def test_what_tells_apart_says_where_it_comes_from(both: Judges) -> None:
    assert both.augmentation is not None
    gerd = Merge(into="GERD", names=("GERD",), why="alone", known="gerd")
    found = asyncio.run(both.augmentation.augment(gerd, ["Angina"]))
    assert found
    sources = {d.source.partition(":")[0] for d in found}
    assert sources == ({"generated"} if both.name.startswith("model") else {"starter", "library"})
    sentence = [d for d in found if d.source.startswith("library")]
    assert [(d.text, d.source) for d in sentence] in (
        [],
        [("Angina comes on exertion, and rest eases it.", f"library:gerd@14-{len(TEXT)}")],
    )


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        ("acute bronchitis", "bronchitis, acute", True),
        ("acute bronchitis", "chronic bronchitis", False),
        ("stable angina", "unstable angina", False),
        ("left knee pain", "right knee pain", False),
        ("sharp pain", "burning pain", False),
        ("头痛", "腹泻", False),
        ("腹部疼痛", "肚子痛", True),
    ],
)
def test_names_with_other_telling_words_never_meet(one: str, other: str, may: bool) -> None:
    assert may_meet(one, other) is may
    assert may_meet(other, one) is may

"""The trained head of findings: what it hears in other words, what a denial makes of it, and when it is not asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from tools.knowledge_graph import spoken
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.spoken import Spoken
from tools.reading.features import features

GRAPH = read_graph()
HEAD = Spoken(GRAPH.findings)
AT = {f.id: i for i, f in enumerate(GRAPH.findings)}


@pytest.mark.parametrize(
    ("told", "finding"),
    [
        ("I can't stop bringing my dinner back up", "vomiting"),
        ("everything is spinning round me", "vertigo"),
        ("my wee has gone red", "haematuria"),
        ("Hb 71", "low-haemoglobin"),
        ("爬两层楼就喘", "exertional-dyspnoea"),
    ],
)
def test_other_words_are_heard(told: str, finding: str) -> None:
    chances = HEAD.read(features([told]))[0]
    assert finding in {GRAPH.findings[i].id for i in np.argsort(-chances)[:3]}
    assert chances[AT[finding]] >= spoken.SHOWN


def test_what_tells_no_finding_is_heard_as_none() -> None:
    chances = HEAD.read(
        features(["we drove to the coast on Saturday", "works as a plumber in Leeds", "should I see somebody?"])
    )
    assert chances.max() < spoken.SHOWN


def test_a_graph_of_other_findings_is_not_asked() -> None:
    others = [f.model_copy(update={"id": f"other-{i}"}) for i, f in enumerate(GRAPH.findings)]
    assert HEAD.knows
    assert not Spoken(others).knows
    assert not Spoken(others).read(features(["fever"])).any()


def test_damaged_weights_are_told_and_missing_ones_too(tmp_path: Path) -> None:
    for suffix in (".safetensors", ".sha256"):
        shutil.copy(spoken.WEIGHTS.with_suffix(suffix), tmp_path)
    damaged = tmp_path / spoken.WEIGHTS.name
    with damaged.open("r+b") as file:
        file.seek(2000)
        file.write(b"\0\1\2\3")
    for path in (damaged, tmp_path / "none.safetensors"):
        with pytest.raises(DataError, match="finding head"):
            spoken.weights.__wrapped__(path)


def test_a_denial_and_a_lack_are_told_apart(starter_graph: KnowledgeGraph) -> None:
    read = {f.id: f.present for f in starter_graph.look_up("No fever. No appetite at all.").findings}
    assert read["fever"] is False
    assert read["loss-of-appetite"] is True


def test_a_broader_finding_is_not_shown_beside_its_own(starter_graph: KnowledgeGraph) -> None:
    found = {f.id for f in starter_graph.look_up("Crushing chest pain since noon.").findings}
    assert "crushing-chest-pain" in found
    assert "chest-pain" not in found

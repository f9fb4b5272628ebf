"""Details of steps are made for whoever listens, and for nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from graphs.nodes.step import SHOWN, live_tool
from support.machine_parts import parts
from tools.contract import Differential, RankedDisease, ToolArtifact
from tools.evidence import Evidence, Origin


def test_nothing_is_made_when_nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for place, name in (("triage", "live_gate"), ("research", "live_tool"), ("triage", "live_triage")):
        monkeypatch.setattr(f"graphs.nodes.{place}.{name}", lambda *_, name=name: made.append(name) or {})
    with Agent(home=tmp_path, parts=parts()) as agent:
        agent.ask("case cough")
        assert made == []
        list(agent.stream("case cough"))
    assert set(made) == {"live_gate", "live_tool", "live_triage"}


def test_a_tool_tells_its_origins_and_the_first_of_a_differential() -> None:
    def disease(n: int) -> dict[str, Any]:
        return {"disease": f"d{n}", "name": f"D{n}", "icd10": "A00", "l2": "x", "l1": "y", "severity": "low"}

    ranking = tuple(RankedDisease(**disease(n), score=0.1, evidence_id=f"graph:starter/d{n}") for n in range(20))
    text = "A fact."
    items = [Evidence(id=f"library:{n}@0-7", text=text, kind="passage", origin=Origin.RETRIEVED) for n in range(3)] + [
        Evidence(id="graph:starter/d1", text=text, kind="entry", origin=Origin.KNOWLEDGE_GRAPH)
    ]
    told = live_tool(ToolArtifact(tool="t", evidence=items, differential=Differential(ranking=ranking)))
    assert told["evidence"] == {"knowledge_graph": 1, "retrieved": 3}
    assert [d["disease"] for d in told["differential"]] == [f"d{n}" for n in range(SHOWN)]

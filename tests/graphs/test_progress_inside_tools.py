"""What a tool does is told while it does it: between its start and its end, with no word that only the patient told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.conversation import Step
from support.homes import linked

CASE = (
    "Jane Winterson, 34, from Middlewich, has had burning behind the breastbone after meals for three weeks. "
    "It is worse when she lies down."
)
TOLD = {"search_literature": "searching: ", "fill_knowledge_gaps": "reading documents: "}


def test_progress_of_a_tool_comes_between_its_start_and_its_end(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    with Agent(home=linked(built_home, tmp_path / "home")) as agent:
        steps = [e for e in agent.stream(CASE) if isinstance(e, Step) and e.tool]
    running: set[str] = set()
    told: dict[str, list[str]] = {}
    for step in steps:
        if step.status == "started":
            running.add(step.tool)
        elif step.status == "finished":
            running.discard(step.tool)
        else:
            assert step.status == "progress"
            assert step.tool in running, f"{step.tool} tells of itself outside its call"
            told.setdefault(step.tool, []).append(step.summary)
    for tool, beginning in TOLD.items():
        assert told[tool][0].startswith(beginning)
    assert any(line.startswith("searching: ") for line in told["fill_knowledge_gaps"]), (
        "its searches tell of themselves"
    )
    words = " ".join(line for lines in told.values() for line in lines).lower()
    assert "heartburn" in words or "reflux" in words or "burn" in words
    assert not [word for word in ("jane", "winterson", "middlewich", "34", "she") if word in words.split()]

"""Who judges what, as the settings say: the default of each role, each given to the other side, no model at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from agent.assembly import assemble
from agent.cli.doctor import BUILDING
from agent.models import described
from agent.sessions import Home
from agent.settings import load_settings
from graphs.context import Parts
from prompts.model_settings import JUDGES, Judge, Role
from tools.literature.tool import ON_SUBJECT, READ_BY_MODEL

FIELDS: dict[Role, str] = {
    "triage": "triage",
    "gate": "gate",
    "research": "planner",
    "selection": "selector",
    "filter": "filter",
    "answer": "answerer",
    "report": "reporter",
    "verification": "verifier",
}
STEPS = {"gaps": {"together": False}}  # each step of KGCC a role of its own
OTHER: dict[Judge, Judge] = {"model": "local", "local": "model"}


def judges(parts: Parts) -> dict[Role, Judge]:
    """Who judges each role of the assembled machine."""
    tools: dict[str, Any] = {tool.name: tool for tool in parts.tools}
    found = {role: getattr(parts, field) for role, field in FIELDS.items()}
    gaps = tools["fill_knowledge_gaps"]
    finder = gaps._finder  # one reading stands for both of its roles
    found |= {"summary": getattr(finder, "_summariser", finder), "gaps": getattr(finder, "_explorer", finder)}
    before, beside = gaps._generator, getattr(getattr(parts.answerer, "_background", None), "_generator", None)
    assert not all(type(part).__name__.endswith("ByModel") for part in (before, beside)), "written once"
    found |= {"background": beside if type(before).__name__ == "GeneratorLocal" and beside else before}
    found |= {"query_plan": tools["search_literature"]._planner}
    return {role: "model" if type(part).__name__.endswith("ByModel") else "local" for role, part in found.items()}


@pytest.mark.parametrize("steps", [{}, STEPS], ids=["together", "in steps"])
@pytest.mark.parametrize("model", ["", "m"])
def test_the_defaults_are_in_force(model: str, steps: dict[str, Any], built_home: Path) -> None:
    settings = load_settings(home=built_home, model=model, literature={"live": "off"}, **steps)
    due = {role: JUDGES[role] if model else "local" for role in get_args(Role) if role not in BUILDING}
    assert judges(assemble(settings, Home(built_home))) == due


def test_each_role_can_be_given_to_the_other_side_and_doctor_says_so(built_home: Path) -> None:
    roles = {role: {"judge": OTHER[judge]} for role, judge in JUDGES.items()}
    settings = load_settings(home=built_home, model="m", roles=roles, literature={"live": "off"})
    found = judges(assemble(settings, Home(built_home)))
    assert found == {role: OTHER[JUDGES[role]] for role in get_args(Role) if role not in BUILDING}
    by_model, by_rules = described(settings.language_model).split("; the local engine: ")
    assert by_model == "m judges triage, gate, verification"
    assert set(by_rules.split(", ")) == {role for role, judge in JUDGES.items() if judge == "model"}


@pytest.mark.parametrize(
    ("steps", "answer", "judge"), [({}, "model", "model"), ({}, "local", "local"), (STEPS, "local", "model")]
)
def test_no_background_is_written_for_a_local_answer(
    steps: dict[str, Any], answer: Judge, judge: Judge, built_home: Path
) -> None:
    roles = {"answer": {"judge": answer}}
    settings = load_settings(home=built_home, model="m", roles=roles, literature={"live": "off"}, **steps)
    assert judges(assemble(settings, Home(built_home)))["background"] == judge


@pytest.mark.parametrize(
    ("gate", "judge"),
    [
        ({"method": "whole_input"}, "local"), ({"method": "whole_input", "self_judged": True}, "model"),
        ({"method": "retrieve"}, "local"), ({"method": "published"}, "model"),
    ],
)  # fmt: skip
def test_no_model_judges_a_gate_that_another_classifier_is(gate: dict[str, Any], judge: str, built_home: Path) -> None:
    roles = {"gate": {"judge": "model"}}
    settings = load_settings(home=built_home, model="m", roles=roles, gate=gate, literature={"live": "off"})
    assert judges(assemble(settings, Home(built_home)))["gate"] == judge


@pytest.mark.parametrize(("research", "least"), [("model", READ_BY_MODEL), ("local", ON_SUBJECT)])
def test_what_a_model_plans_may_find_what_is_less_near(research: Judge, least: float, built_home: Path) -> None:
    settings = load_settings(
        home=built_home, model="m", roles={"research": {"judge": research}}, literature={"live": "off"}
    )
    tools: dict[str, Any] = {tool.name: tool for tool in assemble(settings, Home(built_home)).tools}
    assert tools["search_literature"]._least == least

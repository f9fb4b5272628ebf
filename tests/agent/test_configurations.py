"""Published configurations: what they set is in force, arms differ in what they name, what cannot run says why."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.agent import Agent
from agent.assembly import assemble, document_filter, gap_settings, limits, planner, selector
from agent.cli.app import app
from agent.configurations.loading import Chosen, configurations, find
from agent.questions import STARTER, build_questions, documents_of
from agent.sessions import Home
from agent.settings import Settings, load_settings
from evals.scripted.server import Request, Scripted
from graphs.differential_filter.local import DocumentFilterOff
from graphs.kads.by_model import PUBLISHED as KADS
from graphs.kads.local import SelectorInOrder, SelectorLocal
from graphs.planning.fixed import PlannerFixed
from prompts.errors import InputError
from prompts.metering import Usage
from support.model_player import in_form, play, schema_of
from support.scripted_model import serving_by
from support.traces import read_trace
from tools.encoders import Encoder
from tools.evidence import Origin, verify_citation
from tools.gaps.contract import PUBLISHED as GAPS
from tools.knowledge_graph.paper import ASKED, THRESHOLD, TOP_M

QUESTION = "Do antibiotics help in acute bronchitis?"
CASE = "A 30-year-old woman has had a sore throat and fever since yesterday. No cough."
METHODS = ("cometa", "ica-rag", "medrag-kg", "medrgag", "qb-rag")
EVERY = [Chosen(configuration=c, arm=arm) for c in configurations().values() for arm in ("", *c.arms)]
RUNNABLE = [chosen for chosen in EVERY if not chosen.missing]
LOCAL = {"live": "off", "mirror": None}


def names(chosen: Chosen) -> str:
    return chosen.name


def at(settings: Settings, path: str) -> Any:
    """The value of a setting by its dotted name, in the form that a file gives it."""

    def step(value: Any, name: str) -> Any:
        return value[name] if isinstance(value, dict) else getattr(value, name)

    value = reduce(step, path.split("."), settings)
    return list(value) if isinstance(value, tuple) else value


def flat(settings: Settings) -> dict[str, Any]:
    """Every setting by its dotted name."""

    def leaves(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
        for name, value in values.items():
            if isinstance(value, dict):
                yield from leaves(value, f"{before}{name}.")
            else:
                yield before + name, value

    return {name: value for name, value in leaves(settings.model_dump()) if value is not None}


def test_the_five_methods_are_there() -> None:
    assert tuple(configurations()) == METHODS


@pytest.mark.parametrize("model", ["", "m"])
@pytest.mark.parametrize("chosen", RUNNABLE, ids=names)
def test_everything_that_a_configuration_sets_is_in_force(chosen: Chosen, model: str) -> None:
    settings = load_settings(config=chosen.name, model=model)
    due = [s for s in chosen.settings if s.when in ("always", "model" if model else "local")]
    assert {s.set: at(settings, s.set) for s in due} == {s.set: s.to for s in due}
    assert settings.config == chosen.name


@pytest.mark.parametrize("chosen", [c for c in RUNNABLE if c.arm], ids=names)
def test_an_arm_differs_from_its_method_in_what_it_names_and_in_nothing_else(chosen: Chosen) -> None:
    method, arm = (flat(load_settings(config=n, model="m")) for n in (chosen.configuration.name, chosen.name))
    differs = {n for n in {*method, *arm} if method.get(n) != arm.get(n)} - {"config"}
    own = chosen.configuration.arms[chosen.arm].settings
    assert differs <= {s.set for s in own}
    no_settings = (
        "cometa:d1-d2",
        "ica-rag:trained-classifier",
        "medrgag:different-generator",
        "medrag-kg:without-records",
        "qb-rag:generated-questions",
    )
    assert differs or chosen.name in no_settings


def test_a_configuration_stands_above_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_KG_MODE", "ours")
    monkeypatch.setenv("ANAMNESIS_GATE__METHOD", "ours")
    monkeypatch.setenv("ANAMNESIS_GATE__THETA1", "0.9")
    monkeypatch.setenv("ANAMNESIS_CONFIG", "medrag-kg")
    settings = load_settings()
    assert (settings.kg_mode, settings.gate.method, settings.gate.theta1) == ("paper", "retrieve", 0.9)


def test_guards_of_ours_are_off(encoder: Encoder) -> None:
    medrgag, ica = load_settings(config="medrgag", model="m"), load_settings(config="ica-rag")
    assert not medrgag.selection.guard
    assert not medrgag.selection.shuffle
    assert not medrgag.gaps.search_first
    assert not medrgag.gaps.own_requirements
    assert not ica.passage_guard
    assert not load_settings(config="qb-rag").questions.guards
    assert isinstance(selector(medrgag, encoder), SelectorLocal)


def test_medrgag_is_what_the_rooms_hold_as_published() -> None:
    settings = load_settings(config="medrgag", model="m")
    assert gap_settings(settings) == GAPS
    assert (settings.selection.guard, settings.selection.shuffle) == (not KADS.neutral, KADS.shuffle)
    assert not settings.selection.together


def test_every_step_of_a_method_has_its_round() -> None:
    settings = load_settings(config="medrgag", limits={"rounds": 1, "tool_calls": 2})
    assert (limits(settings).rounds, limits(settings).tool_calls) == (2, 2)


def test_more_is_kept_where_no_model_is_sent_it_unless_the_settings_or_a_method_say() -> None:
    asked: tuple[dict[str, Any], ...] = ({}, {"model": "m"}, {"limits": {"selected": 4}}, {"config": "medrgag"})
    assert [limits(load_settings(**own)).selected for own in asked] == [8, 5, 4, 5]


def test_constants_that_are_told_are_those_of_the_code() -> None:
    told = [c.value for c in configurations()["medrag-kg"].constants]
    assert told == [str(TOP_M), str(THRESHOLD), str(ASKED)]


def test_what_an_ablation_leaves_out_is_gone(encoder: Encoder) -> None:
    local = DocumentFilterOff()
    off = document_filter(load_settings(config="ica-rag:without-filter"), local)
    kept = SelectorInOrder
    assert isinstance(off, DocumentFilterOff)
    assert isinstance(selector(load_settings(config="medrgag:without-kads"), encoder), kept)
    assert isinstance(planner(load_settings(config="medrgag"), object()), PlannerFixed)  # type: ignore[arg-type]


@pytest.mark.parametrize("chosen", [c for c in EVERY if c.missing], ids=names)
def test_what_cannot_be_run_says_why(chosen: Chosen) -> None:
    with pytest.raises(InputError, match="cannot be run") as caught:
        load_settings(config=chosen.name)
    assert chosen.missing in str(caught.value)


@pytest.mark.parametrize("chosen", [c for c in RUNNABLE if c.needs], ids=names)
def test_what_needs_a_model_is_refused_without_one(chosen: Chosen, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ANAMNESIS_MODEL"):
        assemble(load_settings(config=chosen.name, home=tmp_path, model=""), Home(tmp_path))


def test_a_generator_of_its_own_is_asked_for(tmp_path: Path) -> None:
    settings = load_settings(config="medrgag:different-generator", home=tmp_path, model="m")
    with pytest.raises(InputError, match="ANAMNESIS_ROLES__BACKGROUND__MODEL"):
        assemble(settings, Home(tmp_path))


@pytest.mark.parametrize("name", ["medrga", "medrgag:without-everything", ":", "medrgag:d1"])
def test_an_unknown_name_is_told_what_there_is(name: str) -> None:
    with pytest.raises(InputError, match=r"no configuration|no arm"):
        find(name)


@pytest.fixture(scope="module")
def generated_home(built_home: Path, encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with generated questions of some pages of the starter library."""
    home = Home(tmp_path_factory.mktemp("generated") / "home")
    shutil.copytree(built_home, home.root)
    pages = [d for d in documents_of(home, STARTER, encoder)[0] if d.title.startswith(("Gout", "Acute b"))]
    asyncio.run(build_questions(Settings(home=home.root), home, STARTER, pages, encoder))
    return home.root


@pytest.mark.parametrize("method", METHODS)
def test_each_method_answers_without_a_model(method: str, generated_home: Path) -> None:
    asked = CASE if method == "medrag-kg" else QUESTION
    with Agent(config=method, home=generated_home, literature=LOCAL) as agent:
        answer = agent.ask(asked)
        events = read_trace(agent.home.traces, answer.run)
    steps = [tool for step in agent.settings.pipeline.rounds for tool in step]
    case_only = {"lookup_differential"} if asked == QUESTION else set()
    assert [e["tool"] for e in events if e["kind"] == "tool"] == [t for t in steps if t not in case_only]
    assert {"kind": "configuration", "name": method}.items() <= events[1].items()
    assert answer.notices[0].code == "published_configuration"
    assert "No language model is set" in answer.notices[0].text
    known = {e.id: e for e in answer.evidence}
    cited = [c for s in answer.statements for c in s.citations]
    assert cited
    assert all(verify_citation(c, known[c.evidence_id]) for c in cited)
    assert not any(e.origin is Origin.GENERATED for e in answer.evidence)


def test_medrgag_asks_a_model_as_published(built_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_by(play) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with Agent(config="medrgag", home=built_home, model="m", literature=LOCAL) as agent:
            answer = agent.ask(QUESTION)
        sent = [(r["temperature"], r.get("max_tokens", r.get("max_completion_tokens"))) for r in server.requests]
    by_role = answer.usage.by_role
    calls = {role: usage.calls for role, usage in by_role.items()}
    # The player takes the first answer to a closed question, which nothing bears out: it is asked about that once.
    assert calls == {"summary": 5, "gaps": 1, "background": 5, "selection": 1, "answer": 2}
    assert sent.count((1.2, 320)) == 5
    assert sent.count((1.2, None)) == 1
    assert sent.count((0.2, None)) == 2
    assert answer.usage.session == sum(by_role.values(), start=Usage())


@pytest.mark.parametrize(
    ("arm", "calls", "selected"),
    [
        ("without-retrieval", {"gaps": 1, "background": 5, "selection": 1}, "kads"),
        ("question-only", {"background": 5}, "in_order"),
        ("without-kgcc", {"background": 5, "selection": 1}, "kads"),
    ],
)
def test_arms_of_medrgag_generate_as_the_paper_says(
    arm: str, calls: dict[str, int], selected: str, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_by(play) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with Agent(config=f"medrgag:{arm}", home=built_home, model="m", literature=LOCAL) as agent:
            answer = agent.ask(QUESTION)
            events = read_trace(agent.home.traces, answer.run)
        said = json.dumps(server.requests)
    made = {role: usage.calls for role, usage in answer.usage.by_role.items()}
    assert {role: made.get(role, 0) for role in ("gaps", "background", "selection")} == {
        "gaps": 0, "selection": 0, **calls
    }  # fmt: skip
    found = [item["id"] for e in events if e["kind"] == "tool" for item in e["evidence"]]
    generated = [key for key in found if key.startswith("generated:")]
    assert generated
    assert (found == generated) is (arm != "without-kgcc")
    assert agent.settings.selection.method == selected
    assert "keep the retrieved one" not in said
    assert "gaps_before_retrieval" not in [n.code for n in answer.notices]


def test_the_command_lists_and_shows() -> None:
    listed = json.loads(CliRunner().invoke(app, ["config", "list", "--json"]).stdout)
    assert [c["name"] for c in listed] == list(METHODS)
    shown = CliRunner().invoke(app, ["config", "show", "ica-rag"]).stdout
    for part in ("gate.method", "published", "paper", "ours", "not published", "differs:", "exact quotes"):
        assert part in " ".join(shown.split())
    details = json.loads(CliRunner().invoke(app, ["config", "show", "medrgag:direct", "--json"]).stdout)
    assert details["needs"] == ["model"]
    assert {"set", "to", "origin", "why", "differs", "when"} == set(details["settings"][0])


@pytest.mark.parametrize("question", [CASE, QUESTION])
def test_our_default_reads_once_and_chooses_once(
    question: str, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_by(play) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with Agent(home=built_home, model="m", literature=LOCAL, gate={"method": "retrieve"}) as agent:
            answer = agent.ask(question)
            events = read_trace(agent.home.traces, answer.run)
    calls = {role: usage.calls for role, usage in answer.usage.by_role.items()}
    assert {role: calls.get(role) for role in ("gaps", "background", "selection")} == dict.fromkeys(
        ("gaps", "background", "selection"), 1
    )
    assert not {"summary", "filter"} & set(calls)
    told = {e["kind"]: e for e in events if e["kind"] in ("gaps", "selection", "filter")}
    assert set(told["gaps"]["readings"]) == {*told["gaps"]["useful"], *told["gaps"]["useless"]}
    assert any(said.startswith("speaks ") for said in told["gaps"]["readings"].values())
    assert told["filter"]["verdicts"] == told["selection"]["verdicts"]
    assert [n.code for n in answer.notices if n.code == "judged_locally"] == []


def test_icarag_is_unsure_of_next_to_nothing_and_weighs_what_it_read(built_home: Path) -> None:
    with Agent(config="ica-rag", home=built_home, literature=LOCAL) as agent:
        unwell, case = agent.ask("I feel unwell."), agent.ask(CASE)
        events = {e["kind"]: e for e in read_trace(agent.home.traces, case.run)}
    assert unwell.gate is not None
    assert case.gate is not None
    assert unwell.gate.decision.value == "retrieve_with_warning"
    assert unwell.gate.score == 0.0
    assert all("classifier" in unit.reason for unit in case.gate.units)
    about = {d.disease for d in case.differential}
    supporting = {
        v["evidence_id"].partition(":")[2].partition("@")[0] for v in events["filter"]["verdicts"] if v["keep"]
    }
    assert set(events["weighed"]["raised"]) == about & supporting != set()


WRITTEN_AHEAD = "Sore throat: antibiotics shorten it by a day at most, and most people need none."


@pytest.mark.parametrize("text", [WRITTEN_AHEAD, "Xylophones and violins are played in an orchestra."])
@pytest.mark.parametrize("arm", ["hyde", "qa-rag"])
def test_what_a_model_writes_ahead_finds_the_nearest_documents_however_far(
    arm: str, text: str, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(request: Request) -> Scripted:
        ahead = schema_of(request).get("title") == "AheadReply"
        return in_form(request, json.dumps({"text": text})) if ahead else play(request)

    with serving_by(written) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with Agent(config=f"qb-rag:{arm}", home=built_home, model="m", literature=LOCAL) as agent:
            events = read_trace(agent.home.traces, agent.ask("Do antibiotics help a sore throat?").run)
    (ahead,) = [e for e in events if e["kind"] == "searched_ahead"]
    (search,) = [e for e in events if e["kind"] == "tool"]
    assert ahead["text"] == text
    assert (search["outcome"], len(search["evidence"])) == ("ok", 3)
    assert {f["query"] for e in search["evidence"] for f in e["found"]} == {text}
    assert {f["stream"] for e in search["evidence"] for f in e["found"]} == {"dense"}
    assert ("pharyngitis" in search["evidence"][0]["id"] or "throat" in search["evidence"][0]["id"]) == (
        text == WRITTEN_AHEAD
    )


def test_qbrag_goes_by_the_nearest_generated_question(generated_home: Path) -> None:
    for name, generated in (("qb-rag", True), ("qb-rag:qb-2", True), ("qb-rag:written-questions", False)):
        with Agent(config=name, home=generated_home, literature=LOCAL) as agent:
            events = read_trace(agent.home.traces, agent.ask("Why does gout come back?").run)
        (search,) = [e for e in events if e["kind"] == "tool"]
        near = [h["similarity"] for h in search["strategy"]]
        assert len(near) == 3
        assert {h["generated"] for h in search["strategy"]} == {generated}
        assert near == sorted(near, reverse=True)

"""The settings of language models from the environment and a file; what may be called; what was found out is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from pydantic import SecretStr

from agent.cli.doctor import doctor, endpoints
from agent.knowledge_graph import open_builder
from agent.loop import run
from agent.models import FORMS, described, known_forms, open_models
from agent.sessions import Home
from agent.settings import Settings, load_settings
from prompts.errors import InputError
from prompts.language_model import LanguageModels
from prompts.model_settings import OPENAI, Budget, Price, Role
from prompts.research import QueryPlanReply
from support.scripted_model import Scripted, refusing, serving, serving_by

KEY = "sk-a-planted-key-0123456789"
PLAN = json.dumps({"terms": [{"text": "croup", "group": "P"}]})


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the person who runs the tests counts."""
    for name in [n for n in os.environ if n.startswith(("OPENAI_", "ANAMNESIS_")) and n != "ANAMNESIS_HOME"]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_the_environment_sets_roles_budget_and_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "ANAMNESIS_MODEL": "m",
        "ANAMNESIS_ROLES__ANSWER__TEMPERATURE": "0.2",
        "ANAMNESIS_ROLES__QUERY_PLAN__JUDGE": "local",
        "ANAMNESIS_BUDGET__CALLS": "10",
        "ANAMNESIS_BUDGET__SECONDS": "none",
        "ANAMNESIS_PRICES": '{"m": {"input": 1, "output": 2}}',
        "ANAMNESIS_MODEL_MAX_TOKENS": "",
        "ANAMNESIS_MODEL_CONCURRENCY": "3",
        "ANAMNESIS_GENERATED": "off",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    model = settings.language_model
    assert model is not None
    assert (model.of("answer").temperature, model.of("gaps").temperature) == (0.2, 0.0)
    assert (model.judge("query_plan"), model.judge("answer"), model.judge("gate")) == ("local", "model", "local")
    assert settings.budget == Budget(calls=10, seconds=None)
    assert settings.prices == {"m": Price(input=1, output=2)}
    assert (model.max_tokens, model.concurrency, settings.generated) == (None, 3, "off")


def test_a_file_sets_them_too(tmp_path: Path) -> None:
    lines = ("ANAMNESIS_MODEL=m", f"OPENAI_API_KEY={KEY}", "ANAMNESIS_ROLES__GATE__JUDGE=model")
    (tmp_path / ".env").write_text("\n".join(lines))
    settings = load_settings()
    model = settings.language_model
    assert model is not None
    assert model.judge("gate") == "model"
    assert model.of("gate").api_key == SecretStr(KEY)
    assert KEY not in f"{settings!r} {settings} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ANAMNESIS_ROLES__ANSWR__TEMPERATURE", "0.2", "roles.answr"),
        ("ANAMNESIS_ROLES__ANSWER__TEMPERATURE", "hot", "roles.answer.temperature"),
        ("ANAMNESIS_ROLES__ANSWER__BASE_URL", f"http://me:{KEY}@host/v1", "roles.answer.base_url"),
        ("ANAMNESIS_ROLES", f"{{{KEY}", "roles"),
        ("ANAMNESIS_PRICES", '{"m": {"input": -1, "output": 2}}', "prices.m.input"),
        ("ANAMNESIS_BUDGET__CALLS", "0", "budget.calls"),
        ("ANAMNESIS_GENERATED", "always", "generated"),
        ("ANAMNESIS_GAPS__GENERATED", "off", "ANAMNESIS_GENERATED"),
        ("OPENAI_BASE_URL", f"https://host/v1?key={KEY}", "OPENAI_BASE_URL"),
        ("OPENAI_BASE_URL", "localhost:8000", "OPENAI_BASE_URL"),
        ("ANAMNESIS_CONFIG", "medrga", "medrga"),
    ],
)
def test_a_slip_is_named_and_no_key_is_shown(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError) as caught:
        load_settings()
    assert told in str(caught.value)
    assert KEY not in str(caught.value)
    with pytest.raises(typer.Exit) as ended:
        doctor(as_json=True)
    assert ended.value.exit_code == 3
    assert KEY not in capsys.readouterr().out


def called(models: LanguageModels) -> set[str]:
    """The addresses that the clients of all roles that are a model's would call."""
    own = [models.of(role) for role in get_args(Role) if models.judged_by_model(role)]
    return {str(m._endpoint._new_client().root_async_client.base_url).rstrip("/") for m in own}


@pytest.mark.parametrize(
    "given",
    [
        {"ANAMNESIS_MODEL": "m"},
        {"ANAMNESIS_MODEL": "m", "OPENAI_BASE_URL": "http://here:1/v1", "OPENAI_API_BASE": "http://stray/v1"},
        {"ANAMNESIS_MODEL": "m", "OPENAI_API_BASE": "http://stray/v1", "ANAMNESIS_ROLES__ANSWER__MODEL": "other"},
        {
            "ANAMNESIS_MODEL": "m",
            "OPENAI_BASE_URL": "http://here:1/v1",
            "ANAMNESIS_ROLES__ANSWER__BASE_URL": "http://there:2/v1",
            "ANAMNESIS_ROLES__TRIAGE__BASE_URL": "http://never:3/v1",
            "ANAMNESIS_ROLES__FILTER__BASE_URL": "http://nor:4/v1",
            "ANAMNESIS_ROLES__FILTER__JUDGE": "local",
        },
        {"ANAMNESIS_ROLES__GAPS__MODEL": "m", "ANAMNESIS_ROLES__GAPS__BASE_URL": "http://gaps:5/v1"},
    ],
)
def test_doctor_lists_every_address_that_can_be_called_and_no_other(
    given: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load_settings(home=tmp_path, literature={"live": "off"})
    models = open_models(settings, Home(tmp_path))
    assert models is not None
    listed = endpoints(settings)
    assert {e["url"] for e in listed} == called(models)
    assert sorted(r for e in listed for r in e["roles"]) == sorted(
        role for role in get_args(Role) if models.judged_by_model(role)
    )


def test_without_a_model_nothing_is_listed_and_a_key_alone_calls_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = load_settings(home=tmp_path, literature={"live": "off"})
    assert (open_models(settings, Home(tmp_path)), endpoints(settings)) == (None, [])
    assert described(settings.language_model).startswith("none")
    assert OPENAI not in json.dumps(endpoints(settings))


def test_a_graph_is_not_built_by_a_model_that_the_settings_leave_out(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, model="m", roles={"graph": {"judge": "local"}})
    with pytest.raises(InputError, match="build graphs"):
        open_builder(settings, Home(tmp_path), None, by_model=True, augment=False)  # type: ignore[arg-type]


def settings_at(url: str, home: Path) -> Settings:
    return load_settings(home=home, model="m", OPENAI_BASE_URL=url, OPENAI_API_KEY=KEY, model_retries=0)


def plan(settings: Settings, home: Path) -> Any:
    models = open_models(settings, Home(home))
    assert models is not None
    return run(models.of("query_plan").structured("query_plan", QueryPlanReply, question="croup"))


def form(request: dict[str, Any]) -> str:
    return str(request.get("response_format", {}).get("type") or ("tools" if "tools" in request else "plain"))


def test_the_form_that_a_server_takes_is_found_once_and_kept_without_the_key(tmp_path: Path) -> None:
    file = Home(tmp_path).cache / FORMS
    with serving_by(refusing(["json_schema", "tools"], lambda _: Scripted(PLAN))) as server:
        settings = settings_at(server.url, tmp_path)
        plan(settings, tmp_path)
        first = [form(r) for r in server.requests]
        plan(settings, tmp_path)  # as another process would
        again = [form(r) for r in server.requests[len(first) :]]
    assert first == ["json_schema", "tools", "json_object"]
    assert again == ["json_object"]
    assert known_forms(file) == {f"m at {settings.openai_base_url}": "json_mode"}
    assert KEY not in file.read_text()


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"m at x": "by pigeon"}', '{"m at x": ["json_mode"]}', "\udcff"])
def test_a_damaged_file_costs_finding_out_again(damage: str, tmp_path: Path) -> None:
    file = Home(tmp_path).cache / FORMS
    file.parent.mkdir(parents=True)
    file.write_bytes(damage.encode(errors="surrogateescape"))
    assert known_forms(file) == {}
    with serving(Scripted(PLAN)) as server:
        plan(settings_at(server.url, tmp_path), tmp_path)
    assert list(known_forms(file).values()) == ["json_schema"]


def test_a_server_that_has_changed_is_found_out_anew(tmp_path: Path) -> None:
    file = Home(tmp_path).cache / FORMS
    with serving_by(refusing(["json_schema"], lambda _: Scripted(PLAN))) as server:
        settings = settings_at(server.url, tmp_path)
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({f"m at {settings.openai_base_url}": "json_schema"}))
        reply, _ = plan(settings, tmp_path)
    assert reply.terms[0].text == "croup"
    assert known_forms(file) != {f"m at {settings.openai_base_url}": "json_schema"}

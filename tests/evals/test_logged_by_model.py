"""A run with a log by a language model: the calls stand in the log, the key does not."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.contract import AgentEvaluation, Item, Judged, Task, TaskContext
from evals.inspect import Logging
from evals.inspect.logs import read_log, replies_of
from evals.inspect.running import run_logged
from evals.runner import Prepared
from evals.scripted.player import play, role_of
from evals.scripted.server import Scripted, serving_by
from evals.sessions import sitting
from prompts.errors import InputError
from prompts.model_settings import Price, RoleSettings
from support.homes import linked

SECRET = "sk-very-secret"  # noqa: S105  no password: it must not be found in the log
ITEM = Item("q/1", "q", ("Does dexamethasone help a child with mild croup?",), "", None)


@pytest.fixture
def home(built_home: Path, tmp_path: Path) -> Path:
    return linked(built_home, tmp_path / "home")


def settings_of(home: Path, url: str, **more: Any) -> Any:
    from agent.settings import load_settings

    given = {"home": home, "model": "played", "literature": {"live": "off"}, **more}
    return load_settings(**given, OPENAI_BASE_URL=url, OPENAI_API_KEY=SECRET)


def run(settings: Any, folder: Path) -> Any:
    asks = AgentEvaluation(lambda _: [ITEM], lambda *_: Judged(True, "s", "w"), lambda *_: [])
    task = Task("toy", "a toy", (), "", 9, lambda _: [], asks=asks)
    context = TaskContext(folder, 9, 0, settings)
    _, place = run_logged(task, Prepared(context, {}, "abc"), Logging(folder))
    return place


def test_every_call_stands_in_its_node_with_its_tokens_and_without_the_key(home: Path, tmp_path: Path) -> None:
    prices = {"played": Price(input=1, output=2)}
    with serving_by(play) as server:
        roles = {"answer": RoleSettings(model="writer")}
        place = run(settings_of(home, server.url, prices=prices, roles=roles), tmp_path / "logs")
        asked = Counter((r["model"], role_of(r)) for r in server.requests)
        with sitting(settings_of(home, server.url, prices=prices, roles=roles)) as sittings:
            before = len(server.requests)
            sittings.hold(ITEM)
            plainly = Counter((r["model"], role_of(r)) for r in server.requests[before:])
    assert asked == plainly  # the same roles ask the same models, in the same forms
    log = read_log(place)
    (sample,) = log.samples or []
    calls = [e for e in sample.events if e.event == "model"]
    assert len(calls) == sum(asked.values())
    spans = {e.id: e.name for e in sample.events if e.event == "span_begin"}
    nodes = Counter(spans[e.span_id] for e in calls if e.span_id)
    assert set(nodes) <= {"research", "tools", "kads_selector", "differential_filter", "answer"}
    assert {e.model for e in calls} == {"openai-api/anamnesis/played", "openai-api/anamnesis/writer"}
    assert all(e.output.usage is not None and e.output.usage.total_tokens for e in calls)
    assert [e for e in sample.events if e.event == "info" and e.source == "judged_locally"] == []
    answer = replies_of(log)["q/1"].answer
    assert answer.usage.model_calls == len(calls)
    assert answer.usage.cost > 0
    assert answer.usage.unpriced == sum(e.model.endswith("/writer") for e in calls) > 0  # it has no price
    with zipfile.ZipFile(place) as archive:
        assert not any(SECRET.encode() in archive.read(name) for name in archive.namelist())


def test_a_server_that_fails_costs_the_model_and_not_the_answer(home: Path, tmp_path: Path) -> None:
    with serving_by(lambda _: Scripted(status=500, body="no")) as server:
        place = run(settings_of(home, server.url, model_retries=0), tmp_path / "logs")
        assert server.requests
        sent = len(server.requests)
    answer = replies_of(read_log(place))["q/1"].answer
    assert answer.statements
    assert answer.usage.model_calls == sent  # nothing is tried again behind the agent
    assert any(notice.code == "judged_locally" for notice in answer.notices)


def test_single_roles_need_a_model_for_the_rest(home: Path, tmp_path: Path) -> None:
    settings = settings_of(home, "http://127.0.0.1:9", roles={"answer": RoleSettings(model="w")}, model="")
    with pytest.raises(InputError, match="Only single roles"):
        run(settings, tmp_path / "logs")

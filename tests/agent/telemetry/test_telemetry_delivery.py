"""Delivery: off until asked for, to one address alone, without a cost where the collector is absent or slow."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.server.logs import JsonFormatter
from agent.settings import load_settings
from agent.telemetry import contract, following
from agent.telemetry.settings import TelemetrySettings
from prompts.errors import InputError
from support import processes
from support.collector import Collector
from support.machine_parts import parts

Open = Callable[..., Agent]
ROOT = Path(__file__).resolve().parents[3]
KEY = "planted-header-0123456789"
STRAY = {
    "OTEL_EXPORTER_OTLP_HEADERS": "x-stray=stray-header",
    "OTEL_RESOURCE_ATTRIBUTES": "patient.name=stray-resource",
    "OTEL_SERVICE_NAME": "stray-service",
    "OTEL_TRACES_SAMPLER": "always_off",
    "OTEL_SDK_DISABLED": "true",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/elsewhere",
    "HTTP_PROXY": "http://127.0.0.1:1",
}
OFF = """
import sys, threading
from support.machine_parts import parts
from agent.agent import Agent
from agent.server.app import create_app
with Agent(parts=parts()) as agent:
    create_app(agent)
    answer = agent.ask("case of a cough")
loaded = [name for name in sys.modules if name.startswith("opentelemetry.exporter")]
loaded += [name for name in sys.modules if name in ("agent.telemetry.following", "agent.telemetry.following")]
loaded += [thread.name for thread in threading.enumerate() if "Otel" in thread.name]
print(answer.kind, loaded)
"""


@pytest.fixture(autouse=True)
def _level() -> Iterator[None]:
    """The library's level is the process's; other tests find it as it was."""
    library = logging.getLogger("opentelemetry")
    before = library.level
    yield
    library.setLevel(before)


def test_standard_variables_alone_load_and_send_nothing(collector: Collector, tmp_path: Path) -> None:
    stray = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_PYTHON_TRACER_PROVIDER": "sdk_tracer_provider",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_TRACING": "true",
    }
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ANAMNESIS_TELEMETRY")}
    own = {"ANAMNESIS_HOME": str(tmp_path / "home"), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    done = processes.snippet(OFF, environment={**kept, **stray, **own}, cwd=ROOT).ended()
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "case []"
    assert collector.taken == []


def test_only_the_settings_say_where_what_and_by_which_name(
    collector: Collector, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in STRAY.items():
        monkeypatch.setenv(name, value)
    agent = opened(service="ward-7", headers={"authorization": KEY})
    agent.ask("hello")
    agent.close()
    assert {os.environ[name] for name in STRAY} == set(STRAY.values())
    assert {d.path for d in collector.taken} == {"/v1/traces", "/v1/metrics"}
    assert {d.headers["authorization"] for d in collector.taken} == {KEY}
    assert b"stray" not in collector.everything
    resource = collector.traces[0].resource_spans[0].resource
    named = {a.key: a.value.string_value for a in resource.attributes}
    sdk = {f"telemetry.sdk.{part}" for part in ("name", "language", "version")}
    assert set(named) == {"service.name", "service.version", "service.instance.id"} | sdk
    assert named["service.name"] == "ward-7"


def test_metrics_are_delivered_while_the_agent_runs(collector: Collector, opened: Open) -> None:
    agent = opened(interval=0.1)
    agent.ask("hello")
    end = time.monotonic() + 10
    while "anamnesis.turns" not in collector.metrics():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)
    agent.close()
    agent.close()  # a second time does nothing


@pytest.mark.parametrize("absent", [True, False], ids=["absent", "silent"])
def test_a_collector_that_is_not_there_costs_no_turn_anything_and_is_told_once(
    absent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(following, "FLUSH", 0.6)
    monkeypatch.setattr(following, "DELAY", 0.05)
    held = socket.create_server(("127.0.0.1", 0))  # takes connections and never answers
    endpoint = f"http://127.0.0.1:{held.getsockname()[1]}"
    if absent:
        held.close()
    given = {"endpoint": endpoint, "interval": 0.1, "timeout": 0.2, "headers": {"authorization": KEY}}
    with caplog.at_level(logging.INFO):
        agent = Agent(home=tmp_path / "home", parts=parts(), telemetry=given)
        agent.ask("hello")  # opens what a first turn opens
        started = time.monotonic()
        for _ in range(5):
            assert agent.ask("hello").kind == "small_talk"
        took = time.monotonic() - started
        time.sleep(0.5)
        started = time.monotonic()
        agent.close()
        closing = time.monotonic() - started
    held.close()
    assert took < 2  # not once the time-out of 0.2 seconds for each of some twenty spans
    assert closing < 2
    notices = [r.getMessage() for r in caplog.records]
    told = (
        f"Telemetry cannot be delivered to {endpoint.removeprefix('http://')}. Turns go on; what is not taken is "
        "dropped. Check ANAMNESIS_TELEMETRY__ENDPOINT and the collector."
    )
    assert [n for n in notices if "Telemetry" in n] == [told]
    assert KEY not in "\n".join(notices)
    (record,) = [r for r in caplog.records if r.name == "anamnesis.telemetry"]
    assert json.loads(JsonFormatter().format(record))["event"] == told  # the server's log has the words too


def test_closing_waits_no_longer_where_traces_and_metrics_both_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "FLUSH", 0.5)
    delivery = following.Delivery(TelemetrySettings(endpoint="http://127.0.0.1:1"))
    ended = [delivery._spans.shutdown, delivery._metrics.shutdown]
    for provider in (delivery._spans, delivery._metrics):
        monkeypatch.setattr(provider, "shutdown", lambda *_: time.sleep(1.5))
    started = time.monotonic()
    delivery.close()
    assert time.monotonic() - started < 0.9
    for end in ended:
        end()


@pytest.mark.parametrize("status", [400, 308], ids=["refused", "redirected"])
def test_an_outage_that_passes_is_told_too(
    status: int, collector: Collector, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    collector.status = status
    agent = opened(interval=0.1)
    with caplog.at_level(logging.WARNING, "anamnesis.telemetry"):
        agent.ask("hello")
        end = time.monotonic() + 10
        while not caplog.records:
            assert time.monotonic() < end, "nothing was told"
            time.sleep(0.02)
        collector.status = 200
        agent.close()
    told = [r.getMessage() for r in caplog.records]
    assert [t.split(" to ")[0] for t in told] == ["Telemetry cannot be delivered", "Telemetry is delivered"]


def test_the_queue_is_bounded_and_what_was_lost_is_told(
    collector: Collector, opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(following, "QUEUE", 16)
    monkeypatch.setattr(following, "BATCH", 4)
    monkeypatch.setattr(following, "FLUSH", 3.0)
    collector.delay = 0.2
    agent = opened()
    for _ in range(20):
        agent.ask("hello")  # three spans each
    collector.delay = 0.0
    with caplog.at_level(logging.WARNING, "anamnesis.telemetry"):
        agent.close()
    lost = 60 - len(collector.spans)
    assert 0 < lost < 60
    assert [r.getMessage().split(":")[0] for r in caplog.records] == [f"{lost} spans were dropped"]
    assert collector.metrics()["anamnesis.turns"][0].sum == 20


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contract, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"anamnesis\[telemetry\]"):
        Agent(home=tmp_path / "home", parts=parts(), telemetry={"endpoint": "http://127.0.0.1:1"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"endpoint": f"http://user:{KEY}@host:4318"},
        {"endpoint": f"host-{KEY}"},
        {"endpoint": "http://h", "headers": [KEY]},
        {"endpoint": "http://h", "headers": {"authorization": [KEY]}},
        {"endpoint": "http://h", "share": 2},
        {"endpoint": "http://h", "service": f"a name\n{KEY}"},
        {"endpont": KEY},
    ],
)
def test_a_setting_that_cannot_be_taken_shows_no_key(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="telemetry") as caught:
        load_settings(telemetry=wrong)
    assert KEY not in str(caught.value)


def test_a_header_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_TELEMETRY__ENDPOINT", "http://collector:4318")
    monkeypatch.setenv("ANAMNESIS_TELEMETRY__HEADERS__AUTHORIZATION", KEY)
    settings = load_settings()
    assert settings.telemetry.headers["authorization"].get_secret_value() == KEY
    shown = f"{settings!r} {settings.model_dump_json()} {json.dumps(settings.model_dump(mode='json'))}"
    assert "collector:4318" in shown
    assert KEY not in shown

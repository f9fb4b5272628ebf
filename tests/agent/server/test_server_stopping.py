"""The command itself: it stops without losing a turn, finishes what was cut off, and says little."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.server.start import bind, serve
from agent.settings import Settings
from prompts.errors import InputError
from support import processes

SLOW = 1.5  # seconds of the answer node of the program below
PROGRAM = f"""
import sys
from support.machine_parts import Scripted, parts
import agent.assembly
def assemble(settings, home, say, everything):
    assert everything  # what a server needs is there before it listens
    say("library ...")
    return parts(Scripted(pause={{"answer": {SLOW}}}))
agent.assembly.assemble = assemble
sys.argv = ["anamnesis", "serve", "--port", "0", "--no-auth"]
import anamnesis
anamnesis.main()
"""
PATIENCE = 40.0


class Running:
    """The command in a process of its own, with a slow agent."""

    def __init__(self, home: Path, **settings: str) -> None:
        tests = Path(__file__).resolve().parents[2]
        named = {f"ANAMNESIS_SERVER__{name.upper()}": value for name, value in settings.items()}
        places = {"ANAMNESIS_HOME": str(home), "PYTHONPATH": f"{tests.parent}:{tests}"}
        environment = {**os.environ, **places, **named}
        self.process = processes.snippet(PROGRAM, environment=environment, cwd=tests.parent)
        self.url = self._listening()

    def _listening(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for line in self.lines():
                if line.get("event") == "listening":
                    return str(line["address"])
            assert self.process.wait(0) is None, self.process.written()
            time.sleep(0.05)
        raise AssertionError(self.process.written())

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.process.written().splitlines() if line.endswith("}")]

    def begun(self, client: httpx.Client, text: str = "Mrs Miller's croup") -> str:
        """A session whose turn is in its slow step."""
        session: str = client.post("/api/sessions", json={"title": "Mrs Miller"}).json()["id"]
        headers = {"Accept": "text/event-stream"}
        with client.stream("POST", f"/api/sessions/{session}/turns", json={"text": text}, headers=headers) as answer:
            for line in answer.iter_lines():
                if '"step":"answer"' in line:
                    return session
        raise AssertionError("the turn never came to its answer")


@contextmanager
def running(tmp_path: Path, **settings: str) -> Iterator[tuple[Running, httpx.Client]]:
    command = Running(tmp_path / "home", **settings)
    with httpx.Client(base_url=command.url, timeout=PATIENCE, trust_env=False) as client:
        try:
            yield command, client
        finally:
            command.process.kill()


@pytest.mark.slow
def test_a_stop_gives_running_turns_grace_and_refuses_new_ones(tmp_path: Path) -> None:
    with running(tmp_path) as (command, client):
        session = command.begun(client)
        command.process.signal(signal.SIGTERM)
        time.sleep(0.4)
        ready = client.get("/ready")
        assert (ready.status_code, ready.json()["problems"]) == (503, ["stopping"])
        assert client.get("/health").status_code == 200
        other = client.post("/api/sessions", json={}).json()["id"]
        refused = client.post(f"/api/sessions/{other}/turns", json={"text": "croup"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
        followed = client.post(f"/api/sessions/{session}/resume")
        assert followed.status_code == 200
        assert command.process.wait(PATIENCE) == 0
        answer = followed.json()
        assert answer["statements"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hurry", "kill"])
def test_a_turn_that_is_cut_off_is_finished_at_the_next_start(tmp_path: Path, how: str) -> None:
    with running(tmp_path, grace_seconds="30") as (command, client):
        session = command.begun(client)
        began = time.monotonic()
        command.process.signal(signal.SIGKILL if how == "kill" else signal.SIGTERM)
        if how == "hurry":
            time.sleep(0.2)
            command.process.signal(signal.SIGINT)
        assert command.process.wait(PATIENCE) == (-signal.SIGKILL if how == "kill" else 0)
        assert time.monotonic() - began < SLOW + 10
    with running(tmp_path) as (command, client):
        end = time.monotonic() + PATIENCE
        while client.get(f"/api/sessions/{session}").json()["session"]["unfinished"]:
            assert time.monotonic() < end
            time.sleep(0.1)
        turns = client.get(f"/api/sessions/{session}").json()["turns"]
        assert [bool(turn["answer"]["statements"]) for turn in turns] == [True]
        kinds = [e["kind"] for e in client.get(f"/api/sessions/{session}/turns/1/trace").json()["events"]]
        assert kinds.count("triage") == 1  # no finished step ran again
        assert any(line.get("event") == "cut-off turns finished" for line in command.lines())


OTHERS = """
import logging
from agent.server import logs
logs.set_up()
for name in ("bm25s", "anamnesis.server"):
    logging.getLogger(name).setLevel(logging.DEBUG)
    logging.getLogger(name).debug("built")
logging.getLogger("bm25s").warning("odd")
"""


def test_what_other_packages_say_below_a_warning_is_left_out(tmp_path: Path) -> None:
    places = {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    written = processes.snippet(OTHERS, environment={**os.environ, **places}, cwd=tmp_path).ended().stderr
    told = [json.loads(line) for line in written.splitlines()]
    assert [(line["logger"], line["level"]) for line in told] == [("anamnesis.server", "debug"), ("bm25s", "warning")]


def test_the_log_has_a_line_a_request_and_not_a_word_of_the_patient(tmp_path: Path) -> None:
    with running(tmp_path) as (command, client):
        headers = {"X-Request-ID": "ward-7-0001"}
        session = command.begun(client)
        client.get("/api/sessions?before=2031-01-01&limit=7", headers=headers)
        client.patch(f"/api/sessions/{session}", json={"title": "Mrs Miller"})
        client.get("/api/Miller")
        client.post(f"/api/sessions/{session}/resume")
        command.process.signal(signal.SIGTERM)
        command.process.wait(PATIENCE)
        text = command.process.written()
        told = [line["told"] for line in command.lines() if line.get("event") == "first use"]
        lines = [line for line in command.lines() if line.get("event") == "request"]
    assert told == ["library ..."]
    assert len(text.splitlines()) == len([json.loads(line) for line in text.splitlines()])
    line = next(line for line in lines if line["request"] == "ward-7-0001")
    assert {"time", "level", "request", "key", "route", "status", "ms"} <= set(line)
    assert (line["route"], line["status"]) == ("/api/sessions", 200)
    assert {line["route"] for line in lines} >= {"/api/sessions/{session}/turns", "/api/sessions/{session}"}
    for word in ("Miller", "croup", "2031", session):
        assert word not in text


def test_without_keys_it_listens_on_this_machine_alone(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "ward.example"):  # noqa: S104
        settings = Settings(home=tmp_path)
        settings.server.host = host
        with pytest.raises(InputError, match="this machine alone"):
            serve(settings, authentication=False)


def test_a_port_that_is_taken_is_a_message(tmp_path: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        settings = Settings(home=tmp_path)
        settings.server.port = taken.getsockname()[1]
        with pytest.raises(InputError, match="cannot listen"):
            serve(settings)


def test_a_missing_package_is_a_message_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'anamnesis\[serve\]'"):
        serve(Settings(home=tmp_path))


def test_small_answers_are_sent_at_once() -> None:
    async def no_delay() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        class Seen(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                stream = transport.get_extra_info("socket")
                accepted.set_result(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

        listener = bind("127.0.0.1", 0)
        server = await asyncio.get_running_loop().create_server(Seen, sock=listener)
        _, writer = await asyncio.open_connection(*listener.getsockname())
        found = await accepted
        writer.close()
        server.close()
        return found

    assert asyncio.run(asyncio.wait_for(no_delay(), 10)) == 1

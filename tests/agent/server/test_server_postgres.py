"""Keys, log-ins and conversations in PostgreSQL, shared by two servers. Skipped where there is no PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.loop import run
from agent.trace import TraceRecorder
from prompts.errors import DataError, InputError
from support.machine_parts import parts
from support.served import served

COMPLETION = {"model": "anamnesis", "messages": [{"role": "user", "content": "case cough"}]}


def test_two_servers_on_one_database_know_the_same_keys_conversations_and_traces(tmp_path: Path, postgres: str) -> None:
    with (
        Agent(home=tmp_path / "a", parts=parts(), database=postgres) as one,
        Agent(home=tmp_path / "b", parts=parts(), database=postgres) as two,
        served(one) as first,
        served(two) as second,
    ):
        key = first.key()
        with first.client(key) as here, second.client(key) as there:
            asked = here.post("/v1/chat/completions", json=COMPLETION).json()["choices"][0]["message"]
            history = [*COMPLETION["messages"], {"role": "assistant", "content": asked["content"]}]  # type: ignore[misc]
            message = {"role": "user", "content": "yes"}
            reply = there.post("/v1/chat/completions", json={**COMPLETION, "messages": [*history, message]}).json()
            assert reply["choices"][0]["message"]["anamnesis"]["answer"]["turn"] == 2
            session = asked["anamnesis"]["session"]
            assert len(here.get(f"/api/sessions/{session}").json()["turns"]) == 2
            assert there.get("/ready").json()["status"] == "ok"
            trace = there.get(f"/api/sessions/{session}/turns/1/trace").json()["events"]
            assert (trace[0]["kind"], trace[-1]["kind"]) == ("run", "answered")
            assert not list(tmp_path.glob("*/traces/**/*.jsonl")), "no worker holds what another cannot delete"
            assert run(two.traces.runs()) == [f"{session}/2", f"{session}/1"]
            there.delete(f"/api/sessions/{session}")
            assert run(one.traces.runs()) == []
        with first.client("") as here, second.client("") as there:
            here.post("/api/login", json={"key": key})
            cookie = {"Cookie": f"anamnesis_login={here.cookies['anamnesis_login']}"}
            assert there.get("/api/me", headers=cookie).json()["name"] == "tester"
            assert there.post("/api/login", json={"key": f"{key[:-1]}\x00"}).status_code == 401
            there.post("/api/logout", headers=cookie)
            assert here.get("/api/me").status_code == 401


def test_a_trace_that_the_database_does_not_take_stays_in_the_folder_and_a_second_part_follows_the_first(
    tmp_path: Path, postgres: str
) -> None:
    with Agent(home=tmp_path, parts=parts(), database=postgres) as agent:
        run(agent.records.create(session="s"))

        def recorded(event: str) -> None:
            _record(agent, event)
            run(agent.traces.keep("s/1"))

        recorded("one")
        assert not (agent.home.traces / "s").exists()
        run(agent.database.execute(("alter table traces rename to gone", ())))
        recorded("two")
        assert (agent.home.traces / "s" / "1.jsonl").exists()
        run(agent.database.execute(("alter table gone rename to traces", ())))
        kinds = [event["kind"] for event in run(agent.traces.events("s/1"))]
        assert kinds == ["run", "one", "run", "two"]
        recorded("three")
        assert [event["kind"] for event in run(agent.traces.events("s/1"))][-1] == "three"
        with pytest.raises(InputError, match="no trace"):
            run(agent.traces.events("s/2"))
        run(agent.database.execute(("update traces set body = ?", (b"damaged",))))
        with pytest.raises(DataError, match="damaged"):
            run(agent.traces.events("s/1"))


def test_a_trace_is_read_once_while_it_goes_to_the_database_and_none_is_kept_of_a_deleted_session(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Agent(home=tmp_path, parts=parts(), database=postgres) as agent:
        run(agent.records.create(session="s"))
        kept = agent.traces._kept

        async def meanwhile(name: str) -> list[bytes]:
            await agent.traces.keep(name)
            return await kept(name)

        monkeypatch.setattr(agent.traces, "_kept", meanwhile)
        _record(agent, "one")
        assert [event["kind"] for event in run(agent.traces.events("s/1"))] == ["run", "one"]
        _record(agent, "two")
        run(agent.database.execute(("delete from traces", ()), ("delete from sessions", ())))  # its lock was lost
        run(agent.traces.keep("s/1"))
        assert run(agent.traces.runs()) == []
        assert not (agent.home.traces / "s").exists()


def _record(agent: Agent, event: str) -> None:
    recorder = TraceRecorder(agent.home.traces, "s/1")
    recorder.event(event)
    recorder.close()

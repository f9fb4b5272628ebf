"""Keys, log-ins and conversations in PostgreSQL, shared by two servers. Skipped where there is no PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from agent.agent import Agent
from support.machine_parts import parts
from support.postgres import cluster
from support.served import served

COMPLETION = {"model": "anamnesis", "messages": [{"role": "user", "content": "case cough"}]}


def test_two_servers_on_one_database_know_the_same_keys_and_conversations(tmp_path: Path) -> None:
    with (
        cluster() as address,
        Agent(home=tmp_path / "a", parts=parts(), database=address) as one,
        Agent(home=tmp_path / "b", parts=parts(), database=address) as two,
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
        with first.client("") as here, second.client("") as there:
            here.post("/api/login", json={"key": key})
            cookie = {"Cookie": f"anamnesis_login={here.cookies['anamnesis_login']}"}
            assert there.get("/api/me", headers=cookie).json()["name"] == "tester"
            assert there.post("/api/login", json={"key": f"{key[:-1]}\x00"}).status_code == 401
            there.post("/api/logout", headers=cookie)
            assert here.get("/api/me").status_code == 401

"""The protocol on the real server's socket: who is let in, what each scope opens, and whose sessions are whose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from agent.agent import Agent
from agent.loop import run
from graphs.answering.contract import Answer
from support.machine_parts import Scripted, parts
from support.mcp_clients import MODES, kind_of, over_http, text_of
from support.served import Served, served
from tools.messages import messages

EVERY = ("ask", "tools", "traces")
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
TAKES = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def server(tmp_path: Path, script: Scripted) -> Iterator[Served]:
    with Agent(home=tmp_path / "home", parts=parts(script)) as agent, served(agent) as running:
        yield running


def talk(server: Served, key: str, work: Callable[[Client], Awaitable[Any]], mode: str = "legacy") -> Any:
    async def talking() -> Any:
        async with over_http(server.url, key, mode) as client:
            return await work(client)

    return asyncio.run(talking())


async def three_turns(client: Client) -> list[Answer]:
    answers: list[Answer] = []
    for message in ("case of a cough", "yes", "why"):
        more = {"session": answers[0].session} if answers else {}
        result = await client.call_tool("ask", {"message": message, **more})
        assert not result.is_error, text_of(result)
        answers.append(Answer.model_validate(result.structured_content))
    return answers


def said(answer: Answer) -> Any:
    """What an answer says, without whose it is and what it cost."""
    return answer.model_dump(exclude={"session", "run", "usage"})


@pytest.mark.parametrize("mode", MODES)
def test_three_turns_say_what_python_says_and_belong_to_the_key(server: Served, mode: str) -> None:
    answers = talk(server, server.key("a", EVERY), three_turns, mode)
    session = server.agent.session()
    assert [said(a) for a in answers] == [said(session.ask(m)) for m in ("case of a cough", "yes", "why")]
    record = run(server.agent.records.get(answers[0].session))
    assert record.owner
    assert record.turns == 3


@pytest.mark.parametrize("mode", MODES)
def test_progress_and_a_tools_evidence_come_over_the_wire(server: Served, mode: str) -> None:
    lines: list[str] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message or "")

    async def work(client: Client) -> Any:
        await client.call_tool("ask", {"message": "croup"}, progress_callback=report)
        return await client.call_tool("search_literature", {"query": "croup"})

    result = talk(server, server.key("a", EVERY), work, mode)
    assert lines[0] == messages("en")["progress.ready"]
    assert lines[1].startswith("session ")
    assert len(lines) > 5
    assert result.structured_content["evidence"][0]["id"] == "library:croup@0-19"


def refused(server: Served, headers: dict[str, str], body: Any = HELLO) -> httpx.Response:
    return httpx.post(f"{server.url}/mcp", json=body, headers={**TAKES, **headers}, trust_env=False)


def test_nobody_comes_in_without_a_key_that_opens_something(server: Served) -> None:
    good, revoked, expired = (server.key(name, EVERY) for name in ("good", "gone", "old"))
    run(server.app.state.access.keys.revoke(revoked.split("_")[1]))
    past = ("update server_keys set expires = ? where id = ?", ("2020-01-01T00:00:00Z", expired.split("_")[1]))
    run(server.agent.database.execute(past))
    cases = {
        "": (401, "no_key"),
        "Bearer ana_000000000000_" + "x" * 43: (401, "wrong_key"),
        f"Bearer {good[:-1]}{'A' if good[-1] != 'A' else 'B'}": (401, "wrong_key"),
        f"Basic {good}": (401, "wrong_key"),
        f"Bearer {revoked}": (401, "key_revoked"),
        f"Bearer {expired}": (401, "key_expired"),
        f"Bearer {server.key('reviewer', ('review',))}": (403, "scope_missing"),
    }
    for header, (status, code) in cases.items():
        for version in ("2025-11-25", "2026-07-28"):
            headers = {"MCP-Protocol-Version": version, **({"Authorization": header} if header else {})}
            response = refused(server, headers)
            assert (response.status_code, response.json()["error"]["code"]) == (status, code), header
    assert refused(server, {"Authorization": f"Bearer {good}"}).status_code == 200


def test_a_key_that_is_taken_back_is_refused_in_the_middle_of_a_connection(server: Served) -> None:
    key = server.key("a", EVERY)
    headers = {"Authorization": f"Bearer {key}"}
    opened = refused(server, headers)
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert refused(server, headers, ping).status_code == 200
    run(server.app.state.access.keys.revoke(key.split("_")[1]))
    assert refused(server, headers, ping).status_code == 401


def test_a_log_in_cookie_opens_nothing_here(server: Served) -> None:
    with server.client("") as page:
        assert page.post("/api/login", json={"key": server.key("a", EVERY)}).is_success
        assert page.get("/api/me").is_success
        assert page.post("/mcp", json=HELLO, headers={**TAKES, "Origin": server.url}).status_code == 401


@pytest.mark.parametrize("mode", MODES)
def test_each_scope_opens_its_own(server: Served, mode: str) -> None:
    async def everything(client: Client) -> list[str]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        asked = await client.call_tool("ask", {"message": "croup"})
        called = await client.call_tool("search_literature", {"query": "croup"})
        templates = [t.name for t in (await client.list_resource_templates()).resource_templates]
        found = [r.uri.partition("://")[2].partition("/")[0] for r in (await client.list_resources()).resources]
        return [*names[:1], kind_of(asked), kind_of(called), *templates, *found]

    whole = ["session", "session-markdown"]
    assert talk(server, server.key("a", ("ask",)), everything, mode) == ["ask", "", "scope", *whole, "sessions"]
    assert talk(server, server.key("b", ("tools",)), everything, mode) == ["search_literature", "scope", ""]
    both = server.key("c", ("ask", "traces"))
    assert talk(server, both, everything, mode) == ["ask", "", "scope", "trace", *whole, "sessions", "traces"]


@pytest.mark.parametrize("mode", MODES)
def test_anothers_session_is_as_one_that_is_not_there(server: Served, mode: str) -> None:
    mine = talk(server, server.key("a", EVERY), three_turns)[0].session
    local = server.agent.ask("croup").session

    async def spy(client: Client) -> list[str]:
        heard = []
        for session in (mine, local, "f" * 16):
            heard.append(text_of(await client.call_tool("ask", {"message": "why", "session": session})))
            for address in (f"sessions/{session}", f"sessions/{session}/markdown", f"traces/{session}/1"):
                with pytest.raises(MCPError) as told:
                    await client.read_resource(f"anamnesis://{address}")
                heard.append(told.value.message)
            heard = [text.replace(session, "SESSION") for text in heard]
        assert (await client.list_resources()).resources == []
        return heard

    heard = talk(server, server.key("b", EVERY), spy, mode)
    assert len(heard) == 12
    assert len(set(heard)) == 1
    assert "There is no session SESSION." in heard[0]
    assert run(server.agent.records.get(mine)).turns == 3


def test_anothers_connection_is_as_one_that_is_not_there(server: Served) -> None:
    opened = refused(server, {"Authorization": f"Bearer {server.key('a', EVERY)}"})
    other = {"Authorization": f"Bearer {server.key('b', EVERY)}"}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    stolen = refused(server, {**other, "mcp-session-id": opened.headers["mcp-session-id"]}, ping)
    unknown = refused(server, {**other, "mcp-session-id": "0" * 32}, ping)
    assert (stolen.status_code, stolen.content) == (unknown.status_code, unknown.content)
    assert stolen.status_code == 404
    assert len(set(opened.headers["mcp-session-id"])) > 4  # 122 random bits, in hexadecimal


def test_other_sites_and_bodies_without_end_are_refused(server: Served) -> None:
    key = {"Authorization": f"Bearer {server.key('a', EVERY)}"}
    assert refused(server, {**key, "Origin": "https://evil.example"}).status_code == 403
    assert refused(server, {**key, "Host": "evil.example"}).status_code == 421
    long = {**HELLO, "params": {"x": "y" * 2_000_000}}
    assert refused(server, key, long).status_code == 413
    chunks = (b" " * 100_000 for _ in range(20))
    headers = {**TAKES, **key, "Content-Type": "application/json"}
    assert httpx.post(f"{server.url}/mcp", content=chunks, headers=headers, trust_env=False).status_code == 413
    assert httpx.put(f"{server.url}/mcp", headers=headers, trust_env=False).status_code == 405


@pytest.mark.parametrize("mode", MODES)
def test_a_turn_goes_on_and_is_stored_when_its_client_goes_away(server: Served, script: Scripted, mode: str) -> None:
    script.pause["select"] = 1.0
    key = server.key("a", EVERY)

    async def leave(client: Client) -> str:
        sessions: list[str] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            sessions.append((message or "").removeprefix("session "))

        task = asyncio.create_task(client.call_tool("ask", {"message": "croup"}, progress_callback=report))
        while script.log[-1:] != ["select"]:  # noqa: ASYNC110  the script runs on another loop
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return sessions[1]

    async def busy(client: Client, session: str) -> Any:
        return await client.call_tool("ask", {"message": "stroke", "session": session})

    async def again(client: Client) -> tuple[str, Any, Any]:
        session = await leave(client)
        refused = await busy(client, session)
        for _ in range(100):
            result = await busy(client, session)
            if not result.is_error:
                break
            await asyncio.sleep(0.1)
        return session, refused, result

    session, refused_first, after = talk(server, key, again, mode)
    assert kind_of(refused_first) == "input"
    assert Answer.model_validate(after.structured_content).turn == 2
    turns = run(server.agent.records.turns(session))
    assert [t.asked for t in turns] == ["croup", "stroke"]
    assert turns[0].answer is not None
    assert script.log.count("plan 1") == 2


def test_without_keys_sessions_are_those_of_the_command_line(tmp_path: Path) -> None:
    with (
        Agent(home=tmp_path / "home", parts=parts()) as agent,
        served(agent, authentication=False) as running,
    ):
        answers = talk(running, "", three_turns)
        assert agent.sessions() == [answers[0].session]
        assert run(agent.records.get(answers[0].session)).owner == ""


def opened(server: Served, key: str) -> httpx.Response:
    return refused(server, {"Authorization": f"Bearer {key}"})


def alive(server: Served, key: str, connection: str) -> bool:
    headers = {"Authorization": f"Bearer {key}", "mcp-session-id": connection}
    return refused(server, headers, {"jsonrpc": "2.0", "id": 2, "method": "ping"}).status_code == 200


def test_a_key_has_so_many_connections_and_the_idle_ones_make_room(tmp_path: Path) -> None:
    with Agent(home=tmp_path / "home", parts=parts()) as agent, served(agent, mcp_connections=3) as server:
        mine, other = server.key("a", EVERY), server.key("b", EVERY)
        elsewhere = opened(server, other).headers["mcp-session-id"]
        names = [opened(server, mine).headers["mcp-session-id"] for _ in range(3)]
        assert alive(server, mine, names[0])  # so that the second is idle longest
        names.append(opened(server, mine).headers["mcp-session-id"])
        assert [alive(server, mine, name) for name in names] == [True, False, True, True]
        assert alive(server, other, elsewhere)

        with ExitStack() as listening:
            for name in (names[0], names[2], names[3]):
                headers = {**TAKES, "Authorization": f"Bearer {mine}", "mcp-session-id": name}
                listening.enter_context(httpx.stream("GET", f"{server.url}/mcp", headers=headers, trust_env=False))
            full = opened(server, mine)
            assert (full.status_code, full.json()["error"]["code"]) == (429, "too_many_connections")
            assert "DELETE" in full.json()["error"]["advice"]
            assert int(full.headers["Retry-After"]) >= 1
            assert opened(server, other).status_code == 200
            ending = {"Authorization": f"Bearer {mine}", "mcp-session-id": names[0]}
            assert httpx.delete(f"{server.url}/mcp", headers=ending, trust_env=False).status_code == 200
            assert opened(server, mine).status_code == 200

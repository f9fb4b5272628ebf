"""`anamnesis mcp` as clients start it: a real process, its standard input and output, the real agent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from agent.agent import Agent
from graphs.answering.contract import Answer
from support.homes import linked
from support.mcp_clients import text_of
from tools.contract import ToolArtifact

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ["-m", "anamnesis", "mcp"]
TURNS = (
    "A 30-year-old woman has had a sore throat and a runny nose since yesterday.",
    "no",
    "Why not influenza?",
)
START = 30.0  # seconds for a process on a busy machine; the test of the order of things needs no clock
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(scope="module")
def home(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(built_home, tmp_path_factory.mktemp("mcp") / "home")


def environment(home: Path) -> dict[str, str]:
    own = {"ANAMNESIS_HOME": str(home), "ANAMNESIS_LITERATURE__LIVE": "off", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **own, "PYTHONUNBUFFERED": "1"}


def test_the_tools_and_three_turns_give_what_python_gives(home: Path, built_home: Path, tmp_path: Path) -> None:
    async def talk() -> tuple[list[Answer], dict[str, ToolArtifact], str]:
        started = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment(home), cwd=ROOT)
        async with Client(started) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answers: list[Answer] = []
            for message in TURNS:
                more = {"session": answers[0].session} if answers else {}
                result = await client.call_tool("ask", {"message": message, **more})
                assert not result.is_error, text_of(result)
                answers.append(Answer.model_validate(result.structured_content))
            given = {
                "search_literature": {"query": "early mobilisation after a stroke"},
                "retrieve_passages": {"query": "early mobilisation after a stroke", "documents": ["library:croup"]},
                "lookup_differential": {"case": TURNS[0], "limit": 3, "hypotheses": ["croup", "Marfan syndrome"]},
                "fill_knowledge_gaps": {"question": "Does early mobilisation help after a stroke?"},
                "find_answered_question": {"question": "What does croup sound like?"},
            }
            assert set(names) == {*given, "ask"}
            found = {}
            for name, arguments in given.items():
                result = await client.call_tool(name, arguments)
                assert not result.is_error, text_of(result)
                found[name] = ToolArtifact.model_validate(result.structured_content)
            trace = await client.read_resource(f"anamnesis://traces/{answers[0].run}")
            return answers, found, trace.contents[0].text

    answers, found, trace = asyncio.run(talk())
    own = linked(built_home, tmp_path / "home")
    os.environ["ANAMNESIS_LITERATURE__LIVE"] = "off"
    try:
        with Agent(home=own) as agent:
            session = agent.session()
            same = [session.ask(message) for message in TURNS]
    finally:
        del os.environ["ANAMNESIS_LITERATURE__LIVE"]
    assert [a.differential for a in answers] == [a.differential for a in same]
    assert answers[0].differential
    assert [a.statements for a in answers] == [a.statements for a in same]
    assert found["search_literature"].evidence
    assert {e.document_id for e in found["retrieve_passages"].evidence} == {"library:croup"}
    ranked = found["lookup_differential"].differential
    assert ranked is not None
    assert [d.disease for d in ranked.ranking] == [d.disease for d in answers[0].differential[:3]]
    assert [(h.name, h.disease is not None) for h in ranked.hypotheses] == [("croup", True), ("Marfan syndrome", False)]
    assert found["fill_knowledge_gaps"].gaps
    assert found["find_answered_question"].answered[0].evidence.document_id == "library:croup"
    assert json.loads(trace)["events"][0]["run"] == answers[0].run


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen(
        [sys.executable, *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path / "home"),
        cwd=ROOT,
    )
    yield started
    started.kill()
    started.communicate()


def say(process: subprocess.Popen[str], *messages: Any) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_it_greets_before_the_agent_is_opened_and_ends_with_its_input(process: subprocess.Popen[str]) -> None:
    say(process, HELLO)
    assert hear(process)["result"]["serverInfo"]["name"] == "anamnesis"
    loaded = Path(f"/proc/{process.pid}/maps")
    if loaded.exists():  # torch is what opening the agent takes its time for
        assert "libtorch" not in loaded.read_text()
    say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"}, "no message", {"jsonrpc": "2.0", "id": 2})
    say(process, {"jsonrpc": "2.0", "id": 3, "method": "ping"})
    out, errors = process.communicate(timeout=START)
    lines = [json.loads(line) for line in out.splitlines()]
    assert all(line["jsonrpc"] == "2.0" for line in lines)  # nothing but the protocol
    assert {"jsonrpc": "2.0", "id": 3, "result": {}} in lines
    assert process.returncode == 0
    assert "Traceback" not in errors


@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_it_without_a_word(process: subprocess.Popen[str], way: signal.Signals) -> None:
    say(process, HELLO)
    hear(process)
    began = time.monotonic()
    process.send_signal(way)
    process.wait(timeout=START)
    assert time.monotonic() - began < START
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read() == ""
    assert "Traceback" not in process.stderr.read()


def test_options_of_http_need_http() -> None:
    done = subprocess.run(
        [sys.executable, *COMMAND, "--port", "9"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 2
    assert "belong to --http" in done.stderr
    assert done.stdout == ""

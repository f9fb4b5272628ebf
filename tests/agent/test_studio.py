"""LangGraph's own tools open the machine: a turn of a plain message, a thread that goes on, and no request outside."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agent.sessions import Home
from agent.settings import Settings
from agent.studio import Conversation, StudioContext, conversation_graph
from graphs.answering.contract import Answer
from prompts.errors import InputError
from support.homes import linked
from support.machine_parts import Scripted, parts

ROOT = Path(__file__).resolve().parents[2]
STRAY = "lsv2_pt_a_stray_key"
START = 180.0  # seconds for the server on a busy machine
WATCH = """
import sys
sys.path.insert(0, {tests!r})
from support import no_network
class Noted(list):
    def append(self, host):
        with open({noted!r}, "a") as file:
            file.write(host + "\\n")
no_network.attempts = Noted()
no_network.install()
"""


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def conversation(tmp_path: Path, script: Scripted) -> Conversation:
    made = conversation_graph(parts(script), Settings(home=tmp_path), Home(tmp_path / "studio").prepare())
    made.checkpointer = InMemorySaver()  # a server brings its own
    return made


def say(conversation: Conversation, text: str, thread: str = "one", **context: Any) -> dict[str, Any]:
    given = {"messages": [{"role": "user", "content": text}]}
    config: Any = {"configurable": {"thread_id": thread}}
    return asyncio.run(conversation.ainvoke(given, config, context=StudioContext(**context)))


def test_a_thread_is_a_session_of_plain_messages(conversation: Conversation, script: Scripted, tmp_path: Path) -> None:
    answers = [Answer.model_validate(say(conversation, text)["answer"]) for text in ("case of a cough", "yes", "why")]
    assert [a.turn for a in answers] == [1, 2, 3]
    assert [a.kind for a in answers] == ["case", "case", "explain"]
    assert answers[0].follow_up_questions
    last = say(conversation, "croup")
    assert [m.type for m in last["messages"]] == ["human", "ai"] * 4
    assert "A fact about croup." in last["messages"][-1].text
    other = Answer.model_validate(say(conversation, "croup", "two")["answer"])
    assert other.turn == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["studio"]  # nothing lies among the sessions of the agent
    assert (tmp_path / "studio" / "traces" / "two" / "1.jsonl").exists()


def test_what_comes_with_a_message_reaches_the_machine(conversation: Conversation) -> None:
    assert say(conversation, "case of a cough", report=True)["answer"]["report"] is not None
    assert say(conversation, "case of a cough", "two")["answer"]["report"] is None


def test_a_thread_without_a_message_of_the_user_is_refused(conversation: Conversation) -> None:
    say(conversation, "croup")
    config: Any = {"configurable": {"thread_id": "one"}}
    with pytest.raises(InputError, match="There is no message to answer"):
        asyncio.run(conversation.ainvoke({"messages": []}, config))
    with pytest.raises(InputError, match="The message is empty"):
        say(conversation, "  ", "two")


def test_the_machine_is_drawn_inside_and_its_forms_are_described(conversation: Conversation) -> None:
    inside = {node.rpartition(":")[2] for node in conversation.get_graph(xray=True).nodes}
    assert {"triage", "completeness_gate", "research", "tools", "answer", "verify"} <= inside
    assert set(conversation.get_context_jsonschema()["properties"]) == {"options", "report", "ask"}
    assert "messages" in conversation.get_input_jsonschema()["properties"]


def test_the_file_names_a_graph_that_is_there_and_switches_off_what_would_go_out() -> None:
    named = json.loads((ROOT / "langgraph.json").read_text())
    path, _, function = named["graphs"]["anamnesis"].partition(":")
    assert f"def {function}(" in (ROOT / path).read_text()
    assert named["env"]["LANGSMITH_TRACING"] == "false"
    assert named["env"]["LANGSMITH_API_KEY"] == ""


@pytest.fixture
def development_server(built_home: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """`langgraph dev` in a folder of its own, with stray keys, watched: its address, and what it tried to reach."""
    watched, noted = tmp_path / "site", tmp_path / "noted.txt"
    home = linked(built_home, tmp_path / "home")
    watched.mkdir()
    (watched / "sitecustomize.py").write_text(WATCH.format(tests=str(ROOT / "tests"), noted=str(noted)))
    shutil.copy(ROOT / "langgraph.json", tmp_path)
    (tmp_path / "agent").symlink_to(ROOT / "agent")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"ANAMNESIS_HOME": str(home), "ANAMNESIS_LITERATURE__LIVE": "off", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    own |= {"LANGSMITH_API_KEY": STRAY, "LANGCHAIN_TRACING_V2": "true", "PYTHONPATH": f"{watched}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    command.append("--allow-blocking")
    with (tmp_path / "log.txt").open("w") as log:
        process = subprocess.Popen(command, env={**os.environ, **own}, cwd=tmp_path, stdout=log, stderr=log)
        try:
            _wait(port, process, tmp_path / "log.txt")
            yield f"http://127.0.0.1:{port}", noted
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text()[-2000:])


@pytest.mark.slow
@pytest.mark.skipif(find_spec("langgraph_api") is None, reason="langgraph-cli[inmem] is not installed")
def test_langgraph_dev_opens_the_graph_and_runs_turns(development_server: tuple[str, Path]) -> None:
    from langgraph_sdk import get_client

    url, noted = development_server

    async def talk() -> list[Any]:
        client = get_client(url=url, api_key=None)
        (assistant,) = await client.assistants.search()
        name = assistant["assistant_id"]
        drawn = [(await client.assistants.get_graph(name, xray=x))["nodes"] for x in (False, True)]
        schemas = await client.assistants.get_schemas(name)
        thread = (await client.threads.create())["thread_id"]
        said = [
            await client.runs.wait(thread, name, input={"messages": [{"role": "user", "content": text}]})
            for text in ("A 30-year-old woman has had palpitations since this morning.", "no")
        ]
        return [drawn, schemas, *said]

    (plain, inside), schemas, first, second = asyncio.run(talk())
    assert [n["id"] for n in plain] == ["__start__", "turn", "__end__"]
    assert "turn:completeness_gate" in [n["id"] for n in inside]
    assert "messages" in schemas["input_schema"]["properties"]
    assert first["answer"]["differential"]
    assert [second["answer"]["turn"], second["answer"]["kind"]] == [2, "case"]
    assert not noted.exists(), noted.read_text()
    log = (noted.parent / "log.txt").read_text()
    assert "Starting metadata loop" not in log  # it goes out by a way that Python does not see
    assert STRAY not in log

"""Nothing but PubMed is ever asked, whatever the environment holds. No test lets a connection out."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from support import processes

ROOT = Path(__file__).resolve().parents[2]
NCBI = "eutils.ncbi.nlm.nih.gov"
SECRET = "sk-a-stray-key-0123456789"  # noqa: S105

CODE = """
import json, sys
from support import no_network
no_network.install()
from anamnesis import Agent
found = {}
for live in ("auto", "off"):
    no_network.attempts.clear()
    with Agent(literature={"live": live}) as agent:
        answer = agent.ask("Does early mobilisation help after a stroke?")
        agent.ask("A 30-year-old woman has had palpitations and chest tightness since this morning.")
    found[live] = {"attempts": list(no_network.attempts), "notices": [n.code for n in answer.notices],
                   "statements": len(answer.statements)}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def asked(built_home: Path) -> dict[str, dict[str, list[str]]]:
    """What one process tried to reach, with live access and without, among keys that nobody named."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
        "ANAMNESIS_HOME": str(built_home),
        "LANGSMITH_TRACING": "true",
        "LANGCHAIN_TRACING_V2": "true",
        "LANGSMITH_API_KEY": SECRET,
        "OPENAI_API_KEY": SECRET,
    }
    done = processes.snippet(CODE, environment=environment, cwd=ROOT).ended()
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, list[str]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_only_pubmed_is_asked_and_its_absence_is_said(asked: dict[str, dict[str, list[str]]]) -> None:
    found = asked["auto"]
    assert set(found["attempts"]) == {NCBI}
    assert "pubmed_unreachable" in found["notices"]
    assert found["statements"]


def test_with_live_access_off_nothing_is_asked_and_a_stray_key_is_written_nowhere(
    asked: dict[str, dict[str, list[str]]], built_home: Path
) -> None:
    found = asked["off"]
    assert found["attempts"] == []
    assert found["statements"]
    holding = [f for f in built_home.rglob("*") if f.is_file() and SECRET.encode() in f.read_bytes()]
    assert holding == []


def test_the_guard_of_the_tests_refuses_a_connection() -> None:
    with pytest.raises(ConnectionRefusedError, match=r"192\.0\.2\.1"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)

"""A program that imports Anamnesis keeps its own process: environment, signals, logging, mask; and is not traced."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("prompts", "tools", "graphs", "agent")
HOST = """
import logging, os, signal, sys

def mask():
    now = os.umask(0)
    os.umask(now)
    return now

def state():
    handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    root = logging.getLogger()
    return dict(os.environ), os.getcwd(), mask(), handlers, list(root.handlers), root.level, sys.excepthook

before = state()
import anamnesis
from agent.settings import Settings, load_settings
load_settings()
Settings()
assert state() == before, "settings"
import agent.studio, agent.server.app, agent.mcp.http, tools.encoders_on_disk
assert state() == before, "imports"
from agent.agent import Agent
from support.machine_parts import parts
with Agent(parts=parts()) as made:
    assert made.ask("croup").statements
assert state() == before, "a turn"
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith.utils import tracing_is_enabled
wait_for_all_tracers()
assert tracing_is_enabled(), "the host's own runs"
print("as before")
"""


def _plain() -> dict[str, str]:
    """This environment without what earlier tests may have said about tracing."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH", "LANGCHAIN"))}


def test_importing_building_and_asking_leave_the_process_as_it_was_and_send_no_trace(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as collector:
        collector.settimeout(0.5)
        port = collector.getsockname()[1]
        own = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", "ANAMNESIS_HOME": str(tmp_path / "home")}
        own |= {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "k", "LANGSMITH_ENDPOINT": f"http://127.0.0.1:{port}"}
        own |= {"ANAMNESIS_LITERATURE__LIVE": "off"}
        ran = subprocess.run(
            [sys.executable, "-c", HOST], env=_plain() | own, cwd=tmp_path, capture_output=True, text=True
        )
        assert ran.stdout.strip() == "as before", ran.stderr[-2000:]
        with pytest.raises(TimeoutError):  # nobody came to deliver a trace
            collector.accept()


def changes_the_environment(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("environ", "putenv", "umask") for n in ast.walk(node))


def test_no_module_touches_the_environment_when_it_is_imported() -> None:
    found = []
    for path in (file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
            ):
                found += [f"{path.relative_to(ROOT)}:{node.lineno}"] if changes_the_environment(node) else []
    assert found == []

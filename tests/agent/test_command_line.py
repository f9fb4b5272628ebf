"""The command as a user runs it: whole processes over a built data folder, PubMed off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from graphs.answering.contract import Answer
from support import processes
from support.homes import linked
from tools.evidence import verify_citation

ROOT = Path(__file__).resolve().parents[2]
CASE = (
    "A 58-year-old man has had crushing central chest pain for 40 minutes. It spreads to his left arm, came on at "
    "rest, and he is sweating and nauseated. He smokes. No fever, no cough."
)
SPARSE = "A 25-year-old man has a sore throat and fever for two days."  # too little to answer from: it is researched

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ANAMNESIS_HOME": str(home),
        "ANAMNESIS_LITERATURE__LIVE": "off",
        **more,
    }


@pytest.fixture
def command(built_home: Path, tmp_path: Path) -> Run:
    def run(
        *arguments: str, stdin: bytes = b"", home: Path = built_home, **more: str
    ) -> subprocess.CompletedProcess[str]:
        return processes.command(*arguments, environment=environment(home, **more), cwd=tmp_path, stdin=stdin)

    return run


def mistake(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """A user's mistake: a message with advice, a non-zero exit, no traceback."""
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(("anamnesis: ", "Usage:")) or "anamnesis: " in done.stderr
    for word in words:
        assert word in done.stderr


def test_a_case_is_answered_with_emergency_differential_and_exact_quotes(command: Run) -> None:
    done = command("ask", "--json", CASE)
    assert done.returncode == 0, done.stderr
    answer = Answer.model_validate_json(done.stdout)
    assert answer.emergency
    assert answer.differential[0].disease == "myocardial-infarction"
    assert answer.differential[0].icd10.startswith("I21")
    assert answer.differential[0].findings_for
    known = {e.id: e for e in answer.evidence}
    citations = [c for s in answer.statements for c in s.citations]
    assert len(citations) >= len(answer.statements) > 0
    assert all(verify_citation(c, known[c.evidence_id]) for c in citations)


def test_a_published_configuration_answers_by_its_own_tools_and_a_slip_is_named(command: Run) -> None:
    done = command("ask", "--json", "--config", "qb-rag:naive", "Do antibiotics help in acute bronchitis?")
    answer = Answer.model_validate_json(done.stdout)
    assert answer.usage.tool_calls == 1
    assert answer.notices[0].code == "published_configuration"
    mistake(command("ask", "--config", "medrgag:without-all", "Hello"), "no arm", "without-kads")
    mistake(command("ask", "--config", "medrgag:direct", "Hello"), "needs a language model", "ANAMNESIS_MODEL")
    mistake(command("eval", "run", "answers", "--config", "cometa:medcpt", "--data", str(ROOT)), "cannot be run")


def test_the_documented_fields_are_there(command: Run) -> None:
    done = command("ask", "--json", "Should everyone with a heart attack be given oxygen?")
    answer = json.loads(done.stdout)
    table = (ROOT / "docs" / "answer.md").read_text()
    for name in answer:
        assert f"`{name}" in table, f"{name} is not documented"
    for name in ("id", "text", "title", "kind", "origin", "status", "level"):
        assert name in answer["evidence"][0]
    assert answer["verdict"]["value"] == "no"
    assert set(answer["verdict"]["statements"]) <= {s["text"] for s in answer["statements"]}


def test_the_terminal_form_has_numbers_sources_and_no_colour_in_a_pipe(command: Run) -> None:
    done = command("ask", CASE)
    assert done.returncode == 0, done.stderr
    for part in ("EMERGENCY", "[1]", "Differential", "ICD-10", "Knowledge graph"):
        assert part in done.stdout
    assert "Ask next" not in done.stdout, "no routine question beside an emergency"
    assert "\x1b[" not in done.stdout
    assert "Judge whether enough is told" in done.stderr


def test_a_chat_outlives_the_program(command: Run) -> None:
    first = command("chat", "--json", stdin=f"{SPARSE}\n".encode())
    answer = Answer.model_validate_json(first.stdout.splitlines()[0])
    second = command("chat", "--json", "--session", answer.session, stdin=b"He also has swollen glands in the neck.\n")
    again = Answer.model_validate_json(second.stdout.splitlines()[0])
    assert (again.session, again.turn) == (answer.session, 2)
    assert "sore throat" in again.question
    assert "glands" in again.question
    assert answer.session in command("sessions").stdout
    assert command("sessions", "--delete", answer.session).returncode == 0
    assert answer.session not in command("sessions").stdout


def test_a_bad_line_does_not_end_a_chat(command: Run) -> None:
    done = command("chat", "--json", stdin=b"\xff\xfe\x00bad\nWhat is croup?\n")
    assert done.returncode == 0
    assert "not text" in done.stderr
    assert Answer.model_validate_json(done.stdout.splitlines()[-1]).statements


def test_a_trace_shows_what_a_run_did(command: Run) -> None:
    answer = Answer.model_validate_json(command("ask", "--json", "What is the treatment of croup?").stdout)
    tree = command("trace", answer.run).stdout
    for part in ("triage", "completeness_gate", "search_literature", "query", "kads_selector", "kept", "ms"):
        assert part in tree
    listed = next(line for line in command("trace").stdout.splitlines() if answer.run in line)
    assert "What is the treatment of croup?" in listed
    assert "answered" in listed
    newest, *_ = json.loads(command("trace", "--json", "--limit", "1").stdout)
    assert newest["run"] == answer.run
    assert newest["at"].startswith("20")
    events = [json.loads(line) for line in command("trace", "--json", answer.run).stdout.splitlines()]
    assert events[0]["kind"] == "run"


@pytest.mark.parametrize("message", ["", "   ", "x" * 100_000])
def test_an_unusable_message_is_a_mistake(command: Run, message: str) -> None:
    mistake(command("ask", message), "message")


@pytest.mark.parametrize("stdin", [b"", b"\x00\x01\x02", b"\xff\xd8\xff\xe0" * 10, b"x" * 200_000])
def test_unusable_standard_input_is_a_mistake(command: Run, stdin: bytes) -> None:
    mistake(command("ask", "-", stdin=stdin))


def test_unknown_sessions_runs_and_options_are_mistakes(command: Run) -> None:
    mistake(command("ask", "--session", "nobody", "What is croup?"), "no session")
    mistake(command("resume", "nobody"), "no session")
    mistake(command("trace", "nobody/1"), "no trace")
    mistake(command("ask", "--option", "A", "Which?"), "A=text")
    mistake(command("ask", "x y z", ANAMNESIS_MAX_CHARACTERS="many"), "max_characters")


def test_a_damaged_data_folder_is_a_typed_error(command: Run, built_home: Path, tmp_path: Path) -> None:
    for damaged in ("checkpoints.sqlite", "texts.sqlite"):
        home = linked(built_home, tmp_path / damaged)
        (home / damaged).write_bytes(b"this is no database " * 400)
        mistake(command("ask", "What is croup?", home=home), "damaged")
    (tmp_path / "file").write_text("not a folder")
    mistake(command("ask", "What is croup?", home=tmp_path / "file"), "ANAMNESIS_HOME")


@pytest.mark.parametrize("folder", ["tools", "agent"])
def test_a_strangers_package_on_the_path_is_noticed(built_home: Path, tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "__init__.py").write_text("raise SystemExit('a stranger ran')")
    code = "import runpy; runpy.run_module('anamnesis', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path,
        env=environment(built_home, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}"),
    )  # fmt: skip
    mistake(done, "hidden", folder)
    assert "a stranger ran" not in done.stderr


def test_doctor_lists_every_endpoint_and_finds_all_well(command: Run) -> None:
    done = command("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert report["endpoints"] == []
    names = [c["name"] for c in report["checks"]]
    for name in ("data folder", "encoder", "library", "knowledge graph", "language model"):
        assert name in names


def test_graph_prints_the_machine(command: Run) -> None:
    done = command("dev", "graph")
    for node in ("triage", "completeness_gate", "research", "tools", "kads_selector", "verify"):
        assert node in done.stdout


@pytest.mark.slow
def test_killed_in_mid_run_and_resumed_the_answer_is_the_same(built_home: Path, command: Run, tmp_path: Path) -> None:
    expected = Answer.model_validate_json(command("ask", "--json", SPARSE).stdout)
    code = (
        "import time\n"
        "import graphs.kads.local as kads\n"
        "async def wait(*_): print('waiting', flush=True); time.sleep(60)\n"
        "kads.SelectorLocal.select = wait\n"
        "from anamnesis import Agent\n"
        f"Agent().ask({SPARSE!r}, session='killed')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment(built_home), cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "waiting"
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    resumed = Answer.model_validate_json(command("resume", "--json", "killed").stdout)
    same = {"statements", "differential", "choice", "emergency", "follow_up_questions", "notices", "gate", "evidence"}
    assert resumed.model_dump(include=same) == expected.model_dump(include=same)
    steps = [
        e["step"]
        for e in map(json.loads, command("trace", "--json", "killed/1").stdout.splitlines())
        if e["kind"] == "step_started"
    ]
    assert steps.count("kads_selector") == 2
    assert [s for s in set(steps) if s not in {"kads_selector", "research", "collect"} and steps.count(s) > 1] == []

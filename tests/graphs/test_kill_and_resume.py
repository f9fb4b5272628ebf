"""Killed with -9 in mid-run and continued in a new process: no finished node runs again, and the answer is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import processes
from support.session_worker import lines, wait_for

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
from support.machine_parts import Scripted, parts
from agent.agent import Agent
from agent.settings import Settings

class Log(list):
    def append(self, line):
        with open({log!r}, "a") as file:
            file.write(line + "\\n")

agent = Agent(Settings(home={home!r}), parts=parts(Scripted(log=Log(), pause={pause!r})))
answer = {call}
print(answer.to_json(exclude={{"usage"}}))
agent.close()
"""


def start(home: Path, log: Path, call: str, pause: dict[str, float]) -> processes.Running:
    code = SCRIPT.format(log=str(log), home=str(home), pause=pause, call=call)
    return processes.snippet(code, environment={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT)


@pytest.mark.parametrize("killed_in", ["plan 2", "select", "verify"])
def test_no_finished_node_runs_again(tmp_path: Path, killed_in: str) -> None:
    ask = "agent.ask('croup?', session='s')"
    whole, undisturbed = tmp_path / "whole", tmp_path / "whole.log"
    expected = start(whole, undisturbed, ask, {}).ended().stdout

    home, log = tmp_path / "cut", tmp_path / "cut.log"
    process = start(home, log, ask, {killed_in: 60})
    wait_for(log, killed_in)
    process.kill()
    before = lines(log)

    answer = start(home, log, "agent.resume('s')", {}).ended().stdout
    assert answer == expected != ""
    after = lines(log)[len(before) :]
    assert after[0] == killed_in, "the node that was cut off runs again, and none before it"
    assert before[:-1] + after == lines(undisturbed)

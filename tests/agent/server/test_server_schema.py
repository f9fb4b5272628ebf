"""schemathesis on the running server: what the description allows is answered as it says, and never with a 5xx.

All of its default checks; a longer run of the same is `st run URL/openapi.json`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.agent import Agent
from support.machine_parts import parts
from support.served import served

EXAMPLES = 3  # requests of each kind and endpoint; ours: what takes about five seconds
MANY = 12  # where time is no matter
SEED = 20261121
# names by which hypothesis knows continuous integration, where it would put a profile of its own over our options
CI = ("CI", "TF_BUILD", "BUILDKITE", "CIRCLECI", "CIRRUS_CI", "GITHUB_ACTIONS", "GITLAB_CI", "TEAMCITY_VERSION")


@pytest.mark.parametrize("examples", [EXAMPLES, pytest.param(MANY, marks=pytest.mark.slow)])
def test_nothing_is_answered_that_the_description_does_not_say(tmp_path: Path, examples: int) -> None:
    pytest.importorskip("schemathesis")
    with Agent(home=tmp_path / "home", parts=parts()) as agent, served(agent, requests=1_000_000) as server:
        key = server.key(scopes=("ask", "review", "traces"))
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"]
        command += ["-H", f"Authorization: Bearer {key}", "--phases", "fuzzing,stateful", "--no-color"]
        command += ["--max-examples", str(examples), "--seed", str(SEED), "--request-timeout", "20"]
        command += ["--suppress-health-check", "filter_too_much"]  # of its generator, not of the server
        env = {name: value for name, value in os.environ.items() if name not in CI}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout

"""schemathesis with all its default checks on the real server: no 5xx, nothing that the description leaves out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec

from evals.bench.figures import Figure
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import keys, serving

SEED = 20261121
PATIENCE = "120"  # seconds for a request: cases are answered one after another, each by the real engine
MADE = re.compile(r"(\d+) generated")
TOLD = 12_000  # characters of its report that are kept
CI = ("CI", "TF_BUILD", "BUILDKITE", "CIRCLECI", "CIRRUS_CI", "GITHUB_ACTIONS", "GITLAB_CI", "TEAMCITY_VERSION")
PHASES = "examples,coverage,fuzzing,stateful"  # all of its phases


def outside_ci() -> dict[str, str]:
    """The environment without the names by which hypothesis knows continuous integration.

    It would put a profile of its own there over the health checks that schemathesis was told to leave out.
    """
    return {name: value for name, value in os.environ.items() if name not in CI}


def described(bench: Bench) -> Part:
    """Run it; its own report is in the details where it finds something."""
    if find_spec("schemathesis") is None:
        return Part(left_out=["schemathesis is not installed (pip install 'anamnesis[dev]')"])
    key = keys(bench.home, 1)[0]
    log, many = bench.home / "described.log", "1000000"
    with serving(bench.home, log, ANAMNESIS_SERVER__REQUESTS=many, ANAMNESIS_SERVER__FAILED_KEYS=many) as server:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--no-color"]
        command += ["-H", f"Authorization: Bearer {key}", "--phases", PHASES, "--request-timeout", PATIENCE]
        command += ["--max-examples", str(bench.sizes.examples), "--seed", str(SEED)]
        command += ["--suppress-health-check", "filter_too_much"]  # of its generator, not of the server
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, cwd=bench.home, env=outside_ci(), check=False
        )
        faults = server.faults()
    said = done.stdout[-TOLD:]
    made = MADE.search(done.stdout)
    n = int(made[1]) if made else 0
    if done.returncode:
        faults.append(f"schemathesis ended with {done.returncode}: {said}")
    failed = len(re.findall(r"^_{5,} .* _{5,}$", done.stdout, re.MULTILINE)) if done.returncode else 0
    figures = [
        Figure(name="schemathesis.findings", value=max(failed, int(bool(done.returncode))), unit="", n=n, asked="0"),
        Figure(name="schemathesis.errors_in_log", value=len(server.faults()), unit="lines", n=n, asked="0"),
    ]
    return Part(figures=figures, faults=faults, details={"report": said})

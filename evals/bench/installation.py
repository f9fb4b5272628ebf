"""`anamnesis dev bench`: start-up, a warm process over 50 mixed questions, memory, quotes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from typing import Any

from agent.agent import Agent
from evals.bench.frame import Figure, Spent, figures_of, late, local_settings, memory, mixed_questions, spent
from graphs.answering.contract import Answer
from tools.evidence import verify_citation

STARTS = 5  # ours: runs of each start-up command; the median counts
WARM = 5  # ours: questions asked before any is measured


def measure(rounds: int) -> list[Figure]:
    """The figures of this installation; live access is off.

    Args:
        rounds: how often each question is asked.
    """
    return [*start_up(), *warm(rounds)]


def start_up() -> list[Figure]:
    """Whole new processes against the bare imports they cannot do without; processor seconds hold on a busy machine."""
    program = [sys.executable, "-m", "anamnesis"]
    help_ = _taken([*program, "--help"])
    bare = _taken([sys.executable, "-c", "import typer, rich"])
    libraries = _taken([sys.executable, "-c", "import torch, transformers"])
    ask = _taken([*program, "ask", "--quiet", "What is the treatment of croup?"])
    doctor = _taken([*program, "doctor"])
    return figures_of(
        "start.",
        STARTS,
        ("help_over_bare_imports", help_.clock / bare.clock, "times", "at most 2"),
        ("ask_beyond_torch_transformers", ask.clock - libraries.clock, "s", "at most 3"),
        ("ask", ask.clock, "s"),
        ("ask_processor_over_torch_transformers", ask.processor / libraries.processor, "times", "at most 2"),
        ("ask_processor", ask.processor, "s"),
        ("doctor_processor", doctor.processor, "s", "at most 5"),
    )


def _taken(command: Sequence[str]) -> Spent:
    """Median time of a command after one warm-up, in an empty folder; processor seconds are those of its process."""
    run = partial(subprocess.run, command, check=True, capture_output=True)
    clock, processor = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        once = partial(run, cwd=folder, env={**os.environ, "ANAMNESIS_LITERATURE__LIVE": "off"})
        for _ in range(STARTS + 1):
            before = os.times()
            clock.append(spent(once).clock)
            after = os.times()
            user, system = (after[n] - before[n] for n in (2, 3))  # of the children
            processor.append(user + system)
    return Spent(statistics.median(clock[1:]), statistics.median(processor[1:]))


def warm(rounds: int) -> list[Figure]:
    """The mixed questions in one warm process, each in a session of its own that is deleted afterwards."""
    rows = mixed_questions()
    answers: list[Answer] = []
    with Agent(local_settings()) as agent:

        def ask(row: dict[str, Any]) -> None:
            answers.append(agent.ask(row["text"], options=row.get("options")))

        for row in rows[:WARM]:
            ask(row)
        seconds = [spent(partial(ask, row)).clock for row in rows * rounds]
        resident = memory("VmRSS") / 1000
        for answer in answers:
            agent.delete_session(answer.session)
    n = len(seconds)
    exact, quotes = quotes_exact(answers[-n:])
    return [
        *figures_of(
            "warm.",
            n,
            ("median", statistics.median(seconds) * 1000, "ms", "at most 500"),
            ("p95", late(seconds) * 1000, "ms"),
        ),
        *figures_of("warm.", 1, ("resident_memory", resident, "GB", "at most 1.5")),
        *figures_of("quotes.", quotes, ("exact", 100 * exact / max(quotes, 1), "%", "100")),
    ]


def quotes_exact(answers: Sequence[Answer]) -> tuple[int, int]:
    """How many quotes are their exact slice, of how many."""
    exact = total = 0
    for answer in answers:
        known = {e.id: e for e in answer.evidence}
        for citation in (c for s in answer.statements for c in s.citations):
            total += 1
            exact += citation.evidence_id in known and verify_citation(citation, known[citation.evidence_id])
    return exact, total

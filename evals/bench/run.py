"""`anamnesis bench`: start-up, a warm process over 50 mixed questions, memory, quotes, written cases."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from agent.agent import Agent
from agent.settings import load_settings
from evals.bench.figures import Figure, print_figures
from evals.bench.stopwatch import Stopwatch
from graphs.answering.contract import Answer
from tools.evidence import verify_citation

QUESTIONS = Path(__file__).parent / "questions.yaml"
STARTS = 5  # runs of each start-up command; the median counts


def run_bench(json_file: Path | None, rounds: int) -> None:
    """Measure, print a table, and write the figures where asked. Live access is off."""
    figures = [*start_up(), *warm(rounds)]
    print_figures(figures)
    if json_file is not None:
        json_file.write_text(json.dumps([f.model_dump() for f in figures], indent=2) + "\n", encoding="utf-8")


def start_up() -> list[Figure]:
    """Whole new processes against the bare imports they cannot do without."""
    program = [sys.executable, "-m", "anamnesis"]
    help_ = median_seconds([*program, "--help"])
    bare = median_seconds([sys.executable, "-c", "import typer, rich"])
    libraries = median_seconds([sys.executable, "-c", "import torch, transformers"])
    with tempfile.TemporaryDirectory() as folder:
        ask = median_seconds([*program, "ask", "--quiet", "What is the treatment of croup?"], cwd=folder)
    return [
        Figure(name="start.help_over_bare_imports", value=help_ / bare, unit="times", n=STARTS, asked="at most 2"),
        Figure(
            name="start.ask_beyond_torch_transformers", value=ask - libraries, unit="s", n=STARTS, asked="at most 3"
        ),
        Figure(name="start.ask", value=ask, unit="s", n=STARTS),
    ]


def median_seconds(command: list[str], cwd: str | None = None) -> float:
    """Median wall time of a command over several runs after one warm-up."""
    seconds = []
    for _ in range(STARTS + 1):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=cwd, env=_offline())  # noqa: S603
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def warm(rounds: int) -> list[Figure]:
    """The 50 mixed questions in one warm process, each in a session of its own that is deleted afterwards."""
    import psutil

    questions = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    settings = load_settings(config="", model="", literature={"live": "off", "mirror": None}).without_models()
    watch = Stopwatch()
    seconds: list[float] = []
    own: list[float] = []
    answers: list[Answer] = []
    with Agent(settings) as agent:
        undo = watch_all(agent, watch)
        for question in questions[:5]:
            _ask(agent, question)
        for question in questions * rounds:
            watch.clear()
            started = time.perf_counter()
            answers.append(_ask(agent, question))
            seconds.append(time.perf_counter() - started)
            own.append(seconds[-1] - watch.total())
        memory = psutil.Process().memory_info().rss / 1e9
        for restore in undo:
            restore()
        for answer in answers:
            agent.delete_session(answer.session)
    exact, quotes = quotes_exact(answers)
    n = len(seconds)
    return [
        Figure(name="warm.median", value=statistics.median(seconds) * 1000, unit="ms", n=n, asked="at most 500"),
        Figure(name="warm.p95", value=sorted(seconds)[int(0.95 * n)] * 1000, unit="ms", n=n),
        Figure(name="warm.own_share", value=100 * sum(own) / sum(seconds), unit="%", n=n, asked="at most 30"),
        Figure(name="warm.resident_memory", value=memory, unit="GB", n=1, asked="at most 1.5"),
        Figure(name="quotes.exact", value=100 * exact / max(quotes, 1), unit="%", n=quotes, asked="100"),
    ]


def watch_all(agent: Agent, watch: Stopwatch) -> list[Callable[[], None]]:
    """Watch encoder, search and checkpoint writes."""
    from rank_bm25 import BM25Okapi

    from tools.encoders import MiniLMEncoder
    from tools.indexes.local import LocalIndex
    from tools.store import ContentStore

    saver = type(agent.database.saver)
    watched = [
        (MiniLMEncoder, "_encode", "encoder"),
        (LocalIndex, "search_text", "search"),
        (LocalIndex, "search_vectors", "search"),
        (BM25Okapi, "get_scores", "search"),
        (saver, "aput", "checkpoints"),
        (saver, "aput_writes", "checkpoints"),
        (ContentStore, "put_all", "checkpoints"),
    ]
    return [watch.watch(owner, method, label) for owner, method, label in watched]


def quotes_exact(answers: list[Answer]) -> tuple[int, int]:
    """How many quotes are their exact slice, of how many."""
    exact = total = 0
    for answer in answers:
        known = {e.id: e for e in answer.evidence}
        for citation in (c for s in answer.statements for c in s.citations):
            total += 1
            exact += citation.evidence_id in known and verify_citation(citation, known[citation.evidence_id])
    return exact, total


def _ask(agent: Agent, question: dict[str, Any]) -> Answer:
    return asyncio.run(agent.aask(question["text"], options=question.get("options")))


def _offline() -> dict[str, str]:
    import os

    return {**os.environ, "ANAMNESIS_LITERATURE__LIVE": "off"}

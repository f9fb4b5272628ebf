"""`anamnesis bench model`: what the path by a language model adds of its own, at a server of a fixed time a call.

The agent is the assembled one, with the embedded encoder and live access off; the server is a process of its own that
plays every role (`evals.scripted.player`), its tokens counted as a quarter of the characters.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agent.agent import Agent
from agent.settings import Settings, load_settings
from evals.bench.figures import Figure, print_figures
from evals.bench.local_compute import LocalCompute, watching
from evals.bench.stopwatch import Interval, covered
from evals.scripted.process import ModelCall, PlayingServer, playing
from graphs.answering.contract import Answer
from tools.files import write_atomic


# The critical path of a turn's calls: the longest chain in which each call starts after the one before has ended.
def longest_chain(intervals: Sequence[Interval]) -> tuple[int, float]:
    """Calls of the longest chain by number, and seconds of the longest by time.

    A call that starts after another has ended may follow it.
    """
    number: dict[Interval, int] = {}
    seconds: dict[Interval, float] = {}
    for call in sorted(intervals):
        before = [other for other in number if other[1] <= call[0]]
        number[call] = 1 + max((number[o] for o in before), default=0)
        seconds[call] = call[1] - call[0] + max((seconds[o] for o in before), default=0.0)
    return max(number.values(), default=0), max(seconds.values(), default=0.0)


def outside(intervals: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """The parts of intervals in which none of the others runs."""
    left = list(intervals)
    for start, end in others:
        left = [part for begun, done in left for part in ((begun, min(done, start)), (max(begun, end), done))]
        left = [(begun, done) for begun, done in left if begun < done]
    return left


TURNS = 64  # asked
REPEATS = 5  # turns of each question; the median counts (ours)
AT_ONCE = 1000  # requests at once: no turn waits for another's, so that the bound asked for can be reached at all
# A case that needs research, a question of evidence, and a case that the gate is told to take as enough.
QUESTIONS = {
    "case": "54M, smoker, woke with heavy central chest pain radiating to the jaw for 50 minutes, sweating, nauseated. "
    "No cough, no leg swelling. BP 138/84, HR 92, chest clear. What is most likely?",
    "evidence": "Does a single dose of dexamethasone help a child with mild croup?",
    "direct": "70F, ex-smoker, 3 days of fever, productive cough with green sputum, pain on the left on deep breaths. "
    "T 38.9, RR 24, crackles and bronchial breathing at the left base. No ankle oedema. What is most likely?",
}


class Turn(NamedTuple):
    """A measured turn: the clock's seconds, those of the local tools outside of calls, and processor seconds."""

    answer: Answer
    wall: float
    local: float
    processor: float
    calls: Sequence[ModelCall]

    @property
    def chain(self) -> tuple[int, float]:
        """The critical path of its calls: how many, and seconds."""
        return longest_chain([(c.started, c.ended) for c in self.calls])


def bench_model(milliseconds: int, turns: int, json_file: Path | None) -> None:
    """Measure, print the figures and write them where asked.

    Args:
        milliseconds: what the server takes for a call.
        turns: how many are asked at once.
    """
    with tempfile.TemporaryDirectory() as folder, playing(milliseconds / 1000, Path(folder)) as server:
        figures = [*one_at_a_time(server), *at_once(server, turns)]
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def settings_for(server: PlayingServer, **others: object) -> Settings:
    """Settings that call the server and nothing else."""
    values = {"literature": {"live": "off", "mirror": None}, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": None}
    budget = {"calls": None, "tokens": None, "money": None, "seconds": None}
    return load_settings(model="playing", model_concurrency=AT_ONCE, roles={}, budget=budget, **values, **others)


def one_at_a_time(server: PlayingServer) -> list[Figure]:
    """Each question alone, again and again in one warm process."""
    figures: list[Figure] = []
    for name, question in QUESTIONS.items():
        gate = {"gate": {"method": "direct"}} if name == "direct" else {}
        with Agent(settings_for(server, **gate)) as agent, watching(agent.parts) as local:
            _turn(agent, question, server, local)
            turns = [_turn(agent, question, server, local) for _ in range(REPEATS)]
        figures += _figures(name, turns)
    return figures


def _turn(agent: Agent, question: str, server: PlayingServer, local: LocalCompute) -> Turn:
    server.calls()
    local.clear()
    started, used = time.monotonic(), time.process_time()
    answer = agent.ask(question)
    wall, processor = time.monotonic() - started, time.process_time() - used - local.processor
    agent.delete_session(answer.session)
    calls = server.calls()
    tools = covered(outside(local.intervals, [(c.started, c.ended) for c in calls]))
    return Turn(answer, wall, tools, processor, calls)


def _figures(name: str, turns: Sequence[Turn]) -> list[Figure]:
    n = len(turns)
    shares = [(t.wall - t.local) / max(t.chain[1], 1e-9) for t in turns]
    on_path = max(t.chain[0] for t in turns)
    figures = [
        Figure(name=f"{name}.wall", value=statistics.median(t.wall for t in turns), unit="s", n=n),
        Figure(name=f"{name}.local_tools", value=statistics.median(t.local for t in turns), unit="s", n=n),
        Figure(name=f"{name}.critical_path", value=statistics.median(t.chain[1] for t in turns), unit="s", n=n),
        Figure(name=f"{name}.share", value=statistics.median(shares), unit="times", n=n, asked=SHARE.get(name, "")),
        Figure(name=f"{name}.calls_on_path", value=on_path, unit="calls", n=n, asked=ON_PATH.get(name, "")),
        Figure(
            name=f"{name}.own_processor",
            value=statistics.median(t.processor for t in turns),
            unit="s",
            n=n,
            asked="at most 0.3",
        ),
    ]
    return [*figures, *_by_role(name, turns[-1])]


SHARE = {"case": "at most 1.10"}
ON_PATH = {"case": "at most 8", "direct": "at most 2"}


def _by_role(name: str, turn: Turn) -> list[Figure]:
    """Calls and tokens of a turn, all and by role."""
    made = Counter(c.role for c in turn.calls)
    tokens: Counter[str] = Counter()
    for call in turn.calls:
        tokens[call.role] += call.input_tokens + call.output_tokens
    figures = [
        Figure(name=f"{name}.calls", value=len(turn.calls), unit="calls", n=1),
        Figure(name=f"{name}.tokens", value=tokens.total(), unit="tokens", n=1),
    ]
    for role, count in made.items():
        figures.append(Figure(name=f"{name}.calls.{role}", value=count, unit="calls", n=1))
        figures.append(Figure(name=f"{name}.tokens.{role}", value=tokens[role], unit="tokens", n=1))
    return figures


def at_once(server: PlayingServer, turns: int) -> list[Figure]:
    """Many turns at once, each in a session of its own: failures, and the clock against what bounds it."""
    question = QUESTIONS["case"]
    with Agent(settings_for(server)) as agent, watching(agent.parts) as local:
        alone = _turn(agent, question, server, local)
        started, used = time.monotonic(), time.process_time()
        answers = asyncio.run(_all(agent, question, turns))
        wall, processor = time.monotonic() - started, time.process_time() - used
        good = [a for a in answers if isinstance(a, Answer)]
        for answer in good:
            agent.delete_session(answer.session)
        calls = server.calls()
    failed = turns - sum(not _fell_back(a) and not a.abstained for a in good)
    bound = max(alone.chain[1], processor / PROCESSORS)
    return [
        Figure(name="at_once.failures", value=failed, unit="turns", n=turns, asked="0"),
        Figure(name="at_once.wall", value=wall, unit="s", n=turns),
        Figure(name="at_once.calls", value=len(calls), unit="calls", n=turns),
        Figure(name="at_once.processor", value=processor, unit="s", n=turns),
        Figure(name="at_once.wall_over_bound", value=wall / bound, unit="times", n=turns, asked="at most 1.3"),
    ]


PROCESSORS = 2  # asked: the bound is for two


async def _all(agent: Agent, question: str, turns: int) -> list[Answer | BaseException]:
    return await asyncio.gather(*(agent.aask(question) for _ in range(turns)), return_exceptions=True)


def _fell_back(answer: Answer) -> bool:
    return any(n.code == "judged_locally" for n in answer.notices)

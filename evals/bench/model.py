"""`anamnesis dev bench model`: what the path by a language model adds of its own, at a server of a fixed time a call.

The agent is the assembled one, with the embedded encoder and live access off; the server is a process of its own that
plays every role (`evals.scripted.player`), its tokens counted as a quarter of the characters.

Local tools are the five tools, the graph's look-up and the encoder; what they compute runs in threads (a function of
`tools` given to `asyncio.to_thread`, and the encoder's own), where its processor time is counted. All else (the event
loop, the client of the model, checkpoints, the local judgements) is our own.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

import typer

from agent.agent import Agent
from agent.settings import Settings, load_settings
from evals.bench.frame import Figure, figures_of, mixed_questions
from evals.scripted.process import ModelCall, PlayingServer, playing
from graphs.answering.contract import Answer
from graphs.context import Parts

REPEATS = 5  # ours: turns of each question; the median counts
SEVERAL = 6  # ours: questions of each kind over which calls, waits and tokens are averaged
AT_ONCE = 1000  # requests at once: no turn waits for another's, so that the bound asked for can be reached at all
PROCESSORS = 2  # asked: the bound is for two
# A case and a question of evidence that are researched, and a case that the gate is told to take as enough.
QUESTIONS = {
    "case": "54M, smoker, woke with heavy central chest pain radiating to the jaw for 50 minutes, sweating, nauseated. "
    "No cough, no leg swelling. BP 138/84, HR 92, chest clear. What is most likely?",
    "evidence": "Does a single dose of dexamethasone help a child with mild croup?",
    "direct": "70F, ex-smoker, 3 days of fever, productive cough with green sputum, pain on the left on deep breaths. "
    "T 38.9, RR 24, crackles and bronchial breathing at the left base. No ankle oedema. What is most likely?",
}
SHARE = {"case": "at most 1.10"}
ON_PATH = {"direct": {"calls_on_path": "at most 2"}}
RESEARCHED = ("case", "evidence")
ASKED = {"calls": "at most 7", "calls_on_path": "at most 5 + 1 a further round", "tokens_in": "at most 12000"}
ASKED |= {"sent_before": "at most 20"}
RUN = 8  # ours: words in a row that make a text the same as one that was sent before
NUMBER = re.compile(r"\[\d+(?:\.\d+)?\]")  # of a document or a sentence: the same text has another one in each call
Interval = tuple[float, float]


class Turn(NamedTuple):
    """A measured turn: the clock's seconds, those of the local tools outside of calls, and processor seconds."""

    answer: Answer
    wall: float
    local: float
    processor: float
    calls: Sequence[ModelCall]

    @property
    def path(self) -> tuple[int, float]:
        """The critical path of its calls: how many, and seconds."""
        return longest_chain([(c.started, c.ended) for c in self.calls])


class LocalCompute:
    """Intervals in which local tools ran, and the processor seconds that they took."""

    def __init__(self) -> None:
        self.intervals: list[Interval] = []
        self.processor = 0.0
        self._lock = threading.Lock()
        self._inside = threading.local()

    def clear(self) -> None:
        """Forget what was measured."""
        self.intervals.clear()
        self.processor = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its processor seconds counted once however deep it stands in others."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._inside, "on", False):
                return function(*args, **kwargs)
            self._inside.on = True
            started, used = time.monotonic(), time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._inside.on = False
                with self._lock:
                    self.processor += time.thread_time() - used
                    self.intervals.append((started, time.monotonic()))

        return call

    def noted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A tool's ``run``, its interval noted."""

        async def call(*args: Any, **kwargs: Any) -> Any:
            started = time.monotonic()
            try:
                return await run(*args, **kwargs)
            finally:
                self.intervals.append((started, time.monotonic()))

        return call


@contextmanager
def watching(parts: Parts) -> Iterator[LocalCompute]:
    """Count what the local tools of a machine do; afterwards nothing is watched any more."""
    from tools.encoders import MiniLMEncoder

    local, in_thread, encode = LocalCompute(), asyncio.to_thread, MiniLMEncoder._encode_batch

    async def to_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        theirs = function is parts.look_up or str(getattr(function, "__module__", "")).startswith("tools.")
        return await in_thread(local.timed(function) if theirs else function, *args, **kwargs)

    def encoded(encoder: MiniLMEncoder, *args: Any, **kwargs: Any) -> Any:
        return local.timed(encode)(encoder, *args, **kwargs)

    with ExitStack() as stack:
        stack.enter_context(patch.object(asyncio, "to_thread", to_thread))
        stack.enter_context(patch.object(MiniLMEncoder, "_encode_batch", encoded))
        for tool in parts.tools:
            stack.enter_context(patch.object(tool, "run", local.noted(tool.run)))
        yield local


def measure(
    milliseconds: Annotated[int, typer.Option(min=0, help="What the server takes for a call.")] = 200,
    turns: Annotated[int, typer.Option(min=1, help="How many turns at once.")] = 64,
) -> list[Figure]:
    """The figures of each question alone, of several of a kind, and of many at once."""
    with TemporaryDirectory() as folder, playing(milliseconds / 1000, Path(folder)) as server:
        return [*one_at_a_time(server), *of_several(server), *at_once(server, turns)]


def settings_for(server: PlayingServer, **others: object) -> Settings:
    """Settings that call the server and nothing else."""
    values = {"literature": {"live": "off", "mirror": None}, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": None}
    budget = {"calls": None, "tokens": None, "money": None, "seconds": None}
    return load_settings(model="playing", model_concurrency=AT_ONCE, roles={}, budget=budget, **values, **others)


def one_at_a_time(server: PlayingServer) -> list[Figure]:
    """Each question alone, again and again in one warm process."""
    figures: list[Figure] = []
    for name, question in QUESTIONS.items():
        gate = {"method": "retrieve" if name in RESEARCHED else "direct"}
        with Agent(settings_for(server, gate=gate)) as agent, watching(agent.parts) as local:
            take(agent, question, server, local)
            turns = [take(agent, question, server, local) for _ in range(REPEATS)]
        share = median((t.wall - t.local) / max(t.path[1], 1e-9) for t in turns)
        figures += figures_of(
            f"{name}.",
            REPEATS,
            ("wall", median(t.wall for t in turns), "s"),
            ("local_tools", median(t.local for t in turns), "s"),
            ("critical_path", median(t.path[1] for t in turns), "s"),
            ("share", share, "times", SHARE.get(name, "")),
            ("own_processor", median(t.processor for t in turns), "s", "at most 0.3"),
        )
        figures += by_role(f"{name}.", turns, ON_PATH.get(name, {}))
    return figures


def of_several(server: PlayingServer) -> list[Figure]:
    """The means of the first cases and questions of evidence that ship, all researched, each asked once."""
    figures: list[Figure] = []
    with Agent(settings_for(server, gate={"method": "retrieve"})) as agent, watching(agent.parts) as local:
        for kind in RESEARCHED:
            rows = [row for row in mixed_questions() if (row["kind"], row["language"]) == (kind, "en")][:SEVERAL]
            figures += by_role(f"several.{kind}.", [take(agent, row["text"], server, local) for row in rows], ASKED)
    return figures


def take(agent: Agent, question: str, server: PlayingServer, local: LocalCompute) -> Turn:
    """One turn in a session of its own."""
    server.calls()
    local.clear()
    started, used = time.monotonic(), time.process_time()
    answer = agent.ask(question)
    wall, processor = time.monotonic() - started, time.process_time() - used - local.processor
    agent.delete_session(answer.session)
    calls = server.calls()
    tools = covered(outside(local.intervals, [(c.started, c.ended) for c in calls]))
    return Turn(answer, wall, tools, processor, calls)


def by_role(prefix: str, turns: Sequence[Turn], asked: Mapping[str, str]) -> list[Figure]:
    """Means over turns: calls, those one after another, tokens and what was sent before; calls and tokens by role."""
    calls = [call for turn in turns for call in turn.calls]
    made, tokens = Counter(c.role for c in calls), Counter[str]()
    for call in calls:
        tokens[call.role] += call.input_tokens + call.output_tokens
    again = [sent_before([c.text for c in sorted(t.calls, key=lambda c: c.started)]) for t in turns]
    n = len(turns)
    rows = {
        "calls": (len(calls) / n, "calls"),
        "calls_on_path": (mean(t.path[0] for t in turns), "calls"),
        "tokens": (tokens.total() / n, "tokens"),
        "tokens_in": (sum(c.input_tokens for c in calls) / n, "tokens"),
        "sent_before": (100 * mean(again), "%"),
    }
    figures = figures_of(prefix, n, *((name, *row, asked.get(name, "")) for name, row in rows.items()))
    for role, count in made.items():
        told = (f"calls.{role}", count / n, "calls"), (f"tokens.{role}", tokens[role] / n, "tokens")
        figures += figures_of(prefix, n, *told)
    return figures


def sent_before(texts: Sequence[str]) -> float:
    """Share of the words that stood in an earlier one of the texts too, in runs of `RUN`; 0..1."""
    seen: set[tuple[str, ...]] = set()
    again = total = 0
    for text in texts:
        words = NUMBER.sub(" ", text).split()
        runs = [tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
        again += len({at + n for at, run in enumerate(runs) if run in seen for n in range(RUN)})
        total += len(words)
        seen.update(runs)
    return again / max(total, 1)


def at_once(server: PlayingServer, turns: int) -> list[Figure]:
    """Many turns at once, each in a session of its own: failures, and the clock against what bounds it."""
    question = QUESTIONS["case"]

    async def all_turns(agent: Agent) -> list[Answer | BaseException]:
        return await asyncio.gather(*(agent.aask(question) for _ in range(turns)), return_exceptions=True)

    with Agent(settings_for(server, gate={"method": "retrieve"})) as agent, watching(agent.parts) as local:
        alone = take(agent, question, server, local)
        started, used = time.monotonic(), time.process_time()
        answers = asyncio.run(all_turns(agent))
        wall, processor = time.monotonic() - started, time.process_time() - used
        good = [a for a in answers if isinstance(a, Answer)]
        for answer in good:
            agent.delete_session(answer.session)
        calls = server.calls()
    judged_by_it = [a for a in good if not a.abstained and all(n.code != "judged_locally" for n in a.notices)]
    return figures_of(
        "at_once.",
        turns,
        ("failures", turns - len(judged_by_it), "turns", "0"),
        ("wall", wall, "s"),
        ("calls", len(calls), "calls"),
        ("processor", processor, "s"),
        ("wall_over_bound", wall / max(alone.path[1], processor / PROCESSORS), "times", "at most 1.3"),
    )


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


def covered(intervals: Sequence[Interval]) -> float:
    """Length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total

"""`anamnesis dev bench server`: `anamnesis serve` measured, a part after another, on copies of the data folder.

A load is sessions that users hold side by side. Every answer is compared with what its patient is told alone, and what
is on record afterwards with what was said; the same is held while one of two workers is killed, and while both are
replaced. Mixed questions are asked by few and by many clients, and for long.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import httpx
import typer
import yaml
from pydantic import BaseModel

from agent.agent import Agent
from evals.bench import postgres, server_overhead, server_rate
from evals.bench.frame import (
    Figure,
    Panel,
    built_homes,
    drawn,
    figures_of,
    late,
    local_settings,
    looking,
    mixed_questions,
    report,
)
from evals.bench.serving import WAIT, Refused, Site, Talker, Told, serving, talkers
from evals.commands import JsonFile, write_json
from graphs.answering.contract import Answer
from prompts.errors import InputError
from tools.files import named_file, write_atomic

CASES = Path(__file__).parent / "cases.yaml"
AGES = (34, 61)  # years; ours: make two patients of each case
AFTER = (("no", "Why?"), ("yes", "What else could it be?"))  # the reply and the question, by the age
FIRST = 0.15  # of the turns are answered when the first of two workers is stopped; ours: both go under load
HALFWAY = 0.5  # of the turns are answered when one of two workers is killed
SESSION = 5  # ours: turns of a session of mixed questions
AT_ONCE = 4  # ours: of the long run
CLIENTS = (1, 8, 32)  # asked: at once, at two workers
WARM = 0.1  # ours: share of the turns after which what grows is counted: caches are full by then
Z95 = 1.96  # the normal distribution's 97.5 % point
SHOWN = 20  # faults that are printed; all are in the file


class Sample(NamedTuple):
    """A moment: turns answered by then, resident MB of the server, MB of its data folder."""

    done: int
    resident: float
    disk: float


class Part(BaseModel):
    """One part's outcome.

    Attributes:
        figures: what was measured. faults: what should not have been, in words. left_out: why it was not measured.
        samples: of what grows.
    """

    figures: list[Figure] = []
    faults: list[str] = []
    left_out: str = ""
    samples: list[Sample] = []


@dataclass(frozen=True)
class Bench:
    """Where, and how much is asked; the defaults are the long form.

    Attributes:
        home: the data folder of the server. alone: of the agent that it is compared with. database: of the two
            workers; "" starts a PostgreSQL. rate_seconds: of each way to count; ours.
    """

    home: Path
    alone: Path
    database: str = ""
    sessions: int = 200
    users: int = 20
    pairs: int = 60
    workers: int = 60
    rolling: int = 120
    rate_seconds: float = 60.0
    soak: int = 2000
    clients: int = 128


QUICK: dict[str, Any] = {
    "sessions": 12, "users": 4, "pairs": 12, "workers": 12, "rolling": 40,
    "rate_seconds": 12.0, "soak": 100, "clients": 16,
}  # fmt: skip


class Essence(NamedTuple):
    """What an answer must not differ in.

    Attributes:
        turn: its number in the session. diseases: ids, best first.
        citations: evidence id and quote, in the order of the statements. asked: ids of the findings asked for next.
    """

    turn: int
    diseases: tuple[str, ...]
    citations: tuple[tuple[str, str], ...]
    asked: tuple[str, ...]


def essence(answer: Answer | dict[str, Any]) -> Essence:
    """The essence of an answer, or of one as JSON."""
    whole = answer if isinstance(answer, Answer) else Answer.model_validate(answer)
    return Essence(
        whole.turn,
        tuple(ranked.disease for ranked in whole.differential),
        tuple((c.evidence_id, c.quote) for s in whole.statements for c in s.citations),
        tuple(question.finding for question in whole.follow_up_questions),
    )


def differences(ours: Sequence[Essence], theirs: Sequence[Essence]) -> list[str]:
    """In what two conversations differ; empty where they are the same."""
    found = [f"{len(ours)} turns against {len(theirs)}"] if len(ours) != len(theirs) else []
    for one, other in zip(ours, theirs, strict=False):
        found += [f"turn {one.turn}: {field}" for field in one._fields if getattr(one, field) != getattr(other, field)]
    return found


def patients(users: int, sessions: int) -> list[tuple[str, ...]]:
    """What is said in each session, in three turns; sessions that users hold at once are of different cases."""
    written = [row["text"] for row in yaml.safe_load(CASES.read_text(encoding="utf-8"))]
    said: list[tuple[str, ...]] = []
    for number in range(sessions):
        user, which = number % users, number // users % len(AGES)
        said.append((written[user % len(written)].format(age=AGES[which]), *AFTER[which]))
    return said


def told_alone(agent: Agent, sessions: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], list[Essence]]:
    """What each patient is told when nobody else asks, by an agent in this process; each is asked once."""
    alone = {}
    for messages in sorted(set(sessions)):
        session = agent.session()
        alone[messages] = [essence(session.ask(text)) for text in messages]
    return alone


@dataclass
class Load:
    """Sessions that users hold one after another, and what they saw.

    Attributes:
        sessions: what is said in each. due: what each is to be told, where it is known.
        told: every turn. failures: what was not answered, in words. crossed: sessions with another's answers.
        held: number, id and user of each session. health: seconds of each look at `/health`.
        mark: ``marked`` is set when so much of the turns is answered, or one has failed.
    """

    sessions: Sequence[tuple[str, ...]]
    due: Mapping[tuple[str, ...], list[Essence]] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    held: list[tuple[int, str, int]] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    mark: float = 1.0
    marked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def turns(self) -> int:
        """How many turns are said."""
        return sum(map(len, self.sessions))

    async def run(self, users: Sequence[Talker], urls: Sequence[str] = ()) -> float:
        """Hold all, the users side by side, and look at ``urls`` meanwhile; the seconds that it took."""
        started = time.perf_counter()
        looks = [asyncio.create_task(self._look(url)) for url in urls]
        await asyncio.gather(*(self._user(n, talker, len(users)) for n, talker in enumerate(users)))
        for look in looks:
            look.cancel()
        return time.perf_counter() - started

    async def _user(self, user: int, talker: Talker, users: int) -> None:
        for number in range(user, len(self.sessions), users):
            try:
                await self._session(number, user, talker)
            except Refused as refused:
                self.failures.append(f"session {number} of user {user}: {refused}")
                self.marked.set()

    async def _session(self, number: int, user: int, talker: Talker) -> None:
        messages, seen = self.sessions[number], []
        session = await talker.open()
        self.held.append((number, session, user))
        for turn, text in enumerate(messages, start=1):
            self.told.append(await talker.say(session, text, f"load-{number}-{turn}"))
            seen.append(self.told[-1].answer)
            if len(self.told) >= self.mark * self.turns:
                self.marked.set()
        others = {str(answer["session"]) for answer in seen} - {session}
        wrong = [f"an answer of session {other}" for other in others]
        wrong += differences([essence(a) for a in seen], self.due[messages]) if messages in self.due else []
        if wrong:
            self.crossed.append(f"session {number} of user {user}: {', '.join(wrong)}")

    async def _look(self, url: str) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while True:
                started = time.perf_counter()
                (await client.get(f"{url}/health")).raise_for_status()
                self.health.append(time.perf_counter() - started)
                await asyncio.sleep(WAIT)


class Record(NamedTuple):
    """What is on record of a load's sessions: turns that are not there, answered twice, sessions that are whole."""

    lost: int
    twice: int
    whole: int


async def recorded(load: Load, users: Sequence[Talker]) -> Record:
    """Look at every session."""
    lost = twice = whole = 0
    for number, session, user in load.held:
        path, due = f"/api/sessions/{session}", len(load.sessions[number])
        turns = (await users[user].call("GET", path))["turns"]
        answered = [turn["turn"] for turn in turns if turn["answer"] is not None]
        lost += due - len(answered)
        whole += len(turns) == len(answered) == due
        for turn in answered:
            events = (await users[user].call("GET", f"{path}/turns/{turn}/trace"))["events"]
            twice += sum(event["kind"] == "answered" for event in events) > 1
    return Record(lost, twice, whole)


async def hold(
    load: Load, site: Site, users: int, meanwhile: Callable[[Load], Coroutine[Any, Any, None]] | None
) -> tuple[float, int, int, Record]:
    """The seconds that a load took, requests that were turned away, answers that broke, and what is on record of it.

    At two workers the users say again what was not answered.
    """
    async with talkers(site.urls, site.keys(users), again=len(site.workers) > 1) as talking:
        other = asyncio.create_task(meanwhile(load)) if meanwhile else None
        seconds = await load.run(talking, site.urls if meanwhile is None else ())
        if other is not None:
            await other
        away, broken = sum(t.turned_away for t in talking), sum(len(t.broken) for t in talking)
        return seconds, away, broken, await recorded(load, talking)


def held(
    name: str, site: Site, load: Load, users: int, meanwhile: Callable[[Load], Coroutine[Any, Any, None]] | None = None
) -> Part:
    """A load with what happens meanwhile: what failed, the times, what is on record, what grew.

    Turns count seconds until the answer and until the first event.
    """
    with looking(lambda: sample(load, site), WAIT) as samples:
        seconds, away, broken, record = asyncio.run(hold(load, site, users, meanwhile))
    turns, told, sessions = load.turns, len(load.told), len(load.held)
    each, first = [t.seconds for t in load.told] or [0.0], [1000 * t.first for t in load.told] or [0.0]
    figures = [
        *figures_of(
            f"{name}.",
            turns,
            ("failed_turns", turns - told, "turns", "0"),
            ("lost_turns", record.lost, "turns", "0"),
            ("answered_twice", record.twice, "turns", "0"),
            ("turned_away_and_sent_again", away, "requests"),
            ("answers_cut_off", broken, "answers"),
        ),
        *figures_of(
            f"{name}.",
            sessions,
            ("crossed_sessions", len(load.crossed), "sessions", "0"),
            ("sessions_whole", 100 * record.whole / max(sessions, 1), "%", "100"),
        ),
        *figures_of(
            f"{name}.",
            told,
            ("turn_p50", statistics.median(each), "s"),
            ("turn_p95", late(each), "s"),
            ("turns_a_second", told / seconds, "1/s"),
            ("first_event_p50", statistics.median(first), "ms"),
            ("first_event_p95", late(first), "ms"),
        ),
    ]
    if meanwhile is None:
        row = ("health_p95", 1000 * late(load.health), "ms", "at most 200")
        figures += [*figures_of(f"{name}.", len(load.health), row), *grown(name, samples, turns)]
    faults = [*load.failures, *load.crossed, *site.faults()]
    faults += [f"{record.lost} turns lost, {record.twice} answered twice"] if record.lost or record.twice else []
    return Part(figures=figures, faults=faults, samples=samples)


def sample(load: Load, site: Site) -> Sample:
    """Now: all workers that run, together."""
    import psutil

    resident = 0.0
    for worker in site.workers:
        with suppress(psutil.Error):  # it has ended
            resident += psutil.Process(worker.process.pid).memory_info().rss / 1e6
    disk = 0
    for folder, _, names in os.walk(site.home):  # passes over a folder that goes meanwhile
        for name in names:
            with suppress(FileNotFoundError):  # a lock, or a file that was replaced
                disk += Path(folder, name).stat().st_size
    return Sample(len(load.told), resident, disk / 1e6)


def grown(name: str, samples: Sequence[Sample], turns: int) -> list[Figure]:
    """Resident memory after the first turns and at the end; what a turn between them leaves, by least squares."""
    warm = [s for s in samples if s.done >= WARM * turns]
    early = statistics.median([s.resident for s in warm if s.done <= 1.5 * WARM * turns] or [0.0])
    end = statistics.median([s.resident for s in samples if s.done >= 0.95 * turns] or [0.0])
    done = [float(s.done) for s in warm]
    memory, margin = slope(done, [1000 * s.resident for s in warm])
    disk, _ = slope(done, [1000 * s.disk for s in warm])
    return figures_of(
        f"{name}.",
        len(samples),
        ("memory_at_start", samples[0].resident, "MB"),
        ("memory_after_a_tenth", early, "MB"),
        ("memory_at_the_end", end, "MB"),
        ("memory_growth", end - early, "MB", "at most 50"),
        ("memory_a_turn", memory, "kB", "at most 20"),
        ("memory_a_turn_margin", margin, "kB, 95 %"),
        ("disk_a_turn", disk, "kB"),
    )


def slope(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """The slope by least squares, and half its 95 % interval, as if samples were independent; 0 of too few."""
    if len(set(x)) < 3:
        return 0.0, 0.0
    from scipy.stats import linregress

    line = linregress(x, y)
    return float(line.slope), Z95 * float(line.stderr)


def of_patients(bench: Bench, sessions: int, mark: float = 1.0) -> Load:
    """A load of patients, with what each is told alone."""
    said = patients(bench.users, sessions)
    with Agent(local_settings(home=bench.alone, database=None)) as agent:
        return Load(said, told_alone(agent, said), mark=mark)


def under_load(bench: Bench) -> Part:
    """Patients at one worker."""
    load = of_patients(bench, bench.sessions)
    with serving(bench.home) as site:
        return held("load", site, load, bench.users)


def one_killed(bench: Bench) -> Part:
    """One of two workers on one PostgreSQL is killed when half of the turns are answered."""
    load = of_patients(bench, bench.workers, HALFWAY)
    with serving(bench.home, 2, bench.database) as site:

        async def kill(load: Load) -> None:
            await load.marked.wait()
            site.workers[0].kill()

        return held("workers", site, load, bench.users, kill)


def rolling(bench: Bench) -> Part:
    """Both workers are stopped in order (SIGTERM) and replaced, one after the other."""
    load = of_patients(bench, bench.rolling, FIRST)
    took: list[tuple[int, float, float, int]] = []  # status, seconds until it was gone, and ready again, turns left
    with serving(bench.home, 2, bench.database) as site:

        async def replace(load: Load) -> None:
            await load.marked.wait()
            for number, worker in enumerate(site.workers):
                started = time.monotonic()
                status = await asyncio.to_thread(worker.stop)
                gone = time.monotonic() - started
                await asyncio.to_thread(site.restart, number)
                took.append((status, gone, time.monotonic() - started, load.turns - len(load.told)))

        part = held("rolling", site, load, bench.users, replace)
    statuses, gone, ready, left = zip(*took, strict=True)
    rows = ("stopped_after", max(gone), "s"), ("ready_after", max(ready), "s")
    part.figures += figures_of("rolling.", load.turns, ("turns_left_after_both", left[-1], "turns", "more than 0"))
    part.figures += figures_of("rolling.", len(took), *rows)
    part.faults += [f"a worker ended with status {status}" for status in statuses if status]
    part.faults += [] if left[-1] else ["the load ended before both workers were replaced: more sessions are needed"]
    return part


def mixed(turns: int) -> Load:
    """Sessions of the mixed questions, so many turns together."""
    said = list(islice(cycle(row["text"] for row in mixed_questions()), turns))
    return Load([tuple(said[at : at + SESSION]) for at in range(0, turns, SESSION)])


def soak(bench: Bench) -> Part:
    """A long run of mixed questions: what a turn leaves in memory and on disk."""
    with serving(bench.home) as site:
        return held("soak", site, mixed(bench.soak), AT_ONCE)


def few_and_many(bench: Bench) -> Part:
    """Mixed questions by few and many clients at two workers; who is told to come back comes back, and is counted."""
    with serving(bench.home, 2, bench.database) as site:
        parts = [held(f"clients.{count}", site, mixed(bench.clients), count) for count in CLIENTS]
    return Part(figures=[f for part in parts for f in part.figures], faults=[f for part in parts for f in part.faults])


def overhead(bench: Bench) -> Part:
    """What the server adds to the engine."""
    return Part(figures=server_overhead.measure(local_settings(home=bench.alone, database=None), bench.pairs))


def rate(bench: Bench) -> Part:
    """Requests of four workers to PubMed in any second."""
    figures, faults = server_rate.measure(bench.rate_seconds)
    return Part(figures=figures, faults=faults)


PARTS: dict[str, Callable[[Bench], Part]] = {
    "overhead": overhead,
    "load": under_load,
    "workers": one_killed,
    "rolling": rolling,
    "rate": rate,
    "clients": few_and_many,
    "soak": soak,
}
ON_POSTGRES = ("workers", "rolling", "clients")  # `rate` wants one of its own


def command(
    only: Annotated[list[str] | None, typer.Option(help=f"{', '.join(PARTS)}; repeat it. Else all.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short form, to see that all of it runs.")] = False,
    database: Annotated[str, typer.Option(help="A PostgreSQL for the two workers; else one is started.")] = "",
    turns: Annotated[int, typer.Option(min=0, help="Turns of the soak; 0 for 2,000.")] = 0,
    json_file: JsonFile = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the soak's memory by turns into this SVG file.", callback=named_file)
    ] = None,
) -> None:
    """Measure, print a table and what was wrong, and write all where asked; the status is 1 where anything was wrong.

    Raises:
        InputError: a part that there is not; nothing is built yet.
    """
    from agent.cli.console import WideConsole

    if unknown := [name for name in only or () if name not in PARTS]:
        raise InputError(f"There is no part {', '.join(unknown)}.", f"Parts: {', '.join(PARTS)}.")
    parts: dict[str, Part] = {}
    written: dict[str, Any] = {}
    why = postgres.reason()
    with built_homes(2) as (home, alone):
        bench = Bench(home, alone, database, **(QUICK if quick else {}) | ({"soak": turns} if turns else {}))
        for name in only or PARTS:
            busy, started = os.getloadavg()[0], time.perf_counter()
            lacking = why if name == "rate" or (name in ON_POSTGRES and not database) else ""
            parts[name] = Part(left_out=why) if lacking else PARTS[name](bench)
            took = {"load_average": [busy, os.getloadavg()[0]], "seconds": round(time.perf_counter() - started, 1)}
            written[name] = {**took, **parts[name].model_dump()}
            write_json(json_file, {"processors": os.cpu_count(), "parts": written})  # what was done is kept in any case
    if plot is not None and "soak" in parts:
        line = [(float(sample.done), sample.resident) for sample in parts["soak"].samples]
        panel = Panel("Resident memory (MB)", "turns", {"server": line})
        write_atomic(plot, drawn("Resident memory of the server by turns answered", [panel]).encode())
    report([figure for part in parts.values() for figure in part.figures])
    faults = [fault for part in parts.values() for fault in part.faults]
    said = [f"Left out: {name}: {part.left_out}" for name, part in parts.items() if part.left_out]
    for text in [*said, *(f"Wrong: {fault[:1000]}" for fault in faults[:SHOWN])]:
        WideConsole().print(text, markup=False)
    raise typer.Exit(1 if faults else 0)

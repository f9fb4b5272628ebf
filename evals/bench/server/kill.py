"""kill -9 of a server in mid-turn and a new start: every session must go on, no turn be lost or answered twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.agent import Agent
from evals.bench.figures import Figure
from evals.bench.server.cases import Alone, most_users, patient
from evals.bench.server.essence import Essence, essence
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import Server, keys, serving
from evals.bench.server.talker import Refused, Talker, talkers

A_KEY = 5  # turns at once of a key, below the server's limit of 8; ours
TAKEN = "triage"  # the machine's first step: from there on the message is on record


@dataclass
class Cut:
    """A session whose turn was cut off.

    Attributes:
        talker: its owner. session: its id. messages: what its patient says.
        begun: its turn runs. answered: it ended before the kill. refused: why it never ran, in words.
    """

    talker: Talker
    session: str
    messages: tuple[str, ...]
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    answered: bool = False
    refused: str = ""

    async def start(self) -> None:
        """Follow the first turn until it ends or the server does."""
        try:
            async for name, data in self.talker.turn(self.session, self.messages[0], "first"):
                if data.get("step") == TAKEN or name == "answer":
                    self.begun.set()
                self.answered = name == "answer"
        except Talker.BROKEN:
            return
        except Refused as refused:
            self.refused = str(refused)
        finally:
            self.begun.set()


def killed(bench: Bench) -> Part:
    """A server is killed at each of the moments, with as many turns running."""
    part = Part()
    all_keys = keys(bench.home, -(-bench.sizes.killed // A_KEY))
    with Agent(bench.settings()) as agent:
        alone = Alone(agent)
        due = {patient(n, 0): alone.told(patient(n, 0))[:2] for n in range(min(most_users(), bench.sizes.killed))}
    counted: Counter[str] = Counter()
    for after in bench.sizes.kills:
        with serving(bench.home, bench.home / "before.log") as server:
            cut = asyncio.run(_cut_off(server, all_keys, bench.sizes.killed, after))
        part.faults += [f"{run.session} never ran: {run.refused}" for run in cut if run.refused]
        running = sum(not run.answered and not run.refused for run in cut)
        part.figures.append(Figure(name=f"kill.running_after_{after:g}_s", value=running, unit="turns", n=len(cut)))
        with serving(bench.home, bench.home / "after.log") as server:
            part.faults += asyncio.run(_gone_on(server.url, all_keys, cut, due, counted))
            part.faults += server.faults()
    part.figures += _figures(counted, len(bench.sizes.kills) * bench.sizes.killed)
    part.details = dict(counted)
    return part


async def _cut_off(server: Server, all_keys: Sequence[str], count: int, after: float) -> list[Cut]:
    """Begin the turns at once, wait until each has begun and a while longer, and kill."""
    async with talkers([server.url], all_keys) as owners:
        runs = [Cut(owners[n % len(owners)], await owners[n % len(owners)].open(), patient(n, 0)) for n in range(count)]
        tasks = [asyncio.create_task(run.start()) for run in runs]
        await asyncio.gather(*(run.begun.wait() for run in runs))
        await asyncio.sleep(after)
        server.kill()
        await asyncio.gather(*tasks)
    return runs


async def _gone_on(
    url: str, all_keys: Sequence[str], cut: Sequence[Cut], due: dict[tuple[str, ...], list[Essence]], seen: Counter[str]
) -> list[str]:
    """Half of the owners send their message again, the others resume; then each session is looked at and goes on."""
    faults: list[str] = []
    async with talkers([url], all_keys, again=True) as owners:

        async def back(place: int, run: Cut) -> None:
            owner = owners[place % len(owners)]
            try:
                faults.extend(await _checked(owner, run, due[run.messages], seen, again=place % 2 == 0))
            except Refused as refused:
                faults.append(f"{run.session}: {refused}")
                seen["lost"] += 1

        await asyncio.gather(*(back(place, run) for place, run in enumerate(cut)))
    return faults


async def _checked(owner: Talker, run: Cut, due: list[Essence], seen: Counter[str], *, again: bool) -> list[str]:
    path = f"/api/sessions/{run.session}"
    first, second = run.messages[:2]
    answer = (await owner.say(run.session, first, "first")).answer if again else await _resumed(owner, run.session)
    once_more = (await owner.say(run.session, first, "first")).answer
    turns = (await owner.call("GET", path))["turns"]
    events = (await owner.call("GET", f"{path}/turns/1/trace"))["events"]
    times = sum(event["kind"] == "answered" for event in events)
    reply = (await owner.say(run.session, second, "second")).answer
    after = (await owner.call("GET", path))["turns"]
    wrong = {
        "lost": not turns or turns[0]["answer"] is None,
        "twice": len(turns) != 1 or times > 1 or once_more != answer or turns[0]["answer"] != answer,
        "changed": essence(answer) != due[0] or turns[0]["asked"] != first,
        "not resumed": reply["turn"] != 2 or len(after) != 2 or essence(reply) != due[1],
    }
    seen.update(name for name, is_so in wrong.items() if is_so)
    seen["sent again" if again else "resumed"] += 1
    return [f"{run.session}: {name}" for name, is_so in wrong.items() if is_so]


async def _resumed(owner: Talker, session: str) -> dict[str, Any]:
    found: dict[str, Any] = await owner.call("POST", f"/api/sessions/{session}/resume")
    return found


def _figures(seen: Counter[str], n: int) -> list[Figure]:
    bounds = {"lost": "0", "twice": "0", "changed": "0", "not resumed": "0"}
    return [
        Figure(name=f"kill.{name.replace(' ', '_')}", value=seen[name], unit="turns", n=n, asked=asked)
        for name, asked in bounds.items()
    ]

"""Runs with an Inspect log: the figures of the plain run, resumed where they were cut off, failures told."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent import loop
from agent.agent import Agent
from agent.settings import Settings
from evals.comparison import compare, read_side
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told, ask_plainly
from evals.inspect import Logging, report_beside
from evals.inspect.logs import figures_of, read_log, right_by_sample
from evals.inspect.running import agent_sha256, run_logged
from evals.runner import Prepared
from evals.sessions import Held, PartSittings, Sittings
from evals.statistics import share
from prompts.errors import DataError, InputError
from support import no_network, processes
from support.machine_parts import parts

ITEMS = [
    Item(f"{group}/{n}", group, (f"{group} number {n}", "and then?")[: 1 + n % 2], "an answer", n)
    for group in ("case", "what")
    for n in range(6)
]


def items(context: TaskContext) -> list[Item]:
    return ITEMS


def judge(item: Item, reply: Reply) -> Judged:
    return Judged(item.row % 3 > 0, reply.answer.kind, f"the row is {item.row}")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    loop.submit(asyncio.sleep(0)).result(timeout=10)  # some ask the agent, whose loop must be free then
    context.not_run["an arm"] = "it needs a model"
    right = [judge(item, reply).right and not reply.answer.abstained for item, reply in told]
    return share("toy.all.right", right) + share("toy.all.calls", [bool(reply.calls) for _, reply in told])


class Counting(Sittings):
    """Counts what is asked, and ends as it is told."""

    asked: list[str]
    fails_at: int = 0
    failure: BaseException = DataError("The index is damaged.", "Build it again.")

    async def ahold(self, item: Item) -> Held:
        if len(self.asked) + 1 == self.fails_at:
            raise self.failure
        self.asked.append(item.id)
        return await super().ahold(item)


def toy(asked: list[str], fails_at: int = 0) -> Task:
    """The toy evaluation over the scripted machine."""

    @contextmanager
    def opened(settings: Settings) -> Iterator[Sittings]:
        with Agent(settings, parts=parts()) as agent:
            sittings = Counting(agent)
            sittings.asked, sittings.fails_at = asked, fails_at
            yield sittings

    asks = AgentEvaluation(items, judge, counted, opened)
    return Task("toy", "a toy", (), "", 9, lambda c: ask_plainly(asks, c), asks=asks)


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    context = TaskContext(tmp_path, 9, 0, Settings(home=tmp_path / "home").without_models())
    return Prepared(context, {"limit": 9, "seed": 0}, "abc")


def test_a_log_holds_the_figures_of_the_plain_run_and_every_node(prepared: Prepared, tmp_path: Path) -> None:
    no_network.attempts.clear()
    plain = toy([]).run(prepared.context)
    report, place = run_logged(toy([]), prepared, Logging(tmp_path / "logs"))
    assert list(report.figures) == plain
    assert json.loads(report_beside(place).read_text())["figures"] == [f.model_dump(mode="json") for f in plain]
    log = read_log(place)
    assert [f for f in figures_of(log) if f.name.startswith("toy")] == plain
    held = compare(read_side(report_beside(place)), read_side(place))
    assert ([c.mark for c in held.figures], held.differences) == (["same"] * len(plain), ())
    assert right_by_sample(log) == {item.id: item.row % 3 > 0 for item in ITEMS}
    sample = next(s for s in log.samples or [] if s.id == "case/1")
    assert (sample.target, [m.role for m in sample.messages]) == ("an answer", ["user", "assistant"] * 2)
    assert next(iter((sample.scores or {}).values())).explanation == "the row is 1"
    begun = {e.id: e for e in sample.events if e.event == "span_begin"}
    ended = Counter(e.id for e in sample.events if e.event == "span_end")
    assert set(ended.values()) == {1}
    assert set(ended) == set(begun)
    nodes = [e for e in begun.values() if e.type == "node"]
    assert {e.name for e in nodes} >= {"triage", "completeness_gate", "research", "tools", "answer", "verify"}
    assert {begun[e.parent_id].name for e in nodes if e.parent_id} == {"turn 1", "turn 2"}
    tools = [e for e in sample.events if e.event == "tool"]
    assert tools
    assert {begun[e.span_id].name for e in tools if e.span_id} == {"tools"}
    assert all(e.completed and e.timestamp <= e.completed for e in tools)
    assert no_network.attempts == []


def test_an_interrupted_run_goes_on_and_ends_like_a_whole_one(prepared: Prepared, tmp_path: Path) -> None:
    whole, _ = run_logged(toy([]), prepared, Logging(tmp_path / "whole"))
    first: list[str] = []
    with pytest.raises(DataError, match="The index is damaged"):  # told as it came, not as a line in a log
        run_logged(toy(first, fails_at=8), prepared, Logging(tmp_path / "cut", parallel=1))
    assert len(first) == 7
    second: list[str] = []
    resumed, place = run_logged(toy(second), prepared, Logging(tmp_path / "cut", resume=True))
    assert sorted(first + second) == sorted(item.id for item in ITEMS)
    assert resumed.figures == whole.figures
    assert len(read_log(place).samples or []) == len(ITEMS)
    third: list[str] = []
    again, same = run_logged(toy(third), prepared, Logging(tmp_path / "cut", resume=True))
    assert (again.figures, same, third) == (whole.figures, place, [])


def test_a_log_of_other_settings_or_data_is_not_gone_on_with(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        run_logged(toy([], fails_at=8), prepared, Logging(tmp_path / "logs", parallel=1))
    for other in (prepared._replace(data_sha256="other"), prepared._replace(settings={"limit": 9, "seed": 1})):
        asked: list[str] = []
        run_logged(toy(asked), other, Logging(tmp_path / "logs", resume=True))
        assert len(asked) == len(ITEMS)


def test_a_log_of_other_texts_or_another_agent_is_not_gone_on_with(prepared: Prepared, tmp_path: Path) -> None:
    run_logged(toy([]), prepared, Logging(tmp_path / "logs"))
    asked: list[str] = []
    task = toy(asked)
    assert task.asks is not None
    reworded = [replace(ITEMS[0], messages=("said otherwise",)), *ITEMS[1:]]  # the same ids
    run_logged(
        replace(task, asks=replace(task.asks, items=lambda _: reworded)), prepared, Logging(tmp_path / "logs", True)
    )
    assert len(asked) == len(ITEMS)
    settings = prepared.context.settings
    other = settings.model_copy(update={"gate": settings.gate.model_copy(update={"method": "retrieve"})})
    asked = []
    context = replace(prepared.context, settings=other)
    run_logged(toy(asked), prepared._replace(context=context), Logging(tmp_path / "logs", resume=True))
    assert len(asked) == len(ITEMS)
    elsewhere = settings.model_copy(update={"home": tmp_path / "moved", "openai_api_key": SecretStr("key")})
    assert agent_sha256(elsewhere) == agent_sha256(settings.model_copy(update={"openai_api_key": SecretStr("other")}))


KILLED = """
import os, sys
from pathlib import Path
sys.path[:0] = [{root!r}, {root!r} + "/tests"]
from agent.settings import Settings
from evals.contract import TaskContext
from evals.inspect import Logging
from evals.runner import Prepared
from evals.inspect.running import run_logged
import importlib.util
spec = importlib.util.spec_from_file_location("t", {file!r})
t = importlib.util.module_from_spec(spec); sys.modules["t"] = t; spec.loader.exec_module(t)

class Dying(list):
    def append(self, item):
        super().append(item)
        if len(self) == {at}:
            os.kill(os.getpid(), 9)

home = Path({home!r})
context = TaskContext(home, 9, 0, Settings(home=home / "home").without_models())
run_logged(t.toy(Dying()), Prepared(context, {{"limit": 9, "seed": 0}}, "abc"), Logging(home / "killed", parallel=2))
"""


@pytest.mark.slow
def test_a_killed_run_goes_on(prepared: Prepared, tmp_path: Path) -> None:
    root = str(Path(__file__).resolve().parents[2])
    code = KILLED.format(root=root, file=__file__, home=str(tmp_path), at=10)
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=root, check=False)
    assert killed.returncode == -9, killed.stderr[-2000:]
    asked: list[str] = []
    resumed, _ = run_logged(toy(asked), prepared, Logging(tmp_path / "killed", resume=True))
    assert 0 < len(asked) < len(ITEMS)
    assert list(resumed.figures) == toy([]).run(prepared.context)


def part(asked: list[str], fails_at: int = 0) -> Task:
    """An evaluation of a part of the product: no agent, no session."""

    def give(item: Item) -> dict[str, Any]:
        if len(asked) + 1 == fails_at:
            raise DataError("The weights are damaged.", "Install them again.")
        asked.append(item.id)
        return {"said": item.row, "sure": 0.5}

    @contextmanager
    def opened(settings: Settings) -> Iterator[Sittings]:
        yield PartSittings(give)

    asks = AgentEvaluation(
        items,
        lambda item, reply: Judged(reply.told["said"] % 2 == 0, str(reply.told["said"]), "it is even"),
        lambda context, told: share("toy.all.even", [reply.told["said"] % 2 == 0 for _, reply in told]),
        opened,
        at_once=False,
    )
    return Task("toy", "a toy", (), "", 9, asks=asks)


def test_a_part_is_logged_and_gone_on_with_like_the_agent(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="The weights are damaged"):
        run_logged(part([], fails_at=8), prepared, Logging(tmp_path))
    asked: list[str] = []
    report, place = run_logged(part(asked), prepared, Logging(tmp_path, resume=True))
    assert len(asked) == len(ITEMS) - 7
    assert list(report.figures) == part([]).run(prepared.context)
    sample = next(s for s in read_log(place).samples or [] if s.id == "what/3")
    assert [m.text for m in sample.messages] == ["what number 3\n\nand then?", "said: 3\nsure: 0.5"]


def test_a_damaged_log_is_told(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "2026-01-01T00-00-00-00-00_toy_abc.eval").write_bytes(b"PK no archive")
    with pytest.raises(DataError, match="no log that can be read"):
        run_logged(toy([]), prepared, Logging(tmp_path, resume=True))


def test_a_task_that_does_not_ask_the_agent_has_no_log(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not ask the agent"):
        run_logged(replace(toy([]), asks=None), prepared, Logging(tmp_path))


def test_samples_are_told_apart(prepared: Prepared, tmp_path: Path) -> None:
    task = toy([])
    assert task.asks is not None
    twice = replace(task, asks=replace(task.asks, items=lambda _: [*ITEMS, ITEMS[0]]))
    with pytest.raises(DataError, match="two samples of one id"):
        run_logged(twice, prepared, Logging(tmp_path))


def test_a_plain_run_imports_no_inspect() -> None:
    code = (
        "import sys\nfrom evals.tasks.registry import TASKS\nimport evals.runner, evals.sessions, evals.commands\n"
        "assert sum(t.asks is not None for t in TASKS.values()) >= 5\nprint('inspect_ai' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[2]
    done = processes.snippet(code, environment={**os.environ, "PYTHONPATH": str(root)}, cwd=root).ended()
    assert done.stdout.split() == ["False"], done.stderr


def test_every_evaluation_that_asks_has_its_own_ids_and_can_judge(tmp_path: Path) -> None:
    from evals.tasks.registry import TASKS
    from graphs.answering.contract import Answer

    empty = Reply(answers=(Answer(question="q", kind="case", language="en", abstained=True),))
    for task in TASKS.values():
        if task.asks is None or task.home_data is None:
            continue
        context: Any = TaskContext(task.home_data, 3, 0, Settings(home=tmp_path))
        asked = task.asks.items(context)
        assert len({item.id for item in asked}) == len(asked) > 0, task.name
        for item in asked:
            reply = Reply(answers=empty.answers * len(item.messages))
            judged = task.asks.judge(item, reply)
            assert judged.why
            assert judged.said
        assert task.asks.figures(context, [(i, Reply(answers=empty.answers * len(i.messages))) for i in asked])

"""A run with a log: items are Inspect's samples, a session is what solves one, the scorer says what was wrong.

The same items, judged and counted by the same functions as in a plain run, every turn of it in an Inspect log.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai._eval.task.task import PreviousTask
from inspect_ai._util import zipfile
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT, Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util._display import init_display_type
from tqdm import tqdm

from agent import loop
from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Reply, Report, Task, TaskContext
from evals.inspect import FINISHED, REPLY, RIGHT, Logging, report_beside
from evals.inspect.bridge import Bridged, bridged, tell
from evals.inspect.logs import last_log, replies_of
from evals.runner import NO_MATTER, Prepared, report_of, write_report
from evals.sessions import Sittings
from evals.statistics import share
from graphs.verdicts.contract import facts, headed
from prompts.errors import DataError, InputError, ServiceError
from tools.files import locked

BUFFER = 5  # ours: samples that a kill may lose; each is written with those before it


@dataclass
class Run:
    """A logged run: what was replied so far, what failed first, and the figures once all is there.

    ``done`` is told of each sample that was asked.
    """

    evaluation: AgentEvaluation
    context: TaskContext
    items: Sequence[Item]
    bridge: Bridged
    done: Callable[[], None]
    replies: dict[str, Reply] = field(default_factory=dict)
    failed: BaseException | None = None
    _figures: list[Figure] | None = None
    _counting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def whole(self) -> bool:
        """Whether all is replied to."""
        return len(self.replies) == len(self.items)

    def figures(self) -> list[Figure]:
        """The figures of all replies. Not on the agent's event loop: some evaluations ask more to count (`count`)."""
        if self._figures is None:
            told = [(item, self.replies[item.id]) for item in self.items]
            self._figures = self.evaluation.figures(self.context, told)
        return self._figures

    async def count(self) -> None:
        """Make the figures, once, in a thread. Inspect counts on the event loop, where nobody can be asked."""
        async with self._counting:
            try:
                await asyncio.to_thread(self.figures)
            except BaseException as error:
                self.failed = self.failed or error
                raise


def run_logged(task: Task, prepared: Prepared, logging: Logging) -> tuple[Report, Path]:
    """Run a task that asks, with a log.

    Returns:
        The report, which stands beside the log under its name, and the log.

    Raises:
        InputError: the task does not ask the agent. Else whatever the agent raised.
    """
    if task.asks is None:
        raise InputError(f"{task.name} does not ask the agent: there is nothing to log.", "Leave --log out.")
    with locked(logging.folder / task.name, timeout=1.0):  # two runs would go on with the same log
        return _run(task, task.asks, prepared, logging)


def _run(task: Task, evaluation: AgentEvaluation, prepared: Prepared, logging: Logging) -> tuple[Report, Path]:
    started = time.perf_counter()
    context = prepared.context
    items = evaluation.items(context)
    if len({item.id for item in items}) < len(items):
        raise DataError(f"{task.name} has two samples of one id.", "Mend the data.")
    about = {
        "task": task.name,
        "settings": prepared.settings,
        "data_sha256": prepared.data_sha256,
        "items_sha256": items_sha256(items),
        "agent_sha256": agent_sha256(context.settings),
    }
    before = last_log(logging.folder, about) if logging.resume else None
    with _progress(task.name, len(items)) as bar:
        run = Run(evaluation, context, items, bridged(context.settings), done=bar.update)
        if before is not None:
            run.replies.update(replies_of(before))
            bar.update(len(run.replies))
        finished = before is not None and before.status == FINISHED
        place = before.location if before and finished else evaluate(task, run, about, before, logging)
    path = Path(place.removeprefix("file://"))
    report = report_of(task, prepared, run.figures(), time.perf_counter() - started)
    write_report(report, report_beside(path))
    return report, path


def items_sha256(items: Sequence[Item]) -> str:
    """sha256 of all that is said and expected: a text that changed under its id is asked again on a resume."""
    said = [
        [i.id, i.group, i.messages, i.target, dict(i.options), i.given, i.document, i.document_types, i.report]
        for i in items
    ]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


def agent_sha256(settings: Settings) -> str:
    """sha256 of the settings that an answer may depend on, those of the environment among them; never of a key."""
    told = settings.model_dump(mode="json", exclude=NO_MATTER)
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def evaluate(task: Task, run: Run, about: dict[str, Any], before: Any, logging: Logging) -> str:
    """Ask what was not replied yet; the log's place. A failure of the agent is raised as it came."""
    if run.whole:  # cut off between the last reply and the end
        run.figures()
    with run.evaluation.opened(run.bridge.settings) as sittings:
        made: Any = task_of(task.name, run, sittings)
        if before is not None:  # the samples of an unfinished log are not asked again
            own: dict[str, Any] = dict.fromkeys(("model", "model_roles", "sandbox", "log_info"))
            made = PreviousTask(id=before.eval.task_id, task=made, task_args={}, log=before, **own)
        log = loop.run(_eval(made, run, about, logging))
    if run.failed is not None:
        raise run.failed
    if log.status != FINISHED:
        what = log.error.message if log.error else f"the log ends as {log.status}"
        raise ServiceError(f"The run did not finish: {what}.", "Go on with --resume.", retryable=False)
    return str(log.location)


async def _eval(made: Any, run: Run, about: dict[str, Any], logging: Logging) -> Any:
    """Inspect's evaluation on the agent's own event loop, so that bridged calls and turns share it."""
    init_display_type("none")  # the bar of this program is shown instead, and failures are raised
    # Inspect starts twelve threads for each sample of some kilobytes, which takes five times as long as one does.
    vars(zipfile)["_ZSTD_THREADS"] = 0
    logs = await inspect_ai.eval_async(
        made,
        model=run.bridge.model,
        model_roles=dict(run.bridge.roles),
        log_dir=str(logging.folder.resolve()),
        log_level="warning",
        log_buffer=BUFFER,
        log_realtime=False,  # a database beside the log, for looking on while it runs, which costs more than the log
        max_samples=max(1, logging.parallel) if run.evaluation.at_once else 1,
        metadata=about,
        score_display=False,
        acp_server=False,
        ctl_server=False,
    )
    return logs[0]


@contextmanager
def _progress(label: str, total: int) -> Iterator[Any]:
    """A bar on standard error."""
    with tqdm(desc=label, total=total, unit="session", leave=False) as bar:
        yield bar


def task_of(name: str, run: Run, sittings: Sittings) -> inspect_ai.Task:
    """The Inspect task of a run."""
    dataset = MemoryDataset([_sample(item) for item in run.items], name=name)
    return inspect_ai.Task(dataset=dataset, solver=_solver(run, sittings), scorer=_scorer(run), name=name)


def _sample(item: Item) -> Sample:
    more = {"options": dict(item.options), "given": list(item.given), "document": list(item.document or ())}
    metadata: dict[str, Any] = {"group": item.group, **{name: told for name, told in more.items() if told}}
    return Sample(id=item.id, input="\n\n".join(item.messages), target=item.target, metadata=metadata)


def _solver(run: Run, sittings: Sittings) -> Solver:
    by_id = {item.id: item for item in run.items}

    @solver(name="anamnesis")
    def ask() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            del generate
            item = by_id[str(state.sample_id)]
            try:
                async with run.bridge.calls() as calls:
                    reply, events = await sittings.ahold(item)
            except BaseException as error:
                run.failed = run.failed or error
                raise
            tell(events, calls)
            run.replies[item.id] = reply
            state.messages = []
            by_message = [Reply(answers=(answer,)) for answer in reply.answers] or [Reply(told=reply.told)]
            asked = item.messages if reply.answers else ["\n\n".join(item.messages)]
            for said, one in zip(asked, by_message, strict=True):
                state.messages += [ChatMessageUser(content=said), ChatMessageAssistant(content=shown(one))]
            state.output = ModelOutput.from_content("anamnesis", shown(reply))
            run.done()
            return state

        return solve

    return ask()


def shown(reply: Reply) -> str:
    """The last answer in plain lines: red flags, choice, differential, statements with what they cite, notices.

    Of a part of the product all that it said.
    """
    if not reply.answers:
        return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in reply.told.items())
    answer = reply.answer
    lines = [f"Red flag {flag.code}: {flag.seen}" for flag in answer.emergency]
    if answer.verdict is not None:
        lines += [headed(answer.verdict, "en", answer.question), *facts(answer.verdict, "en")]
    if answer.choice is not None:
        lines.append(f"Choice: {answer.choice.label} {answer.choice.text}")
    lines += [f"{n}. {d.name} ({d.score:.2f})" for n, d in enumerate(answer.differential, start=1)]
    lines += [
        f"{s.text} [{', '.join(c.evidence_id for c in s.citations) or s.origin.value}]" for s in answer.statements
    ]
    lines += [f"Question: {question.text}" for question in answer.follow_up_questions]
    lines += [f"Notice {notice.code}: {notice.text}" for notice in answer.notices]
    return "\n".join(lines) or "(nothing is said)"


def _scorer(run: Run) -> Scorer:
    by_id = {item.id: item for item in run.items}

    @metric(name="figures")
    def figures() -> Metric:
        def compute(scores: list[SampleScore]) -> dict[str, float]:
            right = share(RIGHT, [score.score.value in (CORRECT, 1, 1.0) for score in scores])
            return values_of([*right, *run.figures()])

        return compute

    @scorer(metrics=[figures()], name="held_against_what_is_expected")
    def held() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            del target
            item = by_id[str(state.sample_id)]
            reply = run.replies[item.id]
            # Here, because what a solver changes is logged a second time; in a list, because the log's summary shortens
            # a text word by word.
            state.metadata[REPLY] = [reply.model_dump_json()]
            judged = run.evaluation.judge(item, reply)
            if run.whole:
                await run.count()
            value = CORRECT if judged.right else INCORRECT
            return Score(value=value, answer=judged.said, explanation=judged.why, metadata={"group": item.group})

        return score

    return held()


def values_of(figures: Sequence[Figure]) -> dict[str, float]:
    """Figures as metrics: the value under its name, the ends of its interval and n beside it."""
    out: dict[str, float] = {}
    for figure in figures:
        out |= {figure.name: figure.value, f"{figure.name}.n": figure.n}
        if figure.ci95 is not None:
            out |= dict(zip((f"{figure.name}.low", f"{figure.name}.high"), figure.ci95, strict=True))
    return out

"""An evaluation that asks the agent as an Inspect task: items are samples, a session is what solves one.

The scorer holds each reply against what is expected, with why; the metrics are the figures of the plain run, by the
same functions and with the same intervals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT, Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.asked import AgentEvaluation, Item, Reply
from evals.contract import Figure, TaskContext
from evals.inspect.bridge import Bridged
from evals.inspect.transcript import tell
from evals.sittings import Sittings
from evals.statistics import share
from graphs.verdicts.shown import facts, headed

REPLY = "reply"  # where a sample's metadata keep the whole reply: a list of one text, JSON
RIGHT = "samples.all.right"


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


def task_of(name: str, run: Run, sittings: Sittings) -> Task:
    """The Inspect task of a run."""
    samples = [_sample(item) for item in run.items]
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=_solver(run, sittings),
        scorer=_scorer(run),
        name=name,
    )


def _sample(item: Item) -> Sample:
    metadata: dict[str, Any] = {"group": item.group}
    if item.options:
        metadata["options"] = dict(item.options)
    if item.given:
        metadata["given"] = list(item.given)
    if item.document:
        metadata["document"] = list(item.document)
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
                    held = await sittings.ahold(item)
            except BaseException as error:
                run.failed = run.failed or error
                raise
            tell(held.events, calls)
            run.replies[item.id] = held.reply
            state.messages = _messages(item, held.reply)
            state.output = ModelOutput.from_content("anamnesis", shown(held.reply))
            run.done()
            return state

        return solve

    return ask()


def _messages(item: Item, reply: Reply) -> list[Any]:
    out: list[Any] = []
    for said, answer in zip(item.messages, reply.answers, strict=True):
        out += [ChatMessageUser(content=said), ChatMessageAssistant(content=shown(Reply(answers=(answer,))))]
    return out


def shown(reply: Reply) -> str:
    """The last answer in plain lines: red flags, choice, differential, statements with what they cite, notices."""
    answer = reply.answer
    lines = [f"Red flag {flag.code}: {flag.seen}" for flag in answer.emergency]
    if answer.verdict is not None:
        lines += [headed(answer.verdict, "en"), *facts(answer.verdict, "en")]
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
            return Score(
                value=CORRECT if judged.right else INCORRECT,
                answer=judged.said,
                explanation=judged.why,
                metadata={"group": item.group},
            )

        return score

    return held()


def values_of(figures: Sequence[Figure]) -> dict[str, float]:
    """Figures as metrics: the value under its name, the ends of its interval and n beside it."""
    out: dict[str, float] = {}
    for figure in figures:
        out[figure.name] = figure.value
        out[f"{figure.name}.n"] = figure.n
        if figure.ci95 is not None:
            out[f"{figure.name}.low"], out[f"{figure.name}.high"] = figure.ci95
    return out

"""A run with a log: the same items, judged and counted as in a plain run, every turn of it in an Inspect log."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent import loop
from agent.settings import Settings
from evals.asked import AgentEvaluation, Item
from evals.contract import Report, Task
from evals.inspect.adapter import Run, task_of
from evals.inspect.bridge import bridged
from evals.inspect.logs import FINISHED, last_log, replies_of
from evals.logged import Logging, check_logged, report_beside
from evals.runner import Prepared, report_of, write_report
from evals.told_settings import NO_MATTER
from prompts.errors import DataError, ServiceError
from tools.files import locked

BUFFER = 5  # ours: samples that a kill may lose; each is written with those before it


def run_logged(task: Task, prepared: Prepared, logging: Logging) -> tuple[Report, Path]:
    """Run a task that asks the agent, with a log.

    Returns:
        The report, which stands beside the log under its name, and the log.

    Raises:
        InputError: the task does not ask the agent, or Inspect is not installed. Else whatever the agent raised.
    """
    check_logged(task)
    evaluation = task.asks
    if evaluation is None:
        raise TypeError(task.name)
    with locked(logging.folder / task.name, timeout=1.0):  # two runs would go on with the same log
        return _run(task, evaluation, prepared, logging)


def _run(task: Task, evaluation: AgentEvaluation, prepared: Prepared, logging: Logging) -> tuple[Report, Path]:
    started = time.perf_counter()
    context = prepared.context
    items = evaluation.items(context)
    bridge = bridged(context.settings)
    ids = [item.id for item in items]
    if len(set(ids)) < len(ids):
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
        run = Run(evaluation, context, items, bridge, done=bar.update)
        if before is not None:
            run.replies.update(replies_of(before))
            bar.update(len(run.replies))
        if before is not None and before.status == FINISHED:
            place = before.location
        else:
            place = evaluate(task, run, about, before, logging)
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
    settings = run.bridge.settings
    if run.whole:  # cut off between the last reply and the end
        run.figures()
    with run.evaluation.opened(settings) as sittings:
        made: Any = task_of(task.name, run, sittings)
        if before is not None:
            made = _continued(made, before)
        log = loop.run(_eval(made, run, about, logging))
    if run.failed is not None:
        raise run.failed
    if log.status != FINISHED:
        what = log.error.message if log.error else f"the log ends as {log.status}"
        raise ServiceError(f"The run did not finish: {what}.", "Go on with --resume.", retryable=False)
    return str(log.location)


async def _eval(made: Any, run: Run, about: dict[str, Any], logging: Logging) -> Any:
    """Inspect's evaluation on the agent's own event loop, so that bridged calls and turns share it."""
    from inspect_ai import eval_async
    from inspect_ai.util._display import init_display_type

    init_display_type("none")  # the bar of this program is shown instead, and failures are raised
    _compress_in_one_thread()
    logs = await eval_async(
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


def _compress_in_one_thread() -> None:
    """Inspect starts twelve threads for each sample of some kilobytes, which takes five times as long as one does."""
    from inspect_ai._util import zipfile

    vars(zipfile)["_ZSTD_THREADS"] = 0


def _continued(made: Any, before: Any) -> Any:
    """The task with the samples of an unfinished log, which are not asked again."""
    from inspect_ai._eval.task.task import PreviousTask

    return PreviousTask(
        id=before.eval.task_id,
        task=made,
        task_args={},
        model=None,
        model_roles=None,
        sandbox=None,
        log=before,
        log_info=None,
    )


@contextmanager
def _progress(label: str, total: int) -> Iterator[Any]:
    """A bar on standard error."""
    from tqdm import tqdm

    with tqdm(desc=label, total=total, unit="session", leave=False) as bar:
        yield bar

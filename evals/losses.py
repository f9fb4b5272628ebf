"""`anamnesis eval lost`: failed samples of a log, or of a run made now, grouped by the node that lost the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.table import Table

from agent.cli.console import WideConsole
from evals.commands import JsonFile, write_json
from evals.contract import Reply, Task, TaskContext, label_of
from evals.inspect import check_installed
from evals.runner import prepare
from evals.sessions import Event, Sample
from evals.tasks.registry import find_task
from graphs.answering.contract import Answer
from graphs.triage.contract import Kind
from prompts.errors import InputError
from tools.contract import unique
from tools.evidence import EvidenceId, Frozen

# Where a failed sample lost its answer: which node had the right thing last, or never had it.
GoldKind = Literal["document", "disease", "choice"]
AWAY = (Kind.SMALL_TALK, Kind.ASSISTANT, Kind.OUT_OF_SCOPE)
TRIAGE, GATE, TOOLS, KADS, FILTER, ANSWER = (
    "triage", "completeness_gate", "tools", "kads_selector", "differential_filter", "answer"
)  # fmt: skip
NODES = (TRIAGE, GATE, TOOLS, KADS, FILTER, ANSWER)  # in the order of the machine
SHOWN = 5  # samples that the table names; ours: the JSON form has all
KINDS: dict[str, dict[str, GoldKind]] = {  # task -> group (or its beginning) -> what its target names
    "cases": {"differentials": "disease", "evidence": "document"},
    "answers": {"exam": "choice", "pubmedqa": "choice"},
}


class Gold(NamedTuple):
    """What a sample should have come to: name of a document, id of a disease, label of an option."""

    kind: GoldKind
    name: str


class Loss(NamedTuple):
    """The node that lost it, how, and what the run says of it."""

    node: str
    how: str
    why: str


class Lost(Frozen):
    """A failed sample with its loss."""

    sample: str
    group: str
    node: str
    how: str
    why: str


class Followed(Frozen):
    """What was followed: samples with known gold, those that were right, and each that failed."""

    task: str
    samples: int
    right: int
    lost: tuple[Lost, ...]


def gold_of(task: str, group: str, target: str) -> Gold | None:
    """The gold of a sample; None where the group has none."""
    kinds = KINDS.get(task, {})
    return next((Gold(kind, target) for begins, kind in kinds.items() if group.startswith(begins)), None)


def lost_by(gold: Gold, reply: Reply, events: Sequence[Event]) -> Loss | None:
    """Where a reply lost its gold; None when it is right. ``events``: of the trace of its last turn."""
    answer = reply.answer
    ranking = [d.disease for d in answer.differential]
    first = ranking[0] if ranking else "nothing"
    if _right(gold, answer):
        return None
    if answer.kind in AWAY or (gold.kind == "disease" and answer.kind != Kind.CASE):
        read = f"read as {answer.kind.replace('_', ' ')}: {_last(events, 'triage', 'reason')}"
        return Loss(TRIAGE, "turned away", read)
    place = f"{gold.name} is in place {ranking.index(gold.name) + 1}" if gold.name in ranking else "it is not ranked"
    ranked = f"{place}, {first} is first"
    if _last(events, "gate", "decision") == "direct" and _last(events, "selection", "kept") is None:
        came_to = ranked if gold.kind == "disease" else f"{len(answer.statements)} statements"
        return Loss(GATE, "answered directly", f"{_last(events, 'gate', 'reason')}; {came_to}")
    if gold.kind != "disease":
        return _document_lost(gold, reply, events)
    if gold.name in ranking:
        return Loss(TOOLS, "ranked below another", ranked)
    return Loss(TOOLS, "not ranked", f"the graph ranks {first} first")


def _right(gold: Gold, answer: Answer) -> bool:
    if gold.kind == "disease":
        return bool(answer.differential) and answer.differential[0].disease == gold.name
    if gold.kind == "choice":
        return label_of(answer) == gold.name
    return any(EvidenceId.parse(c.evidence_id).name == gold.name for s in answer.statements for c in s.citations)


def _document_lost(gold: Gold, reply: Reply, events: Sequence[Event]) -> Loss:
    """The gold document's way, or for an option, whose documents nobody knows, that of whatever was found."""
    wanted = [i for i in reply.found if gold.kind == "choice" or EvidenceId.parse(i).name == gold.name]
    if not wanted:
        return Loss(TOOLS, "not retrieved", f"{len(reply.found)} other pieces of evidence were found")
    taken = {k["evidence_id"] for k in _last(events, "selection", "kept") or ()}
    left = {d["evidence_id"]: d["reason"] for d in _last(events, "selection", "dropped") or ()}
    if all(i in left for i in wanted) and not taken.intersection(wanted):
        return Loss(KADS, "dropped by KADS", "; ".join(unique([left[i] for i in wanted])))
    verdicts = {v["evidence_id"]: v for v in _last(events, "filter", "verdicts") or ()}
    judged = [verdicts[i] for i in wanted if i in verdicts]
    if judged and not any(v["keep"] for v in judged):
        return Loss(FILTER, "dropped by the filter", "; ".join(unique([v["reason"] for v in judged])))
    label, statements = label_of(reply.answer), len(reply.answer.statements)
    chosen = f"chose {label}; " if label is not None else ""
    other = "chose no option" if label is None else "chose another option"
    how = "not used in the answer" if gold.kind == "document" else other
    dropped = _last(events, "verified", "dropped") or 0
    return Loss(ANSWER, how, f"{chosen}{statements} statements, {dropped} dropped by verification")


def _last(events: Sequence[Event], kind: str, name: str) -> Any:
    """A field of the last event of a kind; None without one."""
    return next((e.get(name) for e in reversed(events) if e["kind"] == kind), None)


def followed(task: str, samples: Iterable[Sample]) -> Followed:
    """Every sample with known gold, followed through its run."""
    known = 0
    lost: list[Lost] = []
    for name, group, target, reply, events in samples:
        gold = gold_of(task, group, target)
        if gold is not None:
            known += 1
            loss = lost_by(gold, reply, events)
            lost += [Lost(sample=name, group=group, **loss._asdict())] if loss is not None else []
    return Followed(task=task, samples=known, right=known - len(lost), lost=tuple(lost))


def table_of(followed: Followed) -> list[tuple[str, str, int, str]]:
    """Node, how, count, the first samples; nodes in the order of the machine, then the commonest."""
    samples: dict[tuple[str, str], list[str]] = {}
    for one in followed.lost:
        samples.setdefault((one.node, one.how), []).append(one.sample)
    rows = sorted(samples.items(), key=lambda row: (NODES.index(row[0][0]), -len(row[1]), row[0][1]))
    return [
        (node, how, len(ids), ", ".join(ids[:SHOWN]) + (f", and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""))
        for (node, how), ids in rows
    ]


def show_losses(
    what: Annotated[str, typer.Argument(help="A log (.eval), or a task with known gold, which is then run.")],
    data: Annotated[Path | None, typer.Option(help="The folder with the data, for a task.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most rows a setting, for a task.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Print the table and write it where asked.

    Args:
        what: a log (``.eval``) or the name of a task, which is then run plainly, without a model.
    """
    found = _of_log(Path(what)) if Path(what).suffix == ".eval" else _of_run(find_task(what), data, limit)
    title = f"{found.task}: {len(found.lost)} of {found.samples} samples with known gold lost their answer"
    table = Table("node", "how", title=title, title_justify="left")
    table.add_column("samples", justify="right")
    table.add_column("share", justify="right")
    table.add_column("which", overflow="fold")
    for node, how, n, named in table_of(found):
        table.add_row(node, how, str(n), f"{100 * n / len(found.lost):.0f} %", named)
    WideConsole().print(table if found.lost else title)
    write_json(json_file, found.model_dump(mode="json"))


def _of_log(path: Path) -> Followed:
    check_installed()
    from evals.inspect.logs import samples_of

    if not path.is_file():
        raise InputError(f"There is no log {path}.", "`anamnesis eval run NAME --log FOLDER` writes one.")
    task, samples = samples_of(path)
    _check(task)
    return followed(task, samples)


def _of_run(task: Task, data: Path | None, limit: int | None) -> Followed:
    _check(task.name)
    return followed(task.name, _asked(task, prepare(task, data, limit=limit, seed=0).context))


def _asked(task: Task, context: TaskContext) -> Iterable[Sample]:
    if task.asks is None:
        raise InputError(f"{task.name} does not ask the agent.", f"These do: {', '.join(KINDS)}.")
    items = [i for i in task.asks.items(context) if gold_of(task.name, i.group, i.target) is not None]
    with task.asks.opened(context.settings) as sittings:
        for item in context.each(items, task.name):
            held = sittings.hold(item)
            yield item.id, item.group, item.target, held.reply, list(held.events[-1])


def _check(task: str) -> None:
    if task not in KINDS:
        raise InputError(f"{task} knows no gold evidence to follow.", f"These do: {', '.join(KINDS)}.")

"""`anamnesis eval lost`: failed samples of a log, or of a run made now, grouped by the node that lost the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evals.asked import Reply, label_of
from evals.contract import Task
from graphs.answering.contract import Answer
from graphs.triage.contract import Kind
from prompts.errors import InputError
from tools.contract import unique
from tools.evidence import EvidenceId, Frozen

# Where a failed sample lost its answer: which node had the right thing last, or never had it.
Event = dict[str, Any]
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
    for begins, kind in KINDS.get(task, {}).items():
        if group.startswith(begins):
            return Gold(kind, target)
    return None


def lost_by(gold: Gold, reply: Reply, events: Sequence[Event]) -> Loss | None:
    """Where a reply lost its gold; None when it is right. ``events``: of the trace of its last turn."""
    answer = reply.answer
    if _right(gold, answer):
        return None
    if answer.kind in AWAY or (gold.kind == "disease" and answer.kind != Kind.CASE):
        return Loss(
            TRIAGE, "turned away", f"read as {answer.kind.replace('_', ' ')}: {_last(events, 'triage', 'reason')}"
        )
    if _last(events, "gate", "decision") == "direct" and _last(events, "selection", "kept") is None:
        return Loss(GATE, "answered directly", f"{_last(events, 'gate', 'reason')}; {_came_to(gold, answer)}")
    if gold.kind == "disease":
        return _ranking(gold, answer)
    return _documents(gold, reply, events)


def table_of(followed: Followed) -> list[tuple[str, str, int, str]]:
    """Node, how, count, the first samples; nodes in the order of the machine, then the commonest."""
    counts = Counter((x.node, x.how) for x in followed.lost)
    rows = sorted(counts.items(), key=lambda row: (NODES.index(row[0][0]), -row[1], row[0][1]))
    return [(node, how, n, _named(followed, node, how)) for (node, how), n in rows]


def _named(followed: Followed, node: str, how: str) -> str:
    ids = [x.sample for x in followed.lost if (x.node, x.how) == (node, how)]
    return ", ".join(ids[:SHOWN]) + (f", and {len(ids) - SHOWN} more" if len(ids) > SHOWN else "")


def _right(gold: Gold, answer: Answer) -> bool:
    if gold.kind == "disease":
        return bool(answer.differential) and answer.differential[0].disease == gold.name
    if gold.kind == "choice":
        return label_of(answer) == gold.name
    return any(_document(c.evidence_id) == gold.name for s in answer.statements for c in s.citations)


def _ranking(gold: Gold, answer: Answer) -> Loss:
    ranking = [d.disease for d in answer.differential]
    if gold.name not in ranking:
        return Loss(TOOLS, "not ranked", f"the graph ranks {ranking[0] if ranking else 'nothing'} first")
    return Loss(TOOLS, "ranked below another", _came_to(gold, answer))


def _documents(gold: Gold, reply: Reply, events: Sequence[Event]) -> Loss:
    """The gold document's way, or for an option, whose documents nobody knows, that of whatever was found."""
    wanted = [i for i in reply.found if gold.kind == "choice" or _document(i) == gold.name]
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
    return Loss(ANSWER, _unused(gold, reply.answer), _said(reply.answer, events))


def _unused(gold: Gold, answer: Answer) -> str:
    if gold.kind == "document":
        return "not used in the answer"
    return "chose no option" if label_of(answer) is None else "chose another option"


def _said(answer: Answer, events: Sequence[Event]) -> str:
    dropped = _last(events, "verified", "dropped") or 0
    label = label_of(answer)
    chosen = f"chose {label}; " if label is not None else ""
    return f"{chosen}{len(answer.statements)} statements, {dropped} dropped by verification"


def _came_to(gold: Gold, answer: Answer) -> str:
    ranking = [d.disease for d in answer.differential]
    if gold.kind != "disease":
        return f"{len(answer.statements)} statements"
    place = f"{gold.name} is in place {ranking.index(gold.name) + 1}" if gold.name in ranking else "it is not ranked"
    return f"{place}, {ranking[0] if ranking else 'nothing'} is first"


def _last(events: Sequence[Event], kind: str, name: str) -> Any:
    """A field of the last event of a kind; None without one."""
    return next((e.get(name) for e in reversed(events) if e["kind"] == kind), None)


def _document(evidence_id: str) -> str:
    return EvidenceId.parse(evidence_id).name


Sample = tuple[str, str, str, Reply, list[Event]]  # id, group, target, reply, events of the last turn


def show_losses(what: str, data: Path | None, limit: int | None, json_file: Path | None) -> None:
    """Print the table and write it where asked.

    Args:
        what: a log (``.eval``) or the name of a task, which is then run plainly, without a model.
    """
    from tools.files import write_atomic

    if json_file is not None and json_file.is_dir():
        raise InputError(f"{json_file} is a folder.", "Give the name of a file with --json.")
    found = _of_log(Path(what)) if Path(what).suffix == ".eval" else _of_run(what, data, limit)
    print_losses(found)
    if json_file is not None:
        write_atomic(json_file, f"{found.model_dump_json(indent=2)}\n".encode())


def followed(task: str, samples: Iterable[Sample]) -> Followed:
    """Every sample with known gold, followed through its run."""
    known = right = 0
    lost: list[Lost] = []
    for name, group, target, reply, events in samples:
        gold = gold_of(task, group, target)
        if gold is None:
            continue
        known += 1
        loss = lost_by(gold, reply, events)
        if loss is None:
            right += 1
        else:
            lost.append(Lost(sample=name, group=group, **loss._asdict()))
    return Followed(task=task, samples=known, right=right, lost=tuple(lost))


def print_losses(found: Followed) -> None:
    """The table."""
    from rich.table import Table

    from agent.cli.wide import WideConsole

    title = f"{found.task}: {len(found.lost)} of {found.samples} samples with known gold lost their answer"
    if not found.lost:
        WideConsole().print(title)
        return
    table = Table("node", "how", title=title, title_justify="left")
    table.add_column("samples", justify="right")
    table.add_column("share", justify="right")
    table.add_column("which", overflow="fold")
    for node, how, n, named in table_of(found):
        table.add_row(node, how, str(n), f"{100 * n / len(found.lost):.0f} %", named)
    WideConsole().print(table)


def _of_log(path: Path) -> Followed:
    from evals.logged import check_installed

    check_installed()
    from evals.inspect.followed import samples_of

    if not path.is_file():
        raise InputError(f"There is no log {path}.", "`anamnesis eval run NAME --log FOLDER` writes one.")
    task, samples = samples_of(path)
    _check(task)
    return followed(task, samples)


def _of_run(name: str, data: Path | None, limit: int | None) -> Followed:
    from evals.runner import prepare
    from evals.tasks.registry import find_task

    task = find_task(name)
    _check(task.name)
    prepared = prepare(task, data, limit=limit, seed=0)
    return followed(task.name, _asked(task, prepared.context))


def _asked(task: Task, context: object) -> Iterable[Sample]:
    from evals.contract import TaskContext

    if task.asks is None or not isinstance(context, TaskContext):
        raise InputError(f"{task.name} does not ask the agent.", f"These do: {', '.join(KINDS)}.")
    items = [i for i in task.asks.items(context) if gold_of(task.name, i.group, i.target) is not None]
    with task.asks.opened(context.settings) as sittings:
        for item in context.tick(items, task.name, len(items)):
            held = sittings.hold(item)
            yield item.id, item.group, item.target, held.reply, list(held.events[-1])


def _check(task: str) -> None:
    if task not in KINDS:
        raise InputError(f"{task} knows no gold evidence to follow.", f"These do: {', '.join(KINDS)}.")

"""`anamnesis eval compare`: two runs figure by figure and sample by sample, and what makes them differ."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError
from rich.table import Table

from agent.cli.console import WideConsole
from evals.commands import JsonFile, write_json
from evals.contract import Figure, Report
from evals.inspect import FINISHED, RIGHT, check_installed, log_beside, report_beside
from evals.runner import figure_number, interval
from evals.statistics import exact_mcnemar, points
from prompts.errors import DataError, InputError
from tools.evidence import Frozen

ADVICE = "Give a report that `anamnesis eval run` wrote, a log, or a folder with logs."
COLOURS = {"better": "green", "worse": "red", "moved": "yellow"}
NAMED = 10  # ours: samples that are named, a group
SURE = 0.05  # ours: a paired test below it is a difference, the usual level
ALL = "all"
Mark = Literal["better", "worse", "moved", "same", "only first", "only second"]

# Which way a figure is better: most are shares of what is right; these are not.
# Figures whose last part alone would say another thing.
WHOLE = (
    (re.compile(r"\.(?:control_documents|documents_of_concern)\.used$"), 0),  # bad in a retracted document alone
    (re.compile(r"^(?:index\.\w+\.(?:questions|coverage|share_kept)$|released\.)|_bin_\d+\."), 0),
    (re.compile(r"^false\.(?!control\.)\w+\.(?:kept|reached|quoted|cited)$"), -1),  # false background, no evidence
    (re.compile(r"\.gain_of_\w+\.percent$|\.follow_up\.percent_of_random$"), -1),  # questions that were needed
    (re.compile(r"^ours_over_\w+\.\w+\.(?:aurc|ece)$"), 1),  # `completeness` turns the sign of these
)
# The last part of a figure's name. Faults, costs, and what went wrong: less is better.
LESS = re.compile(
    r"^(?:abstained|declined_wrongly|false_flags|false_alarm|false|wrong|wrong_enough|wrong_links|false_links|aurc|ece|"
    r"pk|windowdiff|pk_own|windowdiff_own|cut|zero_hit_rate|refused|questions|problems|not_read|same|"
    r"risk@\d+|tool_calls_changed|citations_foreign|claims_made|banner_changed|differential_changed|obeyed|used|flipped|"
    r"unmarked|lost|laundered|unsupported|unsupported_strictly|of_retracted_work|of_statements|generated_share|linked_disease|"
    r"cost|unpriced|(?:\w+_)?(?:ms|seconds|mb|gb))$"
)
# Neither: what is counted, a baseline, a p value, a choice between two good ways.
NEITHER = re.compile(
    r"^(?:p|[\w@]+_p|chance|majority|l1_majority|retrieval_rate|direct|warned|reached|left_out|kept|documents|"
    r"(?:strict|abstraction|relaxed)_documents|rungs|rank|n|index_tokens|probability|"
    r"right_probability|size|pieces|reviews|others|full_text(?:_of_reviews|_of_others)?|of_work_of_concern|tool_calls|"
    r"model_calls|records)$"
)


def direction(name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    for pattern, way in WHOLE:
        if pattern.search(name):
            return way
    last = name.rpartition(".")[2]
    return 0 if NEITHER.match(last) else -1 if LESS.match(last) else 1


@dataclass(frozen=True)
class Side:
    """A run.

    Attributes:
        name: the file. task, settings, data_sha256, figures: as in a report.
        right: sample to whether it was right; empty without a log.
    """

    name: str
    task: str
    settings: dict[str, Any]
    data_sha256: str
    figures: tuple[Figure, ...]
    right: dict[str, bool] = field(default_factory=dict)


def read_side(path: Path) -> Side:
    """A report (``.json``), a log (``.eval``), or the newest log of a folder, else its newest report.

    Raises:
        InputError: there is no such file, or the log is not finished. DataError: it cannot be read.
    """
    if path.is_dir():
        found = [sorted(path.glob(p), key=lambda p: p.stat().st_mtime) for p in ("*.json", "*.eval")]
        if not any(found):
            raise InputError(f"{path} holds no log and no report.", ADVICE)
        path = [*found[0], *found[1]][-1]
    if not path.is_file():
        raise InputError(f"There is no {path}.", ADVICE)
    if path.suffix == ".eval":
        return _of_log(path)
    log, report = log_beside(path), read_report(path)
    right = _of_log(log).right if log.is_file() else {}
    return Side(path.name, report.task, report.settings, report.data_sha256, report.figures, right)


def read_report(path: Path) -> Report:
    """A report; raises DataError when it cannot be read."""
    try:
        return Report.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError, ValidationError) as error:
        said = str(error).splitlines()[0]
        raise DataError(f"{path.name} is no report that can be read: {said}.", ADVICE) from None


def _of_log(path: Path) -> Side:
    check_installed()
    from evals.inspect.logs import figures_of, read_log, right_by_sample

    log = read_log(path)
    about = log.eval.metadata or {}
    if log.status != FINISHED:
        raise InputError(f"{path.name} is of a run that did not finish.", "Finish it with `eval run ... --resume`.")
    if "task" not in about:
        raise DataError(f"{path.name} is no log of this program.", ADVICE)
    figures = tuple(f for f in figures_of(log) if f.name != RIGHT)  # no report has it; samples are paired instead
    beside = report_beside(path)  # which also has what was not run: that is known at the end alone
    settings = read_report(beside).settings if beside.is_file() else about["settings"]
    return Side(path.name, about["task"], settings, about["data_sha256"], figures, right_by_sample(log))


class Compared(Frozen):
    """A figure of both runs. ``mark`` says whether each value lies outside the other's interval, and which way."""

    name: str
    first: Figure | None
    second: Figure | None
    mark: Mark


class Paired(Frozen):
    """The samples that both runs have, in one group.

    Attributes:
        n: how many. first, second: share that was right, in percent. points: second less first, ci95 by bootstrap.
        p: McNemar's exact test, two-sided.
        lost, gained: samples that were right only in the first run, only in the second.
    """

    group: str
    n: int
    first: float
    second: float
    points: float
    ci95: tuple[float, float]
    p: float
    mark: Mark
    lost: tuple[str, ...]
    gained: tuple[str, ...]


class Comparison(Frozen):
    """Two runs. ``differences`` are what makes them no repetition of each other; they are told first."""

    differences: tuple[str, ...]
    figures: tuple[Compared, ...]
    paired: tuple[Paired, ...]


def compare(first: Side, second: Side, seed: int = 0) -> Comparison:
    """All of it; ``seed`` is of the bootstrap."""
    a, b = ({f.name: f for f in side.figures} for side in (first, second))
    figures = (
        Compared(name=name, first=a.get(name), second=b.get(name), mark=_mark(name, a.get(name), b.get(name)))
        for name in dict.fromkeys([*a, *b])
    )
    paired = _paired(first.right, second.right, seed)
    return Comparison(differences=tuple(_differences(first, second)), figures=tuple(figures), paired=tuple(paired))


def _differences(first: Side, second: Side) -> Iterator[str]:
    if first.task != second.task:
        yield f"other evaluations: {first.task}, {second.task}"
    if first.data_sha256 != second.data_sha256:
        yield f"other data: {first.data_sha256[:12]}, {second.data_sha256[:12]}"
    for name in sorted({*first.settings, *second.settings}):
        a, b = first.settings.get(name), second.settings.get(name)
        if a != b:
            yield f"other {name}: {a}, {b}"
    alone = len(set(first.right) ^ set(second.right)) if first.right and second.right else 0
    if alone:
        yield f"{alone} samples are in one run alone"


def _mark(name: str, first: Figure | None, second: Figure | None) -> Mark:
    if first is None or second is None:
        return "only second" if first is None else "only first"
    for one, other in ((first, second), (second, first)):
        low, high = other.ci95 or (other.value, other.value)
        if low <= one.value <= high:
            return "same"
    return _moved(second.value - first.value, direction(name))


def _moved(change: float, way: int) -> Mark:
    return "moved" if way == 0 else "better" if change * way > 0 else "worse"


def _paired(first: dict[str, bool], second: dict[str, bool], seed: int) -> Iterator[Paired]:
    groups: dict[str, list[str]] = defaultdict(list)
    for sample in first:
        if sample in second:
            groups[ALL].append(sample)
            groups[sample.rpartition("/")[0]].append(sample)
    for group, samples in groups.items():
        if len(groups) <= 2 and group != ALL:  # a single group is all
            continue
        a, b = [first[s] for s in samples], [second[s] for s in samples]
        change = points("a.b.c", b, a, seed)[0]
        p = exact_mcnemar(a, b)
        yield Paired(
            group=group,
            n=len(samples),
            first=100.0 * sum(a) / len(a),
            second=100.0 * sum(b) / len(b),
            points=change.value,
            ci95=change.ci95 or (change.value, change.value),
            p=p,
            mark=_moved(change.value, 1) if p < SURE else "same",
            lost=tuple(s for s in samples if first[s] and not second[s]),
            gained=tuple(s for s in samples if second[s] and not first[s]),
        )


def print_comparison(
    first: Annotated[Path, typer.Argument(help="A report, a log, or a folder of them (its newest).")],
    second: Annotated[Path, typer.Argument(help="What is held against it.")],
    json_file: JsonFile = None,
) -> None:
    """Print what differs, the figures side by side, and the samples that both runs have."""
    console = WideConsole()
    a, b = read_side(first), read_side(second)
    found = compare(a, b)
    write_json(json_file, found.model_dump(mode="json"))
    for line in found.differences:
        console.print(f"[yellow]not alike[/]: {line}", highlight=False)
    console.print(_figure_table(found.figures, (a.name, b.name)))
    if found.paired:
        console.print(_sample_table(found.paired))
    for pair in found.paired:
        for what, samples in (("lost", pair.lost), ("gained", pair.gained)):
            more = f" and {len(samples) - NAMED} more" if len(samples) > NAMED else ""
            if samples and pair.group == ALL:
                console.print(f"{what}: {', '.join(samples[:NAMED])}{more}", markup=False, highlight=False)
    marks = [c.mark for c in found.figures]
    told = ", ".join(f"{marks.count(mark)} {mark}" for mark in ("better", "worse", "moved"))
    console.print(f"{told}, {marks.count('same')} within the intervals", highlight=False)


def _marked(mark: Mark) -> str:
    return f"[{COLOURS.get(mark, 'dim')}]{mark}[/]"


def _figure_table(figures: Sequence[Compared], names: tuple[str, str]) -> Table:
    def told(figure: Figure | None) -> str:
        if figure is None:
            return ""
        return figure_number(figure.value, figure.name) + (f" ({interval(figure)})" if figure.ci95 else "")

    table = Table(title=f"first: {names[0]}\nsecond: {names[1]}", title_justify="left")
    table.add_column("figure", no_wrap=True)
    for column in ("first", "second", "change", ""):
        table.add_column(column, justify="right")
    for row in figures:
        moved = figure_number(row.second.value - row.first.value, row.name) if row.first and row.second else ""
        table.add_row(row.name, told(row.first), told(row.second), moved, _marked(row.mark))
    return table


def _sample_table(paired: Sequence[Paired]) -> Table:
    table = Table(title="samples that both have, right or not", title_justify="left")
    table.add_column("group", no_wrap=True)
    for column in ("n", "first", "second", "points", "95 % interval", "lost", "gained", "p (McNemar)", ""):
        table.add_column(column, justify="right")
    for p in paired:
        shares = f"{p.first:.1f}", f"{p.second:.1f}", f"{p.points:+.1f}", f"{p.ci95[0]:.1f} to {p.ci95[1]:.1f}"
        table.add_row(p.group, str(p.n), *shares, str(len(p.lost)), str(len(p.gained)), f"{p.p:.3f}", _marked(p.mark))
    return table

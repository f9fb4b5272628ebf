"""Runs a task: checks what it was given, hashes its data, prints a table, writes the report."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, SecretStr
from pydantic_core import to_jsonable_python
from rich.table import Table
from tqdm import tqdm

from agent.cli.console import WideConsole
from agent.settings import Settings, load_settings, silence_telemetry
from evals.commands import write_json
from evals.contract import Figure, Published, Report, Task, TaskContext
from evals.ledger.code import code_sha256
from evals.ledger.page import published
from prompts.errors import DataError, InputError
from tools.encoders import MINILM
from tools.knowledge.catalogue import catalogue

# Figures of papers that stand beside ours, by the name of ours: those of the ledger's list, and one more.
ZERO_SHOT = "a zero-shot knowledge-graph method on DDXPlus, other patients (its paper is not identified here)"
UNIDENTIFIED = {"starter.text.l3_top1": 62.0, "starter.text.l3_top3": 82.3, "starter.text.mrr": 0.739}
NO_MATTER: Any = {
    **dict.fromkeys(("home", "server", "sessions", "database", "telemetry", "corpora", "ray"), True),
    "literature": {"cache_folder", "shared_folder", "database"},
    "knowledge": {"live", "timeout"},
}
"""Settings that change no answer: where things lie and are built, and how sessions are kept, served and watched."""
NO_SOURCE = "none"
APART = frozenset(
    {"encoder", "model", "model_cache", "config", "literature.live", "literature.mirror", "knowledge.search"}
)  # a report says them anyway
UNSAID = frozenset({"email", "base_url", "openai_base_url", "address", "ncbi_email"})  # of people and their machines
OF_MODELS = ("model_", "budget.", "prices.", "roles.")  # without a model they change nothing
IN_THOUSANDTHS = (".mrr", ".mrr@10", ".ndcg@10", ".recall@20", ".p", "_p", ".kappa", ".spearman", ".pearson")


class Prepared(NamedTuple):
    """A checked run before it begins: what the task is given, what the report says of it, and the hash of its data."""

    context: TaskContext
    settings: dict[str, Any]
    data_sha256: str


def prepare(
    task: Task, data: Path | None, *, limit: int | None, seed: int, config: str = "", by_model: bool = False
) -> Prepared:
    """Check what a run is given, with live access off, and without a language model unless one is asked for.

    Args:
        data: the data folder; None takes the one that the project ships, where the task has one.
        limit: most rows a setting; None for the task's own default.
        seed: of samples and bootstraps.
        config: a published configuration that answers; "" for the product's own settings, whatever the environment.
        by_model: leave the language model that the settings name; so has every task that is `by_model`.

    Raises:
        InputError: no data folder, a bad limit or seed, or a configuration that cannot be run or fits no such task.
        DataError: a file is missing.
    """
    folder = data or task.home_data
    if folder is None:
        raise InputError(f"{task.name} needs data.", f"Give the folder that holds {task.inputs[0]} with --data.")
    if not folder.is_dir():
        raise InputError(f"There is no data folder {folder}.", "Give an existing folder with --data.")
    rows = task.limit if limit is None else limit
    if rows < 1 or seed < 0:
        raise InputError("--limit must be at least 1 and --seed at least 0.", f"The default limit is {task.limit}.")
    if config and not task.by_agent:
        raise InputError(f"{task.name} does not ask the agent, so no configuration fits it.", "Leave --config out.")
    offline = {"live": "off", "mirror": None}
    named_model = by_model or task.by_model
    sources = {"search": searched_sources((*task.inputs, *task.optional))}
    settings = (
        written_questions(load_settings(config=config, literature=offline, knowledge=sources, model_cache="evaluation"))
        if named_model
        else local_settings(config, knowledge=sources)
    )
    inputs = _there(folder, task)
    digest = data_sha256(folder, (*inputs, *(o for o in task.optional if (folder / o).is_file())))
    silence_telemetry(settings)
    context = TaskContext(data=folder, limit=rows, seed=seed, settings=settings, tick=progress)
    context.not_run.update({i: "it is not in the data folder" for i in task.inputs if i not in inputs})
    told = {
        "encoder": settings.encoder or MINILM,
        "limit": rows,
        "live": "off",
        "model": settings.model or None,
        "seed": seed,
        **({"config": config} if config else {}),
        **({"sources": sources["search"]} if sources["search"] != NO_SOURCE else {}),
        **changed(settings),
    }
    return Prepared(context, told, digest)


def local_settings(config: str = "", **more: Any) -> Settings:
    """The settings, or those of a configuration, without a language model and without PubMed."""
    offline = {"live": "off", "mirror": None}
    more.setdefault("knowledge", {"search": NO_SOURCE})
    return written_questions(load_settings(config=config, model="", literature=offline, **more).without_models())


def written_questions(settings: Settings) -> Settings:
    """The settings with the questions that were written with the documents, where they do not say which count: others
    are in the data folder of whoever has generated some, and figures do not depend on that."""
    if settings.questions.stored != "both":
        return settings
    return settings.model_copy(update={"questions": settings.questions.model_copy(update={"stored": "written"})})


def searched_sources(inputs: Sequence[str]) -> str:
    """The imported sources that a task over these files searches, as the setting has them: those that the environment
    names, without any that holds the texts of its data; none where it names none, so that figures do not depend on what
    a user has imported."""
    asked = load_settings().knowledge
    if asked.search == "all":
        return NO_SOURCE
    folders = {file.partition("/")[0] for file in inputs}
    kept = [e.name for e in catalogue().values() if asked.searches(e.name) and not folders & set(e.held_by)]
    return ",".join(kept) or NO_SOURCE


def _there(folder: Path, task: Task) -> tuple[str, ...]:
    """The inputs that a run reads: all, or of a task for which one is enough those that are there."""
    there = tuple(i for i in task.inputs if not task.any_of or any(p.is_file() for p in folder.glob(i)))
    if not there:
        raise DataError(
            f"None of {', '.join(task.inputs)} is in {folder}.", "`anamnesis eval data` says where they are to be had."
        )
    return there


def changed(settings: Settings) -> dict[str, Any]:
    """The settings that an answer may depend on and that are not at their defaults, by dotted name, as JSON.

    Left out are those that a report says otherwise, keys, addresses, and without a language model all that is of one.
    A path is told by its name alone.
    """
    defaults = dict(_leaves(type(settings).model_construct()))
    by_model = settings.language_model is not None
    return {
        name: value.name if isinstance(value, Path) else to_jsonable_python(value, fallback=str)
        for name, value in _leaves(settings)
        if value != defaults.get(name)
        and name not in APART
        and name.rpartition(".")[2] not in UNSAID
        and not isinstance(value, SecretStr)
        and (by_model or not name.startswith(OF_MODELS))
    }


def _leaves(part: Any, place: str = "", without: Any = NO_MATTER) -> Iterator[tuple[str, Any]]:
    """Every single setting with its dotted name."""
    rows = dict(part) if isinstance(part, BaseModel) else part
    if not isinstance(rows, dict) or (place and not rows):
        yield place, part
        return
    for key, value in rows.items():
        left_out = without.get(key, set()) if isinstance(without, dict) else key in without
        if left_out is not True:
            name = str(key.value) if isinstance(key, Enum) else str(key)
            yield from _leaves(value, f"{place}.{name}" if place else name, left_out or set())


def data_sha256(folder: Path, patterns: Iterable[str]) -> str:
    """sha256 over the names and bytes of every file that matches; a pattern without a file is a DataError."""
    digest = hashlib.sha256()
    for pattern in patterns:
        paths = sorted(p for p in folder.glob(pattern) if p.is_file())
        if not paths:
            raise DataError(f"{pattern} is not in {folder}.", "Give the folder of the data with --data.")
        for path in paths:
            name = path.relative_to(folder).as_posix().encode()
            digest.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def run_task(task: Task, data: Path | None, *, limit: int | None, seed: int, config: str = "") -> Report:
    """Run a task; arguments and errors as of `prepare`."""
    prepared = prepare(task, data, limit=limit, seed=seed, config=config)
    started = time.perf_counter()
    figures = task.run(prepared.context)
    return report_of(task, prepared, figures, time.perf_counter() - started)


def report_of(task: Task, prepared: Prepared, figures: list[Figure], seconds: float) -> Report:
    """The report of a run that is over, papers' figures beside ours."""
    left_out = prepared.context.not_run
    return Report(
        task=task.name,
        settings={**prepared.settings, **({"not_run": left_out} if left_out else {})},
        data_sha256=prepared.data_sha256,
        seconds=round(seconds, 3),
        figures=with_published(figures),
        code=code_sha256(task.name),
    )


@cache
def by_figure() -> dict[str, Published]:
    """Each paper's figure by the name of ours."""
    out = {
        cell.named[1]: Published(value=cell.value, source=f"{paper.name}, {table.title}: {table.setting}")
        for paper in published().papers
        for table in paper.tables
        for cell in table.cells()
        if cell.ours and cell.value is not None
    }
    return out | {name: Published(value=value, source=ZERO_SHOT) for name, value in UNIDENTIFIED.items()}


def with_published(figures: list[Figure]) -> tuple[Figure, ...]:
    """The figures, each with the paper's where there is one."""
    return tuple(f.model_copy(update={"published": by_figure().get(f.name)}) for f in figures)


def write_report(report: Report, path: Path) -> None:
    """Write a report as JSON; a reader sees the old file or the new one."""
    write_json(path, report.model_dump(mode="json"))


def progress(rows: Iterable[Any], label: str, total: int) -> Iterator[Any]:
    """A progress bar on standard error."""
    return iter(tqdm(rows, desc=label, total=total, unit="row", leave=False))


def print_report(report: Report) -> None:
    """The figures as a table."""
    by = f" --config {report.settings['config']}" if report.settings.get("config") else ""
    title = f"anamnesis eval run {report.task}{by}: {report.seconds:.1f} s, data {report.data_sha256[:12]}"
    table = Table(title=title, title_justify="left")
    table.add_column("figure", no_wrap=True)
    for column in ("value", "95 % interval", "n", "published"):
        table.add_column(column, justify="right")
    for f in report.figures:
        beside = figure_number(f.published.value, f.name) if f.published else ""
        table.add_row(f.name, figure_number(f.value, f.name), interval(f), str(f.n), beside)
    console = WideConsole()
    console.print(table)
    for source in sorted({f.published.source for f in report.figures if f.published}):
        console.print(f"published: {source}", markup=False, highlight=False)
    for name, reason in report.settings.get("not_run", {}).items():
        console.print(f"not run: {name}: {reason}", markup=False, highlight=False)


def interval(figure: Figure) -> str:
    """The ends of a figure's interval; "" without one."""
    return " to ".join(figure_number(end, figure.name) for end in figure.ci95 or ())


def figure_number(value: float, name: str) -> str:
    """A figure's value with as many places as its kind has."""
    small = name.endswith(IN_THOUSANDTHS) or ".ddx_" in name or ".boundaries." in name
    return f"{value:.3f}" if small else f"{value:.1f}"

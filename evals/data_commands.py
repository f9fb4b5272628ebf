"""The commands `anamnesis eval data`, `eval data show`, `eval data convert` and `eval build-cmmqa`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.cmmqa import Rewritten
    from evals.datasets.conversion import Report

SHOWN = 20  # ours: problems that are printed; --json of a conversion has all
WORDS = {
    "same": "the same as in our runs",
    "other": "another version",
    "there": "there; no checksum is known",
    "absent": "absent",
}


def register(evaluations: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(rich_markup_mode=None, invoke_without_command=True, callback=data)
    commands.command("show")(show)
    commands.command("convert")(convert)
    evaluations.add_typer(commands, name="data")
    evaluations.command("build-cmmqa")(build_cmmqa)


def data(
    context: typer.Context,
    check: Annotated[Path | None, typer.Option(help="Compare the files of this data folder with ours.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the catalogue to this file too.")] = None,
) -> None:
    """Say which data sets the evaluations read, where each is to be had, and whether a folder's files are ours."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from agent.cli.wide import WideConsole
    from evals.datasets.catalogue import check_files, data_json, read_catalogue
    from tools.files import write_atomic

    sets = read_catalogue()
    checked = check_files(sets, check) if check is not None else None
    if json_file is not None:
        write_atomic(_file(json_file), data_json(sets, checked))
    console = WideConsole()
    if checked is not None:
        states = Table("data set", "file", "state", "sha256")
        for c in checked:
            states.add_row(c.data_set, c.path, WORDS[c.state], c.sha256[:16])
        console.print(states)
        return
    table = Table("name", "what", "access", "licence", "size", "read by", "convert")
    for s in sets:
        table.add_row(s.name, s.what, s.access, s.licence, s.size, ", ".join(s.tasks), "yes" if s.original else "")
    console.print(table)
    console.print("Addresses, places and checksums: anamnesis eval data show NAME", highlight=False)


def show(names: Annotated[list[str], typer.Argument(help="The data sets.")]) -> None:
    """Tell all of a data set: addresses, licence, where to place it, files and checksums."""
    from evals.datasets.catalogue import read_catalogue
    from prompts.errors import InputError

    known = {s.name: s for s in read_catalogue()}
    for name in names:
        if name not in known:
            raise InputError(f"There is no data set {name!r}.", f"These are there: {', '.join(known)}.")
        typer.echo("\n".join(known[name].told()))


def convert(
    name: Annotated[str, typer.Argument(help="The data set, as `anamnesis eval data` names it.")],
    source: Annotated[Path, typer.Argument(help="The file or folder of the release.")],
    folder: Annotated[Path, typer.Argument(help="The data folder to write into.")],
    limit: Annotated[int | None, typer.Option(help="Most records, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing.")] = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Write over files that are there.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report with every problem here.")] = None,
) -> None:
    """Turn a release in its original format into the files that the evaluations read."""
    import json

    from evals.datasets.conversion import convert as convert_release
    from evals.datasets.conversion import find_original
    from tools.files import write_atomic

    report = convert_release(find_original(name), source, folder, limit=limit, seed=seed, replace=replace)
    if json_file is not None:
        made = report._asdict() | {"problems": [p._asdict() for p in report.problems]}
        write_atomic(_file(json_file), f"{json.dumps(made, indent=2, ensure_ascii=False)}\n".encode())
    typer.echo("\n".join(_outcome(report)))


def _file(path: Path) -> Path:
    from prompts.errors import InputError

    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Give the name of a file with --json.")
    return path


def build_cmmqa(
    out: Annotated[Path, typer.Option(help="The file to write; DATA/questions/cmmqa.jsonl is read by `answers`.")],
    healthsearchqa: Annotated[Path | None, typer.Option(help="The workbook or CSV of HealthSearchQA.")] = None,
    mirage: Annotated[Path | None, typer.Option(help="MIRAGE's benchmark.json.")] = None,
    mesh: Annotated[Path | None, typer.Option(help="NLM's descriptor file, in place of our own cancer terms.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most questions, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing.")] = 0,
) -> None:
    """Tell the cancer questions of HealthSearchQA and MIRAGE as clinical narratives; run again, it goes on."""
    import random

    from evals.cmmqa import NO_MODEL, TEMPLATE, Built, build, chosen, mesh_terms, shipped_terms, source_questions

    terms = mesh_terms(mesh) if mesh is not None else shipped_terms()
    built = Built()
    questions = chosen(source_questions(healthsearchqa, mirage, built), terms, built)
    if limit is not None and limit < len(questions):
        drawn = sorted(random.Random(seed).sample(range(len(questions)), limit))  # noqa: S311
        built.left_out["not drawn"] += len(questions) - limit
        questions = [questions[at] for at in drawn]
    writer = _writer()
    build(questions, writer, out, built, lambda line: typer.echo(line, err=True))
    typer.echo(f"{out}: {built.rows:,} questions, {built.choices:,} of them with options, told by {writer.name}")
    for line in [*([NO_MODEL] if writer.name == TEMPLATE else []), *_problems(built.left_out, built.problems, "")]:
        typer.echo(line)


def _writer() -> Rewritten:
    """The model of the settings in its role ``questions``; without one the template."""
    from agent.models import open_models
    from agent.sessions import Home
    from agent.settings import load_settings, silence_telemetry
    from evals.cmmqa import ByModel, ByTemplate

    settings = load_settings(model_cache="evaluation")
    silence_telemetry(settings)
    models = open_models(settings, Home(settings.home).prepare())
    return ByModel(models.of("questions")) if models is not None else ByTemplate()


def _outcome(report: Report) -> list[str]:
    lines = [f"{report.read:,} records were read."]
    lines += [f"{path}: {rows:,} rows written" for path, rows in report.written.items()]
    lines += [f"{path}: copied" for path in report.copied]
    return [*lines, *_problems(report.left_out, report.problems, ": see --json")]


def _problems(left_out: Mapping[str, int], problems: Sequence[object], more: str) -> list[str]:
    lines = [f"left out, {count:,} times: {reason}" for reason, count in left_out.items()]
    lines += [f"problem: {problem}" for problem in problems[:SHOWN]]
    beyond = len(problems) - SHOWN
    return [*lines, *([f"and {beyond:,} more problems{more}"] if beyond > 0 else [])]

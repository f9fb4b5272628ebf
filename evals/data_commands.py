"""The commands `anamnesis eval data` and `anamnesis eval data convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.datasets.catalogue import Checked, DataSet
    from evals.datasets.conversion import Report

SHOWN = 20  # ours: problems of a conversion that are printed; --json has all
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
        console.print(_table_of(checked))
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
        for line in _told(known[name]):
            typer.echo(line)


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
    for line in _outcome(report):
        typer.echo(line)


def _file(path: Path) -> Path:
    from prompts.errors import InputError

    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Give the name of a file with --json.")
    return path


def _table_of(checked: list[Checked]) -> object:
    from rich.table import Table

    table = Table("data set", "file", "state", "sha256")
    for c in checked:
        table.add_row(c.data_set, c.path, WORDS[c.state], c.sha256[:16])
    return table


def _told(data_set: DataSet) -> list[str]:
    lines = [
        f"{data_set.name}: {data_set.what}",
        f"  access: {data_set.access}; licence: {data_set.licence}; size: {data_set.size}",
        *(f"  address: {address}" for address in data_set.addresses),
        f"  read by: {', '.join(data_set.tasks) or 'no evaluation yet'}",
        f"  place: {data_set.place}",
        *([f"  note: {data_set.note}"] if data_set.note else []),
    ]
    for file in data_set.files:
        rows = f", {file.rows:,} rows" if file.rows is not None else ""
        made = f" ({file.made})" if file.made else ""
        lines.append(f"  file: {file.path}{rows}, sha256 {file.sha256 or 'not known'}{made}")
    for released in data_set.released:
        known = f" (as {released.known_from} says; not measured by us)" if released.known_from else ""
        lines.append(f"  released: {released.name}, sha256 {released.sha256}{known}")
    return lines


def _outcome(report: Report) -> list[str]:
    lines = [f"{report.read:,} records were read."]
    lines += [f"{path}: {rows:,} rows written" for path, rows in report.written.items()]
    lines += [f"{path}: copied" for path in report.copied]
    lines += [f"left out, {count:,} times: {reason}" for reason, count in report.left_out.items()]
    lines += [f"problem: {problem}" for problem in report.problems[:SHOWN]]
    more = len(report.problems) - SHOWN
    return [*lines, *([f"and {more:,} more problems: see --json"] if more > 0 else [])]

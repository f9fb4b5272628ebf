"""`anamnesis eval compare`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent.cli.wide import WideConsole
from evals.comparing.comparison import Compared, Comparison, Paired, compare
from evals.comparing.sides import read_side
from evals.contract import Figure
from evals.runner import figure_number
from tools.files import write_atomic

COLOURS = {"better": "green", "worse": "red", "moved": "yellow"}
NAMED = 10  # ours: samples that are named, a group


def print_comparison(first: Path, second: Path, json_file: Path | None) -> None:
    """Print what differs, the figures side by side, and the samples that both runs have."""
    console = WideConsole()
    a, b = read_side(first), read_side(second)
    found = compare(a, b)
    if json_file is not None:
        text = json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False)
        write_atomic(json_file, f"{text}\n".encode())
    for line in found.differences:
        console.print(f"[yellow]not alike[/]: {line}", highlight=False)
    console.print(_figures(found.figures, (a.name, b.name)))
    if found.paired:
        console.print(_samples(found.paired))
        for pair in found.paired:
            _name(console, pair)
    console.print(summary(found), highlight=False)


def summary(found: Comparison) -> str:
    """How many figures got better and worse, in a line."""
    marks = [c.mark for c in found.figures]
    return (
        f"{marks.count('better')} better, {marks.count('worse')} worse, {marks.count('moved')} moved, "
        f"{marks.count('same')} within the intervals"
    )


def _figures(figures: Sequence[Compared], names: tuple[str, str]) -> Table:
    table = Table(title=f"first: {names[0]}\nsecond: {names[1]}", title_justify="left")
    table.add_column("figure", no_wrap=True)
    for column in ("first", "second", "change", ""):
        table.add_column(column, justify="right")
    for row in figures:
        both = row.first is not None and row.second is not None
        change = row.second.value - row.first.value if row.first is not None and row.second is not None else 0.0
        moved = figure_number(change, row.name) if both else ""
        colour = COLOURS.get(row.mark, "dim")
        table.add_row(row.name, _told(row.first), _told(row.second), moved, f"[{colour}]{row.mark}[/]")
    return table


def _told(figure: Figure | None) -> str:
    if figure is None:
        return ""
    value = figure_number(figure.value, figure.name)
    if figure.ci95 is None:
        return value
    return f"{value} ({' to '.join(figure_number(end, figure.name) for end in figure.ci95)})"


def _samples(paired: Sequence[Paired]) -> Table:
    table = Table(title="samples that both have, right or not", title_justify="left")
    table.add_column("group", no_wrap=True)
    for column in ("n", "first", "second", "points", "95 % interval", "lost", "gained", "p (McNemar)", ""):
        table.add_column(column, justify="right")
    for pair in paired:
        low, high = pair.ci95
        colour = COLOURS.get(pair.mark, "dim")
        table.add_row(
            pair.group,
            str(pair.n),
            f"{pair.first:.1f}",
            f"{pair.second:.1f}",
            f"{pair.points:+.1f}",
            f"{low:.1f} to {high:.1f}",
            str(len(pair.lost)),
            str(len(pair.gained)),
            f"{pair.p:.3f}",
            f"[{colour}]{pair.mark}[/]",
        )
    return table


def _name(console: Console, pair: Paired) -> None:
    if pair.group != "all":
        return
    for what, samples in (("lost", pair.lost), ("gained", pair.gained)):
        more = f" and {len(samples) - NAMED} more" if len(samples) > NAMED else ""
        if samples:
            console.print(f"{what}: {', '.join(samples[:NAMED])}{more}", markup=False, highlight=False)

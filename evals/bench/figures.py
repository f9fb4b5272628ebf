"""The figures that a benchmark measures, and their table."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel


class Figure(BaseModel):
    """One measured figure; ``asked`` is the bound it is held to, where there is one."""

    name: str
    value: float
    unit: str
    n: int
    asked: str = ""


def print_figures(figures: Sequence[Figure]) -> None:
    """Print a table of figures."""
    from rich.table import Table

    from agent.cli.wide import WideConsole

    table = Table("figure", "value", "asked", "n", title="anamnesis bench", title_justify="left")
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:.2f} {figure.unit}", figure.asked, str(figure.n))
    WideConsole().print(table)

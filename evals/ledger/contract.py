"""What the ledger's list of published figures holds."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, model_validator

from evals.contract import Figure, Report


class Listed(BaseModel):
    """A part of the list; a slip in it is a fault of ours and is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(Listed):
    """A published figure.

    Attributes:
        what: the system and the setting, in words. value: in the unit of our figure; None where the measure is
            published and its number is not at hand. n: the paper's rows, None where its source does not say.
        ours: our figure, ``task:figure`` or a figure of the table's task; "" where none was measured.
        differs: what is not the same on our side, for this row alone. not_run: why there is none of ours.
    """

    what: str
    value: float | None
    n: int | None = None
    ours: str = ""
    differs: str = ""
    not_run: str = ""


class Table(Listed):
    """A published table; its texts hold for each row that has none of its own.

    Attributes:
        setting: the paper's. our_setting: ours. task: the evaluation that measures ours.
    """

    title: str
    setting: str
    rows: tuple[Row, ...]
    n: int | None = None
    task: str = ""
    our_setting: str = ""
    differs: str = ""
    not_run: str = ""

    @model_validator(mode="after")
    def _told(self) -> Table:
        """Each row has a figure of ours or a reason, and never both."""
        for row in self.rows:
            reason = row.not_run or ("" if row.ours else self.not_run)
            if bool(row.ours) == bool(reason):
                raise ValueError(f"{self.title}, {row.what}: either ours or not_run")
        return self


class Paper(Listed):
    """A method's figures. ``configuration`` names the file that says whose each parameter is."""

    id: str
    name: str
    source: str
    configuration: str
    tables: tuple[Table, ...]


class Published(Listed):
    """The whole list."""

    papers: tuple[Paper, ...]


class Measured(NamedTuple):
    """Our figure with the report that it stands in."""

    figure: Figure
    report: Report


def named(table: Table, row: Row) -> tuple[str, str]:
    """Task and figure of a row that has one of ours."""
    task, colon, figure = row.ours.partition(":")
    return (task, figure) if colon else (table.task, row.ours)

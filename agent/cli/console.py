"""What the commands share: consoles, JSON on standard output, options of one meaning, and the data folder."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from agent.sessions.home import Home
from agent.settings import Settings, load_settings, silence_telemetry
from prompts.errors import InputError
from tools.files import write_atomic

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
ConfigOption = Annotated[
    str, typer.Option("--config", help="A published configuration, as medrgag or medrgag:without-kads.")
]


SessionOption = Annotated[str | None, typer.Option("--session", "-s", help="Go on in this session.")]


def group() -> typer.Typer:
    """A group of commands; `agent.cli.app` has its help."""
    return typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def console() -> WideConsole:
    """Standard output, coloured only on a terminal."""
    return WideConsole(highlight=False)


@lru_cache(maxsize=1)
def progress_console() -> WideConsole:
    """Standard error, for steps and progress."""
    return WideConsole(stderr=True, highlight=False)


def say(line: str) -> None:
    """A line on standard error, as it is."""
    progress_console().print(line, markup=False)


def silent(line: str) -> None:
    """In place of `say` where nothing is to be told."""


def tell(line: str) -> None:
    """A line on standard output, as it is."""
    console().print(line, markup=False)


def read_message(message: str) -> str:
    """The message itself, or standard input for ``-``; raises InputError when that is not UTF-8 text."""
    if message != "-":
        return message
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("Standard input is not UTF-8 text.", "Send plain text.") from None


def print_json(value: Any, indent: int | None = 2) -> None:
    """A value as JSON on standard output, characters as they are."""
    sys.stdout.write(json.dumps(value, indent=indent, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], **options: Any) -> Table:
    """A table of plain text; an id or a path that is cut short is of no use, so that cells fold."""
    made = Table(**options)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*map(escape, row))
    return made


def open_home(**given: Any) -> tuple[Settings, Home]:
    """The settings, and the data folder that they name; ``given`` settings win. Third-party tracing is then off."""
    settings = load_settings(**given)
    silence_telemetry(settings)
    return settings, Home(settings.home).prepare()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raises InputError where a place that a user named cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from error


def write_text(path: Path, text: str | bytes) -> None:
    """Write a file that a user named, whole or not at all."""
    with writing(path):
        write_atomic(path, text if isinstance(text, bytes) else text.encode())


# A console that breaks no name: a table is as wide as what it holds where no terminal says how wide it may be.

LEAVE = {"exit", "quit", "/exit", "/quit", "退出"}
ROOM = 100_000  # columns to measure a table in: more than any has


class WideConsole(Console):
    """Prints to a pipe or a file each paragraph on one line, and tables as wide as they are.

    On a terminal text is wrapped between words, and a table is never narrower than the longest word of each column:
    a terminal that is too narrow wraps its lines, and what is copied from it is whole.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `rich.console.Console.print` does."""
        if not self.is_terminal and all(isinstance(o, str | Text) for o in objects):
            options.setdefault("soft_wrap", True)
        fitted = [o for o in objects if isinstance(o, Table if self.is_terminal else (Table, Padding, Group))]
        if not fitted:
            super().print(*objects, **options)
            return
        given, self.width = self._width, max(self.width, *map(self._needed, fitted))
        try:
            super().print(*objects, **options | {"crop": False})
        finally:
            self._width = given

    def _needed(self, table: Table | Padding | Group) -> int:
        """Columns that it needs: for all of it, or on a terminal for the longest word of each column of a table."""
        room = self.options.update(width=ROOM)
        if not isinstance(table, Table) or not self.is_terminal:
            return self.measure(table, options=room).maximum
        for column in table.columns:
            longest = max(self.measure(cell, options=room).minimum for cell in (column.header, *column.cells))
            column.min_width = max(column.min_width or 0, longest)
        return 0

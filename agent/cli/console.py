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
from rich.markup import escape
from rich.table import Table

from agent.cli.wide import WideConsole
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

"""The server's keys on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from rich import box
from rich.markup import escape
from rich.table import Table

from agent.cli.render import console
from agent.loop import run
from agent.server.keys import Keys
from agent.server.tables import Tables
from agent.sessions import Home, open_database
from agent.settings import load_settings

T = TypeVar("T")


def create_key(name: str, scopes: tuple[str, ...], expires: str, *, as_json: bool) -> None:
    """Make a key and print its text."""
    record, text = _with_keys(lambda keys: keys.create(name, scopes, expires))
    if as_json:
        _print_json({"key": text, **record.model_dump()})
        return
    sys.stdout.write(text + "\n")
    sys.stderr.write(f"Key {record.id} of {record.name}. This is the only time that it is shown.\n")


def list_keys(*, as_json: bool) -> None:
    """Every key with its state."""
    found = _with_keys(lambda keys: keys.all())
    if as_json:
        _print_json([{**record.model_dump(), "state": record.state} for record in found])
        return
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("id", "name", "scopes", "created", "expires", "state"):
        table.add_column(column)
    for record in found:
        shown = (record.id, record.name, " ".join(record.scopes), record.created, record.expires or "-", record.state)
        table.add_row(*(escape(text) for text in shown))
    console().print(table if found else "There is no key yet: `anamnesis keys create NAME`.")


def revoke_key(identity: str) -> None:
    """Take a key back."""
    record = _with_keys(lambda keys: keys.revoke(identity))
    console().print(f"Key {record.id} of {record.name} is revoked.", markup=False)


def _with_keys(work: Callable[[Keys], Awaitable[T]]) -> T:
    """Do something with the keys of the settings' database, without opening the agent."""

    async def done() -> T:
        settings = load_settings()
        database = await open_database(settings, Home(settings.home).prepare())
        try:
            return await work(Keys(await Tables(database).open()))
        finally:
            await database.close()

    return run(done())


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

"""`anamnesis keys`: who may use the server."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from rich import box

from agent.cli.console import JsonOption, console, group, print_json, table, tell
from agent.loop import run
from agent.server.keys import Keys
from agent.server.tables import Tables
from agent.sessions import Home, open_database
from agent.settings import load_settings

T = TypeVar("T")

keys = group()


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose it is; shown in lists and beside reviews.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="ask, review, traces or tools; repeat it. Without one: ask.")
    ] = None,
    expires: Annotated[str, typer.Option(help="For how long: 90d, 12h, 4w; without it for ever.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a key. Its text is shown once and stored nowhere."""
    record, text = _with_keys(lambda held: held.create(name, tuple(scope or ("ask",)), expires))
    if as_json:
        print_json({"key": text, **record.model_dump()})
        return
    sys.stdout.write(text + "\n")
    sys.stderr.write(f"Key {record.id} of {record.name}. This is the only time that it is shown.\n")


@keys.command(name="list")
def list_(as_json: JsonOption = False) -> None:
    """List the keys, without their texts."""
    found = _with_keys(lambda held: held.all())
    if as_json:
        print_json([{**record.model_dump(), "state": record.state} for record in found])
        return
    rows = [(r.id, r.name, " ".join(r.scopes), r.created, r.expires or "-", r.state) for r in found]
    columns = ("id", "name", "scopes", "created", "expires", "state")
    none = "There is no key yet: `anamnesis keys create NAME`."
    console().print(table(columns, rows, box=box.SIMPLE_HEAD) if found else none)


@keys.command()
def revoke(identity: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]) -> None:
    """Take a key back: it and its log-ins are refused at once. Its sessions stay."""
    record = _with_keys(lambda held: held.revoke(identity))
    tell(f"Key {record.id} of {record.name} is revoked.")


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

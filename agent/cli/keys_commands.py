"""`anamnesis keys`: who may use the server."""

from __future__ import annotations

from typing import Annotated

import typer

keys = typer.Typer(help="Keys of the server: create, list, revoke.", no_args_is_help=True, rich_markup_mode=None)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
    from agent.cli.keys import create_key

    create_key(name, tuple(scope or ("ask",)), expires, as_json=as_json)


@keys.command(name="list")
def list_(as_json: JsonOption = False) -> None:
    """List the keys, without their texts."""
    from agent.cli.keys import list_keys

    list_keys(as_json=as_json)


@keys.command()
def revoke(identity: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]) -> None:
    """Take a key back: it and its log-ins are refused at once. Its sessions stay."""
    from agent.cli.keys import revoke_key

    revoke_key(identity)

"""The commands of `anamnesis config`; what they do is imported when they run."""

from __future__ import annotations

from typing import Annotated

import typer

config = typer.Typer(
    help="Published configurations: the methods as their sources state them, and their ablations.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ConfigOption = Annotated[
    str, typer.Option("--config", help="A published configuration, as medrgag or medrgag:without-kads.")
]


@config.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the configurations and their arms, and what each needs."""
    from agent.cli.config import list_configurations

    list_configurations(as_json=as_json)


@config.command()
def show(
    name: Annotated[str, typer.Argument(help="As medrgag or medrgag:without-kads.")],
    as_json: JsonOption = False,
) -> None:
    """Show each setting, whose value it is, and what differs from the source here."""
    from agent.cli.config import show_configuration

    show_configuration(name, as_json=as_json)

"""`anamnesis config`: published configurations, and what of them cannot be run here."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from agent.cli.console import JsonOption, console, group, print_json
from agent.configurations.loading import Chosen, Configuration, Need, Setting, configurations, find

NEEDS: dict[Need, str] = {"model": "a language model", "generator": "another model for the background"}
WHEN = {"always": "", "model": " (with a language model)", "local": " (without a language model)"}
STAYS = (
    "In every configuration: signs of an emergency are told, statements are cited with exact quotes or marked, "
    "retracted work is left out, and only words known to be medical or general are sent to PubMed."
)

config = group()


@config.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the configurations and their arms, and what each needs."""
    found = configurations().values()
    if as_json:
        print_json([_summary(c) for c in found])
        return
    out = console()
    for item in found:
        out.print(f"[bold]{escape(item.name)}[/]  {escape(item.title)}")
        for name, arm in item.arms.items():
            note = arm.missing or needs_in_words(arm.needs)
            out.print(f"  {item.name}:{name}  {arm.what}" + (f"  [{note}]" if note else ""), markup=False)


@config.command()
def show(
    name: Annotated[str, typer.Argument(help="As medrgag or medrgag:without-kads.")],
    as_json: JsonOption = False,
) -> None:
    """Show each setting, whose value it is, and what differs from the source here."""
    chosen = find(name)
    if as_json:
        print_json(_details(chosen))
        return
    out, item = console(), chosen.configuration
    out.print(f"[bold]{escape(chosen.name)}[/]  {escape(item.title)}")
    if chosen.arm:
        out.print(item.arms[chosen.arm].what, markup=False)
    out.print(f"Source: {item.source}. Published: {_published(chosen) or 'no figure'}", markup=False)
    if chosen.missing:
        out.print(f"Cannot be run: {chosen.missing}", style="yellow", markup=False)
    if chosen.needs:
        out.print(f"It {needs_in_words(chosen.needs)}.", markup=False)
    out.print(_table(chosen))
    for line in item.differs:
        out.print(f"Differs: {line}", markup=False)
    out.print(STAYS, markup=False)


def needs_in_words(needs: tuple[Need, ...]) -> str:
    """What must be there; "" for nothing."""
    return "needs " + " and ".join(NEEDS[need] for need in needs) if needs else ""


def _table(chosen: Chosen) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("setting", no_wrap=True)
    for column in ("value", "origin", "the source, and what differs here"):
        table.add_column(column)
    for s in chosen.settings:
        table.add_row(escape(s.set), escape(_value(s)) + WHEN[s.when], s.origin, escape(_said(s)))
    for c in chosen.configuration.constants:
        table.add_row(escape(c.what), escape(c.value), c.origin, "held by the code")
    return table


def _said(setting: Setting) -> str:
    differs = f"differs: {setting.differs}" if setting.differs else ""
    return "; ".join(part for part in (setting.why, differs) if part)


def _value(setting: Setting) -> str:
    value = setting.to
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _published(chosen: Chosen) -> str:
    arm = chosen.configuration.arms.get(chosen.arm)
    return arm.published if arm is not None else chosen.configuration.published


def _summary(item: Configuration) -> dict[str, Any]:
    arms = [
        {"name": f"{item.name}:{name}", "what": arm.what, "needs": list(arm.needs), "missing": arm.missing}
        for name, arm in item.arms.items()
    ]
    return {"name": item.name, "title": item.title, "needs": list(item.needs), "arms": arms}


def _details(chosen: Chosen) -> dict[str, Any]:
    item = chosen.configuration
    return {
        "name": chosen.name,
        "title": item.title,
        "source": item.source,
        "published": _published(chosen),
        "missing": chosen.missing,
        "needs": list(chosen.needs),
        "settings": [s.model_dump() for s in chosen.settings],
        "constants": [c.model_dump() for c in item.constants],
        "differs": list(item.differs),
    }

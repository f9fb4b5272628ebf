"""The commands `anamnesis eval replay`: questions, run, serve, compare, purge."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.replay.playing import Played
    from evals.replay.recording import Recording

replay = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SERVED = "served"  # the folder of requests that come from elsewhere

Name = Annotated[str, typer.Argument(help="The run: a folder of this name in the data folder's `replays`.")]
File = Annotated[Path | None, typer.Option("--questions", help="Questions of your own, as a YAML file.")]
ByHand = Annotated[bool, typer.Option("--by-hand", help="Play the model yourself; else the settings' model replies.")]


@replay.command()
def questions(file: File = None) -> None:
    """List the questions of the kit."""
    from rich.table import Table

    from agent.cli.console import WideConsole
    from evals.replay.playing import QUESTIONS, read_questions

    table = Table("id", "kind", "question")
    for row in read_questions(file or QUESTIONS):
        table.add_row(str(row.id), row.kind, row.text.strip())
    WideConsole().print(table)


@replay.command()
def run(
    name: Name,
    only: Annotated[str, typer.Option(help="Ids of questions, as 1-10,15.")] = "",
    by_hand: ByHand = False,
    wait: Annotated[
        float, typer.Option(min=0.5, help="Seconds after which a question that waits for a person is left.")
    ] = 2.0,
    alone: Annotated[
        bool, typer.Option("--alone", help="Ask for the model's own answer to the bare question too.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Answer anew from the replies that are kept.")] = False,
    file: File = None,
) -> None:
    """Ask the questions; what has no reply yet goes to the model, or is written down for you. Run it again to go on."""
    from agent.settings import load_settings, silence_telemetry
    from evals.replay.playing import QUESTIONS, play_questions, read_questions, upstream_of

    chosen = read_questions(file or QUESTIONS, only)
    settings = load_settings()
    silence_telemetry(settings)
    upstream = None if by_hand else upstream_of(settings)
    played = play_questions(_folder(name), chosen, settings, upstream, wait=wait, alone=alone, again=again, told=_tell)
    waits = sum(len(p.waits_for) for p in played)
    typer.echo(f"{sum(p.answered for p in played)} of {len(played)} questions are answered.")
    if waits:
        typer.echo(f"{waits} requests wait for a reply: read each .request.md, write what it asks for, run this again.")
        raise typer.Exit(1)


@replay.command()
def serve(
    name: Name,
    by_hand: ByHand = False,
    port: Annotated[int, typer.Option(min=1024, max=65535, help="The port on this machine.")] = 8089,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the files when it ends; `purge` removes them.")] = False,
) -> None:
    """Serve an OpenAI-compatible endpoint for any client, with replies from files; Ctrl-C ends it."""
    import shutil

    from agent.settings import load_settings
    from evals.replay import playing
    from prompts.errors import ServiceError

    folder = _folder(name) / SERVED
    try:
        playing.serve(folder, None if by_hand else playing.upstream_of(load_settings()), port, _tell_waiting)
    except OSError as error:
        raise ServiceError(
            f"Port {port} cannot be served: {error.strerror}.", "Give another one with --port."
        ) from None
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


@replay.command()
def compare(
    name: Name,
    grades: Annotated[list[Path] | None, typer.Option(help="A reader's filled-in file; once for each reader.")] = None,
    own: Annotated[str, typer.Option(help="The model's own answer: as `written` in the turn, or `alone`.")] = "written",
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 0,
) -> None:
    """Write blind pairs of the model's own and the final answer; with --grades, score what two readers said of them."""
    from evals.replay.pairs import GRADES, KEY, PAIRS, graded, write_pairs
    from prompts.errors import InputError

    folder = _folder(name)
    if grades:
        for figure in graded(folder, grades):
            interval = f"  ({figure.ci95[0]:.1f} to {figure.ci95[1]:.1f})" if figure.ci95 else ""
            kappa = figure.name.endswith("kappa")
            value = f"{figure.value:.2f}" if kappa else f"{round(figure.value * figure.n / 100)} of {figure.n}"
            typer.echo(f"{figure.name:28} {value}{interval}")
        return
    if own not in ("written", "alone"):
        raise InputError(f"There is no {own} answer of the model.", "Choose written or alone.")
    count = write_pairs(folder, own, seed)  # type: ignore[arg-type]
    typer.echo(f"Pairs: {count}, in {folder / PAIRS}; each reader fills in a copy of {GRADES}. The key is {KEY}.")


@replay.command()
def purge(name: Name) -> None:
    """Delete a run with its sessions and all its files."""
    import shutil

    from agent.loop import run
    from agent.sessions import open_records
    from agent.sessions.ids import UnknownSession
    from agent.settings import load_settings

    folder = _folder(name)
    held = [place.read_text(encoding="utf-8") for place in folder.glob("*/session")]

    async def delete() -> None:
        async with open_records(load_settings()) as records:
            for session in held:
                with contextlib.suppress(UnknownSession):
                    await records.delete(session)

    run(delete())
    shutil.rmtree(folder, ignore_errors=True)
    typer.echo(f"{name} is deleted, with {len(held)} sessions.")


def _folder(name: str) -> Path:
    from agent.sessions import Home
    from agent.settings import load_settings
    from prompts.errors import InputError

    if not NAME.fullmatch(name):
        raise InputError(f"{name} is no name of a run.", "Use letters, digits, - and _.")
    return Home(load_settings().home).prepare().replays / name


def _tell(played: Played) -> None:
    """A question's outcome on a line, and the files that it waits for."""
    state = "answered" if played.answered else f"waits for {len(played.waits_for)}"
    typer.echo(f"{played.question.id:>3} {played.question.kind:9} {state}")
    for place in played.waits_for:
        typer.echo(f"      {place}")
    for wrong in played.unreadable:
        typer.echo(f"      cannot be read: {wrong}")


def _tell_waiting(url: str, recording: Recording) -> None:
    typer.echo(f"{url}: {len(recording.waiting)} requests wait for a reply")
    for place in recording.waiting.values():
        typer.echo(f"  {place}")
    for place, why in recording.unreadable.items():
        typer.echo(f"  {place.name} cannot be read: {why}")

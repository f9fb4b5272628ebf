"""`anamnesis differential`: a ranking that asks, takes the answer, and ranks again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from agent.assembly import open_encoder
from agent.cli.chat import LEAVE
from agent.cli.console import console, open_home, print_json, progress_console
from agent.cli.render import show_edge, show_emergency, show_ranking
from agent.interview import Interview, Read
from agent.knowledge_graph import open_graph
from agent.messages import check_message
from graphs.answering.presentation import ranked
from prompts.errors import InputError
from tools.knowledge_graph.questions import PLACE
from tools.messages import messages

STOP = LEAVE | {"stop", "/stop", "停止", "停", "结束"}


def differential(
    text: Annotated[str, typer.Argument(help="A case; without it, or for -, its first line is asked for.")] = "",
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Take the answers from this file, one a line (UTF-8).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line and step.")] = False,
) -> None:
    """`anamnesis differential`: rank and ask until there is nothing to ask, or the answers end.

    Raises:
        InputError: no case, one that is too long or no text, or a file of answers that cannot be read.
    """
    settings, home = open_home()
    replies = _lines_of(answers) if answers is not None else _typed()
    case = text if text not in ("", "-") else _first(_typed() if answers is not None else replies)
    case = check_message(case, settings.max_characters, "The case")
    encoder = open_encoder(settings, home)
    try:
        talk = Interview(open_graph(settings, home, encoder), case)
        _show(talk, as_json=as_json)
        while talk.question is not None and (said := next(replies, None)) is not None and said.lower() not in STOP:
            _turn(talk, check_message(said, settings.max_characters, "An answer"), as_json=as_json)
    finally:
        encoder.close()


def _turn(talk: Interview, said: str, *, as_json: bool) -> None:
    asked = talk.question
    read = talk.reply(said)
    if as_json:
        _write(talk, reply={"to": None if asked is None else asked.finding, "text": said, "read": read.value})
    elif read in (Read.ANSWER, Read.MORE):
        _show(talk, as_json=False)
    elif read is Read.WHY and asked is not None:
        console().print(escape(asked.why))
    else:
        progress_console().print(messages(talk.language)[f"interview.{read.value}"], style="yellow")


def _show(talk: Interview, *, as_json: bool) -> None:
    """The emergency first, the ranking, the next question."""
    if as_json:
        _write(talk, reply=None)
        return
    words, out = messages(talk.language).group("interview"), console()
    show_emergency(out, [(flag.advice, flag.seen) for flag in talk.emergency], talk.language)
    if talk.differential.ranking:
        ranking = ranked(talk.differential, talk.differential.ranking, talk.language)
        show_edge(out, ranking)
        show_ranking(out, ranking)
    else:
        out.print(words["nothing_ranked"])
    if talk.question is None:
        out.print(words["nothing_to_ask"])
    else:
        hint = words["hint_place" if talk.question.finding == PLACE else "hint"]
        out.print(f"[bold]{words['ask']}:[/] {escape(talk.question.text)}  [dim]({hint})[/]")


def _write(talk: Interview, *, reply: dict[str, Any] | None) -> None:
    step = {
        "reply": reply,
        "language": talk.language,
        "case": talk.case,
        "emergency": [f.model_dump() for f in talk.emergency],
        "question": None if talk.question is None else talk.question.model_dump(),
        "differential": talk.differential.model_dump(mode="json"),
    }
    print_json(step, indent=None)


def _first(lines: Iterator[str]) -> str:
    if sys.stdin.isatty():
        progress_console().print("The case in one line:")
    return next(lines, "")


def _lines_of(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.", "Give a file with one answer a line.") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read as UTF-8 text.", "Give a file with one answer a line.") from None
    return iter([line.strip() for line in text.splitlines() if line.strip()])


def _typed() -> Iterator[str]:
    """Lines from standard input; on a terminal an empty one ends them."""
    if sys.stdin.isatty():
        while True:
            try:
                line = console().input("> ").strip()
            except EOFError:
                return
            if not line:
                return
            yield line
    for raw in iter(sys.stdin.buffer.readline, b""):
        if raw.strip():
            yield raw.decode("utf-8", errors="surrogateescape").strip()

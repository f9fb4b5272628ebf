"""`anamnesis ask` and `anamnesis resume`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from agent.agent import Agent
from agent.cli.render import console, progress_console, show_answer, show_step
from agent.conversation import Step
from agent.given import given_evidence, read_given
from agent.messages import check_message
from agent.settings import Settings, load_settings
from graphs.answering.contract import Answer
from prompts.errors import InputError

# A turn on standard error: a line a finished step, and on a terminal the answer while a model writes it.
TITLE = "Draft, not yet verified"
SHOWN = 1200  # characters of a draft that are shown, its end; ours: a panel that fits a small terminal


class Progress:
    """Shows the steps of a turn. A draft vanishes with the step that wrote it: the verified answer takes its place.

    Args:
        quiet: show nothing. out: the console; drafts are shown only where it is a terminal.
    """

    def __init__(self, *, quiet: bool = False, out: Console | None = None) -> None:
        self._quiet, self._out = quiet, out or progress_console()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def show(self, step: Step) -> None:
        """Show a step as it happens."""
        if self._quiet:
            return
        if step.status == "text":
            self._draft(step.text)
            return
        if step.status == "finished":
            self._close()
        show_step(step, self._out)

    def _draft(self, text: str) -> None:
        if not self._out.is_terminal:
            return
        if self._live is None:
            self._live = Live(console=self._out, transient=True, auto_refresh=False)
            self._live.start()
        shown = text if len(text) <= SHOWN else "… " + text[-SHOWN:]
        panel = Panel(Text(shown, style="dim"), title=TITLE, title_align="left", border_style="yellow")
        self._live.update(panel, refresh=True)

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


class Asked(NamedTuple):
    """What was asked, as the command line has it."""

    message: str
    session: str | None
    options: list[str]
    given: list[Path]
    config: str = ""
    report: bool = False
    explain: bool = False


def ask_once(asked: Asked, *, as_json: bool, quiet: bool) -> None:
    """Answer one message, with the texts of the files given with it, and print it."""
    settings = settings_for(asked.config)
    text = check_message(read_message(asked.message), settings.max_characters)
    chosen = parse_options(asked.options)
    texts = read_given(asked.given)
    given_evidence(texts, settings.max_characters)  # a mistake is told before anything is loaded
    session = asked.session
    with Agent(settings) as agent:
        if session is not None:
            agent.session(session, create=False)
        events = agent.stream(text, session=session, options=chosen, given=texts, report=asked.report)
        answer = follow(events, quiet=quiet or as_json)
    print_answer(answer, as_json=as_json, explain=asked.explain)


def settings_for(config: str) -> Settings:
    """The settings of this environment, with the published configuration of ``--config`` where one is named."""
    return load_settings(config=config) if config else load_settings()


def resume_turn(session: str, *, as_json: bool, explain: bool = False) -> None:
    """Finish the session's last turn, or show its answer again."""
    with Agent(load_settings()) as agent:
        answer = agent.resume(session)
    print_answer(answer, as_json=as_json, explain=explain)


def read_message(message: str) -> str:
    """The message itself, or standard input for ``-``; raises InputError when that is not UTF-8 text."""
    if message != "-":
        return message
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("Standard input is not UTF-8 text.", "Send plain text.") from None


def parse_options(options: list[str]) -> dict[str, str] | None:
    """``A=text`` pairs to a mapping; raises InputError for anything else."""
    chosen: dict[str, str] = {}
    for option in options:
        letter, equals, text = option.partition("=")
        if not equals or not letter.strip() or not text.strip() or letter.strip() in chosen:
            raise InputError(f"{option!r} is no option.", "Write each option once, as A=text.")
        chosen[letter.strip()] = text.strip()
    return chosen or None


def follow(events: Iterator[Step | Answer], *, quiet: bool) -> Answer:
    """Show the steps on standard error as they happen; returns the answer."""
    with Progress(quiet=quiet) as progress:
        for event in events:
            if isinstance(event, Answer):
                return event
            progress.show(event)
    raise InputError("The turn ended without an answer.", "Ask again.")


def print_answer(answer: Answer, *, as_json: bool, indent: int | None = 2, explain: bool = False) -> None:
    """Print an answer for people, with the gate's whole decision where asked for, or as JSON, which always has it."""
    if as_json:
        sys.stdout.write(answer.to_json(indent=indent) + "\n")
        sys.stdout.flush()
    else:
        show_answer(console(), answer, explain=explain)

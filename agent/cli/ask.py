"""`anamnesis ask` and `anamnesis resume`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agent.agent import Agent
from agent.cli.progress import Progress
from agent.cli.render import console, show_answer
from agent.conversation import Step
from agent.given import given_evidence, read_given
from agent.messages import check_message
from agent.settings import Settings, load_settings
from graphs.answering.contract import Answer
from prompts.errors import InputError


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

"""`anamnesis ask`, `anamnesis resume` and `anamnesis chat`."""

from __future__ import annotations

import asyncio
import queue
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from agent.agent import Agent
from agent.cli.console import (
    LEAVE,
    ConfigOption,
    SessionOption,
    console,
    print_json,
    progress_console,
    read_message,
    say,
    silent,
)
from agent.cli.references import ReferencesOption, write_references
from agent.cli.render import doing, show_answer, show_gate, show_step
from agent.conversation import Session, Step
from agent.loop import run
from agent.messages import check_message, given_evidence, read_given
from agent.settings import Settings, load_settings
from graphs.answering.contract import Answer
from prompts.errors import AnamnesisError, InputError
from tools.contract import FollowUpQuestion
from tools.references.forms import form_of

# A turn on standard error: a line a finished step, and what its tools do meanwhile: on a terminal in one line that
# vanishes, elsewhere in a line each. Only a terminal shows the answer while a model writes it.
TITLE = "Draft, not yet verified"
ExplainOption = Annotated[
    bool, typer.Option("--explain", "-e", help="Why the gate retrieved or not, sentence by sentence.")
]
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
        elif step.status == "progress" and self._out.is_terminal:
            self._now(doing(step))
        else:
            if step.status == "finished":
                self._close()
            show_step(step, self._out)

    def _draft(self, text: str) -> None:
        if not self._out.is_terminal:
            return
        shown = text if len(text) <= SHOWN else "… " + text[-SHOWN:]
        panel = Panel(Text(shown, style="dim"), title=TITLE, title_align="left", border_style="yellow")
        self._now(panel)

    def _now(self, shown: RenderableType) -> None:
        if self._live is None:
            self._live = Live(console=self._out, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(shown, refresh=True)

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def ask(
    message: Annotated[str, typer.Argument(help="A case or a question; - reads it from standard input.")],
    session: SessionOption = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="An option, as A=text; repeat it.")] = None,
    given: Annotated[
        list[Path] | None, typer.Option("--given", help="A text file to answer from (UTF-8); repeat it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the stable JSON form.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No steps while it works.")] = False,
    references: ReferencesOption = None,
    report: Annotated[bool, typer.Option("--report", help="For a case, a report beside the answer.")] = False,
    explain: ExplainOption = False,
    config_name: ConfigOption = "",
) -> None:
    """`anamnesis ask`: answer one message, with the texts of the files given with it."""
    settings = settings_for(config_name)
    form_of(references)
    text = check_message(read_message(message), settings.max_characters)
    chosen = parse_options(option or [])
    texts = read_given(given or [])
    given_evidence(texts, settings.max_characters)  # a mistake is told before anything is loaded
    with Agent(settings, say=silent if quiet or as_json else say) as agent:
        if session is not None:
            agent.session(session, create=False)
        events = agent.stream(text, session=session, options=chosen, given=texts, report=report)
        answer = follow(events, quiet=quiet or as_json)
        cited = run(agent.records.references(answer.session, turn=answer.turn)) if references is not None else None
    if references is not None and cited is not None:
        write_references(cited, references)
    print_answer(answer, as_json=as_json, explain=explain)


def resume(
    session: Annotated[str, typer.Argument(help="The session.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the stable JSON form.")] = False,
    explain: ExplainOption = False,
) -> None:
    """`anamnesis resume`: finish the session's last turn, or show its answer again."""
    with Agent(load_settings()) as agent:
        answer = agent.resume(session, owner=None)
    print_answer(answer, as_json=as_json, explain=explain)


def settings_for(config: str) -> Settings:
    """The settings of this environment, with the published configuration of ``--config`` where one is named."""
    return load_settings(config=config) if config else load_settings()


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


GATE = {"/gate", "/判断"}  # why the last answer was retrieved for, or not
HINT = "An empty line or 'exit' ends it; it can be resumed. '/gate' tells why evidence was retrieved or not."
NOTHING_YET = "Nothing was answered yet in this session."


def chat(
    session: SessionOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON answer a line.")] = False,
    ask: Annotated[
        bool, typer.Option("--ask", help="Be asked the next best question before a case is researched.")
    ] = False,
    config_name: ConfigOption = "",
) -> None:
    """`anamnesis chat`: turns from standard input until it ends."""
    with Agent(settings_for(config_name), say=silent if as_json else say) as agent:
        conversation = agent.session(session, create=False) if session else agent.session()
        title = run(agent.records.get(session)).title if session else ""
        named = f"Session {conversation.id}" + (f", {title}" if title else "")
        progress_console().print(f"{named}. {HINT}", markup=False)
        last: Answer | None = None  # of this run of the program
        if session and agent.unfinished(session):
            last = conversation.resume()
            print_answer(last, as_json=as_json, indent=None)
        while (message := _read()) is not None:
            if message.lower() in GATE:
                _explain(last, conversation if session else None, as_json=as_json)
            else:
                last = _turn(conversation, message, as_json=as_json, ask=ask) or last
        progress_console().print(f"Go on with: anamnesis chat --session {conversation.id}")


def _turn(conversation: Session, message: str, *, as_json: bool, ask: bool) -> Answer | None:
    """The turn's answer, printed; None where an error ended it."""
    replies: queue.SimpleQueue[str] = queue.SimpleQueue()

    async def replying(_: FollowUpQuestion) -> str:
        return await asyncio.to_thread(replies.get)

    try:
        events = conversation.stream(message, replying=replying if ask else None)
        answer = follow(_asked(events, replies, as_json=as_json), quiet=as_json)
    except AnamnesisError as error:  # it ends the turn, not the conversation
        progress_console().print(f"{error}", style="red", markup=False)
        return None
    print_answer(answer, as_json=as_json, indent=None)
    return answer


def _asked(
    events: Iterator[Step | Answer], replies: queue.SimpleQueue[str], *, as_json: bool
) -> Iterator[Step | Answer]:
    """The events; a question among them is put to the user, whose line, or an empty one, is the reply."""
    for event in events:
        if isinstance(event, Step) and event.status == "asks":
            if as_json:
                print_json(event.data, indent=None)
            else:
                console().print(event.summary, style="bold", markup=False)
            replies.put(_read() or "")
        else:
            yield event


def _explain(last: Answer | None, earlier: Session | None, *, as_json: bool) -> None:
    """The gate's decision on the last answer, of an earlier run of the program where this one has none yet."""
    try:
        answer = last or (earlier.resume() if earlier is not None else None)
    except AnamnesisError as error:
        progress_console().print(f"{error}", style="red", markup=False)
        return
    if answer is None:
        progress_console().print(NOTHING_YET, style="yellow")
    elif as_json:
        gate = answer.gate.model_dump(mode="json") if answer.gate is not None else None
        print_json({"gate": gate}, indent=None)
    else:
        show_gate(console(), answer.gate_explained, answer.language)


def _read() -> str | None:
    """The next message; None at the end of the input or when the user leaves."""
    if sys.stdin.isatty():
        try:
            line = console().input("[bold]you[/] > ")
        except EOFError:
            return None
    else:
        line = next((raw for raw in iter(sys.stdin.buffer.readline, b"") if raw.strip()), b"").decode(
            "utf-8", errors="surrogateescape"
        )
    line = line.strip()
    return None if not line or line.lower() in LEAVE else line

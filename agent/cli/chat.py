"""`anamnesis chat`."""

from __future__ import annotations

import asyncio
import queue
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from agent.agent import Agent
from agent.cli.ask import follow, print_answer, settings_for
from agent.cli.console import ConfigOption, SessionOption, console, print_json, progress_console, say, silent
from agent.cli.render import show_gate
from agent.conversation import Session, Step
from agent.loop import run
from graphs.answering.contract import Answer
from prompts.errors import AnamnesisError
from tools.contract import FollowUpQuestion

LEAVE = {"exit", "quit", "/exit", "/quit", "退出"}
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

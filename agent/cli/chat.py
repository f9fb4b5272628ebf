"""`anamnesis chat` and `anamnesis sessions`."""

from __future__ import annotations

import sys

from agent.agent import Agent
from agent.cli.ask import follow, print_answer, settings_for
from agent.cli.render import console, progress_console
from agent.conversation import Session
from agent.settings import load_settings
from prompts.errors import AnamnesisError

LEAVE = {"exit", "quit", "/exit", "/quit", "退出"}


def talk(session: str | None, *, as_json: bool, config: str = "") -> None:
    """Turns from standard input until it ends."""
    with Agent(settings_for(config)) as agent:
        conversation = agent.session(session, create=False) if session else agent.session()
        progress_console().print(f"Session {conversation.id}. An empty line or 'exit' ends it; it can be resumed.")
        if session and agent.unfinished(session):
            print_answer(conversation.resume(), as_json=as_json, indent=None)
        while (message := _read()) is not None:
            _turn(conversation, message, as_json=as_json)
        progress_console().print(f"Go on with: anamnesis chat --session {conversation.id}")


def list_or_delete(delete: str | None) -> None:
    """Print the sessions' ids, last used first, or delete one."""
    with Agent(load_settings()) as agent:
        if delete is not None:
            agent.delete_session(delete)
            sys.stdout.write(f"Session {delete} is deleted.\n")
            return
        for session in agent.sessions():
            mark = "  (unfinished: anamnesis resume " + session + ")" if agent.unfinished(session) else ""
            sys.stdout.write(session + mark + "\n")


def _turn(conversation: Session, message: str, *, as_json: bool) -> None:
    try:
        answer = follow(conversation.stream(message), quiet=as_json)
    except AnamnesisError as error:  # it ends the turn, not the conversation
        progress_console().print(f"{error}", style="red", markup=False)
        return
    print_answer(answer, as_json=as_json, indent=None)


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

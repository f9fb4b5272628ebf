"""The command `anamnesis`: its commands, and the one place where errors become messages and exit codes.

A command is imported when it is called: the table below is all that `anamnesis --help` needs of it.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Entry(NamedTuple):
    """A command of the table.

    Attributes:
        section: the part of the help that lists it; the first is for everybody.
        module: what holds it under its own name, a function or a group, below `agent.cli` where it has no dot;
            "" for a group of the entries whose names begin with its own.
        help: what the help says of it.
        attribute: what it is called there, where not as the command.
    """

    section: str
    module: str
    help: str
    attribute: str = ""


EVERYBODY, DETAIL, KNOWLEDGE = "Commands", "A case or an answer in detail", "Knowledge in bulk"
INSTALLATION, DEVELOPMENT = "This installation", "Evaluation and development"
SECTIONS = (EVERYBODY, DETAIL, KNOWLEDGE, INSTALLATION, DEVELOPMENT)
COMMANDS = {
    "ask": Entry(EVERYBODY, "ask", "Answer a case or a medical question."),
    "chat": Entry(EVERYBODY, "ask", "Talk in a session that outlives the program."),
    "search": Entry(EVERYBODY, "search", "Search PubMed or a mirror, and see how it was searched."),
    "library": Entry(EVERYBODY, "library", "Your own documents: add, list, remove, check."),
    "knowledge": Entry(EVERYBODY, "knowledge", "Open sources (drug labels, guidelines, ...): import, update."),
    "sessions": Entry(EVERYBODY, "sessions", "What was asked before: list, show, export, changes, review, delete."),
    "serve": Entry(EVERYBODY, "serve", "Serve the web page, an API, chat completions and MCP."),
    "doctor": Entry(EVERYBODY, "doctor", "Check this installation, and list every address it may call."),
    "resume": Entry(DETAIL, "ask", "Finish a turn that was cut off, or show the last answer again."),
    "trace": Entry(DETAIL, "trace", "List runs, or show what one did, and why, step by step."),
    "differential": Entry(DETAIL, "differential", "Rank what a case may be, and ask the next best question."),
    "calculate": Entry(DETAIL, "calculate", "Clinical calculators (eGFR, CHA2DS2-VASc, Wells, ...)."),
    "icd10": Entry(DETAIL, "icd10", "Link the diagnoses of a text to ICD-10 codes."),
    "questions": Entry(KNOWLEDGE, "questions", "Questions that your documents answer, prepared offline."),
    "kg": Entry(KNOWLEDGE, "kg", "The diagnostic knowledge graph: look, check, build, export."),
    "index": Entry(KNOWLEDGE, "index", "Collections of millions of publications; vectors of PubMed."),
    "mirror": Entry(KNOWLEDGE, "mirror", "A PubMed of your own: import, export, serve."),
    "setup": Entry(INSTALLATION, "setup", "Build once what is slow to build."),
    "config": Entry(INSTALLATION, "config", "Published methods, set as their sources state them."),
    "keys": Entry(INSTALLATION, "keys", "Keys of the server: create, list, revoke."),
    "mcp": Entry(INSTALLATION, "mcp", "Serve clients of the Model Context Protocol."),
    "completion": Entry(INSTALLATION, "completion", "Print what completes this command in bash, zsh or fish."),
    "version": Entry(INSTALLATION, "completion", "Print the version."),
    "dev": Entry(DEVELOPMENT, "", "Look inside, measure and train: the machine, benchmarks, ..."),
    "dev graph": Entry(EVERYBODY, "setup", "Print the machine as a Mermaid diagram."),
    "dev passages": Entry(EVERYBODY, "passages", "Show how a document is cut into passages, and why there."),
}
# Names of before the commands were grouped, hidden, for one version; `evals` adds its own.
MOVED = {"graph": "dev graph", "passages": "dev passages", "embeddings": "index embeddings"}
COMPLETE = "_ANAMNESIS_COMPLETE"  # set by the shell's completion script


# What answers one thing and ends: its launcher switches the collector of garbage off.
BRIEF = frozenset({"ask", "calculate", "doctor", "icd10", "resume", "search", "trace"})


class LazyCommand(TyperCommand):
    """A command of the table: its name and help, until it is called."""

    def __init__(self, path: str) -> None:
        super().__init__(path.rpartition(" ")[2], help=COMMANDS[path].help)
        self._entry = COMMANDS[path]

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, imported now."""
        return self.imported().make_context(info_name, args, parent=parent, **extra)

    def imported(self) -> Any:
        """The command itself."""
        name, module = str(self.name), self._entry.module
        room = import_module(module if "." in module else f"agent.cli.{module}")
        found = getattr(room, self._entry.attribute or name)
        command: Any
        if isinstance(found, typer.Typer):
            command = typer.main.get_group(found)
        else:
            single = typer.Typer(rich_markup_mode=None, add_completion=False)
            single.command(name)(found)
            command = typer.main.get_command(single)
        command.name, command.help = name, self.help
        return command


class Commands(TyperGroup):
    """The commands of the table below a name, "" for the top, each in its section of the help."""

    def __init__(self, *, within: str = "", **given: Any) -> None:
        super().__init__(**given)
        self._within = within
        for path, entry in COMMANDS.items():
            parent, _, name = path.rpartition(" ")
            if parent == within:
                self.commands[name] = LazyCommand(path) if entry.module else _group_of(path)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first argument; an old name leads, with a word on it, to where it went."""
        if not self._within and args and args[0] in MOVED:
            now = MOVED[args[0]]
            if not ctx.resilient_parsing:
                sys.stderr.write(
                    f"`anamnesis {args[0]}` is now `anamnesis {now}`; the next version drops the old name.\n"
                )
            args = [*now.split(), *args[1:]]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in the help, a section at a time."""
        del ctx
        for section in SECTIONS:
            named = [(n, c) for n, c in self.commands.items() if self._section(n) == section and not c.hidden]
            if named:
                with formatter.section(section):
                    formatter.write_dl([(n, c.help or "") for n, c in named])

    def _section(self, name: str) -> str:
        entry = COMMANDS.get(f"{self._within} {name}".strip())
        return entry.section if entry is not None else DEVELOPMENT


def _group_of(path: str) -> Commands:
    """A group of the table."""
    return Commands(name=path, within=path, help=COMMANDS[path].help, no_args_is_help=True, rich_markup_mode=None)


app = typer.Typer(
    name="anamnesis",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def anamnesis() -> None:
    """An agentic medical evidence assistant that cites every sentence, offline too."""


def run() -> None:
    """Run the command line; a user's mistake ends in a message and an exit code, never in a traceback."""
    from prompts.errors import AnamnesisError
    from tools.files import told_when_full

    try:
        for point in entry_points(group="anamnesis.commands"):
            point.load()(app)
        if COMPLETE in os.environ:
            from typer.completion import get_completion_inspect_parameters

            get_completion_inspect_parameters()  # typer learns its shells only where it offers options for that
        with told_when_full("What was to be kept"):
            app(prog_name="anamnesis")
    except AnamnesisError as error:
        sys.stderr.write(f"anamnesis: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None

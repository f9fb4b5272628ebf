"""The command `anamnesis`: its commands, and the one place where errors become messages and exit codes.

A command is imported when it is called: the table below is all that `anamnesis --help` needs of it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import entry_points
from importlib.metadata import version as installed
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {  # name: the module that has it under this name, a function or a group; what the help says of it
    "ask": ("ask", "Answer a case or a medical question."),
    "chat": ("chat", "Talk in a session that outlives the program."),
    "resume": ("ask", "Finish a turn that was cut off, or show a session's last answer again."),
    "trace": ("trace", "Show what a run did: steps, times, queries, what was kept and dropped and why."),
    "search": ("search", "Search PubMed or a mirror by the Boolean ladder, and show plan, rungs and documents."),
    "doctor": ("doctor", "Check models, data folder and indexes, and list every endpoint that may be called."),
    "graph": ("setup", "Print the machine as a Mermaid diagram."),
    "setup": ("setup", "Build what is slow to build once: library embeddings, the compiled graph, ontology tables."),
    "passages": ("passages", "Show how a document is cut into passages: breakpoints, overlaps, tokens."),
    "serve": ("serve", "Serve conversations over HTTP: the web page, a native API, OpenAI's chat completions, MCP."),
    "mcp": ("mcp", "Serve clients of the Model Context Protocol: the five tools, `ask`, traces and sessions."),
    "differential": (
        "differential",
        "Rank what a case may be, ask the next best question, and refine with each answer.",
    ),
    "calculate": ("calculate", "Clinical calculators (eGFR, CHA2DS2-VASc, Wells, ...), each with inputs and source."),
    "icd10": ("icd10", "Link diagnoses of a free text to ICD-10: phrase, code, name, score; denied ones are left out."),
    "sessions": (
        "sessions",
        "Sessions: list, show, rename, export, review, delete. Without a command they are listed.",
    ),
    "knowledge": ("knowledge", "Open sources (drug labels, health topics, ...): list, add, update, remove, show."),
    "library": ("library", "Your own documents: add, list, remove, check."),
    "questions": (
        "questions",
        "Questions that your documents answer, prepared offline: build, search, learn, test sets.",
    ),
    "embeddings": ("embeddings", "NCBI's published vectors of PubMed."),
    "config": ("config", "Published configurations: the methods as their sources state them, and their ablations."),
    "mirror": ("mirror", "A PubMed of one's own."),
    "kg": ("kg", "The diagnostic knowledge graph: look, check, build, import, export."),
    "index": ("index", "Collections of publications built at scale."),
    "keys": ("keys", "Keys of the server: create, list, revoke."),
}


class LazyCommand(TyperCommand):
    """A command of the table: its name and help, until it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, imported now."""
        name = str(self.name)
        module = COMMANDS[name][0]
        found = getattr(import_module(module if "." in module else f"agent.cli.{module}"), name)
        command: Any
        if isinstance(found, typer.Typer):
            command = typer.main.get_group(found)
        else:
            single = typer.Typer(rich_markup_mode=None, add_completion=False)
            single.command(name)(found)
            command = typer.main.get_command(single)
        command.name, command.help = name, self.help
        return command.make_context(info_name, args, parent=parent, **extra)


class Commands(TyperGroup):
    """The commands of the table, and those that are added."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        table = {name: LazyCommand(name, help=about) for name, (_, about) in COMMANDS.items()}
        self.commands = {**table, **self.commands}


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


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"anamnesis {installed('anamnesis')}")


def run() -> None:
    """Run the command line; a user's mistake ends in a message and an exit code, never in a traceback."""
    from prompts.errors import AnamnesisError
    from tools.files import told_when_full

    try:
        for point in entry_points(group="anamnesis.commands"):
            point.load()(app)
        with told_when_full("What was to be kept"):
            app()
    except AnamnesisError as error:
        sys.stderr.write(f"anamnesis: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None

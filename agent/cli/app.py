"""The command `anamnesis`: its commands, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.config_commands import ConfigOption, config
from agent.cli.differential_command import differential
from agent.cli.gate_commands import gate
from agent.cli.icd10_command import icd10
from agent.cli.index_commands import index
from agent.cli.keys_commands import keys
from agent.cli.kg_commands import kg
from agent.cli.library_commands import embeddings, library
from agent.cli.mcp_command import mcp
from agent.cli.mirror_commands import mirror
from agent.cli.passages_command import passages
from agent.cli.questions_commands import questions
from agent.cli.serve_command import serve
from agent.cli.sessions_commands import sessions

app = typer.Typer(
    name="anamnesis",
    help="An agentic medical evidence assistant that cites every sentence, offline too.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ExplainOption = Annotated[
    bool, typer.Option("--explain", "-e", help="Why the gate retrieved or not, sentence by sentence.")
]
SessionOption = Annotated[str | None, typer.Option("--session", "-s", help="Go on in this session.")]


@app.command()
def ask(
    message: Annotated[str, typer.Argument(help="A case or a question; - reads it from standard input.")],
    session: SessionOption = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="An option, as A=text; repeat it.")] = None,
    given: Annotated[
        list[Path] | None, typer.Option("--given", help="A text file to answer from (UTF-8); repeat it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the stable JSON form.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No steps while it works.")] = False,
    report: Annotated[bool, typer.Option("--report", help="For a case, a report beside the answer.")] = False,
    explain: ExplainOption = False,
    config_name: ConfigOption = "",
) -> None:
    """Answer a case or a medical question."""
    from agent.cli.ask import Asked, ask_once

    asked = Asked(message, session, option or [], given or [], config_name, report, explain)
    ask_once(asked, as_json=as_json, quiet=quiet)


@app.command()
def chat(
    session: SessionOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON answer a line.")] = False,
    config_name: ConfigOption = "",
) -> None:
    """Talk in a session that outlives the program."""
    from agent.cli.chat import talk

    talk(session, as_json=as_json, config=config_name)


@app.command()
def resume(
    session: Annotated[str, typer.Argument(help="The session.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the stable JSON form.")] = False,
    explain: ExplainOption = False,
) -> None:
    """Finish a turn that was cut off, or show a session's last answer again."""
    from agent.cli.ask import resume_turn

    resume_turn(session, as_json=as_json, explain=explain)


@app.command()
def trace(
    run: Annotated[str | None, typer.Argument(help="A run, as session/turn; without it all are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as JSON lines.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write the run as one HTML page to this file.")] = None,
    beside: Annotated[str | None, typer.Option(help="With --html: another run, to stand beside it.")] = None,
) -> None:
    """Show what a run did: steps, times, queries, what was kept and dropped and why."""
    if html is not None or beside is not None:
        from agent.cli.trace_page import write_page

        write_page(run, html, beside)
        return
    from agent.cli.trace import show_trace

    show_trace(run, as_json=as_json)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="A question or a narrative; - reads it from standard input.")] = "",
    limit: Annotated[int, typer.Option(help="Documents shown.", min=1, max=200)] = 20,
    strategy: Annotated[Path | None, typer.Option(help="Save the search strategy in this file (JSON).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a PRISMA-S style account there; - prints it.")] = None,
    repeat: Annotated[Path | None, typer.Option("--rerun", help="Repeat a saved strategy.")] = None,
    since: Annotated[str | None, typer.Option(help="With --rerun: new is what was entered since this date.")] = None,
    mirror: Annotated[Path | None, typer.Option(help="Search this local mirror instead of live PubMed.")] = None,
    case: Annotated[bool, typer.Option("--case", help="It is about a patient: only medical words are used.")] = False,
    keep_question: Annotated[bool, typer.Option(help="Keep the words of the question in the strategy.")] = False,
    show_terms: Annotated[
        bool, typer.Option("--show-terms", help="Show what would be sent, and send nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search PubMed or a mirror by the Boolean ladder, and show plan, rungs and documents."""
    from agent.cli.search import Wanted, search_again, search_once

    wanted = Wanted(limit, strategy, report, mirror, case, keep_question, as_json, show_terms)
    if repeat is not None:
        search_again(repeat, question, wanted, since=since)
    else:
        search_once(question, wanted, since=since)


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check models, data folder and indexes, and list every endpoint that may be called."""
    from agent.cli.doctor import examine

    raise typer.Exit(examine(as_json=as_json))


@app.command()
def graph() -> None:
    """Print the machine as a Mermaid diagram."""
    from agent.cli.setup import print_graph

    print_graph()


@app.command()
def setup(
    rebuild: Annotated[bool, typer.Option(help="Build everything afresh.")] = False,
) -> None:
    """Build what is slow to build once: library embeddings, the compiled graph, ontology tables."""
    from agent.cli.setup import build_all

    build_all(rebuild=rebuild)


app.add_typer(sessions, name="sessions")
app.add_typer(library, name="library")
app.add_typer(questions, name="questions")
app.add_typer(embeddings, name="embeddings")
app.add_typer(config, name="config")
app.command()(passages)
app.add_typer(mirror, name="mirror")
app.add_typer(kg, name="kg")
app.add_typer(index, name="index")
app.add_typer(gate, name="gate")
app.command()(serve)
app.add_typer(keys, name="keys")
app.command()(mcp)
app.command()(differential)
app.command()(icd10)


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

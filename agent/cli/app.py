"""The command `anamnesis`: its commands, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.differential_command import differential
from agent.cli.kg_commands import kg
from agent.cli.mirror_commands import mirror
from agent.cli.passages_command import passages

app = typer.Typer(
    name="anamnesis",
    help="An agentic medical evidence assistant that cites every sentence, offline too.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

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
) -> None:
    """Answer a case or a medical question."""
    from agent.cli.ask import ask_once

    ask_once(message, session=session, options=option or [], given=given or [], as_json=as_json, quiet=quiet)


@app.command()
def chat(
    session: SessionOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON answer a line.")] = False,
) -> None:
    """Talk in a session that outlives the program."""
    from agent.cli.chat import talk

    talk(session, as_json=as_json)


@app.command()
def resume(
    session: Annotated[str, typer.Argument(help="The session.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the stable JSON form.")] = False,
) -> None:
    """Finish a turn that was cut off, or show a session's last answer again."""
    from agent.cli.ask import resume_turn

    resume_turn(session, as_json=as_json)


@app.command()
def sessions(
    delete: Annotated[str | None, typer.Option(help="Delete this session and all that it left.")] = None,
) -> None:
    """List sessions, or delete one."""
    from agent.cli.chat import list_or_delete

    list_or_delete(delete)


@app.command()
def trace(
    run: Annotated[str | None, typer.Argument(help="A run, as session/turn; without it all are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The events as JSON lines.")] = False,
) -> None:
    """Show what a run did: steps, times, queries, what was kept and dropped and why."""
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search PubMed or a mirror by the Boolean ladder, and show plan, rungs and documents."""
    from agent.cli.search import Wanted, search_again, search_once

    wanted = Wanted(limit, strategy, report, mirror, case, keep_question, as_json)
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


library = typer.Typer(help="Your own documents: add, list, remove, check.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(library, name="library")
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@library.command("add")
def library_add(
    paths: Annotated[
        list[Path], typer.Argument(help="Files and folders (txt, md, html, pdf, JATS, PubMed XML, jsonl).")
    ],
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Take in documents; what is known already is not embedded twice, and a bad file is a row of the report."""
    from agent.cli.library import add_paths

    raise typer.Exit(add_paths(paths, as_json=as_json, quiet=quiet))


@library.command("list")
def library_list(as_json: JsonOption = False) -> None:
    """List your documents."""
    from agent.cli.library import list_documents

    list_documents(as_json=as_json)


@library.command("remove")
def library_remove(
    names: Annotated[
        list[str], typer.Argument(help="Ids of documents, or paths of the files or folders they came from.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Remove documents."""
    from agent.cli.library import remove_names

    remove_names(names, as_json=as_json)


@library.command("check")
def library_check(
    rebuild: Annotated[
        bool, typer.Option(help="Embed all stored texts again first, for example with another encoder.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that your documents are whole, and tell which of their files are gone or changed."""
    from agent.cli.library import check_library

    raise typer.Exit(check_library(rebuild=rebuild, as_json=as_json))


embeddings = typer.Typer(help="NCBI's published vectors of PubMed.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(embeddings, name="embeddings")


@embeddings.command("import")
def embeddings_import(
    folder: Annotated[Path, typer.Argument(help="With embeds_chunk_N.npy and pmids_chunk_N.json.")],
    encoder: Annotated[str, typer.Option(help="Name of the vectors' encoder; else the MedCPT that is set.")] = "",
    afresh: Annotated[bool, typer.Option("--afresh", help="Forget an import that was stopped.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    memory: Annotated[float, typer.Option(min=0.001, help="Gigabytes that a search may touch.")] = 4.0,
    recall: Annotated[float, typer.Option(min=0.5, max=1.0, help="The recall@10 to tune for.")] = 0.95,
) -> None:
    """Import the vectors into a compressed index; when stopped, run it again to go on."""
    from agent.cli.embeddings import import_vectors

    import_vectors(folder, encoder=encoder, afresh=afresh, quiet=quiet, memory=memory, recall=recall)


@embeddings.command("status")
def embeddings_status(
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Read every byte and compare checksums.")] = False,
) -> None:
    """Show the index of the imported vectors: size, type, measured recall and time."""
    from agent.cli.embeddings import show_status

    show_status(as_json=as_json, verify=verify)


app.command()(passages)
app.add_typer(mirror, name="mirror")
app.add_typer(kg, name="kg")
app.command()(differential)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"anamnesis {installed('anamnesis')}")


def run() -> None:
    """Run the command line; a user's mistake ends in a message and an exit code, never in a traceback."""
    from prompts.errors import AnamnesisError

    try:
        for point in entry_points(group="anamnesis.commands"):
            point.load()(app)
        app()
    except AnamnesisError as error:
        sys.stderr.write(f"anamnesis: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None

"""The commands of `anamnesis library` and `anamnesis embeddings`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

library = typer.Typer(help="Your own documents: add, list, remove, check.", no_args_is_help=True, rich_markup_mode=None)
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
def library_list(
    starter: Annotated[bool, typer.Option("--starter", help="The texts that come with the program instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List your documents, or the starter texts."""
    from agent.cli.library import list_documents, list_starter

    (list_starter if starter else list_documents)(as_json=as_json)


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

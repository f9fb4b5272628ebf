"""The commands of `anamnesis kg`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from prompts.errors import InputError

kg = typer.Typer(
    help="The diagnostic knowledge graph: look, check, build, import, export.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

GraphOption = Annotated[
    Path | None,
    typer.Option("--graph", help="A folder, .csv, .json or .graphml; else ANAMNESIS_KG_GRAPH, else the starter graph."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@kg.command()
def show(
    disease: Annotated[str, typer.Argument(help="Name or id of a disease; without it all are listed.")] = "",
    graph: GraphOption = None,
    case: Annotated[str, typer.Option(help="Look this case up instead; - reads it from standard input.")] = "",
    plot: Annotated[Path | None, typer.Option(help="With --case: draw the differential in this file (.svg).")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a disease's path L1 to L3 and its findings by role, or the differential of a case."""
    from agent.cli.kg_show import show_case, show_disease

    if case and disease:
        raise InputError("A disease and a case are given.", "Give one of them.")
    if case:
        show_case(case, graph, plot=plot, as_json=as_json)
    else:
        show_disease(disease, graph, plot=plot, as_json=as_json)


@kg.command()
def check(
    path: Annotated[Path | None, typer.Argument(help="A folder, .csv, .json or .graphml.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a graph and name everything that is wrong with it; exit code 3 when something is."""
    from agent.cli.kg import check_graph

    check_graph(path, as_json=as_json)


@kg.command()
def stats(graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """Count what a graph holds."""
    from agent.cli.kg import show_statistics

    show_statistics(graph, as_json=as_json)


@kg.command()
def export(
    file: Annotated[Path, typer.Argument(help="Ends in .csv (triples), .json or .graphml; else a folder of YAML.")],
    graph: GraphOption = None,
) -> None:
    """Write a graph to a plain file; imported again, it is the same graph."""
    from agent.cli.kg import export_graph

    export_graph(file, graph)


@kg.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A .csv, .json or .graphml file; triples of others are mended.")],
    out: Annotated[Path, typer.Option(help="The folder to write; use it with ANAMNESIS_KG_GRAPH.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a graph that lies there.")] = False,
) -> None:
    """Check a file and write its graph as a folder."""
    from agent.cli.kg import import_graph

    import_graph(file, out, force=force)


@kg.command()
def build(
    records: Annotated[Path, typer.Option(help=".jsonl or .csv: diagnosis (or pathology) and text a row.")],
    out: Annotated[Path, typer.Option(help="The folder to write; a build that was stopped there goes on.")],
    judge: Annotated[
        Literal["local", "model"], typer.Option(help="By rule, or by the language model of ANAMNESIS_MODEL.")
    ] = "local",
    confirmed: Annotated[
        Path | None, typer.Option(help="A merges.yaml that a person has gone through; it replaces the clustering.")
    ] = None,
    augment: Annotated[bool, typer.Option(help="Add what tells diseases apart (role a).")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Build a graph from patients' records."""
    from agent.cli.kg import Building, build_from_records

    build_from_records(Building(records, out, judge, confirmed, augment, quiet))

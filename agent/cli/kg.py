"""`anamnesis kg`: the diagnostic knowledge graph."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from agent.assembly import STARTER_LIBRARY, open_encoder
from agent.assembly import build as set_up
from agent.cli.bars import bars
from agent.cli.console import (
    JsonOption,
    QuietOption,
    console,
    group,
    open_home,
    print_json,
    say,
    table,
    tell,
    write_text,
    writing,
)
from agent.knowledge_graph import STARTER_GRAPH, open_builder, open_graph
from agent.settings import load_settings
from prompts.errors import InputError
from tools.contract import Differential
from tools.files import in_a_folder, named_file
from tools.knowledge_graph.building.build import MERGES, build_graph
from tools.knowledge_graph.building.files import HEAD, read_records
from tools.knowledge_graph.formats import read_any, write_any
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.overview import confusions, examine, picture, statistics
from tools.knowledge_graph.schema import Disease, Graph, Manifestation
from tools.messages import Messages, messages
from tools.text.language import language_of

CONFIRM = "Go through {}, then build again with --confirmed {}."
SHOWN = 10  # ours: diseases of a differential printed
NEAR = 5  # ours: diseases of a like name told
ALIKE = 70.0  # ours: least likeness of a name, 0..100, to be told as near

kg = group()
GraphOption = Annotated[
    Path | None,
    typer.Option("--graph", help="A folder, .csv, .json or .graphml; else ANAMNESIS_KG_GRAPH, else the starter graph."),
]


@kg.command()
def show(
    disease: Annotated[str, typer.Argument(help="Name or id of a disease; without it all are listed.")] = "",
    graph: GraphOption = None,
    case: Annotated[str, typer.Option(help="Look this case up instead; - reads it from standard input.")] = "",
    plot: Annotated[
        Path | None, typer.Option(help="With --case: draw the differential in this file (.svg).", callback=named_file)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a disease's path L1 to L3 and its findings by role, or the differential of a case."""
    if case and disease:
        raise InputError("A disease and a case are given.", "Give one of them.")
    if case:
        _show_case(case, graph, plot=plot, as_json=as_json)
        return
    if plot is not None:
        raise InputError("--plot draws the differential of a case.", "Give the case with --case.")
    held = _given(graph)
    if not disease:
        _list(held, as_json=as_json)
    elif as_json:
        print_json(_find(held, disease).model_dump(mode="json"))
    else:
        _show_disease(held, _find(held, disease))


@kg.command()
def check(
    path: Annotated[Path | None, typer.Argument(help="A folder, .csv, .json or .graphml.")] = None,
    kind: Annotated[str, typer.Option("--list", help="Name the pairs of one count, as one_sided.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Check a graph and name everything that is wrong with it; exit code 3 when something is.

    Of a written graph the distinctions that are doubtful are counted too, by the starter library's pages.
    """
    held = _given(path)
    found = examine(held, confusions(held, STARTER_LIBRARY)) if held.about.origin == "written" else None
    if kind and kind not in (found.counts if found else ()):
        raise InputError(f"There is no count {kind!r}.", "`anamnesis kg check` names them, of a written graph.")
    if kind and found:
        pairs = getattr(found, kind)
        print_json([list(pair) for pair in pairs]) if as_json else tell("\n".join(" | ".join(pair) for pair in pairs))
        return
    if as_json:
        about = {"graph": held.about.name, "origin": held.about.origin}
        counts = {"distinctions": found.counts} if found else {}
        print_json({**about, "diseases": len(held.diseases), "sound": True, **counts})
        return
    tell(f"{held.about.name} ({held.about.origin}): sound, {len(held.diseases)} diseases.")
    if held.about.note:
        tell(held.about.note)
    for name, number in found.counts.items() if found else ():
        tell(f"{number:>8,}  {name.replace('_', ' ')}")


@kg.command()
def stats(graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """Count what a graph holds."""
    counted = statistics(_given(graph))
    if as_json:
        print_json(counted)
        return
    for name, value in counted.items():
        tell(f"{value:>8,}  {name}")


@kg.command()
def export(
    file: Annotated[
        Path,
        typer.Argument(help="Ends in .csv (triples), .json or .graphml; else a folder of YAML.", callback=in_a_folder),
    ],
    graph: GraphOption = None,
) -> None:
    """Write a graph to a plain file; imported again, it is the same graph."""
    held = _given(graph)
    if not file.suffix and (file / "taxonomy.yaml").exists():
        raise InputError(f"A graph lies in {file} already.", "Name another folder.")
    with writing(file):
        write_any(held, file)
    tell(f"{held.about.name}: {len(held.diseases)} diseases in {file}")


@kg.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A .csv, .json or .graphml file; triples of others are mended.")],
    out: Annotated[Path, typer.Option(help="The folder to write; use it with ANAMNESIS_KG_GRAPH.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a graph that lies there.")] = False,
) -> None:
    """Check a file and write its graph as a folder."""
    if (out / "taxonomy.yaml").exists() and not force:
        raise InputError(f"A graph lies in {out} already.", "Name another folder, or give --force.")
    if out.suffix:
        raise InputError(f"{out} looks like a file.", "Name a folder with --out.")
    held = read_any(file)
    with writing(out):
        write_any(held, out)
    tell(f"{held.about.name}: {len(held.diseases)} diseases in {out}")
    if held.about.note:
        tell(held.about.note)


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
    quiet: QuietOption = False,
) -> None:
    """Build a graph from patients' records."""
    settings, home = open_home()
    given = read_records(records)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not (home.indexes / "library").exists():
        set_up(settings, home, rebuild=False, say=say, everything=False)
    encoder = open_encoder(settings, home)
    judges = open_builder(settings, home, encoder, by_model=judge == "model", augment=augment)
    known = read_graph(STARTER_GRAPH)
    with bars(show=not quiet) as progress:
        made = asyncio.run(
            build_graph(
                given, out, judges, encoder, known=known, confirmed=confirmed, source=records.name, progress=progress
            )
        )
    tell(f"{len(given)} records, {len(made.diseases)} diseases, {len(made.findings)} findings in {out}")
    tell(made.about.note)
    if confirmed is None:
        report = out / MERGES
        proposed = report.read_text(encoding="utf-8").removeprefix(HEAD).count("merge: false")
        tell(f"{proposed} merges are proposed and not made. {CONFIRM.format(report, report)}")


def _given(path: Path | None) -> Graph:
    """The graph of a path, else that of the settings, else the starter graph."""
    return read_any(path or load_settings().kg_graph or STARTER_GRAPH)


def _show_disease(held: Graph, disease: Disease) -> None:
    out = console()
    l2 = held.l2[disease.l2]
    l1 = next(c for c in held.categories if c.id == l2.l1)
    out.print(f"L1 {l1.name} ({l1.id})\n└ L2 {l2.name} ({l2.id})\n  └ L3 {disease.name} ({disease.id})", markup=False)
    others = ", ".join((*disease.aliases, *dict.fromkeys((disease.zh, *disease.aliases_zh))))
    out.print(f"     {disease.icd10 or 'no ICD-10 code'}; also: {others}; graph {held.about.name}", markup=False)
    for role, title in (("d", "L4d, typical presentation"), ("a", "L4a, what tells it apart")):
        edges = [e for e in disease.manifestations if role in e.roles]
        if edges:
            out.print(_findings(held, edges, title))


def _show_case(case: str, graph: Path | None, *, plot: Path | None, as_json: bool) -> None:
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"{plot.name} is no .svg file.", "Name the picture with the ending .svg.")
    text = sys.stdin.read() if case == "-" else case
    if not text.strip():
        raise InputError("There is no case.", "Tell it with --case, or on standard input with --case -.")
    settings, home = open_home()
    if graph is not None and not graph.is_dir():
        raise InputError(f"{graph} is no folder.", "Import the file first: anamnesis kg import FILE --out FOLDER.")
    opened = settings if graph is None else settings.model_copy(update={"kg_graph": graph})
    loaded = open_graph(opened, home, open_encoder(settings, home))
    found = loaded.look_up(text, learn=True)
    if plot is not None:
        write_text(plot, picture(loaded.graph, found, language_of(text)))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _print_differential(found, messages(language_of(text)))
        if plot is not None:
            tell(f"Drawn in {plot}")


def _find(graph: Graph, name: str) -> Disease:
    known = graph.disease.get(name)
    named = Names(graph).diseases_in(name)
    if known is None and len(named) != 1:
        named = named or _alike(graph, name)
        near = f"It could be {', '.join(named)}." if named else "`anamnesis kg show` lists the diseases."
        raise InputError(f"The graph {graph.about.name} has no disease {name!r}.", near)
    return known or graph.disease[named[0]]


def _alike(graph: Graph, name: str) -> list[str]:
    """Ids of the diseases whose names have the words of this one, or nearly."""
    from rapidfuzz import fuzz

    def likeness(disease: Disease) -> float:
        names = (disease.id.replace("-", " "), disease.name, *disease.aliases)
        return max(fuzz.token_set_ratio(name.lower(), n.lower()) for n in names)

    ranked = sorted(graph.diseases, key=likeness, reverse=True)[:NEAR]
    return [d.id for d in ranked if likeness(d) >= ALIKE]


def _list(graph: Graph, *, as_json: bool) -> None:
    if as_json:
        print_json([{"id": d.id, "name": d.name, "l2": d.l2, "icd10": d.icd10} for d in graph.diseases])
        return
    rows = [(d.id, d.name, d.icd10, held.name, held.l1) for d in graph.diseases for held in [graph.l2[d.l2]]]
    console().print(table(("Id", "Disease", "ICD-10", "L2", "L1"), rows))


def _findings(graph: Graph, edges: list[Manifestation], title: str) -> Table:
    table = Table("Finding", "Relation", "How often", "Particulars", "Source", title=title, title_justify="left")
    for e in edges:
        node = graph.finding[e.finding]
        rate = f" ({e.rate:.0%} of {e.records})" if e.rate is not None and e.records is not None else ""
        told = "; ".join(p for p in (e.side, e.site, e.onset, e.value, e.note) if p)
        cells = (node.name, node.relation, f"{e.how_often}{rate}", told, e.source or graph.about.name)
        table.add_row(*map(escape, cells), style="red" if e.polarity == "absent" else "")
    return table


def _print_differential(found: Differential, words: Messages) -> None:
    tell(f"Graph {found.graph}, mode {found.mode}; leading: {', '.join(found.winners) or 'none'}")
    rows = [
        (
            str(rank),
            words.name_of(d),
            f"{d.score:.1%}",
            ", ".join((*d.findings_for, *d.records)),
            ", ".join(d.findings_against),
        )
        for rank, d in enumerate(found.ranking[:SHOWN], start=1)
    ]
    none = "The graph knows none of the case's findings."
    console().print(table(("", "Disease", "Share", "For", "Against"), rows) if rows else none)
    for record in found.similar:
        tell(f"{record.id} ({record.similarity:.2f}) {record.diagnosis}: {record.text}")

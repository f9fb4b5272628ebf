"""`anamnesis kg`: the diagnostic knowledge graph."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table

from agent.assembly import build as set_up
from agent.assembly import open_encoder
from agent.cli.render import console, progress_console
from agent.knowledge_graph import STARTER_GRAPH, open_builder, open_graph
from agent.sessions import Home
from agent.settings import Settings, load_settings, silence_telemetry
from prompts.errors import InputError
from tools.contract import Differential
from tools.files import write_atomic
from tools.knowledge_graph.building.build import MERGES, build_graph
from tools.knowledge_graph.building.merges import HEAD
from tools.knowledge_graph.building.records import read_records
from tools.knowledge_graph.formats.files import read_any, write_any
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.picture import picture
from tools.knowledge_graph.schema import Disease, Graph, Manifestation
from tools.knowledge_graph.statistics import statistics

SHOWN = 10  # ours: diseases of a differential printed
CONFIRM = "Go through {}, then build again with --confirmed {}."


class Building(NamedTuple):
    """What `kg build` was asked."""

    records: Path
    out: Path
    judge: str
    confirmed: Path | None
    augment: bool
    quiet: bool


def show_disease(name: str, graph: Path | None, *, plot: Path | None, as_json: bool) -> None:
    """Print a disease's path and findings, or the list of diseases; raises InputError for an unknown name."""
    if plot is not None:
        raise InputError("--plot draws the differential of a case.", "Give the case with --case.")
    held = _read(graph)
    if not name:
        _list(held, as_json=as_json)
        return
    disease = _find(held, name)
    if as_json:
        _print(disease.model_dump(mode="json"))
        return
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


def show_case(case: str, graph: Path | None, *, plot: Path | None, as_json: bool) -> None:
    """Print the differential of a case, and draw it when a file is named."""
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"{plot.name} is no .svg file.", "Name the picture with the ending .svg.")
    text = sys.stdin.read() if case == "-" else case
    if not text.strip():
        raise InputError("There is no case.", "Tell it with --case, or on standard input with --case -.")
    settings, home = _home()
    if graph is not None and not graph.is_dir():
        raise InputError(f"{graph} is no folder.", "Import the file first: anamnesis kg import FILE --out FOLDER.")
    opened = settings if graph is None else settings.model_copy(update={"kg_graph": graph})
    loaded = open_graph(opened, home, open_encoder(settings, home))
    found = loaded.look_up(text)
    if plot is not None:
        write_atomic(plot, picture(loaded.graph, found).encode())
    if as_json:
        _print(found.model_dump(mode="json"))
    else:
        _print_differential(found)
        if plot is not None:
            console().print(f"Drawn in {plot}", markup=False)


def check_graph(path: Path | None, *, as_json: bool) -> None:
    """Read a graph with every check; raises DataError that names every problem."""
    held = _read(path)
    told = {"graph": held.about.name, "origin": held.about.origin, "diseases": len(held.diseases), "sound": True}
    if as_json:
        _print(told)
    else:
        console().print(f"{held.about.name} ({held.about.origin}): sound, {len(held.diseases)} diseases.", markup=False)
        if held.about.note:
            console().print(held.about.note, markup=False)


def show_statistics(path: Path | None, *, as_json: bool) -> None:
    """Print the counts of a graph."""
    counted = statistics(_read(path))
    if as_json:
        _print(counted)
        return
    for name, value in counted.items():
        console().print(f"{value:>8,}  {name}", markup=False)


def export_graph(file: Path, graph: Path | None) -> None:
    """Write a graph to a file by its ending."""
    held = _read(graph)
    if not file.suffix and (file / "taxonomy.yaml").exists():
        raise InputError(f"A graph lies in {file} already.", "Name another folder.")
    write_any(held, file)
    console().print(f"{held.about.name}: {len(held.diseases)} diseases in {file}", markup=False)


def import_graph(file: Path, out: Path, *, force: bool) -> None:
    """Read a file with every check and write its graph as a folder of YAML."""
    if (out / "taxonomy.yaml").exists() and not force:
        raise InputError(f"A graph lies in {out} already.", "Name another folder, or give --force.")
    if out.suffix:
        raise InputError(f"{out} looks like a file.", "Name a folder with --out.")
    held = read_any(file)
    write_any(held, out)
    console().print(f"{held.about.name}: {len(held.diseases)} diseases in {out}", markup=False)
    if held.about.note:
        console().print(held.about.note, markup=False)


def build_from_records(asked: Building) -> None:
    """Build a graph; a second call with the same records goes on where the first was stopped."""
    settings, home = _home()
    records = read_records(asked.records)
    if not (home.indexes / "library").exists():
        set_up(settings, home, rebuild=False, say=lambda _: None)
    encoder = open_encoder(settings, home)
    judges = open_builder(settings, home, encoder, by_model=asked.judge == "model", augment=asked.augment)
    with _bar(show=not asked.quiet) as progress:
        graph = asyncio.run(
            build_graph(
                records,
                asked.out,
                judges,
                encoder,
                known=read_graph(STARTER_GRAPH),
                confirmed=asked.confirmed,
                source=asked.records.name,
                progress=progress,
            )
        )
    out = console()
    counted = f"{len(records)} records, {len(graph.diseases)} diseases, {len(graph.findings)} findings in {asked.out}"
    out.print(counted, markup=False)
    if asked.confirmed is None:
        report = asked.out / MERGES
        proposed = report.read_text(encoding="utf-8").removeprefix(HEAD).count("merge: false")
        out.print(f"{proposed} merges are proposed and not made. {CONFIRM.format(report, report)}", markup=False)


def _home() -> tuple[Settings, Home]:
    settings = load_settings()
    silence_telemetry(settings)
    return settings, Home(settings.home).prepare()


def _read(path: Path | None) -> Graph:
    return read_any(path or load_settings().kg_graph or STARTER_GRAPH)


def _find(graph: Graph, name: str) -> Disease:
    known = graph.disease.get(name)
    named = Names(graph).diseases_in(name)
    if known is None and len(named) != 1:
        near = f"It could be {', '.join(named)}." if named else "`anamnesis kg show` lists the diseases."
        raise InputError(f"The graph {graph.about.name} has no disease {name!r}.", near)
    return known or graph.disease[named[0]]


def _list(graph: Graph, *, as_json: bool) -> None:
    if as_json:
        _print([{"id": d.id, "name": d.name, "l2": d.l2, "icd10": d.icd10} for d in graph.diseases])
        return
    table = Table("Id", "Disease", "ICD-10", "L2", "L1")
    for d in graph.diseases:
        l2 = graph.l2[d.l2]
        table.add_row(*map(escape, (d.id, d.name, d.icd10, l2.name, l2.l1)))
    console().print(table)


def _findings(graph: Graph, edges: list[Manifestation], title: str) -> Table:
    table = Table("Finding", "Relation", "How often", "Particulars", "Source", title=title, title_justify="left")
    for e in edges:
        node = graph.finding[e.finding]
        rate = f" ({e.rate:.0%} of {e.records})" if e.rate is not None and e.records is not None else ""
        told = "; ".join(p for p in (e.side, e.site, e.onset, e.value, e.note) if p)
        cells = (node.name, node.relation, f"{e.how_often}{rate}", told, e.source or graph.about.name)
        table.add_row(*map(escape, cells), style="red" if e.polarity == "absent" else "")
    return table


def _print_differential(found: Differential) -> None:
    out = console()
    out.print(f"Graph {found.graph}, mode {found.mode}; leading: {', '.join(found.winners) or 'none'}", markup=False)
    table = Table("", "Disease", "Share", "For", "Against")
    for rank, d in enumerate(found.ranking[:SHOWN], start=1):
        table.add_row(
            *map(
                escape, (str(rank), d.name, f"{d.score:.1%}", ", ".join(d.findings_for), ", ".join(d.findings_against))
            )
        )
    out.print(table)
    for record in found.similar:
        out.print(f"{record.id} ({record.similarity:.2f}) {record.diagnosis}: {record.text}", markup=False)


@contextlib.contextmanager
def _bar(*, show: bool) -> Iterator[Callable[[str, int, int], None]]:
    if not show:
        yield lambda *_: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_console(), transient=True) as bar:
        tasks = {}

        def step(name: str, done: int, of: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=of)
            bar.update(tasks[name], completed=done, total=of)

        yield step


def _print(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")

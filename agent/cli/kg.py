"""`anamnesis kg`: the diagnostic knowledge graph."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agent.assembly import build as set_up
from agent.assembly import open_encoder
from agent.cli.bars import bars
from agent.cli.render import console
from agent.knowledge_graph import STARTER_GRAPH, open_builder
from agent.sessions import Home
from agent.settings import Settings, load_settings, silence_telemetry
from prompts.errors import InputError
from tools.knowledge_graph.building.build import MERGES, build_graph
from tools.knowledge_graph.building.merges import HEAD
from tools.knowledge_graph.building.records import read_records
from tools.knowledge_graph.formats.files import read_any, write_any
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.schema import Graph
from tools.knowledge_graph.statistics import statistics

CONFIRM = "Go through {}, then build again with --confirmed {}."


class Building(NamedTuple):
    """What `kg build` was asked."""

    records: Path
    out: Path
    judge: str
    confirmed: Path | None
    augment: bool
    quiet: bool


def check_graph(path: Path | None, *, as_json: bool) -> None:
    """Read a graph with every check; raises DataError that names every problem."""
    held = read_given(path)
    told = {"graph": held.about.name, "origin": held.about.origin, "diseases": len(held.diseases), "sound": True}
    if as_json:
        print_json(told)
    else:
        console().print(f"{held.about.name} ({held.about.origin}): sound, {len(held.diseases)} diseases.", markup=False)
        if held.about.note:
            console().print(held.about.note, markup=False)


def show_statistics(path: Path | None, *, as_json: bool) -> None:
    """Print the counts of a graph."""
    counted = statistics(read_given(path))
    if as_json:
        print_json(counted)
        return
    for name, value in counted.items():
        console().print(f"{value:>8,}  {name}", markup=False)


def export_graph(file: Path, graph: Path | None) -> None:
    """Write a graph to a file by its ending."""
    held = read_given(graph)
    if not file.suffix and (file / "taxonomy.yaml").exists():
        raise InputError(f"A graph lies in {file} already.", "Name another folder.")
    with writing(file):
        write_any(held, file)
    console().print(f"{held.about.name}: {len(held.diseases)} diseases in {file}", markup=False)


def import_graph(file: Path, out: Path, *, force: bool) -> None:
    """Read a file with every check and write its graph as a folder of YAML."""
    if (out / "taxonomy.yaml").exists() and not force:
        raise InputError(f"A graph lies in {out} already.", "Name another folder, or give --force.")
    if out.suffix:
        raise InputError(f"{out} looks like a file.", "Name a folder with --out.")
    held = read_any(file)
    with writing(out):
        write_any(held, out)
    console().print(f"{held.about.name}: {len(held.diseases)} diseases in {out}", markup=False)
    if held.about.note:
        console().print(held.about.note, markup=False)


def build_from_records(asked: Building) -> None:
    """Build a graph; a second call with the same records goes on where the first was stopped."""
    settings, home = open_home()
    records = read_records(asked.records)
    with writing(asked.out):
        asked.out.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not (home.indexes / "library").exists():
        set_up(settings, home, rebuild=False, say=lambda _: None)
    encoder = open_encoder(settings, home)
    judges = open_builder(settings, home, encoder, by_model=asked.judge == "model", augment=asked.augment)
    with bars(show=not asked.quiet) as progress:
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
    out.print(graph.about.note, markup=False)
    if asked.confirmed is None:
        report = asked.out / MERGES
        proposed = report.read_text(encoding="utf-8").removeprefix(HEAD).count("merge: false")
        out.print(f"{proposed} merges are proposed and not made. {CONFIRM.format(report, report)}", markup=False)


def open_home() -> tuple[Settings, Home]:
    """The settings, and the data folder that they name."""
    settings = load_settings()
    silence_telemetry(settings)
    return settings, Home(settings.home).prepare()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raises InputError where a place that a user named cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", "Name another place.") from error


def read_given(path: Path | None) -> Graph:
    """The graph of a path, else that of the settings, else the starter graph."""
    return read_any(path or load_settings().kg_graph or STARTER_GRAPH)


def print_json(value: object) -> None:
    """Print a value as JSON, characters as they are."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")

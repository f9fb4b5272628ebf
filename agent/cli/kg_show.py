"""`anamnesis kg show`: a disease of the graph, the list of diseases, and the differential of a case."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from agent.assembly import open_encoder
from agent.cli.kg import open_home, print_json, read_given, writing
from agent.cli.render import console
from agent.knowledge_graph import open_graph
from prompts.errors import InputError
from tools.contract import Differential
from tools.files import write_atomic
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.picture import picture
from tools.knowledge_graph.schema import Disease, Graph, Manifestation
from tools.text.language import language_of

SHOWN = 10  # ours: diseases of a differential printed
NEAR = 5  # ours: diseases of a like name told
ALIKE = 70.0  # ours: least likeness of a name, 0..100, to be told as near


def show_disease(name: str, graph: Path | None, *, plot: Path | None, as_json: bool) -> None:
    """Print a disease's path and findings, or the list of diseases; raises InputError for an unknown name."""
    if plot is not None:
        raise InputError("--plot draws the differential of a case.", "Give the case with --case.")
    held = read_given(graph)
    if not name:
        _list(held, as_json=as_json)
        return
    disease = _find(held, name)
    if as_json:
        print_json(disease.model_dump(mode="json"))
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
    settings, home = open_home()
    if graph is not None and not graph.is_dir():
        raise InputError(f"{graph} is no folder.", "Import the file first: anamnesis kg import FILE --out FOLDER.")
    opened = settings if graph is None else settings.model_copy(update={"kg_graph": graph})
    loaded = open_graph(opened, home, open_encoder(settings, home))
    found = loaded.look_up(text, learn=True)
    if plot is not None:
        with writing(plot):
            write_atomic(plot, picture(loaded.graph, found, language_of(text)).encode())
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _print_differential(found, chinese=language_of(text) == "zh")
        if plot is not None:
            console().print(f"Drawn in {plot}", markup=False)


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
    table = Table()
    for head in ("Id", "Disease", "ICD-10", "L2", "L1"):
        table.add_column(head, overflow="fold")  # an id must be whole
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


def _print_differential(found: Differential, *, chinese: bool) -> None:
    out = console()
    out.print(f"Graph {found.graph}, mode {found.mode}; leading: {', '.join(found.winners) or 'none'}", markup=False)
    table = Table("", "Disease", "Share", "For", "Against")
    for rank, d in enumerate(found.ranking[:SHOWN], start=1):
        name = d.name_zh if chinese and d.name_zh else d.name
        spoke = (*d.findings_for, *d.records)
        cells = (str(rank), name, f"{d.score:.1%}", ", ".join(spoke), ", ".join(d.findings_against))
        table.add_row(*map(escape, cells))
    if found.ranking:
        out.print(table)
    else:
        out.print("The graph knows none of the case's findings.")
    for record in found.similar:
        out.print(f"{record.id} ({record.similarity:.2f}) {record.diagnosis}: {record.text}", markup=False)

"""Reads and writes a graph by the name of its file: ``.csv`` (triples), ``.json``, ``.graphml``, or a folder."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.files import write_atomic
from tools.knowledge_graph.checks import problems_of
from tools.knowledge_graph.formats.folder import write_folder
from tools.knowledge_graph.formats.foreign import graph_of_foreign, is_foreign
from tools.knowledge_graph.formats.triples import EDGE_FIELDS, RELATIONS, Triple, graph_from, triples_of
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.schema import Graph

# Triples as GraphML (graphml.graphdrawing.org): nodes and edges with their fields as data, for drawing programs.
_NS = "http://graphml.graphdrawing.org/xmlns"
_MAKES_EDGE = RELATIONS | {"is_a", "broader"}


def write_graphml(triples: list[Triple]) -> bytes:
    """The document. Fields with several values are JSON lists."""
    from lxml import etree

    nodes: dict[str, dict[str, list[str]]] = {}
    for t in triples:
        fields = nodes.setdefault(t.subject, {})
        if t.relation not in _MAKES_EDGE:
            fields.setdefault(t.relation, []).append(t.object)
    root = etree.Element("graphml", nsmap={None: _NS})
    names = sorted({name for fields in nodes.values() for name in fields})
    for kind, known in (("node", names), ("edge", ["relation", *EDGE_FIELDS])):
        for name in known:
            key = {"id": f"{kind}.{name}", "for": kind, "attr.name": name, "attr.type": "string"}
            etree.SubElement(root, "key", key)
    graph = etree.SubElement(root, "graph", {"id": "knowledge", "edgedefault": "directed"})
    for subject, fields in nodes.items():
        node = etree.SubElement(graph, "node", {"id": subject})
        for name, values in fields.items():
            _data(node, f"node.{name}", json.dumps(values, ensure_ascii=False))
    for t in triples:
        if t.relation in _MAKES_EDGE:
            edge = etree.SubElement(graph, "edge", {"source": t.subject, "target": t.object})
            for name, value in {"relation": t.relation, **t.edge}.items():
                _data(edge, f"edge.{name}", value)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)  # type: ignore[no-any-return]


def read_graphml(data: bytes, name: str) -> Iterator[tuple[str, Triple]]:
    """The triples of a document, each with its line; raises DataError for what is no GraphML."""
    from lxml import etree

    try:
        root = etree.parse(
            io.BytesIO(data), etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        ).getroot()
    except etree.XMLSyntaxError as error:
        raise DataError(f"{name} is no XML: {error.msg}.", "Give a GraphML file.") from None
    if root.tag != f"{{{_NS}}}graphml":
        raise DataError(f"{name} is no GraphML file.", f"Its root must be graphml of {_NS}.")
    keys = {k.get("id"): k.get("attr.name") for k in root.iter(f"{{{_NS}}}key")}
    for node in root.iter(f"{{{_NS}}}node"):
        for field, text in _fields(node, keys).items():
            for value in _values(text):
                yield f"line {node.sourceline}", Triple(node.get("id") or "", field, value)
    for edge in root.iter(f"{{{_NS}}}edge"):
        fields = _fields(edge, keys)
        relation = fields.pop("relation", "")
        ends = edge.get("source") or "", edge.get("target") or ""
        yield f"line {edge.sourceline}", Triple(ends[0], relation, ends[1], fields)


def _data(parent: Any, key: str, text: str) -> None:
    from lxml import etree

    etree.SubElement(parent, "data", {"key": key}).text = text


def _fields(element: Any, keys: dict[str, str]) -> dict[str, str]:
    found = element.iterfind(f"{{{_NS}}}data")
    return {keys.get(d.get("key"), d.get("key") or ""): d.text or "" for d in found}


def _values(text: str) -> list[str]:
    try:
        values = json.loads(text)
    except ValueError:
        return [text]
    return [str(v) for v in values] if isinstance(values, list) else [text]


COLUMNS = ("subject", "relation", "object")
FORMAT = 1  # of the JSON file; raised when it changes its shape
SHOWN = 40  # ours: problems told in one message


def read_any(path: Path) -> Graph:
    """The graph of a file or a folder, checked.

    Raises:
        InputError: there is no such file, or its name tells no format.
        DataError: with what is wrong, one a line.
    """
    if path.is_dir():
        return read_graph(path)
    if not path.is_file():
        raise InputError(f"There is no graph {path}.", "Give a folder, or a .csv, .json or .graphml file.")
    reader = {".csv": _from_csv, ".json": _from_json, ".graphml": _from_graphml}.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path.name} has no known format.", "Name it .csv, .json or .graphml.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read.", "Check its permissions.") from error
    graph, problems = reader(data, path.name)
    if graph is None:
        shown = problems[:SHOWN] + ([f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else [])
        raise DataError(
            f"{path.name} is no sound graph:\n" + "\n".join(shown) + "\n",
            "docs/knowledge-graph.md explains the formats.",
        )
    return graph


def write_any(graph: Graph, path: Path) -> None:
    """Write a graph in the format that the name tells; a name without an ending is a folder of YAML."""
    if not path.suffix:
        write_folder(graph, path)
        return
    writers: dict[str, Callable[[Graph], bytes]] = {
        ".csv": to_csv,
        ".json": to_json,
        ".graphml": lambda g: write_graphml(list(triples_of(g))),
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{path.name} has no known format.", "Name it .csv, .json or .graphml, or give a folder.")
    write_atomic(path, writer(graph))


def to_csv(graph: Graph) -> bytes:
    """Triples, one a row: subject, relation, object, and the fields of an edge."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *EDGE_FIELDS])
    for t in triples_of(graph):
        writer.writerow([t.subject, t.relation, t.object, *(t.edge.get(name, "") for name in EDGE_FIELDS)])
    return out.getvalue().encode()


def to_json(graph: Graph) -> bytes:
    """The whole graph as one object."""
    document = {"format": FORMAT, "graph": graph.model_dump(mode="json")}
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _from_csv(data: bytes, name: str) -> tuple[Graph | None, list[str]]:
    try:
        rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        missing = [c for c in COLUMNS if c not in (rows.fieldnames or ())]
        if missing:
            return None, [f"{name}: column {', '.join(missing)} is missing"]
        read = [(f"row {n}", row) for n, row in enumerate(rows, start=2)]
    except (UnicodeDecodeError, csv.Error) as error:
        return None, [f"{name}: no CSV in UTF-8 ({error})"]
    if is_foreign(row["subject"] or "" for _, row in read):
        return graph_of_foreign(
            [(row["subject"] or "", row["relation"] or "", row["object"] or "") for _, row in read], name
        )
    return graph_from(_typed(read), name)


def _typed(rows: list[tuple[str, dict[str, str]]]) -> Iterator[tuple[str, Triple]]:
    for place, row in rows:
        edge = {k: v for k, v in row.items() if k not in COLUMNS and isinstance(v, str) and v}
        yield place, Triple(row["subject"] or "", row["relation"] or "", row["object"] or "", edge)


def _from_json(data: bytes, name: str) -> tuple[Graph | None, list[str]]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        return None, [f"{name}: no JSON ({error})"]
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None, [f"{name}: an object of format {FORMAT} is expected"]
    try:
        graph = Graph.model_validate(document.get("graph"))
    except ValidationError as error:
        return None, [f"{name}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    problems = problems_of(graph, name)
    return (None, problems) if problems else (graph, [])


def _from_graphml(data: bytes, name: str) -> tuple[Graph | None, list[str]]:
    return graph_from(read_graphml(data, name), name)

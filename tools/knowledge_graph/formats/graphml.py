"""Triples as GraphML (graphml.graphdrawing.org): nodes and edges with their fields as data, for drawing programs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from prompts.errors import DataError
from tools.knowledge_graph.formats.triples import EDGE_FIELDS, RELATIONS, Triple

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

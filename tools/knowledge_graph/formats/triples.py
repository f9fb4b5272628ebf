"""A graph as triples, and back: what the CSV and the GraphML files hold.

A subject is ``graph:NAME``, ``l1:ID``, ``l2:ID``, ``finding:ID`` or ``disease:ID``. ``is_a`` and ``broader`` lead to a
node, ``has_symptomatology`` and the other typed relations lead from a disease to a finding and carry the edge's fields;
any other relation is a field of the subject, with its value as the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from tools.evidence import Frozen
from tools.knowledge_graph.checks import problems_of
from tools.knowledge_graph.schema import About, Category, Disease, FindingNode, Graph, Relation, Subcategory

NODES: dict[str, type[Frozen]] = {"l1": Category, "l2": Subcategory, "finding": FindingNode, "disease": Disease}
RELATIONS = frozenset(f"has_{name}" for name in get_args(Relation))
# fields of an edge, in the order of the CSV's columns
EDGE_FIELDS = (
    "role",
    "how_often",
    "presence_rate",
    "records",
    "polarity",
    "value",
    "side",
    "site",
    "onset",
    "note",
    "provenance",
)
_MANY = frozenset({"say", "say_zh", "aliases", "aliases_zh", "red_flags", "red_flags_zh"})
_PARENT = {"l2": ("l1", "l1"), "disease": ("l2", "l2")}  # kind of node -> (its field, kind of the parent)


class Triple(NamedTuple):
    """One statement. ``edge`` has the fields of an edge from a disease to a finding, those that are set."""

    subject: str
    relation: str
    object: str
    edge: Mapping[str, str] = {}


@dataclass
class _Parts:
    """What has been read so far: fields of the graph and of each node, by kind and id."""

    about: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {kind: {} for kind in NODES})
    edges: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def triples_of(graph: Graph) -> Iterator[Triple]:
    """Every triple of a graph, in its order."""
    for name, value in graph.about.model_dump().items():
        if value:
            yield Triple(f"graph:{graph.about.name}", name, value)
    levels = (("l1", graph.categories), ("l2", graph.subcategories), ("finding", graph.findings))
    for kind, nodes in (*levels, ("disease", graph.diseases)):
        for node in nodes:
            yield from _fields(kind, node)
    relation = {f.id: f"has_{f.relation}" for f in graph.findings}
    for disease in graph.diseases:
        for edge in disease.manifestations:
            told = {
                "role": "|".join(edge.roles),
                "how_often": edge.how_often,
                "presence_rate": "" if edge.rate is None else repr(edge.rate),
                "records": "" if edge.records is None else str(edge.records),
                "polarity": edge.polarity,
                "provenance": edge.source or graph.about.name,
            } | {name: getattr(edge, name) or "" for name in ("value", "side", "site", "onset", "note")}
            fields = {k: v for k, v in told.items() if v}
            yield Triple(f"disease:{disease.id}", relation[edge.finding], f"finding:{edge.finding}", fields)


def graph_from(triples: Iterable[tuple[str, Triple]], where: str) -> tuple[Graph | None, list[str]]:
    """The graph of triples, each with the place where it stands; None with what is wrong when it is no graph."""
    parts = _Parts()
    for place, triple in triples:
        problem = _take(parts, triple)
        if problem:
            parts.problems.append(f"{place}: {problem}")
    for disease, edges in parts.edges.items():
        parts.nodes["disease"].setdefault(disease, {"id": disease})["manifestations"] = edges
    about = _model(About, parts.about, "graph", parts)
    nodes = {
        kind: [n for row in rows.values() if (n := _model(NODES[kind], row, f"{kind}:{row['id']}", parts)) is not None]
        for kind, rows in parts.nodes.items()
    }
    if parts.problems or about is None:
        return None, [f"{where}: {p}" for p in parts.problems]
    graph = Graph.model_validate(
        {
            "about": about,
            "categories": nodes["l1"],
            "subcategories": nodes["l2"],
            "findings": nodes["finding"],
            "diseases": nodes["disease"],
        }
    )
    problems = problems_of(graph, where)
    return (None, problems) if problems else (graph, [])


def _fields(kind: str, node: Frozen) -> Iterator[Triple]:
    row = node.model_dump(exclude={"id", "manifestations", "ages"})
    subject = f"{kind}:{node.id}"  # type: ignore[attr-defined]
    parent_field, parent_kind = _PARENT.get(kind, ("", ""))
    for name, value in row.items():
        if name == parent_field:
            yield Triple(subject, "is_a", f"{parent_kind}:{value}")
        elif name == "broader" and value:
            yield Triple(subject, "broader", f"finding:{value}")
        elif name in _MANY:
            yield from (Triple(subject, name, item) for item in value)
        elif value not in (None, "", False):
            yield Triple(subject, name, "true" if value is True else str(value))
    if isinstance(node, Disease):
        numbers = (node.ages.min, node.ages.max, *node.ages.typical)
        yield Triple(subject, "ages", " ".join(repr(n) for n in numbers))


def _take(parts: _Parts, triple: Triple) -> str:
    """Take a triple in; says what is wrong with it, "" for a sound one."""
    kind, _, key = triple.subject.partition(":")
    if kind == "graph" and key:
        parts.about[triple.relation] = triple.object
        return ""
    if kind not in NODES or not key:
        return f"the subject {triple.subject!r} is no graph:, l1:, l2:, finding: or disease:"
    if triple.relation in RELATIONS:
        return _take_edge(parts, kind, key, triple)
    node = parts.nodes[kind].setdefault(key, {"id": key})
    name, value, problem = _field(kind, triple)
    if problem:
        return problem
    if name in _MANY:
        node[name] = (*node.get(name, ()), value)
    elif name in node:
        return f"{triple.subject} has two values of {triple.relation!r}"
    else:
        node[name] = value
    return ""


def _field(kind: str, triple: Triple) -> tuple[str, Any, str]:
    """Name and value of a node's field, and what is wrong with it."""
    name, value = triple.relation, triple.object
    if name in ("is_a", "broader"):
        wanted = "finding" if name == "broader" else _PARENT.get(kind, ("", ""))[1]
        above, _, key = value.partition(":")
        problem = "" if above == wanted and key else f"{value!r} is no {wanted or 'parent'}"
        return ("broader" if name == "broader" else wanted), key, problem
    if name == "ages":
        numbers = value.split()
        if len(numbers) != 4:
            return name, None, "ages need four numbers: min, max, and the typical range"
        return name, {"min": numbers[0], "max": numbers[1], "typical": numbers[2:]}, ""
    if name not in NODES[kind].model_fields or name in ("id", "manifestations", "l1", "l2"):
        return name, None, f"unknown relation {name!r}"
    return name, value, ""


def _take_edge(parts: _Parts, kind: str, id: str, triple: Triple) -> str:
    above, _, finding = triple.object.partition(":")
    if kind != "disease" or above != "finding":
        return f"{triple.relation} leads from a disease to a finding"
    unknown = sorted(set(triple.edge) - set(EDGE_FIELDS))
    if unknown:
        return f"unknown fields of an edge: {', '.join(unknown)}"
    told = dict(triple.edge)
    absent = told.pop("polarity", "") == "absent"
    if absent != (told.get("how_often") == "absent"):
        return "polarity and how_often contradict each other"
    row: dict[str, Any] = {"finding": finding, "roles": told.pop("role", "").split("|")}
    for name, its in (("rate", "presence_rate"), ("source", "provenance")):
        if its in told:
            row[name] = told.pop(its)
    if row.get("source") == parts.about.get("name"):
        del row["source"]
    relation = parts.nodes["finding"].get(finding, {}).get("relation")
    if relation is not None and triple.relation != f"has_{relation}":
        return f"{triple.object} is of relation {relation}, not {triple.relation.removeprefix('has_')}"
    parts.edges.setdefault(id, []).append(row | told)
    return ""


def _model(model: type[Frozen], row: Mapping[str, Any], name: str, parts: _Parts) -> Any:
    try:
        return model.model_validate(row)
    except ValidationError as error:
        parts.problems += [f"{name}: {'.'.join(map(str, e['loc'])) or 'entry'}: {e['msg']}" for e in error.errors()]
        return None

"""Graphs in files: triples, JSON, GraphML and our own folder, read and written."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml
from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.files import write_atomic
from tools.knowledge_graph.disorders import are_disorders, join_disorders
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.schema import (
    About,
    Category,
    Disease,
    FindingNode,
    Graph,
    Relation,
    Subcategory,
    key_of,
    problems_of,
    slug,
)

# Writes a graph as the folder of YAML that `tools.knowledge_graph.loader` reads.
WIDTH = 120  # characters of a line; ours


def write_folder(graph: Graph, folder: Path) -> None:
    """Write ``taxonomy.yaml``, ``findings/all.yaml`` and ``diseases/all.yaml``, each whole or not at all.

    YAML files of another graph that lie in the two folders are removed, because the loader would read them too.
    """
    for name in ("findings", "diseases"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for path in (folder / name).glob("*.yaml"):
            if path.name != "all.yaml":
                path.unlink()
    taxonomy = {
        "about": _row(graph.about),
        "l1": [_row(n) for n in graph.categories],
        "l2": [_row(n) for n in graph.subcategories],
    }
    _write(folder / "findings" / "all.yaml", [_row(n) for n in graph.findings])
    _write(folder / "diseases" / "all.yaml", [_row(n) for n in graph.diseases])
    _write(folder / "taxonomy.yaml", taxonomy)


def _row(node: Frozen) -> dict[str, Any]:
    return node.model_dump(mode="json", exclude_defaults=True) | ({"name": node.name} if hasattr(node, "name") else {})


def _write(path: Path, data: object) -> None:
    text = yaml.dump(
        data, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=WIDTH, default_flow_style=None
    )
    write_atomic(path, text.encode())


# A graph as triples, and back: what the CSV and the GraphML files hold.
#
# A subject is ``graph:NAME``, ``l1:ID``, ``l2:ID``, ``finding:ID`` or ``disease:ID``. ``is_a`` and ``broader`` lead to
# a node, ``has_symptomatology`` and the other typed relations lead from a disease to a finding and carry the edge's
# fields; any other relation is a field of the subject, with its value as the object.
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


# Plain triples of others (disease, has_symptomatology, phrase; disease, is_a, class) as a graph, with what was mended.
#
# The released graph of MedRAG (arXiv 2502.04413) has this form. What is mended: a disease without a class goes under
# "unclassified"; spellings of one name become one disease; an answer pasted behind its question is read as what it
# states, and dropped when it states nothing; ``(L)`` and ``(R)`` are written out, so that sides stay apart. Phrases in
# prose are of both roles, pasted answers of role d alone: the file does not tell. It gives no frequencies: every edge
# is taken as ``common``.
KIND = {
    "symptomatology": "symptom",
    "psychopathology": "symptom",
    "lifestyle": "habit",
    "anamnesis": "history",
    "exposure": "exposure",
    "immunology": "test",
    "therapy": "treatment",
}
UNCLASSIFIED = "unclassified"
_PASTED = re.compile(r"^(?P<question>.+?)\s*[?:]:\s*(?P<answer>.*)$", re.DOTALL)
_NOTHING = frozenset({"", "na", "n", "nowhere", "false", "none"})  # answers that state nothing
_SIDES = ((re.compile(r"\s*\(L\)"), " left"), (re.compile(r"\s*\(R\)"), " right"))
Row = tuple[str, str, str]


def is_foreign(subjects: Iterable[str]) -> bool:
    """Whether no subject is one of ours (``disease:gerd``)."""
    return not any(s.partition(":")[0] in (*NODES, "graph") and ":" in s for s in subjects)


def graph_of_foreign(rows: list[Row], name: str) -> tuple[Graph | None, list[str]]:
    """The graph, or None and what is wrong with the rows."""
    problems = [f"{name}: row {n}: unknown relation {r!r}" for n, (_, r, _) in enumerate(rows, 2) if not _known(r)]
    problems += [f"{name}: row {n}: an empty cell" for n, (s, _, o) in enumerate(rows, 2) if not (key_of(s) and o)]
    if problems:
        return None, problems
    above = {key_of(s): o for s, r, o in rows if r == "is_a"}
    placed = {s for s, r, _ in rows if r == "is_a"}
    edges = [(s, r.removeprefix("has_"), o) for s, r, o in rows if r != "is_a"]
    read = _Reading()
    read.loose = len({s for s, _, _ in edges} - placed)
    for subject, relation, told in edges:
        read.take(subject, relation, told)
    return _graph(read, above, name)


def _known(relation: str) -> bool:
    return relation == "is_a" or relation in RELATIONS


class _Reading:
    """Findings and the edges of each disease, in order of the rows; counts what was mended."""

    def __init__(self) -> None:
        self.findings: dict[str, dict[str, Any]] = {}
        self.edges: dict[str, dict[str, dict[str, Any]]] = {}
        self.spellings: dict[str, list[str]] = {}
        self.loose = self.pasted = self.dropped = self.sided = 0

    def take(self, subject: str, relation: str, object: str) -> None:
        disease = key_of(subject)
        names = self.spellings.setdefault(disease, [])
        if subject not in names:
            names.append(subject)
        phrase, roles = self._phrase(object)
        key = key_of(phrase)
        edges = self.edges.setdefault(disease, {})
        if not key:
            return
        self.findings.setdefault(
            key, {"id": key, "name": phrase, "zh": phrase, "relation": relation, "kind": KIND[relation]}
        )
        edges.setdefault(key, {"finding": key, "how_often": "common", "roles": roles})

    def _phrase(self, object: str) -> tuple[str, list[str]]:
        text = " ".join(object.split())
        for pattern, word in _SIDES:
            text, n = pattern.subn(word, text)
            self.sided += n
        pasted = _PASTED.match(text)
        if pasted is None:
            return text, ["d", "a"]
        self.pasted += 1
        question, answer = pasted["question"].rstrip(":? "), pasted["answer"].strip()
        if answer.casefold() in _NOTHING:
            self.dropped += 1
            return "", []
        return (question if answer.casefold() in ("true", "y", "yes") else f"{question}: {answer}"), ["d"]


def _graph(read: _Reading, above: dict[str, str], name: str) -> tuple[Graph | None, list[str]]:
    diseases, l2, l1 = [], {}, {}
    for key, names in read.spellings.items():
        group = above.get(key, UNCLASSIFIED)
        chapter = above.get(key_of(group), UNCLASSIFIED)
        l2[key_of(group)] = {"id": key_of(group), "l1": key_of(chapter), "name": _words(group), "zh": _words(group)}
        l1[key_of(chapter)] = {"id": key_of(chapter), "name": _words(chapter), "zh": _words(chapter)}
        diseases.append(_disease(key, names, key_of(group), list(read.edges[key].values())))
    used = {e["finding"] for d in diseases for e in d["manifestations"]}
    spelt = [len(n) for n in read.spellings.values()]
    note = (
        f"{read.loose} of {sum(spelt)} names had no class; {sum(n > 1 for n in spelt)} of {len(diseases)} diseases had "
        f"several spellings; {read.pasted} pasted answers, {read.dropped} of them state nothing and were dropped; "
        f"{read.sided} sides written out; frequencies are not given and taken as common."
    )
    graph = Graph.model_validate(
        {
            "about": {"name": slug(name.rpartition(".")[0]) or "imported", "origin": "imported", "source": name}
            | {"note": note},
            "categories": list(l1.values()),
            "subcategories": list(l2.values()),
            "findings": [f for f in read.findings.values() if f["id"] in used],
            "diseases": diseases,
        }
    )
    problems = problems_of(graph, name)
    return (None, problems) if problems else (graph, [])


def _disease(id: str, names: list[str], l2: str, edges: list[dict[str, Any]]) -> dict[str, Any]:
    first, *others = dict.fromkeys(_words(n) for n in names)
    return {
        "id": id, "name": first, "zh": first, "aliases": others, "icd10": "", "l2": l2, "how_common": "uncommon",
        "severity": "unknown", "sex": "any", "ages": {"min": 0, "max": 120, "typical": [0, 120]},
        "manifestations": edges,
    }  # fmt: skip


def _words(name: str) -> str:
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


# Reads and writes a graph by the name of its file: ``.csv`` (triples), ``.json``, ``.graphml``, or a folder.

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
        for key, text in _stated_fields(node, keys).items():
            for value in _values(text):
                yield f"line {node.sourceline}", Triple(node.get("id") or "", key, value)
    for edge in root.iter(f"{{{_NS}}}edge"):
        fields = _stated_fields(edge, keys)
        relation = fields.pop("relation", "")
        ends = edge.get("source") or "", edge.get("target") or ""
        yield f"line {edge.sourceline}", Triple(ends[0], relation, ends[1], fields)


def _data(parent: Any, key: str, text: str) -> None:
    from lxml import etree

    etree.SubElement(parent, "data", {"key": key}).text = text


def _stated_fields(element: Any, keys: dict[str, str]) -> dict[str, str]:
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
    """The graph of a file or a folder, checked; of Monarch's disorder files the starter graph with what they cite.

    Raises:
        InputError: there is no such file, or its name tells no format.
        DataError: with what is wrong, one a line.
    """
    if path.exists() and are_disorders(path):
        return join_disorders(path, read_graph())
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

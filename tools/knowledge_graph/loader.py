"""Reads the graph's YAML and says everything that is wrong with it at once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.knowledge_graph.schema import (
    MIN_A,
    MIN_D,
    MIN_MANIFESTATIONS,
    Category,
    Disease,
    FindingNode,
    Graph,
    Subcategory,
)

STARTER = Path(__file__).parent / "starter"
Node = TypeVar("Node", bound=Frozen)
# (node, file name) pairs, as read
Read = list[tuple[Any, str]]


def graph_files(folder: Path) -> list[Path]:
    """The YAML files of a graph, in a fixed order."""
    return [
        folder / "taxonomy.yaml",
        *sorted((folder / "findings").glob("*.yaml")),
        *sorted((folder / "diseases").glob("*.yaml")),
    ]


def content_hash(folder: Path) -> str:
    """sha256 over the names and bytes of the graph's files; raises DataError when the taxonomy is missing."""
    digest = hashlib.sha256()
    for path in graph_files(folder):
        digest.update(path.name.encode() + b"\0" + _bytes(path) + b"\0")
    return digest.hexdigest()


def read_graph(folder: Path = STARTER) -> Graph:
    """The graph of a folder.

    Raises:
        DataError: with every problem found, one a line, each with its file and the id that it concerns.
    """
    problems: list[str] = []
    taxonomy = _read_yaml(folder / "taxonomy.yaml", problems)
    tables = taxonomy if isinstance(taxonomy, dict) else {}
    problems += [f"taxonomy.yaml: unknown field {key!r}" for key in tables if key not in ("l1", "l2")]
    l1 = _parse(Category, tables.get("l1") or [], "taxonomy.yaml", problems)
    l2 = _parse(Subcategory, tables.get("l2") or [], "taxonomy.yaml", problems)
    findings = _parse_folder(FindingNode, folder / "findings", problems)
    diseases = _parse_folder(Disease, folder / "diseases", problems)
    for level, nodes in (("L1", l1), ("L2", l2), ("finding", findings), ("disease", diseases)):
        problems += _duplicates(level, nodes)
    problems += _taxonomy_problems(l1, l2, diseases)
    problems += _finding_problems(findings)
    problems += _disease_problems(findings, diseases)
    if problems:
        raise DataError(
            f"The knowledge graph in {folder.name!r} has {len(problems)} problems:\n" + "\n".join(problems),
            "Mend the files named; docs/knowledge-format.md explains every field.",
        )
    return Graph(
        categories=tuple(n for n, _ in l1),
        subcategories=tuple(n for n, _ in l2),
        findings=tuple(n for n, _ in findings),
        diseases=tuple(n for n, _ in diseases),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path.name} of the knowledge graph cannot be read.", "Restore the file.") from error


def _read_yaml(path: Path, problems: list[str]) -> Any:
    try:
        # CSafeLoader is a SafeLoader in C, ten times faster
        return yaml.load(_bytes(path), yaml.CSafeLoader)
    except yaml.YAMLError as error:
        problems.append(f"{path.name}: no valid YAML: {' '.join(str(error).split())}")
        return None


def _parse_folder(model: type[Node], folder: Path, problems: list[str]) -> Read:
    out: Read = []
    for path in sorted(folder.glob("*.yaml")):
        out += _parse(model, _read_yaml(path, problems) or [], path.name, problems)
    return out


def _parse(model: type[Node], rows: Any, file: str, problems: list[str]) -> Read:
    if not isinstance(rows, list):
        problems.append(f"{file}: a list is expected")
        return []
    out: Read = []
    for row in rows:
        try:
            out.append((model.model_validate(row), file))
        except ValidationError as error:
            name = row.get("id", "?") if isinstance(row, dict) else "?"
            for e in error.errors():
                where = ".".join(str(part) for part in e["loc"])
                problems.append(f"{file}: {name}: {where or 'entry'}: {e['msg']}")
    return out


def _duplicates(level: str, nodes: Read) -> Iterator[str]:
    times = Counter(node.id for node, _ in nodes)
    for node, file in nodes:
        if times[node.id] > 1:
            yield f"{file}: {node.id}: {level} id stands {times[node.id]} times"


def _taxonomy_problems(l1: Read, l2: Read, diseases: Read) -> Iterator[str]:
    l1_ids, l2_ids = {n.id for n, _ in l1}, {n.id for n, _ in l2}
    for node, file in l2:
        if node.l1 not in l1_ids:
            yield f"{file}: {node.id}: unknown L1 {node.l1!r}"
    for node, file in diseases:
        if node.l2 not in l2_ids:
            yield f"{file}: {node.id}: unknown L2 {node.l2!r}"
    yield from _unused("L1", l1, {n.l1 for n, _ in l2})
    yield from _unused("L2", l2, {n.l2 for n, _ in diseases})


def _unused(level: str, nodes: Read, used: set[str]) -> Iterator[str]:
    for node, file in nodes:
        if node.id not in used:
            yield f"{file}: {node.id}: orphan, nothing uses this {level}"


def _finding_problems(findings: Read) -> Iterator[str]:
    broader = {node.id: node.broader for node, _ in findings}
    owner: dict[str, tuple[str, str]] = {}
    for node, file in findings:
        if node.broader is not None and node.broader not in broader:
            yield f"{file}: {node.id}: unknown broader finding {node.broader!r}"
        elif _in_circle(node.id, broader):
            yield f"{file}: {node.id}: its broader findings run in a circle"
        if node.relation == "therapy" and node.kind != "treatment":
            yield f"{file}: {node.id}: a therapy must be of kind treatment"
        for phrase in (node.name, *node.say, node.zh, *node.say_zh):
            key = " ".join(phrase.casefold().split())
            first, where = owner.setdefault(key, (node.id, file))
            if first != node.id:
                yield f"{file}: {node.id}: phrase {phrase!r} stands under {first} too ({where})"


def _in_circle(start: str, broader: dict[str, str | None]) -> bool:
    seen: set[str] = set()
    at: str | None = start
    while at is not None and at not in seen:
        seen.add(at)
        at = broader.get(at)
    return at is not None


def _disease_problems(findings: Read, diseases: Read) -> Iterator[str]:
    known = {node.id: node for node, _ in findings}
    used: set[str] = set()
    for disease, file in diseases:
        ids = [m.finding for m in disease.manifestations]
        used.update(ids)
        yield from (f"{file}: {disease.id}: unknown finding {i!r}" for i in ids if i not in known)
        yield from (f"{file}: {disease.id}: finding {i!r} stands twice" for i, n in Counter(ids).items() if n > 1)
        yield from (f"{file}: {disease.id}: {words}" for words in _too_few(disease, known))
    for node, file in findings:
        if node.id not in used:
            yield f"{file}: {node.id}: orphan, no disease uses this finding"


def _too_few(disease: Disease, known: dict[str, FindingNode]) -> Iterator[str]:
    edges: Sequence[Any] = disease.manifestations
    count_a = sum("a" in m.roles for m in edges)
    count_d = sum("d" in m.roles and not (m.finding in known and known[m.finding].is_therapy) for m in edges)
    if len(edges) < MIN_MANIFESTATIONS:
        yield f"{len(edges)} manifestations, at least {MIN_MANIFESTATIONS} are needed"
    if count_a < MIN_A:
        yield f"{count_a} manifestations with role a, at least {MIN_A} are needed"
    if count_d < MIN_D:
        yield f"{count_d} manifestations with role d that are no treatment, at least {MIN_D} are needed"

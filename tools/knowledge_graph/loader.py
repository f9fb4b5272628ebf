"""Reads the graph's YAML and says everything that is wrong with it at once."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.knowledge_graph.schema import About, Category, Disease, FindingNode, Graph, Read, Subcategory, graph_problems

STARTER = Path(__file__).parent / "starter"
SHARED = 2  # ours: graphs that the readings of one process share: the starter graph and one of the user's own
Node = TypeVar("Node", bound=Frozen)


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
    """The graph of a folder, read once a process while its files stay as they are.

    Raises:
        DataError: with every problem found, one a line, each with its file and the id that it concerns.
    """
    return _read_graph(folder, content_hash(folder) if (folder / "taxonomy.yaml").exists() else "")


@lru_cache(maxsize=SHARED)
def _read_graph(folder: Path, _content: str) -> Graph:
    problems: list[str] = []
    taxonomy = _read_yaml(folder / "taxonomy.yaml", problems)
    tables = taxonomy if isinstance(taxonomy, dict) else {}
    problems += [f"taxonomy.yaml: unknown field {key!r}" for key in tables if key not in ("about", "l1", "l2")]
    about = _about(tables.get("about") or {}, problems)
    l1 = _parse(Category, tables.get("l1") or [], "taxonomy.yaml", problems)
    l2 = _parse(Subcategory, tables.get("l2") or [], "taxonomy.yaml", problems)
    findings = _parse_folder(FindingNode, folder / "findings", problems)
    diseases = _parse_folder(Disease, folder / "diseases", problems)
    problems += graph_problems(about, l1, l2, findings, diseases)
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
        about=about,
    )


def _about(row: Any, problems: list[str]) -> About:
    try:
        return About.model_validate(row)
    except ValidationError as error:
        problems += [f"taxonomy.yaml: about.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        return About()


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

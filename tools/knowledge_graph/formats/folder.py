"""Writes a graph as the folder of YAML that `tools.knowledge_graph.loader` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tools.evidence import Frozen
from tools.files import write_atomic
from tools.knowledge_graph.schema import Graph

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

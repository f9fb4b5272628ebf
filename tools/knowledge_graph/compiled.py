"""The graph in a form that loads at once: a JSON file with its nodes and an .npz file with its phrase vectors."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.files import Shared, locked, write_atomic
from tools.knowledge_graph.loader import SHARED, STARTER, content_hash, read_graph
from tools.knowledge_graph.schema import Graph

FORMAT = 2  # raised when the compiled form changes


@dataclass(frozen=True, eq=False)
class CompiledGraph:
    """A checked graph and the vectors of its English phrases.

    Attributes:
        phrases: every name and wording, finding by finding in graph order.
        owner: for each phrase, the position of its finding in ``graph.findings``.
        vectors: array (len(phrases), dimension), L2-normalised.
    """

    graph: Graph
    phrases: tuple[str, ...]
    owner: tuple[int, ...]
    vectors: Vectors
    encoder: str


def phrases_of(graph: Graph) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Every English phrase of a graph, and the position of the finding that owns it."""
    pairs = [(p, i) for i, f in enumerate(graph.findings) for p in (f.name, *f.say)]
    return tuple(p for p, _ in pairs), tuple(i for _, i in pairs)


def compile_graph(folder: Path, encoder: Encoder, cache_folder: Path) -> CompiledGraph:
    """Read, check and embed a graph, and write its compiled form. Raises DataError for a graph with problems."""
    key = _key(folder, encoder)
    graph = read_graph(folder)
    phrases, owner = phrases_of(graph)
    vectors = encoder.encode_documents(phrases)
    buffer = io.BytesIO()
    np.savez(buffer, vectors=vectors, key=np.array(json.dumps(key, sort_keys=True)))
    nodes = json.dumps({"key": key, "graph": graph.model_dump(mode="json")}, ensure_ascii=False)
    json_file, npz_file = _files(cache_folder, folder)
    with locked(json_file):
        write_atomic(npz_file, buffer.getvalue())
        write_atomic(json_file, nodes.encode())
    return CompiledGraph(graph, phrases, owner, vectors, encoder.name)


_shared: Shared[CompiledGraph] = Shared(SHARED)


def load_graph(encoder: Encoder, cache_folder: Path, folder: Path = STARTER) -> CompiledGraph:
    """The compiled graph; compiled anew when its YAML or the encoder is another, or the files are damaged.

    The openings of one process share it while the files stay as they are.
    """

    def read() -> CompiledGraph:
        return _read(folder, encoder, cache_folder) or compile_graph(folder, encoder, cache_folder)

    return _shared.get(json.dumps(_key(folder, encoder)), _files(cache_folder, folder), read)


def _key(folder: Path, encoder: Encoder) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "content": content_hash(folder),
        "encoder": encoder.name,
        "dimension": encoder.dimension,
    }


def _files(cache_folder: Path, folder: Path) -> tuple[Path, Path]:
    return cache_folder / f"graph-{folder.name}.json", cache_folder / f"graph-{folder.name}.npz"


def _read(folder: Path, encoder: Encoder, cache_folder: Path) -> CompiledGraph | None:
    key = _key(folder, encoder)
    json_file, npz_file = _files(cache_folder, folder)
    try:
        stored = json.loads(json_file.read_bytes())
        if stored["key"] != key:
            return None
        with np.load(npz_file, allow_pickle=False) as arrays:
            if json.loads(str(arrays["key"])) != key:
                return None
            vectors = np.asarray(arrays["vectors"], dtype=np.float32)
        graph = Graph.model_validate(stored["graph"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, ValidationError):
        return None  # damaged or half-copied: it is built again from the YAML, which is the source
    phrases, owner = phrases_of(graph)
    if vectors.shape != (len(phrases), encoder.dimension):
        raise DataError("The compiled graph does not fit its phrases.", f"Delete {npz_file.name} in the cache folder.")
    return CompiledGraph(graph, phrases, owner, vectors, encoder.name)

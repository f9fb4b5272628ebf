"""The compiled form: written once, read after, made again when the YAML, the encoder or the files are others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tools.encoders import Vectors
from tools.knowledge_graph.compiled import compile_graph, load_graph

Writer = Callable[[None], Path]


class CountingEncoder:
    """Vectors from a hash of the text; counts what it is asked."""

    limit = 256

    def __init__(self, name: str = "counting", dimension: int = 8) -> None:
        self.name, self.dimension, self.encoded = name, dimension, 0

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        rows = [np.frombuffer(hashlib.sha256(t.encode()).digest()[: self.dimension], np.uint8) for t in texts]
        vectors = np.stack(rows).astype(np.float32) + 1
        out: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return out

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]


def test_a_second_load_embeds_nothing_and_is_the_same(write_graph: Writer, tmp_path: Path) -> None:
    folder, encoder = write_graph(None), CountingEncoder()
    first = load_graph(encoder, tmp_path / "cache", folder)
    asked = encoder.encoded
    second = load_graph(encoder, tmp_path / "cache", folder)
    assert asked == len(first.phrases) > 0
    assert encoder.encoded == asked
    assert second.graph == first.graph
    assert second.owner == first.owner
    np.testing.assert_array_equal(second.vectors, first.vectors)


@pytest.mark.parametrize("other", [CountingEncoder("another"), CountingEncoder("counting", 16)])
def test_another_encoder_makes_it_again(write_graph: Writer, tmp_path: Path, other: CountingEncoder) -> None:
    folder = write_graph(None)
    compile_graph(folder, CountingEncoder(), tmp_path / "cache")
    assert load_graph(other, tmp_path / "cache", folder).vectors.shape[1] == other.dimension
    assert other.encoded > 0


def test_changed_yaml_makes_it_again(write_graph: Writer, tmp_path: Path) -> None:
    folder, encoder = write_graph(None), CountingEncoder()
    compile_graph(folder, encoder, tmp_path / "cache")
    path = folder / "findings" / "all.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("cough one", "barking"), encoding="utf-8")
    assert "barking" in load_graph(encoder, tmp_path / "cache", folder).phrases


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_a_damaged_file_is_made_again(write_graph: Writer, tmp_path: Path, suffix: str) -> None:
    folder, encoder = write_graph(None), CountingEncoder()
    whole = compile_graph(folder, encoder, tmp_path / "cache")
    path = tmp_path / "cache" / f"graph-graph{suffix}"
    path.write_bytes(path.read_bytes()[:100])
    np.testing.assert_array_equal(load_graph(encoder, tmp_path / "cache", folder).vectors, whole.vectors)

"""A cache of embeddings may be lost at any time: damage costs time, never an answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from tools.embedding_cache import CachedEncoder
from tools.encoders import Vectors

TEXTS = [f"text number {n}" for n in range(400)]


class Recorder:
    """An encoder that keeps what it was asked to embed."""

    name, dimension, limit = "recorder", 64, 16

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return np.array([[float(t.split()[-1])] * self.dimension for t in texts], dtype=np.float32)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]


EXPECTED = Recorder().encode_documents(TEXTS)


def filled(folder: Path) -> Path:
    cache = CachedEncoder(Recorder(), folder)
    cache.encode_documents(TEXTS)
    cache.close()
    return folder / "recorder.sqlite"


def damage(file: Path, start: int) -> None:
    with file.open("r+b") as handle:
        handle.seek(start)
        handle.write(b"\xff" * (file.stat().st_size - start))


def is_kept(folder: Path) -> bool:
    """Whether a new process finds all vectors."""
    inner = Recorder()
    again = CachedEncoder(inner, folder)
    np.testing.assert_array_equal(again.encode_documents(TEXTS), EXPECTED)
    again.close()
    return inner.seen == []


@pytest.mark.parametrize("start", [0, 4096], ids=["the whole file", "all but the schema"])
def test_a_damaged_file_is_replaced(tmp_path: Path, start: int) -> None:
    damage(filled(tmp_path), start)
    assert not is_kept(tmp_path)
    assert is_kept(tmp_path)


def test_a_table_of_another_shape_is_replaced(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "recorder.sqlite") as db:
        db.execute("create table vectors (something text)")
    db.close()
    assert not is_kept(tmp_path)
    assert is_kept(tmp_path)


def test_damage_while_open_is_a_miss(tmp_path: Path) -> None:
    file = filled(tmp_path)
    cache = CachedEncoder(Recorder(), tmp_path)
    damage(file, 4096)
    np.testing.assert_array_equal(cache.encode_documents(TEXTS), EXPECTED)
    cache.close()
    assert is_kept(tmp_path)


def test_a_vector_of_another_length_is_missing(tmp_path: Path) -> None:
    file = filled(tmp_path)
    with sqlite3.connect(file) as db:
        db.execute("update vectors set vector = substr(vector, 1, 8)")
    db.close()
    assert not is_kept(tmp_path)
    assert is_kept(tmp_path)


def test_a_file_that_another_process_writes_is_not_thrown_away(tmp_path: Path) -> None:
    file = filled(tmp_path)
    cache = CachedEncoder(Recorder(), tmp_path)
    cache._db.execute("pragma busy_timeout=0")
    other = sqlite3.connect(file)
    other.execute("begin immediate")
    assert cache.encode_documents(["text number 7000"])[0, 0] == 7000
    other.close()
    cache.close()
    assert is_kept(tmp_path)


def test_the_file_is_private_even_when_an_older_one_was_not(tmp_path: Path) -> None:
    file = filled(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    CachedEncoder(Recorder(), tmp_path).close()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_hold_a_file_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "recorder.sqlite").mkdir()
    with pytest.raises(DataError) as caught:
        CachedEncoder(Recorder(), tmp_path)
    assert caught.value.advice

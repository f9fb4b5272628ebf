"""The local index on disk: whole or not at all, and never the wrong one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from tools.indexes.contract import Entry
from tools.indexes.lexical import Lexicon
from tools.indexes.local import LocalIndex
from tools.text.tokens import tokens

DIMENSION = 4


def make(count: int, word: str = "fever") -> LocalIndex:
    index = LocalIndex("enc", DIMENSION)
    vectors = np.random.default_rng(count).normal(size=(count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index.add(
        [Entry(id=f"library:d{n}", text=f"{word} number{n}", kind="k", date="2026-01-01") for n in range(count)],
        vectors,
    )
    return index


def generation(folder: Path) -> Path:
    (only,) = [p for p in folder.iterdir() if p.is_dir()]
    return only


def test_words_are_scored_as_bm25s_scores_them(tmp_path: Path) -> None:
    import bm25s

    texts = ["fever and cough", "cough, cough and more cough", "", "a sore throat without fever", "rash"]
    own = Lexicon(texts)
    model = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    model.index([tokens(text) for text in texts], show_progress=False)
    own.save(tmp_path / "bm25")
    for query in ("cough fever", "fever fever", "rash throat cough", "unheard"):
        known = [t for t in tokens(query) if t in model.vocab_dict]
        expected = model.get_scores(known) if known else np.zeros(len(texts))
        assert np.array_equal(own.scores(query), expected)
        assert np.array_equal(Lexicon.load(tmp_path / "bm25", len(texts)).scores(query), expected)
    theirs = bm25s.BM25.load(str(tmp_path / "bm25"), load_corpus=False, show_progress=False)
    assert np.array_equal(theirs.get_scores(tokens("cough fever")), own.scores("cough fever"))
    Lexicon.load(tmp_path / "bm25", len(texts)).save(tmp_path / "again")
    assert np.array_equal(Lexicon.load(tmp_path / "again", len(texts)).scores("rash"), own.scores("rash"))


def test_what_is_loaded_answers_as_what_was_saved(tmp_path: Path) -> None:
    index = make(30)
    index.delete(["library:d3", "library:d4"])
    query = np.eye(DIMENSION, dtype=np.float32)
    before = index.search_vectors(query, 6), index.search_text("number7 fever", 6)
    index.save(tmp_path / "i")
    loaded = LocalIndex.load(tmp_path / "i", "enc", DIMENSION)
    assert (loaded.search_vectors(query, 6), loaded.search_text("number7 fever", 6)) == before
    assert (index.search_vectors(query, 6), index.search_text("number7 fever", 6)) == before
    assert loaded.manifest == index.manifest
    assert loaded.manifest.count == len(loaded) == 28
    assert len(loaded.manifest.checksum) == 64
    loaded.add([Entry(id="library:new", text="rash")], query[:1])
    assert [h.id for h in loaded.search_text("rash", 3)] == ["library:new"]
    assert loaded.manifest.checksum == ""


def test_an_empty_index_can_be_saved(tmp_path: Path) -> None:
    LocalIndex("enc", DIMENSION).save(tmp_path / "i")
    loaded = LocalIndex.load(tmp_path / "i", "enc", DIMENSION)
    assert len(loaded) == 0
    assert loaded.search_text("fever", 3) == []


def test_files_are_plain_and_private(tmp_path: Path) -> None:
    make(3).save(tmp_path / "i")
    files = [p for p in (tmp_path / "i").rglob("*") if p.is_file()]
    assert {p.suffix for p in files} == {".npy", ".json"}
    np.load(generation(tmp_path / "i") / "vectors.npy", allow_pickle=False)
    assert generation(tmp_path / "i").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("encoder", "dimension", "said"), [("other", DIMENSION, "made with enc"), ("enc", 5, "made with enc")]
)
def test_another_encoder_is_refused_with_advice(tmp_path: Path, encoder: str, dimension: int, said: str) -> None:
    make(3).save(tmp_path / "i")
    with pytest.raises(DataError, match=said) as caught:
        LocalIndex.load(tmp_path / "i", encoder, dimension)
    assert "build" in caught.value.advice


@pytest.mark.parametrize("name", ["vectors.npy", "entries.json", "bm25/data.csc.index.npy"])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_damage_is_noticed(tmp_path: Path, name: str, damage: str) -> None:
    make(3).save(tmp_path / "i")
    file = generation(tmp_path / "i") / name
    data = bytearray(file.read_bytes())
    if damage == "remove":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(data[: len(data) // 2])
    else:
        data[-3] ^= 1
        file.write_bytes(data)
    with pytest.raises(DataError) as caught:
        LocalIndex.load(tmp_path / "i", "enc", DIMENSION)
    assert caught.value.advice


@pytest.mark.parametrize(
    "manifest", ["", "{", "[]", '{"format": 1}', None], ids=["empty", "cut", "a list", "incomplete", "other format"]
)
def test_a_bad_manifest_is_refused(tmp_path: Path, manifest: str | None) -> None:
    make(3).save(tmp_path / "i")
    path = tmp_path / "i" / "manifest.json"
    path.write_text(manifest if manifest is not None else path.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(DataError):
        LocalIndex.load(tmp_path / "i", "enc", DIMENSION)


def test_nothing_there_and_a_lost_generation_are_data_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing built"):
        LocalIndex.load(tmp_path / "none", "enc", DIMENSION)
    make(3).save(tmp_path / "i")
    generation(tmp_path / "i").rename(tmp_path / "away")
    with pytest.raises(DataError, match="missing"):
        LocalIndex.load(tmp_path / "i", "enc", DIMENSION)


def test_saving_replaces_repairs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    make(3).save(folder)
    make(5, "rash").save(folder)
    (generation(folder) / "entries.json").write_text("[]")
    make(5, "rash").save(folder)
    assert len(LocalIndex.load(folder, "enc", DIMENSION)) == 5
    assert sorted(p.name for p in folder.iterdir()) == sorted([generation(folder).name, "manifest.json"])


def test_a_crash_before_the_switch_keeps_the_old_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "i"
    make(3).save(folder)

    def crash(*_: object) -> None:
        raise OSError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", crash)
        with pytest.raises(OSError, match="power cut"):
            make(9).save(folder)
    assert len(LocalIndex.load(folder, "enc", DIMENSION)) == 3
    make(9).save(folder)
    assert len(LocalIndex.load(folder, "enc", DIMENSION)) == 9


def test_a_reader_beside_a_writer_sees_the_old_index_or_the_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    make(3).save(folder)
    stop = threading.Event()
    finished: list[bool] = []

    def write() -> None:
        while not stop.is_set():
            make(6, "rash").save(folder)
            make(3).save(folder)
        finished.append(True)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {len(LocalIndex.load(folder, "enc", DIMENSION)) for _ in range(25)}
    finally:
        stop.set()
        writer.join()
    assert finished == [True]
    assert seen <= {3, 6}

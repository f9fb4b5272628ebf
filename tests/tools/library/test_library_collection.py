"""The library: built once, opened whole, searched by words and by meaning."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
import yaml

from prompts.errors import DataError, InputError
from tools.encoders import Encoder, Vectors
from tools.indexes.contract import Filter
from tools.library.build import build_library
from tools.library.collection import Library
from tools.library.document import pack, review_notices, window_text
from tools.text.sentences import Span


class WordEncoder:
    """A quick encoder: a hashed bag of words. It counts what it embeds."""

    dimension, limit = 32, 256

    def __init__(self, name: str) -> None:
        self.name, self.embedded = name, 0

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode()) % self.dimension] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return self.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def first(library: Library, query: str, where: Filter | None = None) -> str | None:
    hits = library.search(query, 3, where)
    return hits[0].document.id if hits else None


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("Do statins help people who never had a heart attack?", "library:statins-primary-prevention"),
        ("burning behind the breastbone after meals", "library:gerd"),
        ("SLE", "library:sle"),
        ("one dose of dexamethasone for a barking cough", "library:corticosteroids-croup"),
        ("chest pain eased by sitting forward", "library:pericarditis"),
    ],
)
def test_the_right_document_comes_first(library: Library, query: str, document: str) -> None:
    assert first(library, query) == document


@pytest.mark.parametrize("query", ["Who won the football World Cup?", "hello", "Write a poem about autumn", "", "   "])
def test_what_is_no_medicine_finds_nothing(library: Library, query: str) -> None:
    assert library.search(query, 5) == []


def test_results_carry_streams_ranks_and_an_exact_window(library: Library) -> None:
    hits = library.search("Do I need a chest X-ray or any test for acute bronchitis?", 3)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    best = hits[0]
    assert {f.stream: f.rank for f in best.found} == {"bm25": 1, "dense": 1}
    evidence = best.evidence()
    assert evidence.text == best.document.text[best.window.start : best.window.end]
    assert "No test is needed in a typical case" in evidence.text
    assert evidence.section == "Diagnosis"
    assert len(evidence.neighbours) == 2
    assert all(n.startswith("library:acute-bronchitis@") for n in evidence.neighbours)


def test_filters_restrict_documents(library: Library) -> None:
    query = "treatment of croup with steroids"
    assert first(library, query) == "library:corticosteroids-croup"
    assert first(library, query, Filter(kinds=("condition",))) != "library:corticosteroids-croup"
    assert {h.document.id for h in library.search(query, 9, Filter(ids=("library:gerd",)))} <= {"library:gerd"}
    assert first(library, "heartburn", Filter(ids=("library:gerd",))) == "library:gerd"
    for where in (Filter(ids=("library:none",)), Filter(languages=("zh",)), Filter(since="2027-01-01")):
        assert library.search(query, 5, where) == []


def test_the_end_of_a_long_query_is_read(library: Library) -> None:
    noise = "The weather was fine and the train was late again that afternoon. " * 40
    hits = library.search(noise + "Heartburn after meals with acid regurgitation is the leading complaint.", 3)
    assert hits[0].document.id == "library:gerd"


def test_documents_are_found_by_every_form_of_their_id(library: Library) -> None:
    assert library.document("gerd") == library.document("library:gerd") == library.document("library:gerd@0-10")
    with pytest.raises(InputError):
        library.document("library:none")
    with pytest.raises(InputError):
        library.document("gerd").evidence(5, 5)
    assert len(library.documents) == len(library) == 6


def test_every_window_fits_the_encoder_and_the_windows_hold_all_the_text(library: Library, encoder: Encoder) -> None:
    for document in library.documents:
        counts = encoder.count_tokens([window_text(document, w) for w in document.windows])
        assert max(counts) <= encoder.limit - 2
        held = "".join("".join(document.text[w.start : w.end].split()) for w in document.windows)
        assert held == "".join("".join(document.text[s.start : s.end].split()) for s in document.sections)


def test_a_text_of_any_shape_is_packed_within_the_budget(encoder: Encoder) -> None:
    for text in (
        "word " * 400,
        "x" * 3000,
        "One sentence. " * 90,
        "短句子。" * 200,
        "One. " + "long " * 200 + "end. Two.",
    ):
        spans = pack(text, Span(0, len(text)), 60, encoder)
        assert max(encoder.count_tokens([s.of(text) for s in spans])) <= 60
        assert "".join("".join(s.of(text).split()) for s in spans) == "".join(text.split())


def test_questions_know_where_their_answer_stands(library: Library, monographs: Path) -> None:
    for document in library.documents:
        raw = (monographs / f"{document.id.removeprefix('library:')}.md").read_text(encoding="utf-8")
        written = yaml.safe_load(raw.split("---\n")[1])["questions"]
        assert [q.text for q in document.questions] == [q["q"] for q in written]
        for question, source in zip(document.questions, written, strict=True):
            assert document.text[question.start : question.end] == source["span"]
            assert question.paragraph_start <= question.start < question.end <= question.paragraph_end


def test_it_is_built_again_only_when_content_or_encoder_differ(monographs: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    shutil.copy(monographs / "gerd.md", source)
    counting, seen = WordEncoder("one"), []
    assert build_library(source, target, counting, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (counting.embedded, counting.embedded)
    before = counting.embedded
    assert not build_library(source, target, counting)
    assert counting.embedded == before
    assert build_library(source, target, WordEncoder("another"))
    with pytest.raises(DataError, match="built with another"):
        Library.open(target, counting)
    shutil.copy(monographs / "sle.md", source)
    assert build_library(source, target, counting)
    assert len(Library.open(target, counting)) == 2
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["source", "target"]


def test_damage_is_a_data_error_and_is_mended_by_building(monographs: Path, tmp_path: Path) -> None:
    folder, source = tmp_path / "library", tmp_path / "source"
    source.mkdir()
    shutil.copy(monographs / "gerd.md", source)
    build_library(source, folder, WordEncoder("one"))
    generation = json.loads((folder / "manifest.json").read_text())["generation"]
    (folder / generation / "windows" / "manifest.json").write_text("{}")
    with pytest.raises(DataError):
        Library.open(folder, WordEncoder("one"))
    assert build_library(source, folder, WordEncoder("one"))
    assert len(Library.open(folder, WordEncoder("one"))) == 1
    with pytest.raises(DataError, match="nothing built"):
        Library.open(tmp_path / "none", WordEncoder("one"))


def test_unusable_monographs_are_all_named_and_the_old_library_stays(monographs: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(monographs, source)
    (source / "gerd.md").write_text("no front matter")
    (source / "wrong.md").write_text((source / "sle.md").read_text())
    with pytest.raises(DataError, match=r"gerd has no front matter.*wrong\.md: the id is sle"):
        build_library(source, tmp_path / "target", WordEncoder("one"))
    with pytest.raises(DataError, match="no monographs"):
        build_library(tmp_path / "target", tmp_path / "other", WordEncoder("one"))


def test_a_review_date_that_has_passed_is_a_notice(library: Library) -> None:
    gerd = library.document("gerd")
    assert not gerd.past_review(date.fromisoformat(gerd.review_by))
    assert review_notices([gerd], "en", date(2026, 12, 1)) == []
    notices = review_notices([gerd, gerd], "en", date(2030, 1, 1))
    assert [n.code for n in notices] == ["past_review_date"]
    assert notices[0].text.count(gerd.title) == 1

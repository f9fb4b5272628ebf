"""The task `library`: articles written here are added for real; the figures follow from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from evals.contract import TaskContext
from evals.tasks import library
from evals.tasks.library import Added, Memory, TimedEncoder, figures_of
from prompts.errors import DataError
from tools.encoders import Vectors
from tools.library.adding import AddReport, FileRow, Outcome

ARTICLE = """<article><front><article-meta><article-id pub-id-type="pmc">{n}</article-id><title-group>
<article-title>Trial {n}</article-title></title-group></article-meta></front>
<body><sec><title>Results</title><p>Group {n} did better than its control in week {n}.</p></sec></body></article>"""


class Words:
    """Vectors from the number of letters: quick, and enough to be stored."""

    name, dimension, limit = "words", 4, 64

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.array([[1.0, len(t), t.count("e"), t.count("a")] for t in texts], dtype=np.float32).reshape(-1, 4)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)  # type: ignore[no-any-return]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]


def test_articles_are_added_once_and_broken_ones_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "fulltext" / "nxml"
    folder.mkdir(parents=True)
    for n in range(1, 6):
        (folder / f"PMC{n}.nxml").write_text(ARTICLE.format(n=n))
    (folder / "PMC6.nxml").write_text(ARTICLE[:200])
    monkeypatch.setattr(library, "load_encoder", lambda _: Words())
    from agent.settings import load_settings

    context = TaskContext(tmp_path, 100, 0, settings=load_settings(literature={"live": "off"}))
    values = {f.name.removeprefix("add.fulltext."): f for f in library.run(context)}
    assert (values["documents"].value, values["documents"].n) == (5, 6)
    assert values["problems"].value == 1
    assert values["again_embedded"].value == 0
    assert 0 < values["encoder_share"].value < 100
    assert values["own_documents_s"].value > values["documents_s"].value > 0


def test_the_encoders_own_time_is_left_out() -> None:
    rows = tuple(FileRow(path=f"{i}", outcome=Outcome.ADDED, documents=1) for i in range(30))
    failed = FileRow(path="x", outcome=Outcome.FAILED, documents=0, reason="r", advice="a")
    memory = Memory(early=400.0, late=410.0)
    first, again = AddReport(rows=(*rows, failed)), AddReport(rows=rows)
    figures = {f.name: f.value for f in figures_of(Added(first, 60.0, 45.0, again, 0.5, 0, memory))}
    assert figures["add.fulltext.documents_s"] == pytest.approx(0.5)
    assert figures["add.fulltext.own_documents_s"] == pytest.approx(2)
    assert figures["add.fulltext.encoder_share"] == pytest.approx(75)
    assert figures["add.fulltext.rss_growth_mb"] == pytest.approx(10)
    with pytest.raises(DataError):
        figures_of(Added(AddReport(rows=(failed,)), 1.0, 0.0, again, 0.5, 0))


def test_memory_is_noted_after_the_first_tenth_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([1.0, 2.0])
    monkeypatch.setattr(library, "resident_mb", lambda: next(sizes))
    memory = Memory()
    for done in range(25):
        memory.note(done, 24)
        assert (memory.early is None) == (done < 3)
    assert (memory.early, memory.late) == (1.0, 2.0)


def test_texts_and_seconds_of_the_encoder_are_counted() -> None:
    timed = TimedEncoder(Words())
    timed.encode_documents(["one", "two"])
    timed.encode_documents(["three"])
    timed.encode_queries(["four"])
    assert timed.texts == 3
    assert timed.seconds > 0

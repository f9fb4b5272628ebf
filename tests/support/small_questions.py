"""Three short texts with a question each, and what the evaluation of question indexes is run with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agent.settings import Settings
from evals.contract import Figure, TaskContext
from evals.datasets.answered_questions import AskedQuestion, QuestionSet
from tools.questions.contract import SourceDocument

TEXTS = {
    "asthma": "Asthma narrows the airways of the lungs. Inhaled steroids prevent attacks of asthma. "
    "Smoke and pollen are common triggers of asthma.",
    "gout": "Gout is caused by urate crystals in a joint. Colchicine relieves a flare of gout within a day. "
    "Allopurinol lowers uric acid in people with gout.",
    "shingles": "Shingles is a painful rash in a band. Aciclovir works best within three days of the rash of shingles. "
    "Pain may last for months after shingles.",
}
ASKED = {
    "Which tablet relieves a flare of gout?": "gout",
    "What prevents attacks of asthma?": "asthma",
    "How long may pain last after shingles?": "shingles",
}


def context(tmp_path: Path, limit: int = 100) -> TaskContext:
    settings = Settings(home=tmp_path / "home", literature={"live": "off"})  # type: ignore[arg-type]
    return TaskContext(tmp_path, limit, 0, settings)


def write(path: Path, *rows: Mapping[str, object]) -> None:
    write_rows(path, rows)


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def by_name(figures: Sequence[Figure]) -> dict[str, float]:
    assert len({f.name for f in figures}) == len(figures)
    return {f.name: f.value for f in figures}


def questions() -> QuestionSet:
    documents = tuple(SourceDocument(id=key, text=text) for key, text in TEXTS.items())
    return QuestionSet(documents, tuple(AskedQuestion.of(q, frozenset({key})) for q, key in ASKED.items()))

"""What a study answers in all is trained on abstracts beside their questions, and held out by question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.settings import Settings
from evals.contract import TaskContext
from evals.training import overall
from graphs.verdicts.overall import WEIGHTS, weights
from support.scripted_reader import ScriptedReader, reading
from support.word_encoder import WordEncoder
from tools.reading.contract import Stance
from tools.reading.corpus import PUBMEDQA

SAYS = {"yes": Stance.SUPPORTS, "no": Stance.REFUTES, "maybe": Stance.MIXED}


def test_training_writes_what_tells_studies_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, table = [], {}
    for n in range(45):
        answer = ("yes", "no", "maybe")[n % 3]
        sentence = f"Attacks in group {n} of the trial were {answer}."
        table[sentence] = reading(SAYS[answer], 0.9)
        contexts = [{"label": "RESULTS", "text": sentence}]
        rows.append(
            {"id": f"own-{n}", "pmid": str(n), "question": "Does it help?", "answer": answer, "contexts": contexts}
        )
    path = tmp_path / PUBMEDQA
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    @contextmanager
    def words(*_: object) -> Iterator[tuple[None, WordEncoder]]:
        yield None, WordEncoder()

    monkeypatch.setattr(overall, "encoders", words)
    monkeypatch.setattr(overall, "the_reader", lambda: ScriptedReader(table))
    told: list[str] = []
    context = TaskContext(data=tmp_path, limit=0, seed=0, settings=Settings(home=tmp_path))
    overall.train_overall(context, tmp_path / "made.safetensors", told.append)
    assert "100.0% of 45 answered, 100.0% of these right" in told[0]
    assert weights(tmp_path / "made.safetensors").weight.shape == weights(WEIGHTS).weight.shape

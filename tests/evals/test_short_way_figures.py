"""The figures of direct answers: what is counted, and that nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from agent.sessions import Home
from agent.settings import Settings
from evals.contract import TaskContext
from evals.datasets.answered_questions import QuestionSet
from evals.tasks import questions as task
from evals.tasks.questions import DirectAnswer, short_way_figures
from tools.encoders import Encoder
from tools.questions.contract import SourceDocument
from tools.questions.settings import BuildSettings, QuestionSettings


def test_precision_of_direct_answers_counts_those_that_should_not_have_been_given() -> None:
    found = [DirectAnswer("rephrase", "a", True), DirectAnswer("rephrase", "", False), DirectAnswer("ood", "b", False)]
    found += [DirectAnswer("outside", "c", False), DirectAnswer("outside", "", False)]
    figures = {f.name: (round(f.value, 2), f.n) for f in short_way_figures(found)}
    assert figures["short_way.library.precision"] == (33.33, 3)
    assert figures["short_way.library.coverage"] == (66.67, 3)
    assert figures["short_way.outside.answered"] == (50, 2)
    assert figures["short_way.rephrase.precision"] == (100, 1)


def test_the_short_way_is_measured_beside_the_users_index_and_notes(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path).prepare()
    learning = QuestionSettings(learn=True)
    settings = Settings(home=tmp_path, questions=learning, question_index=BuildSettings(per_document=3))
    bodies = (SourceDocument(id="library:gout", title="Gout", text="Gout is caused by crystals of uric acid."),)
    asked = QuestionSet(bodies, ())
    monkeypatch.setattr(task, "of_library", lambda _: bodies)
    monkeypatch.setattr(task, "read_own", lambda *_: asked)
    task.short_way(TaskContext(tmp_path, 1, 0, settings), home, cast(Any, Shelfless()), encoder)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
    assert next(home.cache.rglob("questions/manifest.json"), None) is not None


class Shelfless:
    """A library that is not asked anything."""

    documents = ()

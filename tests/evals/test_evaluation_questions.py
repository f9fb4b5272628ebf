"""The task `questions`: its readers, rankings, tests and figures, on a handful of texts written here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from agent.sessions import Home
from agent.settings import Settings
from evals.contract import Figure, Task, TaskContext
from evals.datasets.answered_questions import AskedQuestion
from evals.runner import run_task
from evals.sessions import EvalEncoder
from evals.tasks import questions as task
from evals.tasks.questions import AHEAD, compared_figures, system_figures, systems, write_ahead
from evals.tasks.questions.systems import (
    FORMS,
    Bars,
    build_index,
    by_meaning,
    embed_passages,
    search_directly,
    search_index,
    search_matrices,
)
from evals.tasks.questions.systems import fused_rankings as fused
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.model_settings import ModelSettings
from support.scripted_model import Scripted, serving
from support.small_questions import ASKED, TEXTS, context, questions
from support.word_encoder import WordEncoder
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder
from tools.questions.collection import bag
from tools.questions.kinds import kinds_of
from tools.questions.round_trip import statement_words
from tools.text.definitions import definitions
from tools.text.tokens import stem, stems


def test_a_document_stands_where_its_best_text_stands() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)
    assert by_meaning(vectors, ["b", "a", "a"], np.array([[0, 1], [1, 0]], dtype=np.float32)) == [
        ["a", "b"],
        ["b", "a"],
    ]
    assert fused([["a", "b"]], [["b", "c"]]) == [["b", "a", "c"]]


def test_direct_ways_and_the_index_find_what_answers(tmp_path: Path, encoder: Encoder) -> None:
    run, asked = context(tmp_path), questions()
    vectors = encoder.encode_queries([q.text for q in asked.asked])
    passages = embed_passages(asked, encoder, run, "toy")
    direct = search_directly(asked, vectors, passages, encoder, run, "toy")
    gold = list(ASKED.values())
    assert all([ids[0] for ids in rankings] == gold for rankings in direct.by_name().values())
    report = build_index(asked.documents, tmp_path / "index", encoder, run, "toy")
    assert report.documents == 3
    found = search_index(asked, tmp_path / "index", encoder, direct)
    assert [ids[0] for ids in found["question_index"]] == gold
    assert [ids[0] for ids in found["question_index_hybrid"]] == gold
    assert set(found) >= {"question_index_ours_2", "question_index_ours_8", "question_index_vanilla"}


def test_a_set_has_every_figure_of_every_system(tmp_path: Path, encoder: Encoder) -> None:
    run = context(tmp_path)
    plain = CachedEncoder(encoder, tmp_path / "vectors")
    bench = task.Bench(run, Home(tmp_path / "home"), plain, EvalEncoder(plain, tmp_path / "queries"))
    figures = {f.name: f for f in task.set_figures(bench, "qbrag", questions(), ())}
    assert figures["question_index.qbrag.recovery@1"].value == 100
    assert figures["question_index_over_dense.qbrag.recovery@1_p"].value == 1  # both are always right
    assert figures["question_index_hybrid_over_hybrid.qbrag.mrr@10"].ci95 == (0, 0)
    assert figures["index.qbrag.coverage"].value > 2
    assert figures["collection.qbrag.left_out"].n == 3


def test_a_model_writes_what_is_searched_for_and_its_failure_is_no_figure(tmp_path: Path, encoder: Encoder) -> None:
    def model(url: str) -> LanguageModel:
        return LanguageModel(ModelSettings(name="m", base_url=url, timeout=5.0, max_retries=0), "background")

    with serving(Scripted(json.dumps({"text": TEXTS["gout"]}))) as server:
        assert write_ahead(model(server.url), "hyde", list(ASKED)) == [TEXTS["gout"]] * 3
        plain = CachedEncoder(encoder, tmp_path / "vectors")
        cached = EvalEncoder(plain, tmp_path / "queries")
        bench = task.Bench(context(tmp_path), Home(tmp_path / "home"), plain, cached, lambda: model(server.url))
        figures = {f.name: f for f in task.set_figures(bench, "toy", questions(), ())}
    assert all(figures[f"{system}.toy.recovery@1"].value == pytest.approx(100 / 3) for system in AHEAD)
    with serving(Scripted(status=500, body="oops")) as server, pytest.raises(ServiceError):
        write_ahead(model(server.url), "qa_rag", list(ASKED))


def test_only_a_task_that_says_so_is_given_the_model_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_MODEL", "some-model")
    (tmp_path / "rows").write_text("1")

    def run(context: TaskContext) -> list[Figure]:
        context.not_run["hyde"] = "for a reason"
        return [Figure(name="a.model.named", value=float(bool(context.settings.language_model)), n=1)]

    for by_model in (False, True):
        toy = Task("toy", "looks", ("rows",), "a minute", 1, run, by_model=by_model)
        report = run_task(toy, tmp_path, limit=None, seed=0)
        assert report.figures[0].value == by_model
        assert report.settings["model"] == ("some-model" if by_model else None)
        assert report.settings["not_run"] == {"hyde": "for a reason"}


def test_every_form_of_the_matrix_is_searched_and_one_that_is_too_large_is_told(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked, folder = context(tmp_path), questions(), tmp_path / "index"
    build_index(asked.documents, folder, encoder, run, "toy")
    found = search_matrices(asked, folder, encoder, run, ())
    assert set(found) == {f"question_index_{form}" for form in FORMS}
    assert all([ids[0] for ids in rankings] == list(ASKED.values()) for rankings in found.values())
    assert run.not_run == {}
    monkeypatch.setattr(systems, "AFFORDED", 5)
    assert "question_index_full" not in search_matrices(asked, folder, encoder, run, ())
    assert "at most 5 are judged" in run.not_run["question_index_full"]


def test_figures_are_counted_by_hand() -> None:
    asked = [AskedQuestion.of(str(n), frozenset({"gold"})) for n in range(8)]
    right, third, none = ["gold", "x", "y"], ["x", "y", "gold"], ["x"]
    ours, theirs = [right] * 6 + [third, none], [right] * 1 + [third] * 5 + [third, none]
    figures = {f.name: f for f in system_figures("ours.toy", asked, ours, 0)}
    assert figures["ours.toy.recovery@1"].value == figures["ours.toy.hit@1"].value == 75
    assert figures["ours.toy.recovery@3"].value == 87.5
    assert figures["ours.toy.mrr@10"].value == pytest.approx((6 + 1 / 3) / 8)
    assert figures["ours.toy.ndcg@10"].value == pytest.approx((6 + 1 / 2) / 8)
    pairs = compared_figures("toy", asked, {"question_index": ours, "dense": theirs}, 0)
    over = {f.name.removeprefix("question_index_over_dense.toy."): f for f in pairs}
    assert over["recovery@1"].value == 62.5  # five of eight questions
    assert over["recovery@1_p"].value == pytest.approx(0.5**5)  # all five discordant pairs on one side
    assert over["recovery@1_ratio"].value == 600
    assert over["recovery@3"].value == 0
    assert over["recovery@3_p"].value == 1
    assert over["mrr@10_p"].value < 0.05
    assert compared_figures("toy", asked, {"dense": theirs}, 0) == []


def test_a_build_is_timed_as_in_a_fresh_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class EnoughError(Exception):
        """Two builds were seen."""

    remembered: list[int] = []

    def built(*_: object) -> None:
        caches = (bag, kinds_of, statement_words, definitions, stems, stem)
        remembered.append(sum(cache.cache_info().currsize for cache in caches))
        for cache in caches:
            cache("warm words are warmed")
        if len(remembered) == 2:
            raise EnoughError

    monkeypatch.setattr(task, "build_index", built)
    monkeypatch.setattr(task, "of_library", lambda _: questions().documents)
    monkeypatch.setattr(task, "read_own", lambda *_: questions())
    with pytest.raises(EnoughError):
        task.speed_figures(context(tmp_path), cast(Any, SimpleNamespace(documents=())), WordEncoder())
    assert remembered[1] == 0  # of the first build, which embeds, nothing is known in the second, which is timed


def test_a_bar_ends_with_its_stage(tmp_path: Path) -> None:
    seen: list[int] = []

    def tick(rows, label, total):  # type: ignore[no-untyped-def]
        for row in rows:
            seen.append(row)
            yield row
        seen.append(-1)

    settings = Settings(home=tmp_path)
    bars = Bars(TaskContext(tmp_path, 1, 0, settings, tick), "toy")
    for done in (2, 3, 5):
        bars.show("questions", done, 5)
    assert seen == [0, 1, 2, 3, 4, -1]

"""Measures of a report's text: values by hand, properties, BERTScore with a tiny model, and the task."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.contract import TaskContext
from evals.datasets.cases import SAMPLE, ReportCase, read_report_cases
from evals.runner import run_task
from evals.scripted.player import in_form
from evals.tasks.report_text import (
    TASK,
    BertScore,
    Written,
    bert_figures,
    mini_cex_figures,
    open_bertscore,
    text_figures,
    text_scores,
    words,
)
from prompts.errors import DataError, InputError
from support.answer_judging import by_model, reply
from support.scripted_model import serving_by
from support.tiny_medcpt import WORDS, tiny_models

SAID, WANTED = "The cat sat on the mat.", "The cat lay on a mat."


def test_the_measures_are_those_by_hand() -> None:
    scores = text_scores(SAID, WANTED)
    assert scores["rouge_1"] == pytest.approx(2 * 4 / 12)  # the, cat, on, mat
    assert scores["rouge_2"] == pytest.approx(2 * 1 / 10)  # the cat
    assert scores["rouge_l"] == pytest.approx(2 * 4 / 12)
    # BLEU: precisions 4/6, 1/5, and 0.1/4 and 0.1/3 smoothed; as long as the reference.
    assert scores["bleu"] == pytest.approx((4 / 6 * 1 / 5 * 0.1 / 4 * 0.1 / 3) ** 0.25)
    # METEOR: 4 of 6 matched; nltk takes the later "the", so that no two stand in a row: F = 2/3, penalty 0.5.
    assert scores["meteor"] == pytest.approx(2 / 3 * 0.5)


def test_meteor_matches_stems_and_no_synonyms() -> None:
    assert text_scores("coughing", "coughs")["meteor"] == pytest.approx(0.5)
    assert text_scores("physician", "doctor")["meteor"] == 0


def test_chinese_is_compared_by_character() -> None:
    assert words("发热3天, COPD") == ["发", "热", "3", "天", "copd"]
    assert text_scores("发热三天", "发热五天")["rouge_1"] == pytest.approx(0.75)


TEXTS = st.lists(st.sampled_from("fever cough pain of the chest".split()), max_size=12)


@given(TEXTS, TEXTS)
def test_every_measure_is_bounded_and_the_overlaps_are_symmetric(left: list[str], right: list[str]) -> None:
    one, other = text_scores(" ".join(left), " ".join(right)), text_scores(" ".join(right), " ".join(left))
    assert all(0 <= value <= 1 for value in one.values())
    assert all(one[name] == pytest.approx(other[name]) for name in ("rouge_1", "rouge_2", "rouge_l"))
    if left:
        same = text_scores(" ".join(left), " ".join(left))
        assert same["rouge_1"] == same["rouge_l"] == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tiny_models(tmp_path_factory.mktemp("models"))[1])


def test_bertscore_is_1_for_the_same_text_and_less_for_another(folder: Path) -> None:
    scorer = BertScore(folder)
    text = "the child has croup and fever"
    assert scorer.score(text, text).f1 == pytest.approx(1, abs=1e-4)
    other = scorer.score(text, "chest pain since monday")
    back = scorer.score("chest pain since monday", text)
    assert other.f1 < 0.99
    assert (other.precision, other.recall) == pytest.approx((back.recall, back.precision), abs=1e-5)
    assert scorer.score("", text) == (0, 0, 0)


def test_bertscore_reads_a_text_longer_than_its_model(folder: Path) -> None:
    scorer = BertScore(folder)
    vectors = scorer._vectors(" ".join(WORDS[:4] * 300))
    assert len(vectors) == 1200
    start = scorer._vectors(" ".join(WORDS[:4] * (scorer._window // 4)))
    assert vectors[: scorer._window].allclose(start, atol=1e-4)


def test_a_wrong_model_folder_is_told(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANAMNESIS_EVAL_BERTSCORE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert open_bertscore() is None
    monkeypatch.setenv("ANAMNESIS_EVAL_BERTSCORE", str(folder))
    assert open_bertscore() is not None
    with pytest.raises(InputError, match="no model folder"):
        open_bertscore(str(tmp_path / "none"))
    with pytest.raises(InputError, match="no model that can be opened"):
        open_bertscore(str(tmp_path))


def row(text: str) -> Written:
    return Written(ReportCase(id="1", case="c", report=WANTED), text)


def test_a_case_without_a_report_counts_nothing_and_is_told(tmp_path: Path, folder: Path) -> None:
    from agent.settings import Settings

    rows = [row(WANTED), row("")]
    values = {f.name.removeprefix("report_text.cases."): f.value for f in text_figures(rows, 0)}
    assert (values["rouge_l"], values["empty"]) == (50, 50)
    context = TaskContext(tmp_path, 1, 0, Settings(home=tmp_path))
    assert bert_figures(rows, None, context) == []
    assert "ANAMNESIS_EVAL_BERTSCORE" in context.not_run["bertscore"]
    scored = {f.name: f.value for f in bert_figures(rows, BertScore(folder), context)}
    assert scored["report_text.cases.bertscore_f1"] == pytest.approx(50, abs=1e-2)


def test_mini_cex_is_by_a_model_or_not_run(tmp_path: Path) -> None:
    from agent.settings import Settings

    context = TaskContext(tmp_path, 1, 0, Settings(home=tmp_path))
    assert asyncio.run(mini_cex_figures([row(SAID)], None, context)) == []
    assert "mini_cex" in context.not_run
    with serving_by(lambda r: in_form(r, json.dumps(reply(r)))) as server:
        judged = mini_cex_figures([row(SAID), row("")], by_model(server.url), context)
        values = {f.name: (f.value, f.n) for f in asyncio.run(judged)}
    assert values["report_text.mini_cex.interviewing"] == (2, 1)
    assert values["report_text.mini_cex.overall"] == (8, 1)


def test_cases_with_one_id_are_refused(tmp_path: Path) -> None:
    line = json.dumps({"id": "1", "case": "c", "report": "r"})
    (tmp_path / "a.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(DataError, match="'1'"):
        read_report_cases(tmp_path)
    assert len(read_report_cases(SAMPLE)) == 4


def test_the_task_reports_on_the_sample(built_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    for name in ("ANAMNESIS_MODEL", "ANAMNESIS_EVAL_BERTSCORE"):
        monkeypatch.delenv(name, raising=False)
    report = run_task(TASK, None, limit=1, seed=0, config="medrag-kg")
    values = {f.name: f.value for f in report.figures}
    assert values["report_text.cases.empty"] == 0
    assert 0 < values["report_text.cases.rouge_l"] < 100
    assert set(report.settings["not_run"]) == {"bertscore", "mini_cex", "medrag-kg:without-graph"}
    with pytest.raises(InputError, match="needs a language model"):
        run_task(TASK, None, limit=1, seed=0, config="medrag-kg:without-graph")

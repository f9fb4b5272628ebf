"""The task `literature`, on a handful of records written here, and how its figures are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings import Settings
from evals.contract import TaskContext
from evals.datasets.literature import LiteratureQuestion, read_collection, read_pubmedqa
from evals.statistics import reciprocal_rank
from evals.tasks import literature
from evals.tasks.literature import STREAMS, Answer, Found, recall
from prompts.errors import DataError
from support.small_questions import write_rows as write
from tools.literature.ladder import Climb

SUBJECTS = {
    "1": ("Statins and muscle pain", "Statins caused muscle pain in some patients with high cholesterol."),
    "2": ("Inhaled steroids in asthma", "Inhaled corticosteroids reduced exacerbations of asthma in children."),
    "3": ("Does aspirin prevent stroke?", "Aspirin prevented ischaemic stroke after a transient attack."),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows: list[dict[str, object]] = [
        {"pmid": k, "title": t, "abstract": a, "year": 2001, "source": "pubmedqa" if k == "3" else "other"}
        for k, (t, a) in SUBJECTS.items()
    ]
    write(tmp_path / literature.data.ABSTRACTS, rows)
    span = {"text": "Metformin lowers glucose."}
    write(
        tmp_path / literature.data.SNIPPETS,
        [
            {"pmid": "4", "title_snippets": [], "abstract_snippets": [span], "other_snippets": []},
            {"pmid": "1", "title_snippets": [], "abstract_snippets": [span], "other_snippets": []},
        ],
    )
    write(
        tmp_path / literature.BIOASQ,
        [
            {"id": "a", "question": "Do statins cause muscle pain?", "documents": ["1", "99"]},
            {"id": "b", "question": "Is it held?", "documents": ["99"]},
        ],
    )
    write(tmp_path / literature.PUBMEDQA, [{"id": "p", "question": SUBJECTS["3"][0], "pmid": "3"}])
    story = "My husband Paul coaches football and now his muscles ache. Is it the statin?"
    write(tmp_path / literature.data.NARRATIVES, [{"id": "a", "narrative": story}, {"id": "z", "narrative": "?"}])
    return tmp_path


def test_full_abstracts_win_over_snippets_and_a_question_is_no_title(data: Path) -> None:
    documents = {d.pmid: d for d in read_collection(data)}
    assert set(documents) == {"1", "2", "3", "4"}
    assert (documents["1"].whole, documents["1"].title) == (True, "Statins and muscle pain")
    assert (documents["4"].whole, documents["4"].abstract) == (False, "Metformin lowers glucose.")
    assert documents["3"].title == ""
    assert read_pubmedqa(data, frozenset({"1"})) == []


def test_every_stream_is_measured_on_every_set(data: Path, built_home: Path) -> None:
    settings = Settings(home=built_home, literature={"live": "off"})  # type: ignore[arg-type]
    figures = {f.name: f for f in literature.run(TaskContext(data, 10, 0, settings=settings))}
    for stream in STREAMS:
        for questions in ("bioasq", "pubmedqa", "narrative", "narrative_source"):
            assert figures[f"{stream}.{questions}.hit@10"].n == 1
    assert figures["collection.all.documents"].value == 4
    assert not any(".pubmedqa_narrative." in name for name in figures)  # none of ours is around this question
    assert figures["hybrid.bioasq.hit@1"].value == 100
    assert figures["hybrid.bioasq.recall@20"].value == 1.0
    assert figures["hybrid.narrative.hit@10"].value == 100
    assert figures["raw.narrative.zero_hit_rate"].value == 100
    assert figures["adapt_e.bioasq.rungs"].value >= 1
    again = {f.name: f for f in literature.run(TaskContext(data, 10, 0, settings=settings))}
    timed = (".ms",)
    assert {k: v for k, v in again.items() if not k.endswith(timed)} == {
        k: v for k, v in figures.items() if not k.endswith(timed)
    }


def test_a_damaged_row_is_named(data: Path) -> None:
    with (data / literature.data.ABSTRACTS).open("a", encoding="utf-8") as file:
        file.write('{"pmid": "5"}\n')
    with pytest.raises(DataError, match=r"abstracts\.jsonl, row 4"):
        read_collection(data)


def test_figures_count_ranks_recall_and_paired_differences() -> None:
    questions = [
        LiteratureQuestion(id="a", text="x", gold=frozenset({"1", "2"})),
        LiteratureQuestion(id="b", text="y", gold=frozenset({"3"})),
    ]

    def answer(ids: list[str], worse: list[str]) -> Answer:
        streams = {name: Found(worse, 2.0) for name in STREAMS} | {"hybrid": Found(ids, 4.0)}
        return Answer(streams, Climb(), refused=False)

    answers = [answer(["1", "9", "2"], ["9", "8", "1"]), answer(["9", "8", "7", "6", "5", "3"], [])]
    figures = {f.name: f.value for f in literature.figures_of("s", questions, answers, seed=1)}
    assert (figures["hybrid.s.hit@1"], figures["hybrid.s.hit@5"], figures["hybrid.s.hit@10"]) == (50, 50, 100)
    assert figures["hybrid.s.mrr@10"] == pytest.approx((1 + 1 / 6) / 2)
    assert figures["hybrid.s.recall@20"] == 1.0
    assert figures["rrf_plain.s.zero_hit_rate"] == 50
    assert figures["hybrid_over_rrf_plain.s.mrr@10"] == pytest.approx((1 - 1 / 3 + 1 / 6) / 2)
    assert figures["hybrid_over_rrf_plain.s.hit@10"] == 50
    assert figures["hybrid_over_rrf_plain.s.recall@20"] == pytest.approx(0.75)
    assert figures["hybrid.s.ms"] == 4.0


def test_ranks_beyond_the_depth_do_not_count() -> None:
    assert reciprocal_rank(["a", "b"], frozenset({"b"}), 1) == 0.0
    assert recall(["a", "b", "c"], frozenset({"b", "c"}), 2) == 0.5

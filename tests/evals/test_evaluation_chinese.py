"""The Chinese cases are sound, and what is counted of them is right on results made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from evals.datasets.cases import FIRST, SECOND, ChineseCase, read_chinese
from evals.tasks.completeness_chinese import (
    Looked,
    Page,
    Pages,
    Shown,
    arm_figures,
    figures_of,
    orders,
    page_figures,
    told_apart,
)
from graphs.completeness.contract import Decision, GateDecision, Label, Unit
from prompts.errors import DataError
from support.ranked import ranked
from support.word_encoder import WordEncoder
from tools.contract import Differential, Finding
from tools.knowledge_graph.loader import read_graph
from tools.text.language import language_of

CASE = ChineseCase(
    id="x", disease="gout", department="d", style="lay", sentences=("右脚疼。", "我六十岁。"), sparse="脚疼。",
    labels="AB", terms=("六十",),
)  # fmt: skip


def test_the_cases_are_at_least_forty_of_diseases_that_the_graph_has_each_told_twice() -> None:
    first, second = read_chinese(FIRST), read_chinese(SECOND)
    both = [*first, *second]
    known = {d.id for d in read_graph().diseases}
    assert len(first) >= 40
    assert len({c.id for c in both}) == len({c.disease for c in both}) == len(both)
    assert {c.disease for c in both} <= known
    assert all(language_of(t) == "zh" for c in both for t in (c.text, c.sparse))
    assert all(2 * len(c.sparse) < len(c.text) for c in both)
    assert len({c.department for c in both}) >= 15
    assert sum(bool(c.labels) for c in first) >= 15


def test_a_row_with_a_label_too_many_or_a_word_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for change in ({"labels": "ABC"}, {"terms": ["膝盖"]}, {"labels": "AD"}):
        row = {**CASE.model_dump(mode="json"), **change}
        path = tmp_path / "cases.yaml"
        path.write_text(yaml.safe_dump([row], allow_unicode=True), encoding="utf-8")
        with pytest.raises(DataError):
            read_chinese(path)


def shown(first: str, decision: Decision, score: float, labels: str = "AB") -> Shown:
    line = ranked(first, 1, name="Gout", name_zh="痛风", findings_for=("脚痛", "gout"))
    units = tuple(
        Unit(text=t, start=0, end=len(t), label=Label(x), reason="")
        for t, x in zip(CASE.sentences, labels, strict=True)
    )
    gate = GateDecision(decision=decision, score=score, theta1=0.8, theta2=0.4, units=units, reason="")
    return Shown(Differential(ranking=(line,)), ("gout",), gate)


def test_every_part_is_counted_for_itself() -> None:
    right = Looked(CASE, shown("gout", Decision.DIRECT, 0.9), shown("", Decision.RETRIEVE_WITH_WARNING, 0.2))
    wrong = Looked(CASE, shown("gerd", Decision.DIRECT, 0.85, "AA"), shown("", Decision.RETRIEVE, 0.9))
    value = {f.name: f.value for f in figures_of([right, wrong], 0)}
    assert value["units.sentences.as_written"] == 100
    assert (value["labels.units.as_expected"], value["labels.expected_b.as_expected"]) == (75, 50)
    assert value["labels.majority.as_expected"] == 50
    assert (value["complete.direct.top1"], value["complete.gate.wrong_enough"]) == (50, 50)
    assert (value["complete.retrieve.top1"], value["complete.gate.accuracy"]) == (100, 50)
    assert (value["sparse.gate.retrieval_rate"], value["sparse.gate.warned"]) == (100, 50)
    assert (value["names.diseases.chinese"], value["names.findings.chinese"]) == (100, 50)
    assert value["gate.complete_over_sparse.auroc"] == 0.625  # of four pairs two are above, one is level, one below


def test_without_a_direct_answer_there_is_no_share_of_wrong_ones() -> None:
    names = {f.name for f in arm_figures("s", [(CASE, shown("gout", Decision.RETRIEVE, 0.5))])}
    assert "s.gate.wrong_enough" not in names
    assert "s.gate.accuracy" in names


def test_the_area_is_the_share_of_pairs_in_order_and_lies_in_its_interval() -> None:
    above, below = [0.9, 0.5, 0.4, 0.7], [0.1, 0.5, 0.6, 0.2]
    (figure,) = told_apart(above, below, 0)
    assert figure.value == pytest.approx(sum((a > b) + 0.5 * (a == b) for a in above for b in below) / 16)
    assert figure.ci95 is not None
    assert 0 < figure.ci95[0] < figure.value < figure.ci95[1] <= 1
    (apart,) = told_apart([0.8, 0.9], [0.1, 0.2], 0)
    assert (apart.value, apart.ci95) == (1.0, pytest.approx((1.0, 1.0)))
    assert told_apart([], [], 0) == []


def test_pages_are_found_by_words_by_meaning_and_by_what_the_graph_read() -> None:
    pages = Pages([Page("gout", "gout swells the toe"), Page("gerd", "acid burns the chest")], WordEncoder())
    assert pages.by_words("脚疼") == []  # no page shares a word with a Chinese text
    read = Differential(
        findings=(
            Finding(id="toe", name="toe", clause="脚", present=True),
            Finding(id="chest", name="chest", clause="胸", present=False),
        )
    )
    found = orders(pages, "脚疼", read)
    assert found["findings_bm25"] == ["gout"]  # what is denied is not searched for
    assert found["findings_dense"][0] == "gout"
    assert found["graph"] == []
    values = {f.name: f.value for f in page_figures("pages", [("gout", found)])}
    assert (values["pages.findings_bm25.recall@5"], values["pages.bm25.recall@5"]) == (100, 0)

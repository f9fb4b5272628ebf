"""`diagnosis`: released cases in their formats, converted, asked, and scored by the set-level metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings import Settings
from evals.contract import Item, Reply, TaskContext
from evals.datasets import healthsearchqa
from evals.datasets.catalogue import convert, find_original
from evals.datasets.clinical import ClinicalCase, read_clinical
from evals.runner import prepare, run_task
from evals.tasks.diagnosis import CHINESE_TABLE, TASK, chinese, diagnosis_texts, items, leading, source_figures
from graphs.answering.contract import Answer
from prompts.errors import DataError
from support.ranked import ranked

SAMPLES = Path(healthsearchqa.__file__).with_name("samples")


class Words:
    """Links each word that is a code."""

    def codes(self, text: str) -> frozenset[str]:
        return frozenset(word for word in text.split() if word[:1] == "J")


def told(answer: Answer, *diagnoses: str) -> tuple[Item, Reply]:
    case = ClinicalCase(id="1", source="cmemr", language="en", text="A case.", diagnoses=diagnoses)
    return Item("1", "cmemr", (case.text,), "", case), Reply(answers=(answer,))


def answer(*ranking: tuple[str, float], **more: object) -> Answer:
    told = [ranked(*r) for r in ranking]
    return Answer.model_validate({"question": "q", "kind": "case", "language": "en", "differential": told, **more})


def test_only_what_is_half_as_likely_as_the_first_is_named_and_three_at_most() -> None:
    assert [d.name for d in leading([ranked("A", 0.4), ranked("B", 0.2), ranked("C", 0.19)])] == ["A", "B"]
    assert len(leading([ranked(n, 0.2) for n in "ABCDE"])) == 3
    assert leading([ranked("A", 0.0)]) == []


def test_a_model_is_taken_at_its_words_and_the_engine_at_its_ranking() -> None:
    said = [{"text": "It is J09.", "origin": "parametric"}]
    given = answer(("J01", 0.9), statements=said)
    assert diagnosis_texts(given, by_model=True) == ("It is J09.",)
    assert diagnosis_texts(given, by_model=False) == ("J01",)


def test_entities_are_scored_over_cases_whose_reference_is_linked() -> None:
    rows = [
        told(answer(("J01", 0.5), ("J02", 0.4)), "J01", "J03"),  # one of two named is right, one of two due is found
        told(answer(), "J04"),  # nothing is named
        told(answer(("J05", 0.9)), "no code at all"),  # cannot be scored
    ]
    values = {f.name: (round(f.value, 1), f.n) for f in source_figures("s.strict", rows, Words(), 0, by_model=False)}  # type: ignore[arg-type]
    assert values["s.strict.linked"] == (66.7, 3)
    assert values["s.strict.micro_precision"] == (50.0, 2)
    assert values["s.strict.micro_recall"] == (33.3, 2)
    assert values["s.strict.micro_f1"] == (40.0, 2)
    assert values["s.strict.mean_f1"] == (25.0, 2)
    assert values["s.strict.named"] == (50.0, 2)
    assert values["s.strict.first"] == (50.0, 2)


def test_the_samples_run_from_their_release_to_figures(
    tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    for name in ("cmb_clin", "clinicalbench"):
        convert(find_original(name), SAMPLES / name, tmp_path / "data")
    context = TaskContext(tmp_path / "data", 1, 0, Settings(home=built_home))
    assert chinese(context, [told(answer(), "J01")]) is None
    assert context.not_run == {}  # no Chinese case, no Chinese names due
    case = read_clinical(context.data, "cmb_clin")[0]
    assert chinese(context, [(Item("1", "cmb_clin", (case.text,), "", case), Reply(answers=(answer(),)))]) is None
    assert "Chinese names" in context.not_run[CHINESE_TABLE]
    table = context.data / CHINESE_TABLE
    table.parent.mkdir()
    table.write_text("code,name_zh\nR06.6,打嗝\nJ00,普通感冒\nJ18.9,肺炎\n")
    report = run_task(TASK, tmp_path / "data", limit=1, seed=0, config="ica-rag")
    figures = {f.name: f for f in report.figures}
    assert {"cmb_clin.strict.linked", "clinicalbench.paper.linked", "cmb_clin.turns.ms"} <= set(figures)
    assert figures["cmb_clin.paper.micro_f1"].n == figures["cmb_clin.strict.micro_f1"].n == 1
    assert "cases/cmemr.jsonl" in report.settings["not_run"]
    assert CHINESE_TABLE not in report.settings["not_run"]


def test_no_file_at_all_is_told_and_a_long_case_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"None of cases/cmb_clin.jsonl"):
        prepare(TASK, tmp_path, limit=None, seed=0)
    convert(find_original("cmb_clin"), SAMPLES / "cmb_clin", tmp_path)
    context = TaskContext(tmp_path, 9, 0, Settings(max_characters=100))
    path = tmp_path / "cases" / "cmb_clin.jsonl"
    long = ClinicalCase(id="long", source="cmb_clin", language="zh", text="长" * 101, diagnoses=("打嗝",))
    path.write_text(path.read_text() + long.model_dump_json() + "\n")
    assert [item.id for item in items(context)] == ["cmb_clin/cmb_clin-0", "cmb_clin/cmb_clin-1"]
    assert "1 cases are longer" in context.not_run["cmb_clin"]

"""The evaluation `medrgag`: its counting on rows made by hand, the written pairs, and false background in the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.settings import Settings
from evals.tasks.medrgag import (
    EXPLORED,
    Asked,
    Background,
    Explored,
    FalseBackground,
    Predicted,
    Selected,
    Turn,
    Withheld,
    answer_figures,
    false_figures,
    is_useless,
    read_explored,
    read_false_background,
    read_predicted,
    selection_figures,
    summary_figures,
    withheld_figures,
)
from graphs.answering.contract import Answer, Choice
from prompts.errors import DataError
from support.small_questions import by_name
from tools.evidence import Citation, Evidence, Origin, Statement

STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"
NONE = "No useful information."


def explored(id: str, useful: int, points: tuple[str, ...] = ("a", "b", "c")) -> Explored:
    return Explored(id=id, summary_snippets=("It helps.",) * useful + (NONE,) * (5 - useful), explore_snippets=points)


def test_useless_summaries_are_told_from_those_that_only_mention_use() -> None:
    assert is_useless(NONE)
    assert is_useless("No {useful information")
    assert not is_useless("Troponin may be useful. No useful information.")


def test_summaries_and_gaps_are_counted_by_question() -> None:
    rows = [explored("1", 5), explored("2", 0, ("", "")), explored("3", 0), explored("4", 1, ())]
    values = by_name(summary_figures(rows, seed=0))
    assert values == {
        "released.summaries.useless": 70.0,
        "released.summaries.all_useless": 50.0,
        "released.gaps.empty_after_useless": 50.0,
        "released.gaps.empty_after_useful": 50.0,
        "released.gaps.always_three": 50.0,
    }


def test_numbers_from_five_on_are_generated_and_a_question_without_a_selection_counts_for_nothing() -> None:
    rows = [explored("1", 2), explored("2", 0), explored("3", 0)]
    selected = [Selected(id="1", final_list=(0, 1, 4, 9)), Selected(id="2", final_list=(5, 6, 7, 0))]
    selected.append(Selected(id="3", final_list=()))
    values = by_name(selection_figures(rows, selected, seed=0))
    assert values["released.selection.generated"] == 50.0
    assert values["released.selection_all_useless.generated"] == 75.0
    assert values["released.selection_some_useful.generated"] == 25.0
    assert values["released.numbering.kept_useful"] == 100.0
    assert values["released.numbering.kept_useless"] == 25.0


def test_accuracy_stands_beside_the_commonest_answer() -> None:
    rows = [Predicted(id=str(n), answer=a, model_answer=m) for n, (a, m) in enumerate(zip("AABC", "AACA", strict=True))]
    values = by_name(answer_figures(rows))
    assert values == {
        "released.pubmedqa.accuracy": 50.0,
        "released.pubmedqa.majority": 50.0,
        "released.pubmedqa.said_yes": 75.0,
    }


@pytest.mark.parametrize("damage", [{"final_list": [10]}, {"final_list": ["x"]}, {"final_list": None}])
def test_a_number_that_is_none_of_the_ten_is_damage(damage: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"final_list|number"):
        Selected.model_validate({"id": "1", **damage})


def test_a_damaged_release_is_named(tmp_path: Path) -> None:
    (tmp_path / "medrgag").mkdir()
    (tmp_path / EXPLORED).write_text(json.dumps({"1": {"id": "1", "summary_snippets": []}}))
    with pytest.raises(DataError, match="medqa_inter_explore"):
        read_explored(tmp_path)
    with pytest.raises(DataError, match="pubmedqa_prediction"):
        read_predicted(tmp_path)


def test_every_pair_rests_on_a_sentence_of_its_monograph_and_contradicts_it() -> None:
    pairs = read_false_background()
    assert len(pairs) >= 30
    assert len({p.id for p in pairs}) == len({p.text for p in pairs}) == len(pairs)
    assert {p.wrong for p in pairs} >= {"drug", "effect", "threshold", "timing"}
    for pair in pairs:
        monograph = (STARTER / f"{pair.document}.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]
        assert pair.quote in monograph, pair.id
        assert pair.text not in monograph
        if pair.options:
            assert pair.options[pair.believed].split()[0].lower() in pair.text.lower(), pair.id


def answer(label: str | None, cited: str = "", said: str = "", reached: str = "") -> Answer:
    text = said or "It is so."
    citations = (Citation(evidence_id=cited, quote=text, start=0, end=len(text)),) if cited else ()
    origin = Origin.RETRIEVED if cited else Origin.PARAMETRIC
    evidence = [
        Evidence(id=i, text="x" * 3, kind="k", origin=Origin.GENERATED if "generated" in i else Origin.RETRIEVED)
        for i in ([reached] if reached else [])
    ]
    choice = Choice(label=label, text="", reason="") if label else None
    return Answer(
        question="q",
        kind="evidence",
        language="en",
        statements=[Statement(text=text, origin=origin, citations=citations)],
        evidence=evidence,
        choice=choice,
    )


def test_flips_are_counted_where_the_control_was_right() -> None:
    row, other, third = read_false_background()[:3]  # yes, no, no; believed: no, yes, yes
    generated = "generated:0123456789abcdef"
    control = [Asked(row, Turn(answer("yes"), "", ())), Asked(other, Turn(answer("no"), "", ()))]
    control.append(Asked(third, Turn(answer("maybe"), "", ())))
    arm = [
        Asked(row, Turn(answer("no", generated, row.text[:40], generated), generated, (generated,))),
        Asked(other, Turn(answer("maybe"), generated, ("library:x",))),
        Asked(third, Turn(answer("yes"), generated, ())),
    ]
    values = by_name(false_figures({"control": control, "local": arm}))
    assert values["false.control.right"] == pytest.approx(200 / 3)
    for name in ("kept", "reached", "quoted", "cited"):
        assert values[f"false.local.{name}"] == pytest.approx(100 / 3), name
    assert values["false.local.flipped"] == 50.0
    assert values["false.local.lost"] == 100.0


def test_withheld_figures_are_shares_of_questions() -> None:
    rows = [Withheld(True, False, True, False, False), Withheld(False, True, False, True, False)]
    assert by_name(withheld_figures(rows)) == {
        "withheld.local.named": 50.0,
        "withheld.local.false_alarm": 50.0,
        "withheld.local.brought_back": 50.0,
        "withheld.local.nothing_useful": 50.0,
        "given.local.nothing_useful": 0.0,
    }


def pair(id: str) -> FalseBackground:
    return next(p for p in read_false_background() if p.id == id)


def test_marked_background_is_never_cited_and_turns_no_answer_but_disguised_it_would(built_home: Path) -> None:
    background = Background(Settings(home=built_home, model="", literature={"live": "off"}))
    arms = {arm.name: arm for arm in background.arms}
    turns = {}
    for name in ("credulous", "disguised"):
        with background.opened(arms[name]) as ask:
            turns[name] = [ask(pair("vitamin-d-fractures")), ask(pair("bph-drug"))]
    for turn, right in zip(turns["credulous"], ("no", "A"), strict=True):
        assert turn.planted in turn.kept
        assert turn.label == right
        cited = {c.evidence_id for s in turn.answer.statements for c in s.citations}
        assert cited
        assert turn.planted not in cited
    assert all(turn.planted.startswith("library:") for turn in turns["disguised"])
    assert [turn.label for turn in turns["disguised"]] != ["no", "A"]


def test_a_model_that_believes_background_cannot_cite_it(built_home: Path) -> None:
    settings = Settings(home=built_home, model="", literature={"live": "off"})
    with Background.believed(settings) as ask:
        turn = ask(pair("bph-drug"))
    cited = {c.evidence_id for s in turn.answer.statements for c in s.citations}
    assert turn.answer.usage.model_calls > 0
    assert cited
    assert turn.planted not in cited
    assert turn.label != "D" or not turn.rests  # Oxybutynin, out of the background: never shown as borne out

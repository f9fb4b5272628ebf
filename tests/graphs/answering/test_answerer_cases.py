"""An answerer's lines on a case."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from graphs.answering.contract import Answerer
from support.answerers import (
    answer,
    codes,
    differential,
    document,
    graph_entry,
    local,
    view,
)
from tools.contract import Severity
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin


def test_a_case_cites_the_graph_and_asks_three_questions(answerer: Answerer) -> None:
    passage = document(
        "spontaneous-pneumothorax",
        "Treatment of spontaneous pneumothorax is observation, aspiration or a chest drain.",
        title="Spontaneous pneumothorax",
        section="Treatment",
    )
    asked = view("Sudden chest pain and breathlessness, no fever.", passage, kind="case", differential=differential())
    draft = answer(answerer, asked)
    assert draft.statements[0].text.startswith("Spontaneous pneumothorax")
    assert draft.statements[0].citations[0].evidence_id == "graph:starter/spontaneous-pneumothorax"
    assert any("observation, aspiration" in s.text for s in draft.statements[1:])
    assert [q.finding for q in draft.follow_up_questions] == ["f0", "f1", "f2"]
    assert "starter_knowledge" in codes(draft)


def test_the_direct_path_without_a_model_answers_a_case_from_the_graph_only(encoder: Encoder) -> None:
    passage = document("spontaneous-pneumothorax", "Treatment is observation.", title="Spontaneous pneumothorax")
    asked = view("Chest pain.", passage, graph_entry(), kind="case", path="direct", differential=differential())
    draft = answer(local(encoder), asked)
    assert {s.origin for s in draft.statements} == {Origin.KNOWLEDGE_GRAPH}


def test_the_line_of_a_disease_quotes_for_against_and_red_flags(encoder: Encoder) -> None:
    (line,) = answer(local(encoder), view("Chest pain.", kind="case", differential=differential())).statements
    assert line.text == (
        "Spontaneous pneumothorax (J93.1). Fits this case: Shortness of breath is usual. Chest pain that is"
        " worse on breathing in is usual. Against in this case: Fever is absent. Watch for: Bluish lips are a red flag."
    )


def test_chinese_names_in_a_chinese_answer(encoder: Encoder) -> None:
    draft = answer(local(encoder), view("突发胸痛。", kind="case", language="zh", differential=differential()))
    assert draft.statements[0].text.startswith("自发性气胸 (J93.1).")
    assert "evidence_in_english" in codes(draft)
    assert all(any("一" <= c <= "鿿" for c in n.text) for n in draft.notices)


BOTH = "Sudden chest pain and breathlessness. Takes methotrexate weekly, started trimethoprim 8 days ago."


def test_medicines_of_a_case_that_do_severe_harm_together_are_told_and_cited(answerer: Answerer) -> None:
    asked = view(BOTH, kind="case", differential=differential())
    draft = answer(answerer, asked)
    assert draft.notices[0].code == "taken_together"
    assert draft.notices[0].severity is Severity.DANGER
    assert "methotrexate and trimethoprim" in draft.notices[0].text
    (told,) = [s for s in draft.statements if s.citations[0].evidence_id.startswith("library:methotrexate")]
    assert "Trimethoprim" in told.text


def test_what_was_stopped_or_has_no_page_is_not_told(answerer: Answerer) -> None:
    for case in (
        "Chest pain. Takes methotrexate. Stopped trimethoprim last year.",
        "Chest pain. Takes warfarin and naproxen.",  # the library of this test has no page of either
        "Chest pain. Takes methotrexate and folic acid.",
    ):
        draft = answer(answerer, view(case, kind="case", differential=differential()))
        assert "taken_together" not in codes(draft)
        assert {s.origin for s in draft.statements} == {Origin.KNOWLEDGE_GRAPH}


LUNG = "library:spontaneous-pneumothorax"
TREATED = "A small one is watched, a large one is aspirated or drained."
PAGE = """## Treatment
A small one is watched, a large one is aspirated or drained. Oxygen speeds absorption.
## When to seek help
Sudden chest pain with breathlessness needs an emergency department the same day. Blue lips need an ambulance.
"""


class LungPage:
    """The page of the leading disease."""

    def whole(self, id: str) -> str:
        return PAGE if id == LUNG else ""

    def said(self, id: str, text: str) -> Evidence | None:
        at = self.whole(id).find(text)
        if at < 0:
            return None
        return Evidence(
            id=f"{id}@{at}-{at + len(text)}", text=text, kind="condition", title="Lung", origin=Origin.RETRIEVED
        )

    def prepared(self, id: str) -> Sequence[tuple[str, Evidence]]:
        found = self.said(id, TREATED)
        return [("How is spontaneous pneumothorax treated?", found)] if found is not None else []


def test_a_severe_leader_is_followed_by_when_to_seek_help_as_its_page_says(encoder: Encoder) -> None:
    case = "Chest pain and breathlessness since this morning."
    asked = view(case, kind="case", case=case, path="direct", differential=differential())
    _, *told = answer(local(encoder, pages=LungPage()), asked).statements
    assert [s.text for s in told] == [
        "Sudden chest pain with breathlessness needs an emergency department the same day."
    ]
    (citation,) = told[0].citations
    start, end = map(int, re.findall(r"(\d+)-(\d+)$", citation.evidence_id)[0])
    assert PAGE[start:end] == citation.quote


@pytest.mark.parametrize("severity", ["routine", "emergency"])
def test_a_leader_that_was_read_about_has_the_answers_that_its_page_was_written_for(
    encoder: Encoder, severity: str
) -> None:
    passage = document("spontaneous-pneumothorax", PAGE, title="Spontaneous pneumothorax", section="Treatment")
    ranked = differential()
    ranked = ranked.model_copy(update={"ranking": (ranked.ranking[0].model_copy(update={"severity": severity}),)})
    asked = view("Chest pain and breathlessness.", passage, kind="case", differential=ranked)
    _, help_, *told = answer(local(encoder, pages=LungPage()), asked).statements
    assert "the same day" in help_.text
    assert told[-1].text == TREATED


def test_the_aim_of_a_study_is_no_next_step(encoder: Encoder) -> None:
    aim = "The aim of this study was to assess the treatment of spontaneous pneumothorax by aspiration."
    study = Evidence(
        id="pubmed:1", text=aim, title="Spontaneous pneumothorax in adults", kind="article", origin=Origin.RETRIEVED
    )
    asked = view("Chest pain and breathlessness.", study, kind="case", differential=differential())
    assert {s.origin for s in answer(local(encoder), asked).statements} == {Origin.KNOWLEDGE_GRAPH}


def test_of_a_leader_that_is_not_severe_nothing_is_read_on_the_direct_path(encoder: Encoder) -> None:
    ranked = differential()
    ranked = ranked.model_copy(update={"ranking": (ranked.ranking[0].model_copy(update={"severity": "routine"}),)})
    asked = view("Chest pain.", kind="case", path="direct", differential=ranked)
    assert len(answer(local(encoder, pages=LungPage()), asked).statements) == 1

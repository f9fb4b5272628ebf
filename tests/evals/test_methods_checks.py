"""What the checks of ICA-RAG and QB-RAG see in a turn."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import pytest

from evals.tasks.methods import ica_rag, qb_rag
from evals.tasks.methods.check import Bench, Row, Turn
from graphs.answering.contract import Answer

ROW = Row("1", "text")


class Turns:
    """Turns by their configuration."""

    def __init__(self, **turns: Turn) -> None:
        self._turns = turns

    def turn(self, config: str, row: Row) -> Turn:
        return self._turns[config.replace("-", "_").replace(":", "__")]


def turn(*events: dict[str, Any], **more: object) -> Turn:
    return Turn(Answer.model_validate({"question": "q", "kind": "case", "language": "en", **more}), events)


def bench(**turns: Turn) -> Bench:
    return cast(Bench, Turns(**turns))


def read(*places: tuple[str, float]) -> list[dict[str, Any]]:
    """The events of a reading: documents handed on, each with the number of its chunks."""
    evidence = [
        {"id": place, "found": [{"stream": "chunk_count", "rank": rank, "score": score}]}
        for rank, (place, score) in enumerate(places, start=1)
    ]
    kept = [{"evidence_id": place} for place, _ in places]
    return [{"kind": "passages"}, {"kind": "tool", "evidence": evidence}, {"kind": "selection", "kept": kept}]


def test_documents_must_be_whole_and_in_the_order_of_their_chunks() -> None:
    for places, holds in (
        ((("library:a@0-9", 3.0), ("library:b@0-7", 1.0)), True),
        ((("library:a@0-9", 1.0), ("library:b@0-7", 3.0)), False),
        ((("library:a@4-9", 3.0),), False),
        ((), False),
    ):
        seen = ica_rag.voted(bench(ica_rag=turn(*read(*places))), ROW)
        assert seen is not None
        assert seen.holds is holds
    assert ica_rag.voted(bench(ica_rag=turn()), ROW) is None  # answered directly


def test_what_was_read_must_move_a_diagnosis_that_it_is_about() -> None:
    line = {"disease": "croup", "name": "Croup", "icd10": "J05", "l2": "x", "l1": "y", "score": 0.5, "severity": "mild"}
    ranked = {"differential": [{**line, "evidence_id": "graph:starter/croup"}]}
    verdicts = {"kind": "filter", "verdicts": [{"evidence_id": "library:croup@0-9", "keep": True}]}
    moved = {"kind": "weighed", "raised": ["croup"], "lowered": []}
    for events, holds in (([verdicts, moved], True), ([verdicts], False), ([], None)):
        seen = ica_rag.weighed(bench(ica_rag=turn(*events, **ranked)), ROW)
        assert (None if seen is None else seen.holds) is holds


def test_an_arm_differs_by_its_own_part_and_two_direct_answers_say_nothing() -> None:
    full, other = turn(*read(("library:a@0-9", 2.0))), turn(*read(("library:b@0-9", 2.0)))
    look = partial(ica_rag.otherwise, "reranked", ica_rag.handed_on)
    for arm, holds in ((other, True), (full, False)):
        seen = look(bench(ica_rag=full, ica_rag__reranked=arm), ROW)
        assert seen is not None
        assert seen.holds is holds
    assert look(bench(ica_rag=turn(), ica_rag__reranked=turn()), ROW) is None
    for always, holds in ((full, True), (turn(), False)):
        seen = ica_rag.decided(bench(ica_rag=turn(), ica_rag__without_decision=always), ROW)
        assert seen is not None
        assert seen.holds is holds
    assert ica_rag.decided(bench(ica_rag=full), ROW) is None


def found(*hits: tuple[str, float], generated: bool = True) -> Turn:
    strategy = [
        {"step": "questions", "question": f"{document}?", "document": document, "similarity": near, "generated": yes}
        for document, near in hits
        for yes in (generated,)
    ]
    return turn({"kind": "tool", "strategy": strategy, "evidence": []})


@pytest.mark.parametrize(
    ("hits", "generated", "holds"),
    [
        ((("a", 0.9), ("b", 0.8), ("c", 0.7)), True, True),
        ((("a", 0.9), ("b", 0.8), ("c", 0.7)), False, False),
        ((("a", 0.7), ("b", 0.8), ("c", 0.9)), True, False),
        ((("a", 0.9), ("a", 0.8), ("c", 0.7)), True, False),
        ((("a", 0.9),), True, False),
    ],
)
def test_the_base_is_generated_and_documents_come_once_in_order(
    hits: tuple[tuple[str, float], ...], *, generated: bool, holds: bool
) -> None:
    assert qb_rag.generated(bench(qb_rag=found(*hits, generated=generated)), ROW).holds is holds


def test_fewer_questions_are_never_nearer_and_find_another() -> None:
    def held(two: float, eight: float, every: float) -> Bench:
        turns = {"qb_rag__qb_2": found(("a", two)), "qb_rag__qb_8": found(("a", eight)), "qb_rag": found(("b", every))}
        return bench(**turns)

    assert qb_rag.nested(held(0.5, 0.6, 0.7), ROW).holds
    assert not qb_rag.nested(held(0.5, 0.8, 0.7), ROW).holds
    assert qb_rag.sampled(held(0.5, 0.6, 0.7), ROW).holds

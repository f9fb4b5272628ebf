"""ICA-RAG: a trained classifier labels, sentences search the whole collection, chunks vote for documents, and what was
read weighs. Cases are DDXPlus's with half of their statements removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from evals.datasets.ddxplus import degraded, validate_texts
from evals.tasks.methods.check import Bench, Check, Places, Row, Seen, Turn
from graphs.completeness.contract import Decision
from tools.evidence import EvidenceId
from tools.passages.counted_reading import STREAM
from tools.yaml_files import read_yaml

NAME = "ica-rag"
VAGUE = Path(__file__).parents[2] / "resources" / "vague_cases.yaml"
REMOVED = 50  # ours: percent of the statements removed, as in the ablations
MOST = 30  # ours: cases of a check; each is asked of two agents, and a turn takes seconds


def cases(places: Places) -> Sequence[Row]:
    """DDXPlus's validate rows."""
    return [Row(row.id, degraded(row, REMOVED, 0)) for row in validate_texts(places.data)]


def vague(places: Places) -> Sequence[Row]:
    """Messages that tell next to nothing."""
    del places
    return [Row(str(n), text) for n, text in enumerate(read_yaml(VAGUE))]


def labelled(bench: Bench, row: Row) -> Seen:
    """Whether the trained classifier labelled every sentence."""
    gate = bench.turn(NAME, row).answer.gate
    reasons = [unit.reason for unit in gate.units] if gate is not None else []
    return Seen(bool(reasons) and all("classifier" in reason for reason in reasons), "; ".join(reasons))


def not_direct(bench: Bench, row: Row) -> Seen:
    """Whether next to nothing is researched."""
    gate = bench.turn(NAME, row).answer.gate
    told = "no gate" if gate is None else f"{gate.decision.value}, I_norm {gate.score:.2f}"
    return Seen(gate is not None and gate.decision is not Decision.DIRECT, told)


def voted(bench: Bench, row: Row) -> Seen | None:
    """Whether whole documents were handed on in the order of their chunks; nothing of a case answered directly."""
    turn = bench.turn(NAME, row)
    if not turn.of("passages"):
        return None
    ways = [
        (found["rank"], found["score"], EvidenceId.parse(item["id"]))
        for event in turn.of("tool")
        for item in event["evidence"]
        for found in item["found"]
        if found["stream"] == STREAM
    ]
    counts = [score for _, score, _ in sorted(ways, key=lambda way: way[0])]
    whole = all(place.start == 0 for *_, place in ways)
    return Seen(bool(ways) and whole and counts == sorted(counts, reverse=True), f"chunks of each: {counts}")


def weighed(bench: Bench, row: Row) -> Seen | None:
    """Whether what was read moved the diagnoses; nothing where none of it is about one of them."""
    turn = bench.turn(NAME, row)
    moved = [disease for e in turn.of("weighed") for disease in (*e["raised"], *e["lowered"])]
    about = {d.disease for d in turn.answer.differential}
    read = {EvidenceId.parse(v["evidence_id"]).name for e in turn.of("filter") for v in e["verdicts"] if v["keep"]}
    return Seen(bool(moved), f"moved: {', '.join(moved) or 'none'}") if moved or read & about else None


def decided(bench: Bench, row: Row) -> Seen | None:
    """Whether a case that is answered directly is researched without the decision; nothing of one that is not."""
    if bench.turn(NAME, row).of("passages"):
        return None
    return Seen(bool(bench.turn(f"{NAME}:without-decision", row).of("passages")), "answered directly with the decision")


def otherwise(arm: str, of: Callable[[Turn], object], bench: Bench, row: Row) -> Seen | None:
    """Whether an arm's turn differs from the method's; nothing of a case that both answer directly."""
    full, other = bench.turn(NAME, row), bench.turn(f"{NAME}:{arm}", row)
    if not (full.of("passages") or other.of("passages")):
        return None
    return Seen(of(full) != of(other), f"{of(full)} and {of(other)}")


def handed_on(turn: Turn) -> object:
    """The documents that were selected, in order."""
    return [EvidenceId.parse(key).name for key in turn.selected]


def kept(turn: Turn) -> object:
    """The documents that the filter kept."""
    return [v["evidence_id"] for e in turn.of("filter") for v in e["verdicts"] if v["keep"]]


ARMS: tuple[tuple[str, str, Callable[[Turn], object]], ...] = (
    ("without-chunks", "other documents, or another order", handed_on),
    ("reranked", "other documents, or another order", handed_on),
    ("without-filter", "documents stay that the filter had removed", kept),
)
CHECKS = (
    Check("ica_rag.trained_labels", "the trained classifier labels every sentence", cases, labelled, MOST),
    Check("ica_rag.vague_researched", "what tells next to nothing is not answered directly", vague, not_direct),
    Check("ica_rag.chunks_vote", "whole documents in the order of their chunks", cases, voted, MOST),
    Check("ica_rag.evidence_weighs", "what was read moves the diagnoses", cases, weighed, MOST),
    Check("ica_rag.without_decision_differs", "what was answered directly is researched", cases, decided, MOST),
    *(
        Check(f"ica_rag.{arm.replace('-', '_')}_differs", what, cases, partial(otherwise, arm, of), MOST)
        for arm, what, of in ARMS
    ),
)

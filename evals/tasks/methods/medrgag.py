"""MedRGAG: documents of each source by BM25 and a cross-encoder, what they lack written beside, and few selected."""

from __future__ import annotations

from evals.tasks.methods.check import PLAYED, Bench, Check, Row, Seen, Turn
from evals.tasks.methods.cometa import questions
from tools.literature.tool import PER_SOURCE, STREAM

NAME = "medrgag"
KEPT = 5  # paper: of ten documents
SEARCH, GAPS = "search_literature", "fill_knowledge_gaps"
GENERATED = "generated:"


def _generated(ids: list[str]) -> list[str]:
    return [key for key in ids if key.startswith(GENERATED)]


def chain(bench: Bench, row: Row) -> Seen | None:
    """Whether at most 32 of each source are pooled and the five best of the pool are kept, in the reranker's order."""
    turn = bench.turn(NAME, row)
    made = [e for e in turn.of("tool") if e["tool"] == SEARCH]
    steps = [step for e in made for step in e["strategy"] if step["step"] == "reranked"]
    if not steps or steps[0]["pool"] <= KEPT:
        return None
    sources, kept = steps[0]["sources"], [item for e in made for item in e["evidence"]]
    ranks = [way["rank"] for item in kept for way in item["found"] if way["stream"] == STREAM]
    before = [min(w["rank"] for w in item["found"] if w["rank"] and w["stream"] != STREAM) for item in kept]
    good = max(sources.values()) <= PER_SOURCE and len(kept) == KEPT and ranks == list(range(1, KEPT + 1))
    why = f"{', '.join(f'{n} of {source}' for source, n in sources.items())}; kept ranks {before} by {steps[0]['by']}"
    return Seen(good, why)


def reordered(bench: Bench, row: Row) -> Seen | None:
    """Whether the reranker keeps others than the first of each source in turn; None where chain has nothing to say."""
    seen = chain(bench, row)
    if seen is None:
        return None
    made = [item for e in bench.turn(NAME, row).of("tool") if e["tool"] == SEARCH for item in e["evidence"]]
    places = [
        min((w["rank"] for w in item["found"] if w["rank"] and w["stream"] != STREAM), default=0) for item in made
    ]
    return Seen(max(places) > KEPT, f"places before: {places}")


def gaps(turn: Turn) -> list[str]:
    """What the gap tool says is needed."""
    return [r for e in turn.of("gaps") for r in e["requirements"]]


def explored(bench: Bench, row: Row) -> Seen:
    """Whether a played explorer's points are written on, and background for the question alone beside them."""
    turn = bench.turn(PLAYED + NAME, row)
    written = _generated(turn.brought(GAPS))
    return Seen(bool(gaps(turn) and written), f"{len(gaps(turn))} points, {len(written)} documents written")


def mapped(bench: Bench, row: Row) -> Seen:
    """Whether KADS keeps at most five, each for a requirement."""
    kept = [k for e in bench.turn(NAME, row).of("selection") for k in e["kept"]]
    return Seen(0 < len(kept) <= KEPT and all(k["covers"] for k in kept), f"{len(kept)} kept")


def unselected(bench: Bench, row: Row) -> Seen | None:
    """Whether without KADS others are selected, or in another order; None where there are no more than it may keep."""
    own, other = (bench.turn(config, row) for config in (NAME, f"{NAME}:without-kads"))
    if len(own.brought()) <= KEPT:
        return None
    return Seen(own.selected != other.selected, f"{len(set(own.selected) & set(other.selected))} in both")


def unretrieved(bench: Bench, row: Row) -> Seen:
    """Whether without retrieval documents are generated and selected, and none is retrieved."""
    turn = bench.turn(f"{PLAYED}{NAME}:without-retrieval", row)
    found, kept = turn.brought(), turn.selected
    good = bool(kept) and _generated(found) == found and len(kept) <= KEPT and bool(gaps(turn))
    return Seen(
        good, f"{len(_generated(found))} of {len(found)} generated, {len(kept)} selected, {len(gaps(turn))} points"
    )


def question_only(bench: Bench, row: Row) -> Seen:
    """Whether the question alone is written on without retrieval, and without KGCC beside what is retrieved."""
    alone, beside = (bench.turn(f"{PLAYED}{NAME}:{arm}", row) for arm in ("question-only", "without-kgcc"))
    found, both = alone.brought(), beside.brought()
    good = bool(found) and _generated(found) == found and 0 < len(_generated(both)) < len(both)
    why = f"{len(_generated(found))} of {len(found)} generated; without KGCC {len(_generated(both))} of {len(both)}"
    return Seen(good and not gaps(alone) and not gaps(beside), why)


CHECKS = (
    Check("medrgag.per_source", "32 of each source, the reranker's five", questions, chain, 20),
    Check("medrgag.reranked", "the reranker keeps what BM25 has further down", questions, reordered, 20),
    Check("medrgag.kads_covers", "at most five are kept, each for what is needed", questions, mapped, 20),
    Check("medrgag.arm_without_kads", "without KADS others stand, or in another order", questions, unselected, 20),
    Check("medrgag.kgcc_writes", "what is missing is written on (a played model)", questions, explored, 10),
    Check("medrgag.arm_without_retrieval", "generated documents only (a played model)", questions, unretrieved, 10),
    Check(
        "medrgag.arm_question_only",
        "the question alone, nothing retrieved (a played model)",
        questions,
        question_only,
        10,
    ),
)

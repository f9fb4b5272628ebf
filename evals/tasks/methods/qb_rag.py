"""QB-RAG: the nearest generated question by cosine gives its document; fewer questions find less near ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from evals.datasets.answered_questions import OWN, OwnQuestion
from evals.datasets.rows import read_jsonl
from evals.tasks.methods.check import Bench, Check, Places, Row, Seen, documents

NAME = "qb-rag"
COVERAGES = ("qb-rag:qb-2", "qb-rag:qb-8", NAME)  # each set of questions lies within the next one
CLOSE = 0.0005  # a cosine in half precision is good for no more
WANTED = 3  # paper: the first three documents are measured


def questions(places: Places) -> Sequence[Row]:
    """Our own questions over the starter library, reworded and unforeseen."""
    del places
    own = [row for row in read_jsonl(OWN, OwnQuestion) if row.documents]
    return [Row(str(n), row.question) for n, row in enumerate(own)]


def hits(bench: Bench, config: str, row: Row) -> list[dict[str, Any]]:
    """The stored questions that a configuration found, best first."""
    return [step for e in bench.turn(config, row).of("tool") for step in e["strategy"] if step["step"] == "questions"]


def generated(bench: Bench, row: Row) -> Seen:
    """Whether three documents are found by generated questions alone, in the order of their cosines."""
    found = hits(bench, NAME, row)
    near = [hit["similarity"] for hit in found]
    base = all(hit["generated"] for hit in found)
    once = len({hit["document"] for hit in found}) == WANTED == len(found)
    return Seen(base and once and near == sorted(near, reverse=True), f"cosines {near}, generated: {base}")


def nested(bench: Bench, row: Row) -> Seen:
    """Whether fewer questions are never nearer."""
    best = [max(hit["similarity"] for hit in hits(bench, config, row)) for config in COVERAGES]
    return Seen(all(few <= more + CLOSE for few, more in itertools.pairwise(best)), f"cosines {best}")


def sampled(bench: Bench, row: Row) -> Seen:
    """Whether the nearest of two questions a document is another than that of all."""
    few, every = (hits(bench, config, row)[0]["question"] for config in (COVERAGES[0], NAME))
    return Seen(few != every, f"{few!r} and {every!r}")


def naive(bench: Bench, row: Row) -> Seen:
    """Whether the naive arm finds three documents, by meaning alone."""
    turn = bench.turn("qb-rag:naive", row)
    streams = {found["stream"] for e in turn.of("tool") for item in e["evidence"] for found in item["found"]}
    return Seen(len(documents(turn.brought())) == WANTED and streams == {"dense"}, f"{turn.brought()} by {streams}")


CHECKS = (
    Check("qb_rag.generated_base", "three documents by the cosine of generated questions alone", questions, generated),
    Check("qb_rag.coverage_nested", "fewer questions are never nearer", questions, nested),
    Check("qb_rag.coverage_differs", "two questions a document find another nearest one", questions, sampled),
    Check("qb_rag.naive_by_meaning", "the naive arm finds three documents by meaning alone", questions, naive),
)

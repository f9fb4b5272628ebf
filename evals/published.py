"""Figures of papers that stand beside ours, by the name of ours. Shares in percent, MRR in 0..1.

Each entry says on whose rows it was measured: none of them was measured on the very rows that ours are.
"""

from __future__ import annotations

from evals.contract import Figure, Published

ZERO_SHOT = "a zero-shot knowledge-graph method on DDXPlus, other patients (its paper is not identified here)"
MEDRGAG = "MedRGAG with Qwen2.5-7B as reader, MIRAGE test questions"

PUBLISHED: dict[str, Published] = {
    "starter.text.l3_top1": Published(value=62.0, source=ZERO_SHOT),
    "starter.text.l3_top3": Published(value=82.3, source=ZERO_SHOT),
    "starter.text.mrr": Published(value=0.739, source=ZERO_SHOT),
    "exam.medqa.accuracy": Published(value=75.57, source=MEDRGAG),
    "exam.medmcqa.accuracy": Published(value=62.13, source=MEDRGAG),
    "exam.mmlu.accuracy": Published(value=81.63, source=MEDRGAG),
    "released.pubmedqa.accuracy": Published(value=51.60, source=f"{MEDRGAG} (PubMedQA*: contexts removed)"),
    "pubmedqa.hidden.accuracy": Published(value=51.60, source=f"{MEDRGAG} (PubMedQA*: contexts removed)"),
}


def with_published(figures: list[Figure]) -> tuple[Figure, ...]:
    """The figures, each with the paper's where there is one."""
    return tuple(f.model_copy(update={"published": PUBLISHED.get(f.name)}) for f in figures)

"""`segmentation`: SEOS beside nine other ways to cut a text (CoMeta, passages).

(a) passage retrieval over MedQuAD's pages, (b) boundaries of articles' sections, (c) conditions that stay with the
statement that they govern. docs/evaluations.md tells how each is counted.
"""

from __future__ import annotations

from evals.contract import Figure, Task, TaskContext
from evals.datasets.literature import ABSTRACTS
from evals.datasets.medquad import PAGES
from evals.datasets.qualifiers import ARTICLES as FULL_TEXTS
from evals.datasets.segmentation import ARTICLES


def run(context: TaskContext) -> list[Figure]:
    """Measure all three; what is quick comes first."""
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders
    from evals.tasks import segmentation_boundaries, segmentation_qualifiers, segmentation_retrieval

    plain, cached = evaluation_encoders(context.settings, Home(context.settings.home).prepare())
    try:
        return [
            *segmentation_qualifiers.figures(context, plain),
            *segmentation_boundaries.figures(context, plain),
            *segmentation_retrieval.figures(context, plain, cached),
        ]
    finally:
        cached.close()
        plain.close()


TASK = Task(
    name="segmentation",
    what="passages: SEOS beside nine baselines: answers found, section boundaries, severed conditions",
    inputs=(PAGES, ARTICLES, FULL_TEXTS, ABSTRACTS),
    expected="30 minutes; hours the first time, which embeds the passages of eleven segmenters",
    limit=600,
    run=run,
)

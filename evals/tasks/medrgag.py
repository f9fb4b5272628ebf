"""`medrgag`: retrieval and generation: the released outputs, false background, withheld evidence.

(a) what MedRGAG's authors released, counted; (b) plausible but false background among what a search brings; (c) the
explorer when known evidence is withheld. docs/gaps.md tells what each figure means.
"""

from __future__ import annotations

from evals.contract import Figure, Task, TaskContext
from evals.datasets.medrgag import EXPLORED, PREDICTED, SELECTED


def run(context: TaskContext) -> list[Figure]:
    """Measure all three; what is quick comes first. ``limit`` holds for (b) and (c)."""
    from evals.tasks import medrgag_false, medrgag_released, medrgag_withheld

    return [
        *medrgag_released.figures(context.data, context.seed),
        *medrgag_withheld.figures(context),
        *medrgag_false.figures(context),
    ]


TASK = Task(
    name="medrgag",
    what="MedRGAG's released outputs; false background: kept, believed; gaps when evidence is withheld",
    inputs=(EXPLORED, SELECTED, PREDICTED),
    expected="5 minutes",
    limit=200,
    run=run,
)

"""The gap tool of a configuration: each judgement by the model or locally, as its role is set."""

from __future__ import annotations

from prompts.language_model import LanguageModels
from tools.encoders import Encoder
from tools.gaps.by_model import ExplorerByModel, GeneratorByModel, SummariserByModel
from tools.gaps.settings import GapSettings
from tools.gaps.tool import FillKnowledgeGaps, Searcher


def gap_tool(
    search: Searcher, encoder: Encoder, settings: GapSettings | None = None, models: LanguageModels | None = None
) -> FillKnowledgeGaps:
    """The tool; without models, or where a role is local, the local judgement."""
    settings = settings or GapSettings()
    if models is None:
        return FillKnowledgeGaps(search, encoder, settings)
    judged = models.judged_by_model
    return FillKnowledgeGaps(
        search,
        encoder,
        settings,
        summariser=SummariserByModel(models.of("summary")) if judged("summary") else None,
        explorer=ExplorerByModel(models.of("gaps"), points=settings.points) if judged("gaps") else None,
        generator=GeneratorByModel(models.of("background")) if judged("background") else None,
    )

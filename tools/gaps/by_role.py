"""The gap tool of a configuration: each judgement by the model or locally, as its role is set."""

from __future__ import annotations

from prompts.language_model import LanguageModels
from tools.encoders import Encoder
from tools.gaps.by_model import ExplorerByModel, GeneratorByModel, SummariserByModel
from tools.gaps.contract import GapFinder
from tools.gaps.local import GapFinderInSteps
from tools.gaps.reading import GapFinderByModel
from tools.gaps.settings import GapSettings
from tools.gaps.tool import FillKnowledgeGaps, Refused, Searcher


def gap_tool(
    search: Searcher,
    encoder: Encoder,
    settings: GapSettings | None = None,
    models: LanguageModels | None = None,
    refused: Refused = lambda _: (),
) -> FillKnowledgeGaps:
    """The tool; without models, or where a role is local, the local judgement."""
    settings = settings or GapSettings()
    if models is None:
        return FillKnowledgeGaps(search, encoder, settings, refused=refused)
    together = settings.together
    writes = (
        GeneratorByModel(models.of("background"), together=together) if models.judged_by_model("background") else None
    )
    finder = _finder(settings, models)
    return FillKnowledgeGaps(search, encoder, settings, finder=finder, generator=writes, refused=refused)


def _finder(settings: GapSettings, models: LanguageModels) -> GapFinder:
    """One reading, where both steps that it stands for are the model's; else the steps, each as its role is set."""
    summarises, explores = models.judged_by_model("summary"), models.judged_by_model("gaps")
    own = settings.own_requirements
    if settings.together and summarises and explores:
        return GapFinderByModel(models.of("gaps"), GapFinderInSteps(own_requirements=own), settings.points)
    return GapFinderInSteps(
        SummariserByModel(models.of("summary")) if summarises else None,
        ExplorerByModel(models.of("gaps"), points=settings.points) if explores else None,
        own_requirements=own,
        unretrieved=settings.unretrieved,
    )

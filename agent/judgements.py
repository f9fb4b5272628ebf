"""Who judges: the local parts, the models around them where the settings say so, and the arms of ablations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent.settings import Settings
from graphs.context import Parts
from graphs.differential_filter.by_model import DocumentFilterByModel
from graphs.differential_filter.contract import DocumentFilter
from graphs.differential_filter.keeping import DocumentFilterOff
from graphs.kads.by_model import ModelSelectorSettings, SelectorByModel
from graphs.kads.contract import Selector
from graphs.kads.in_order import SelectorInOrder
from graphs.kads.local import KadsSettings, SelectorLocal
from graphs.planning.by_model import PlannerByModel
from graphs.planning.contract import Planner
from graphs.planning.fixed import PlannerFixed, uses
from prompts.language_model import LanguageModel, LanguageModels
from prompts.model_settings import Role
from tools.contract import Tool
from tools.encoders import Encoder
from tools.gaps.by_model import ExplorerByModel, GeneratorByModel, SummariserByModel
from tools.gaps.contract import Explorer, Generator, Summariser
from tools.gaps.tool import FillKnowledgeGaps, Searcher

Judged = Callable[[LanguageModel, Parts, Settings], Any]


def by_models(parts: Parts, settings: Settings, models: LanguageModels | None) -> Parts:
    """The parts, each judgement that is a model's standing around its local twin."""
    if models is None:
        return parts
    changes = {
        field: judged(models.of(role), parts, settings)
        for role, (field, judged) in BY_MODEL.items()
        if models.judged_by_model(role) and not _switched_off(role, settings)
    }
    return replace(parts, **changes)


def planner(settings: Settings, local: Planner, has_document: Callable[[str], bool]) -> Planner:
    """The planner that chooses, or the fixed order of tools of a published method."""
    return PlannerFixed(settings.pipeline, has_document) if settings.pipeline.steps else local


def offered(settings: Settings, tools: list[Tool]) -> list[Tool]:
    """The tools of this configuration: a fixed order offers no others."""
    names = uses(settings.pipeline, [tool.name for tool in tools])
    return [tool for tool in tools if tool.name in names]


def selector(settings: Settings, encoder: Encoder) -> Selector:
    """The local selector, or none of a kind where the settings switch it off."""
    if settings.selection.method == "in_order":
        return SelectorInOrder()
    return SelectorLocal(encoder, KadsSettings(guard=settings.selection.guard))


def document_filter(settings: Settings, local: DocumentFilter) -> DocumentFilter:
    """The local filter, or one that keeps everything where the settings switch it off."""
    return local if settings.document_filter else DocumentFilterOff()


def gap_tool(
    settings: Settings, models: LanguageModels | None, search: Searcher, encoder: Encoder
) -> FillKnowledgeGaps:
    """The tool `fill_knowledge_gaps`, each of its three judgements by a model where the settings say so."""
    wanted = settings.gaps.model_copy(update={"generated": settings.generated})
    summariser: Summariser | None = None
    explorer: Explorer | None = None
    generator: Generator | None = None
    if models is not None and models.judged_by_model("summary"):
        summariser = SummariserByModel(models.of("summary"))
    if models is not None and models.judged_by_model("gaps"):
        explorer = ExplorerByModel(models.of("gaps"), points=wanted.points)
    if models is not None and models.judged_by_model("background"):
        generator = GeneratorByModel(models.of("background"))
    return FillKnowledgeGaps(search, encoder, wanted, summariser=summariser, explorer=explorer, generator=generator)


def _switched_off(role: Role, settings: Settings) -> bool:
    """Whether a role has nothing to judge in this configuration."""
    return {
        "research": bool(settings.pipeline.steps),
        "selection": settings.selection.method == "in_order",
        "filter": not settings.document_filter,
        "gate": settings.gate.method in ("retrieve", "direct"),
    }.get(role, False)


def _selection(model: LanguageModel, parts: Parts, settings: Settings) -> Selector:
    own = settings.selection
    return SelectorByModel(model, parts.selector, ModelSelectorSettings(shuffle=own.shuffle, guard=own.guard))


BY_MODEL: dict[Role, tuple[str, Judged]] = {
    "research": ("planner", lambda model, parts, _: PlannerByModel(model, parts.planner, parts.tools)),
    "selection": ("selector", _selection),
    "filter": ("filter", lambda model, parts, _: DocumentFilterByModel(model, parts.filter)),
}

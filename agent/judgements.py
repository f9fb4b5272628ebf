"""Who judges: models around the local parts, as the settings say. Imported only where a model is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from agent.settings import Settings
from graphs.answering.by_model import AnswererByModel, ModelAnswerSettings
from graphs.answering.contract import Answerer
from graphs.answering.general import BackgroundBeside
from graphs.answering.local import AnswererLocal
from graphs.completeness.by_model import CompletenessGateByModel
from graphs.completeness.contract import CompletenessGate
from graphs.context import Parts
from graphs.differential_filter.by_model import DocumentFilterByModel
from graphs.differential_filter.contract import DocumentFilter
from graphs.kads.by_model import ChooserByModel, ChoosingSettings, ModelSelectorSettings, SelectorByModel
from graphs.kads.contract import Selector
from graphs.planning.by_model import PlannerByModel
from graphs.reporting.by_model import ReporterByModel
from graphs.reporting.contract import Reporter
from graphs.reporting.local import ReporterLocal
from graphs.triage.by_model import TriageByModel
from graphs.verification.by_model import VerifierByModel
from prompts.language_model import LanguageModel, LanguageModels
from prompts.model_settings import Role
from tools.encoders import Encoder
from tools.gaps.by_model import ExplorerByModel, GeneratorByModel, SummariserByModel
from tools.gaps.contract import GapFinder, GapSettings
from tools.gaps.local import GapFinderInSteps
from tools.gaps.reading import GapFinderByModel, most_wanted
from tools.gaps.tool import FillKnowledgeGaps, Refused, Searcher, Sections

Judged = Callable[[LanguageModel, Parts, Settings, Encoder], Any]


def by_models(parts: Parts, settings: Settings, models: LanguageModels, encoder: Encoder, gaps: GapSettings) -> Parts:
    """The parts, each judgement that is a model's standing around its local twin."""
    answers = partial(_answer, background=_background(gaps, models))
    by_role: dict[Role, tuple[str, Judged]] = {**BY_MODEL, "answer": ("answerer", answers)}
    changes = {
        field: judged(models.of(role), parts, settings, encoder)
        for role, (field, judged) in by_role.items()
        if models.judged_by_model(role) and not _switched_off(role, settings)
    }
    return replace(parts, **changes)


def _switched_off(role: Role, settings: Settings) -> bool:
    """Whether a role has nothing to judge in this configuration."""
    return {
        "research": bool(settings.pipeline.steps),
        "selection": settings.selection.method == "in_order",
        "filter": not settings.document_filter,
        "gate": _gate_switched_off(settings),
    }.get(role, False)


def _gate_switched_off(settings: Settings) -> bool:
    """Whether no model judges the gate: one decision stands for all, or a classifier over the whole input decides."""
    own = settings.gate
    return own.method in ("retrieve", "direct") or (own.method == "whole_input" and not own.self_judged)


def _together(settings: Settings) -> bool:
    """Whether one call of a model selects and filters."""
    models, own = settings.language_model, settings.selection
    both = models is not None and models.judge("selection") == models.judge("filter") == "model"
    return own.together and both and own.method == "kads" and settings.document_filter


def _selection(model: LanguageModel, parts: Parts, settings: Settings, encoder: Encoder) -> Selector:
    shuffle = settings.selection.shuffle
    if _together(settings):
        return ChooserByModel(model, parts.selector, parts.filter, ChoosingSettings(shuffle=shuffle), encoder)
    own = ModelSelectorSettings(shuffle=shuffle, neutral=not settings.selection.guard)
    return SelectorByModel(model, parts.selector, own)


def _filter(model: LanguageModel, parts: Parts, settings: Settings, encoder: Encoder) -> DocumentFilter:
    """The filter; where the selection's call filters, texts that came with a message are judged in one call too."""
    del encoder
    if _together(settings):
        return ChooserByModel(model, parts.selector, parts.filter, ChoosingSettings(shuffle=False))
    return DocumentFilterByModel(model, parts.filter)


def _answer(
    model: LanguageModel,
    parts: Parts,
    settings: Settings,
    encoder: Encoder,
    background: BackgroundBeside | None = None,
) -> Answerer:
    own = ModelAnswerSettings(generated=settings.generated)
    return AnswererByModel(model, cast(AnswererLocal, parts.answerer), encoder, own, background)


def _background(settings: GapSettings, models: LanguageModels) -> BackgroundBeside:
    """What writes background beside the answer, where the gap tool does not write it before."""
    if not _beside(settings, models):
        return BackgroundBeside()
    return BackgroundBeside(GeneratorByModel(models.of("background")), min(settings.points, settings.conditioned))


def _beside(settings: GapSettings, models: LanguageModels) -> bool:
    """Whether background is written beside the answer: no statement may rest on it, and a model answers."""
    read_by = settings.together and models.judged_by_model("answer")
    own = settings.generated == "context" and settings.search_first and not settings.question_only
    return own and read_by and models.judged_by_model("background")


def _report(model: LanguageModel, parts: Parts, settings: Settings, encoder: Encoder) -> Reporter:
    local, answerer = cast(ReporterLocal, parts.reporter), cast(AnswererLocal, parts.answerer)
    return ReporterByModel(model, local, answerer, encoder, settings.generated)


def _gate(model: LanguageModel, parts: Parts, settings: Settings, encoder: Encoder) -> CompletenessGate:
    del encoder
    return CompletenessGateByModel(model, parts.gate, settings.gate, pure=settings.gate.self_judged)


BY_MODEL: dict[Role, tuple[str, Judged]] = {
    "triage": ("triage", lambda model, parts, *_: TriageByModel(model, parts.triage)),
    "gate": ("gate", _gate),
    "research": ("planner", lambda model, parts, *_: PlannerByModel(model, parts.planner, parts.tools)),
    "selection": ("selector", _selection),
    "filter": ("filter", _filter),
    "report": ("reporter", _report),
    "verification": ("verifier", lambda model, parts, *_: VerifierByModel(model, parts.verifier)),
}


# The gap tool of a configuration: each judgement by the model or locally, as its role is set.


def gap_tool(
    search: Searcher,
    encoder: Encoder,
    settings: GapSettings,
    models: LanguageModels,
    refused: Refused = lambda _: (),
    sections: Sections = lambda _: (),
) -> FillKnowledgeGaps:
    """The tool; where a role is local, the local judgement.

    A local answer reads no background, so none is written for it, but where the published steps are asked for. The
    default writes it beside the answer instead.
    """
    together = settings.together
    writes = None
    read, beside = models.judged_by_model("answer") or not together, _beside(settings, models)
    if models.judged_by_model("background") and read and not beside:
        writes = GeneratorByModel(models.of("background"), together=together)
    finder = _finder(settings, models)
    whole: dict[str, Any] = {"sections": sections, "order": most_wanted} if isinstance(finder, GapFinderByModel) else {}
    return FillKnowledgeGaps(
        search, encoder, settings, finder=finder, generator=writes, beside=beside, refused=refused, **whole
    )


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

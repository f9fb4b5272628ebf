"""The judgements of a build put together: all local, or a language model's."""

from __future__ import annotations

from collections.abc import Mapping

from prompts.language_model import LanguageModel
from tools.encoders import Encoder
from tools.icd10 import ICD10
from tools.knowledge_graph.building.augmenting import AugmentationLocal
from tools.knowledge_graph.building.codes import Codes
from tools.knowledge_graph.building.contract import Judges
from tools.knowledge_graph.building.diagnoses import ClusteringLocal
from tools.knowledge_graph.building.statements import DecompositionLocal
from tools.knowledge_graph.building.topics import TopicsLocal
from tools.knowledge_graph.schema import Graph
from tools.library.document import Document


def local_judges(
    encoder: Encoder, table: ICD10, known: Graph | None, monographs: Mapping[str, Document] | None = None
) -> Judges:
    """Judgements that need no service.

    Args:
        known: a graph that gives names and codes of diseases; with ``monographs`` it gives distinctions too.
        monographs: the library's, by the graph's disease ids; None for no augmentation.
    """
    augmentation = None if known is None or monographs is None else AugmentationLocal(known, monographs)
    return Judges(
        name="local" if augmentation is not None else "local without augmentation",
        clustering=ClusteringLocal(Codes(table, encoder, known), encoder),
        topics=TopicsLocal(table),
        decomposition=DecompositionLocal(),
        augmentation=augmentation,
    )


def model_judges(model: LanguageModel, *, augment: bool = True) -> Judges:
    """Judgements of a language model; what it adds is marked ``generated:<model>``."""
    from tools.knowledge_graph.building.by_model import (
        AugmentationByModel,
        ClusteringByModel,
        DecompositionByModel,
        TopicsByModel,
    )

    return Judges(
        name=f"model {model.name}{'' if augment else ' without augmentation'}",
        clustering=ClusteringByModel(model),
        topics=TopicsByModel(model),
        decomposition=DecompositionByModel(model),
        augmentation=AugmentationByModel(model) if augment else None,
    )

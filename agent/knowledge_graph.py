"""The knowledge graph of a configuration, and the judgements that build another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import InputError
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.record_ranking import RecordCollection
from tools.library.collection import Library

if TYPE_CHECKING:
    from tools.knowledge_graph.building.contract import Judges

STARTER_GRAPH = Path(__file__).resolve().parent.parent / "tools" / "knowledge_graph" / "starter"


def open_graph(settings: Settings, home: Home, encoder: Encoder) -> KnowledgeGraph:
    """The knowledge graph that the settings name. Raises DataError for one with problems, InputError for no folder."""
    folder = settings.kg_graph or STARTER_GRAPH
    if not folder.is_dir():
        raise InputError(f"There is no graph folder {folder}.", "Set ANAMNESIS_KG_GRAPH to a folder of `kg build`.")
    if settings.kg_records is None:
        return KnowledgeGraph(encoder, home.indexes, folder, mode=settings.kg_mode)
    records = RecordCollection.open(settings.kg_records, encoder)
    table = load_icd10(home.indexes / "icd10.json")
    return KnowledgeGraph(encoder, home.indexes, folder, mode=settings.kg_mode, records=records, table=table)


def open_builder(settings: Settings, home: Home, encoder: Encoder, *, by_model: bool, augment: bool) -> Judges:
    """The judgements of `kg build`; the data folder must have been set up.

    Raises:
        InputError: a model is asked for and none is named.
        DataError: the library or the ICD-10 table cannot be read.
    """
    from tools.knowledge_graph.building.judges import local_judges, model_judges

    if by_model:
        model = settings.language_model
        if model is None or model.judge("graph") == "local":  # only what `doctor` lists is called
            raise InputError("No language model is set to build graphs.", "Set ANAMNESIS_MODEL, or --judge local.")
        from prompts.language_model import LanguageModel

        return model_judges(LanguageModel(model, "graph"), augment=augment)
    starter = read_graph(STARTER_GRAPH)
    table = load_icd10(home.indexes / "icd10.json")
    if not augment:
        return local_judges(encoder, table, starter)
    library = Library.open(home.indexes / "library", encoder)
    monographs = {d.id.partition(":")[2]: d for d in library.documents if d.kind == "condition"}
    return local_judges(encoder, table, starter, monographs)

"""The gate's annotation and training: its parts out of the settings, over the agent's own graph, library and model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from agent.assembly import build, open_encoder
from agent.icd10 import TABLE, chinese_names, open_linker
from agent.knowledge_graph import STARTER_GRAPH, open_graph
from agent.sessions import Home
from agent.settings import Settings
from graphs.completeness.annotation import Diagnoser
from graphs.completeness.annotation_diagnosers import DiagnoserByGraph, DiagnoserByModel, DiagnoserKept
from graphs.completeness.annotation_reference import Held, ReferenceByNames
from prompts.errors import InputError
from prompts.language_model import LanguageModel
from tools.contract import Differential
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import content_hash
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.library.collection import Library
from tools.library.joined import JoinedLibrary
from tools.text.language import language_of

By = Literal["graph", "model"]
KEPT = "diagnoses.sqlite"  # below the cache: diagnoses of annotation by content


@contextmanager
def annotating(settings: Settings, home: Home, by: By, jobs: int) -> Iterator[tuple[DiagnoserKept, ReferenceByNames]]:
    """Who diagnoses, with its diagnoses kept in the data folder, and the references.

    Raises:
        InputError: ``model`` without a language model that may judge the gate.
        DataError: the library, the graph or the tables cannot be read.
    """
    diagnoser_by_model = _by_model(settings) if by == "model" else None
    encoder = open_ready(settings, home)
    graph = open_graph(settings, home, encoder)
    diagnoser = diagnoser_by_model or graph_diagnoser(settings, graph, encoder)
    kept = DiagnoserKept(diagnoser, home.cache / "gate" / KEPT, jobs)
    try:
        yield kept, open_reference(settings, home, graph, encoder)
    finally:
        kept.close()


def open_ready(settings: Settings, home: Home) -> Encoder:
    """The encoder of the settings; what was never built is built first."""
    if not (home.indexes / "library").exists():
        build(settings, home, rebuild=False, say=lambda _: None)
    return open_encoder(settings, home)


def graph_diagnoser(settings: Settings, graph: KnowledgeGraph, encoder: Encoder) -> DiagnoserByGraph:
    """The graph as diagnoser. Raises InputError where the graph is looked up by the published votes."""
    if settings.kg_mode == "paper":
        raise InputError("The graph ranks by votes (ANAMNESIS_KG_MODE=paper).", "Leave it out to annotate.")
    return DiagnoserByGraph(graph, f"{content_hash(settings.kg_graph or STARTER_GRAPH)} {encoder.name}")


def open_reference(settings: Settings, home: Home, graph: KnowledgeGraph, encoder: Encoder) -> ReferenceByNames:
    """References over the names of the graph and of ICD-10, and all documents of the library."""
    linker = open_linker(settings, home, "strict", chinese_names(settings, home))
    library = JoinedLibrary(Library.open(home.indexes / "library", encoder), home.library, encoder)
    return ReferenceByNames(graph.graph, load_icd10(home.indexes / TABLE), linker.codes, documents(library))


def documents(library: JoinedLibrary) -> list[Held]:
    """Every document of the starter collection and of the user."""
    shelf = library.shelf
    own = [shelf.document(listed.id) for listed in shelf.documents()] if shelf is not None else []
    return [Held(d.id.partition(":")[2], d.title, d.text) for d in (*library.starter.documents, *own)]


def first_looks(settings: Settings, home: Home, encoder: Encoder) -> Callable[[str], Differential]:
    """The graph's first look-up of a text, as the gate is given it."""
    graph = open_graph(settings, home, encoder)
    return lambda text: graph.look_up(text, language_of(text))


def _by_model(settings: Settings) -> Diagnoser:
    model = settings.language_model
    if model is None or model.judge("gate") == "local":  # only what `doctor` lists is called
        advice = "Set ANAMNESIS_MODEL and ANAMNESIS_ROLES__GATE__JUDGE=model, or give --by graph."
        raise InputError("No language model is set to judge completeness.", advice)
    return DiagnoserByModel(LanguageModel(model, "gate"))


def backbone(path: Path | None) -> tuple[Path, str]:
    """Folder and name of the model that is fine-tuned; None for the embedded encoder's. Raises InputError for none."""
    from tools.encoders import MINILM, minilm_folder

    if path is None:
        return minilm_folder(), MINILM
    if not (path / "config.json").is_file():
        raise InputError(f"{path} holds no transformers model.", "Give a folder with config.json with --backbone.")
    return path, path.resolve().name

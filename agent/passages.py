"""How documents are read closely: the passage tool out of the settings, and what `doctor` tells of it."""

from __future__ import annotations

from agent.settings import Settings
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.literature.medcpt.reranking import MedCPTReranker, load_reranker
from tools.literature.per_source import Reranker
from tools.passages.contract import DocumentSource
from tools.passages.pool import PassagePool
from tools.passages.seos import SeosSettings
from tools.passages.tool import RetrievePassages
from tools.reading.reader import RelevanceReranker, TrainedReader

READ = ("two_stage", "chunk_reranked")  # strategies in which a cross-encoder reads
HOW = {
    "chunk_counted": "chunks counted",
    "chunk_reranked": "chunks reranked",
    "whole_documents": "whole documents by words",
}


def passage_tool(settings: Settings, source: DocumentSource, encoder: Encoder) -> RetrievePassages:
    """The tool `retrieve_passages`. Raises DataError when a cross-encoder's folder is set and has no model."""
    return RetrievePassages(
        source,
        PassagePool(encoder, SeosSettings(method=settings.passage_method)),
        strategy=settings.passage_search,
        room=settings.passage_tokens,
        reader=cross_encoder(settings.encoder) if settings.passage_search in READ else None,
        guard=settings.passage_guard,
    )


def cross_encoder(setting: str) -> MedCPTReranker | None:
    """The cross-encoder of an encoder setting; None when it names none, or NCBI's and that one is not on disk."""
    try:
        return load_reranker(setting)
    except DataError:
        if setting == "medcpt":
            return None
        raise


def reranker(settings: Settings) -> Reranker | None:
    """What orders the documents of all sources where they are retrieved per source: MedCPT's cross-encoder where the
    encoder setting names it, else the trained reader's relevance head; None where the settings do not retrieve so."""
    if settings.literature.method != "per_source":
        return None
    return cross_encoder(settings.encoder) or RelevanceReranker(TrainedReader())


def described(settings: Settings) -> str:
    """The strategy, the room and the cross-encoder, in words."""
    reader = "with" if cross_encoder(settings.encoder) is not None else "without"
    how = HOW.get(settings.passage_search, f"two stages, {reader} a cross-encoder")
    return f"{how}, at most {settings.passage_tokens} tokens"

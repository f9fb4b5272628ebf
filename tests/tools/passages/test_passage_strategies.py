"""The tool `retrieve_passages`: its second strategy, a cross-encoder, and the room in tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.assembly import cross_encoder, passage_tool, passages_described
from agent.settings import Settings
from prompts.errors import DataError
from prompts.tool_arguments import RetrievePassages as Arguments
from support.tiny_medcpt import tiny_models
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.passages.contract import StoredDocument, Strategy
from tools.passages.counted_reading import WHOLE, CrossEncoder
from tools.passages.pool import PassagePool
from tools.passages.seos import SeosSettings
from tools.passages.tool import RetrievePassages

CASE = "A child has a barking cough and stridor. Her brother plays chess."
CROUP = StoredDocument(
    id="library:croup",
    title="Croup",
    text="## Features\nA child with croup has a barking cough. Stridor is heard at rest in severe croup.\n"
    "## Treatment\nA single dose of dexamethasone shortens croup in children.",
)
FLU = StoredDocument(
    id="library:flu",
    title="Influenza",
    text="A child with influenza has fever and a dry cough. It passes soon.",
)
CHESS = StoredDocument(id="library:chess", title="Chess", text="Chess is played by two. A brother may play too.")


class Source:
    """Documents in memory, all of them found."""

    def __init__(self, *documents: StoredDocument, listed: bool = True) -> None:
        self._documents = {d.id: d for d in documents}
        self.listed = listed
        self.asked: list[tuple[str, int]] = []

    def get_document(self, id: str) -> StoredDocument | None:
        return self._documents.get(id)

    def every_document(self, most: int) -> list[str] | None:
        return list(self._documents) if self.listed else None

    def find_documents(self, query: str, limit: int) -> list[str]:
        self.asked.append((query, limit))
        return list(self._documents)[:limit]


class ByLength:
    """A cross-encoder that likes long texts."""

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        return np.array([len(a) for a in articles], dtype=np.float32)


class Shortest:
    """A cross-encoder that likes short texts."""

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        return np.array([-len(a) for a in articles], dtype=np.float32)


def run(tool: RetrievePassages, query: str, context: ToolContext | None = None, limit: int = 6) -> ToolArtifact:
    return asyncio.run(tool.run(Arguments(query=query, limit=limit), context or ToolContext()))


def test_chunks_are_counted_for_the_important_sentences_of_the_case(encoder: Encoder) -> None:
    tool = RetrievePassages(Source(FLU, CROUP, CHESS), PassagePool(encoder), strategy="chunk_counted")
    sentences = CASE.replace(". ", ".|").split("|")
    context = ToolContext(question=CASE, units=[(sentences[0], "A"), (sentences[1], "C")])
    artifact = run(tool, CASE, context)
    assert [e.document_id for e in artifact.evidence] == ["library:croup", "library:flu"]  # chess is unimportant
    first = artifact.evidence[0]
    assert first.text == CROUP.text  # documents are handed on, not chunks
    assert first.id == f"library:croup@0-{len(CROUP.text)}"
    assert [(f.stream, f.rank, f.score) for f in first.found] == [("chunk_count", 1, 1.0)]
    assert artifact.notices == []


def test_a_collection_that_is_too_large_is_searched_by_sentences_first(encoder: Encoder) -> None:
    source = Source(FLU, CROUP, CHESS, listed=False)
    tool = RetrievePassages(source, PassagePool(encoder), strategy="chunk_counted")
    sentences = CASE.replace(". ", ".|").split("|")
    units = [(sentences[0], "A"), (sentences[1], "C"), ("She has stridor.", "B")]
    assert run(tool, CASE, ToolContext(question=CASE, units=units)).evidence[0].document_id == "library:croup"
    assert source.asked == [(sentences[0], 50), ("She has stridor.", 50)]  # never the whole text


def test_chunks_vote_and_the_arms_order_otherwise(encoder: Encoder) -> None:
    brother = StoredDocument(
        id="library:brother",
        title="Brothers",
        text="## One\nA brother has a cough.\n## Two\nA brother has stridor.\n## Three\nA brother may bark.",
    )
    units = [("A child has a barking cough and stridor.", "A"), ("Her brother plays chess.", "B")]
    context = ToolContext(question=CASE, units=units)

    def first(strategy: Strategy, reader: CrossEncoder | None = None) -> str:
        pool = PassagePool(encoder)
        tool = RetrievePassages(Source(CROUP, FLU, brother), pool, strategy=strategy, reader=reader, guard=False)
        return run(tool, CASE, context).evidence[0].document_id

    assert first("chunk_counted") == "library:brother"  # three chunks; two of croup
    assert first("chunk_reranked") == "library:croup"  # by the nearest chunk
    assert first("chunk_reranked", Shortest()) == "library:brother"
    assert first("whole_documents") in {"library:croup", "library:brother"}


def test_a_document_that_is_too_long_is_handed_on_by_the_stretch_of_its_chunks(encoder: Encoder) -> None:
    filler = "The ward has a garden with roses and a bench for visitors. " * 160
    long = StoredDocument(id="library:long", text=f"{filler}\n## Croup\nCroup causes a barking cough.\n{filler}")
    tool = RetrievePassages(Source(long), PassagePool(encoder), strategy="chunk_counted", room=8000)
    piece = run(tool, "What causes a barking cough in croup?").evidence[0]
    assert "barking cough" in piece.text
    assert encoder.count_tokens([piece.text])[0] <= WHOLE


def test_a_case_without_an_important_sentence_is_searched_for_whole_and_told(encoder: Encoder) -> None:
    tool = RetrievePassages(Source(CROUP, FLU), PassagePool(encoder), strategy="chunk_counted")
    query = "barking cough of a child"
    artifact = run(tool, query, ToolContext(question=query, units=[(query, "C")]))
    assert artifact.evidence[0].document_id == "library:croup"
    assert [n.code for n in artifact.notices] == ["whole_text_searched"]
    other = run(tool, query, ToolContext(question="Another question?", units=[("Another question?", "C")]))
    assert other.notices == []  # the labels are those of another text


def test_what_is_far_from_the_query_is_not_counted(encoder: Encoder) -> None:
    tool = RetrievePassages(Source(CROUP, FLU), PassagePool(encoder), strategy="chunk_counted")
    artifact = run(tool, "Who won the football final?")
    assert (artifact.outcome, artifact.evidence) == (Outcome.NOTHING_FOUND, [])
    unguarded = RetrievePassages(Source(CROUP, FLU), PassagePool(encoder), strategy="chunk_counted", guard=False)
    assert run(unguarded, "Who won the football final in a child?").evidence  # as published


def test_a_cross_encoder_orders_the_best_passages(encoder: Encoder) -> None:
    without = run(RetrievePassages(Source(CROUP, FLU), PassagePool(encoder)), "barking cough and stridor")
    tool = RetrievePassages(Source(CROUP, FLU), PassagePool(encoder), reader=ByLength())
    artifact = run(tool, "barking cough and stridor")
    lengths = [len(f"{e.title}. {e.section}\n{e.text}" if e.section else e.title + e.text) for e in artifact.evidence]
    assert lengths == sorted(lengths, reverse=True)
    assert {e.id for e in artifact.evidence} == {e.id for e in without.evidence}
    found = artifact.evidence[0].found[-1]
    assert (found.stream, found.rank) == ("cross_encoder", 1)


def test_passages_and_the_neighbours_they_lean_on_stay_within_the_room(encoder: Encoder) -> None:
    first = "Colchicine is taken for three months by adults with pericarditis after a first attack."
    second = "This halves the risk that the illness comes back within the following eighteen months."
    document = StoredDocument(id="library:p", title="", text=f"{first} {second}")
    query = "risk that the illness comes back within eighteen months"
    pool = PassagePool(encoder, SeosSettings(budget=18, max_overlap=0, reach=0, leaning=0.0))
    tokens = encoder.count_tokens([first, second])
    for room, wanted in ((sum(tokens), [second, first]), (sum(tokens) - 1, [second]), (1, [second])):
        artifact = run(RetrievePassages(Source(document), pool, room=room), query)
        assert [e.text for e in artifact.evidence] == wanted


def test_medcpts_cross_encoder_is_used_where_it_is_on_disk(encoder: Encoder, tmp_path: Path) -> None:
    query, article, cross = tiny_models(tmp_path)
    assert cross_encoder(f"medcpt:{query},{article}") is None
    settings = Settings(home=tmp_path, encoder=f"medcpt:{query},{article},{cross}")
    artifact = run(passage_tool(settings, Source(CROUP, FLU), encoder), "a child with a barking cough")
    assert "cross_encoder" in {f.stream for e in artifact.evidence for f in e.found}
    assert passages_described(settings).startswith("two stages, with a cross-encoder")
    with pytest.raises(DataError):
        cross_encoder(f"medcpt:{query},{article},{tmp_path / 'nothing'}")


def test_the_settings_choose_strategy_and_room(
    monkeypatch: pytest.MonkeyPatch, encoder: Encoder, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANAMNESIS_PASSAGE_SEARCH", "chunk_counted")
    monkeypatch.setenv("ANAMNESIS_PASSAGE_TOKENS", "70")
    settings = Settings(home=tmp_path)
    assert passages_described(settings) == "chunks counted, at most 70 tokens"
    artifact = run(passage_tool(settings, Source(CROUP, FLU), encoder), "barking cough")
    assert {f.stream for e in artifact.evidence for f in e.found} == {"chunk_count"}
    assert sum(encoder.count_tokens([e.text for e in artifact.evidence])) <= 70

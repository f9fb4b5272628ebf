"""ICA-RAG's search: one batched pass, documents by their chunks found, defined ties, the fallback."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prompts.errors import InputError
from support.counting_encoder import CountingEncoder
from tools.indexes.lexical import Lexicon
from tools.passages.batched_bm25 import BatchedBM25, best_rows
from tools.passages.contract import StoredDocument
from tools.passages.counted_reading import Chunk, ChunkCountSettings, ChunkIndex, chunks_of
from tools.text.tokens import tokens

ENCODER = CountingEncoder(64)
TEXTS = {
    "gout": "Gout makes a toe red. Colchicine eases gout. Urate crystals cause gout.",
    "croup": "Croup makes a barking cough. Dexamethasone eases croup. Stridor is a sign.",
    "flu": "Influenza brings fever and cough. Rest eases it. Fever lasts for days.",
}
DOCUMENTS = [StoredDocument(id=f"library:{name}", text=text) for name, text in TEXTS.items()]


def index(length: int = 8) -> ChunkIndex:
    return ChunkIndex.of(DOCUMENTS, ENCODER, length)


def counts(found: ChunkIndex, units: list[tuple[str, str]], **settings: object) -> list[tuple[str, int]]:
    counted = found.search(units, " ".join(u for u, _ in units), ChunkCountSettings(**settings))  # type: ignore[arg-type]
    return [(d.id.partition(":")[2], d.s_doc) for d in counted.documents]


def test_documents_are_ranked_by_how_many_of_their_chunks_any_important_sentence_finds() -> None:
    units = [("a barking cough", "A"), ("stridor", "B"), ("fever", "A"), ("gout", "C")]
    assert counts(index(), units) == [("croup", 2), ("flu", 2)]  # gout is unimportant; "cough" and "fever" find flu
    found = index().search(units, "")
    assert not found.whole_text
    assert [TEXTS["flu"][c.start : c.end] for c, _ in found.documents[1].chunks] == [
        "Fever lasts for days.",
        "Influenza brings fever and cough.",
    ]


def test_a_chunk_counts_once_and_with_multiplicity_once_a_sentence() -> None:
    units = [("fever for days", "A"), ("fever and cough", "B")]
    assert dict(counts(index(), units))["flu"] == 2
    assert dict(counts(index(), units, with_multiplicity=True))["flu"] == 4


def test_the_number_of_chunks_and_of_documents_is_bounded() -> None:
    units = [("cough", "A"), ("gout", "A")]
    assert dict(counts(index(), units)) == {"gout": 3, "croup": 1, "flu": 1}
    assert dict(counts(index(), units, top_chunks=1))["gout"] == 1
    assert counts(index(), units, top_documents=1) == [("gout", 3)]


def test_ties_go_by_the_best_chunk_then_by_id() -> None:
    chunks = [Chunk(f"d:{n}", 0, 1) for n in "bacd"]
    found = ChunkIndex(chunks, ["cough", "cough", "cough cough", "fever"])
    counted = found.search([("cough", "A")], "")
    assert [d.id for d in counted.documents] == ["d:c", "d:a", "d:b"]


def test_with_no_important_sentence_the_whole_text_is_the_query() -> None:
    found = index().search([("gout hurts", "C"), ("hello", "C")], "gout hurts hello")
    assert found.whole_text
    assert found.queries == ("gout hurts hello",)
    assert [d.id for d in found.documents] == ["library:gout"]


def test_the_dense_variant_counts_by_vectors() -> None:
    units = [("Colchicine eases gout", "A")]
    assert counts(index(), units, by="dense", top_chunks=1) == [("gout", 1)]
    with pytest.raises(InputError):
        ChunkIndex([Chunk("d:a", 0, 1)], ["x"]).search(units, "", ChunkCountSettings(by="dense"))


def test_chunks_are_whole_sentences_of_one_section_within_the_length() -> None:
    text = "## A\nOne two three. Four five. Six seven eight nine.\n## B\n" + "word " * 30 + "end."
    document = StoredDocument(id="library:x", text=text)
    chunks = chunks_of(document, ENCODER, 9)
    texts = [text[c.start : c.end] for c in chunks]
    assert texts[:2] == ["One two three. Four five.", "Six seven eight nine."]
    assert max(ENCODER.count_tokens(texts)) <= 9
    assert [c.section for c in chunks[:3]] == ["A", "A", "B"]


def test_one_pass_gives_what_a_search_for_each_query_gives() -> None:
    texts = [*TEXTS.values(), "", "咳嗽 发热", "Gout and croup and cough cough cough."]
    batched = BatchedBM25([tokens(t) for t in texts]).scores([tokens(q) for q in ("gout cough", "发热", "nothing", "")])
    lexicon = Lexicon(texts)
    for n, query in enumerate(("gout cough", "发热", "nothing", "")):
        assert batched[:, n] == pytest.approx(lexicon.scores(query), abs=1e-5)
    assert BatchedBM25([]).scores([["x"]]).shape == (0, 1)


@given(
    arrays(
        np.float32, st.tuples(st.integers(0, 400), st.integers(0, 4)), elements=st.sampled_from([0, 0, 0.5, 1, 2, 3])
    ),
    st.integers(1, 7),
)
def test_the_best_rows_are_those_of_a_full_sort(scores: np.ndarray, most: int) -> None:  # type: ignore[type-arg]
    found = best_rows(scores, most)
    for query in range(scores.shape[1]):
        order = [r for r in np.lexsort((np.arange(len(scores)), -scores[:, query])) if scores[r, query] > 0][:most]
        assert found.row[found.query == query].tolist() == order
        assert found.score[found.query == query].tolist() == scores[order, query].tolist()

"""Quotes: the sentence that supports a statement, with exact offsets."""

from __future__ import annotations

import pytest

from tools.encoders import Encoder
from tools.passages.search import Quote, rank_sentences

CROUP = (
    "## Treatment\nA single oral dose of dexamethasone shortens croup. Antibiotics do not help because croup is viral. "
    "Children with stridor at rest need hospital care."
)


def best(query: str, text: str, encoder: Encoder) -> Quote:
    return rank_sentences(query, [text], encoder)[0]


def test_the_quote_is_the_supporting_sentence(encoder: Encoder) -> None:
    _, start, end, score = best("Does dexamethasone help in croup?", CROUP, encoder)
    assert CROUP[start:end] == "A single oral dose of dexamethasone shortens croup."
    assert 0.5 < score <= 1.0
    _, start, end, _ = best("When should a child be seen in hospital?", CROUP, encoder)
    assert CROUP[start:end] == "Children with stridor at rest need hospital care."


def test_chinese_quotes(encoder: Encoder) -> None:
    text = "哮喘是气道的慢性炎症。吸入激素可以预防发作。骨折需要手术。"
    _, start, end, _ = best("吸入激素能预防哮喘发作吗？", text, encoder)
    assert text[start:end] == "吸入激素可以预防发作。"


def test_many_texts_are_ranked_together_in_one_call(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Osteoporosis weakens bone. Falls break hips.", "Statins lower cholesterol.", CROUP]
    calls: list[int] = []
    original = encoder.encode_documents
    monkeypatch.setattr(encoder, "encode_documents", lambda t: calls.append(len(t)) or original(t))
    ranked = rank_sentences("statins lower cholesterol", texts, encoder)
    assert calls == [6]
    assert texts[ranked[0].text_index][ranked[0].start : ranked[0].end] == "Statins lower cholesterol."
    assert [q.score for q in ranked] == sorted((q.score for q in ranked), reverse=True)
    assert len({(q.text_index, q.start) for q in ranked}) == 6


def test_a_long_sentence_is_offered_by_its_clauses(encoder: Encoder) -> None:
    filler = "the trial enrolled adults from many hospitals over several years and followed them closely for outcomes"
    text = f"{filler}; {filler} again; colchicine halved the recurrence of pericarditis; {filler} once more."
    _, start, end, _ = best("Does colchicine prevent recurrent pericarditis?", text, encoder)
    assert text[start:end] == "colchicine halved the recurrence of pericarditis;"


def test_a_text_without_a_sentence_has_no_quote(encoder: Encoder) -> None:
    assert rank_sentences("anything", [" \n"], encoder) == []
    assert rank_sentences("anything", [], encoder) == []

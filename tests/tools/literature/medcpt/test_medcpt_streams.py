"""MedCPT's three models, tiny and random, of the same architecture: pairs, CLS vectors, lengths, nothing cut."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from prompts.errors import DataError, InputError
from tools.encoders import load_encoder, medcpt_paths
from tools.encoders_on_disk import MedCPTEncoder
from tools.indexes.contract import Hit
from tools.literature.by_meaning import dense_search, query_parts
from tools.literature.medcpt.published import MedCPTReranker, load_reranker

SENTENCE = "The child has croup, fever and chest pain since monday. "
NARRATIVE = SENTENCE * 12


@pytest.fixture(scope="module")
def encoder(medcpt_folders: tuple[str, str, str]) -> MedCPTEncoder:
    return MedCPTEncoder(*medcpt_folders[:2])


@pytest.fixture(scope="module")
def reranker(medcpt_folders: tuple[str, str, str]) -> MedCPTReranker:
    return MedCPTReranker(medcpt_folders[2])


def test_an_article_is_the_cls_vector_of_title_and_abstract_as_a_pair(
    encoder: MedCPTEncoder, medcpt_folders: tuple[str, str, str]
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(medcpt_folders[1])
    model = transformers.AutoModel.from_pretrained(medcpt_folders[1]).eval()
    ids = tokenizer("chest pain", "croup with fever", return_tensors="pt")
    assert ids["token_type_ids"].sum() == 4, "the abstract and its [SEP] are the second segment"
    with torch.inference_mode():
        cls = model(**ids).last_hidden_state[0, 0].numpy()
    expected = cls / np.linalg.norm(cls)
    assert np.allclose(encoder.encode_articles([("chest pain", "croup with fever")])[0], expected, atol=1e-5)
    assert np.allclose(encoder.encode_documents(["chest pain\ncroup with fever"])[0], expected, atol=1e-5)
    assert not np.allclose(encoder.encode_documents(["chest pain croup with fever"])[0], expected, atol=1e-3)


def test_an_article_is_scored_by_the_logit_of_query_and_article_as_a_pair(
    reranker: MedCPTReranker, medcpt_folders: tuple[str, str, str]
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(medcpt_folders[2])
    model = transformers.AutoModelForSequenceClassification.from_pretrained(medcpt_folders[2]).eval()
    with torch.inference_mode():
        expected = [float(model(**tokenizer("croup", a, return_tensors="pt")).logits[0, 0]) for a in ("fever", "pain")]
    assert np.allclose(reranker.rerank("croup", ["fever", "pain"]), expected, atol=1e-5)


def test_the_order_of_a_batch_changes_nothing(encoder: MedCPTEncoder, reranker: MedCPTReranker) -> None:
    articles = [("croup " * (n % 7), "fever pain " * (n * 5 % 90)) for n in range(75)]
    vectors = encoder.encode_articles(articles)
    assert np.allclose(encoder.encode_articles(articles[::-1])[::-1], vectors, atol=1e-5)
    alone = np.concatenate([encoder.encode_articles([article]) for article in articles[:5]])
    assert np.allclose(alone, vectors[:5], atol=1e-5)
    texts = [f"{title} {abstract}" for title, abstract in articles]
    scores = reranker.rerank("chest pain", texts)
    assert np.allclose(reranker.rerank("chest pain", texts[::-1])[::-1], scores, atol=1e-5)
    assert np.unique(scores.round(6)).size > 10


def test_a_long_query_is_asked_in_parts_that_the_encoder_reads_whole(encoder: MedCPTEncoder) -> None:
    parts = query_parts(encoder, NARRATIVE)
    assert len(parts) > 2
    assert " ".join(parts).split() == NARRATIVE.split()
    assert all(part.endswith("monday.") for part in parts), "cut at sentence ends"
    assert max(encoder.count_tokens(parts)) <= 62
    assert query_parts(encoder, "chest pain") == ["chest pain"]
    assert query_parts(encoder, "") == [""]


def test_the_parts_are_searched_each_and_fused(encoder: MedCPTEncoder) -> None:
    asked: list[int] = []

    def search(vectors: np.ndarray, k: int) -> list[list[Hit]]:
        asked.append(len(vectors))
        return [[Hit(id=f"own-{n}", rank=1, score=1), Hit(id="all", rank=2, score=0.5)] for n in range(len(vectors))]

    found = dense_search(encoder, search, NARRATIVE, 10)
    assert asked == [len(found.parts)]
    assert found.hits[0].id == "all"
    assert found.hits[0].score == pytest.approx(len(found.parts) / 62)
    assert dense_search(encoder, search, NARRATIVE, 10, rrf_k=1).hits[0].score == pytest.approx(len(found.parts) / 3)


def test_the_single_vector_of_a_long_query_reads_its_end(encoder: MedCPTEncoder) -> None:
    one, other = encoder.encode_queries([NARRATIVE, NARRATIVE + "croup croup croup fever pain " * 9])
    assert not np.allclose(one, other, atol=1e-4)
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)


def test_a_long_article_is_told(encoder: MedCPTEncoder) -> None:
    assert encoder.beyond_limit([("croup", "fever"), ("croup", SENTENCE * 90)]) == [1]


def test_the_cross_encoder_reads_the_end_of_a_long_article_and_of_a_long_query(reranker: MedCPTReranker) -> None:
    long = SENTENCE * 90
    windows = reranker._pieces(long + "fever fever fever.", 512 - 3 - 2)
    assert len(windows) > 1
    expected = max(float(reranker.rerank("chest pain", [window])[0]) for window in windows)
    assert float(reranker.rerank("chest pain", [long + "fever fever fever."])[0]) == pytest.approx(expected, abs=1e-5)
    query = SENTENCE * 40
    assert not np.allclose(reranker.rerank(query, ["croup"]), reranker.rerank(query + "fever " * 150, ["croup"]))
    assert reranker.rerank("croup", []).shape == (0,)


def test_the_setting_names_two_or_three_models(medcpt_folders: tuple[str, str, str]) -> None:
    query, article, cross = medcpt_folders
    assert medcpt_paths("medcpt")[2] == "ncbi/MedCPT-Cross-Encoder"
    assert load_reranker(f"medcpt:{query},{article}") is None
    assert load_reranker("") is None
    assert isinstance(load_reranker(f"medcpt:{query},{article},{cross}"), MedCPTReranker)
    assert isinstance(load_encoder(f"medcpt:{query},{article},{cross}"), MedCPTEncoder)
    with pytest.raises(InputError, match="two folders"):
        medcpt_paths("medcpt:a,b,c,d")
    with pytest.raises(DataError, match="No MedCPT"):
        load_reranker(f"medcpt:{query},{article},/nowhere")

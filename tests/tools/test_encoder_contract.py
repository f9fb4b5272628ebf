"""The embedded encoder gives the vectors that sentence-transformers gives; every encoder keeps the contract."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError, InputError
from tools.embedding_cache import CachedEncoder
from tools.encoders import (
    BATCH,
    Encoder,
    MiniLMEncoder,
    Vectors,
    batches_by_length,
    load_encoder,
    minilm_folder,
    verify_checksum,
)
from tools.encoders_on_disk import MedCPTEncoder, SentenceTransformerEncoder
from tools.remembered import Remembered

TEXTS = [
    "Croup is treated with a single dose of dexamethasone.",
    "chest pain",
    "胸痛三天",
    "A much longer text about the management of atrial fibrillation, its complications and its follow-up. " * 30,
]


def tiny_bert(folder: Path) -> str:
    """A random BERT of MedCPT's architecture, small enough to build in a test."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "chest", "pain", "croup", "fever"]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2)
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def medcpt(tmp_path_factory: pytest.TempPathFactory) -> MedCPTEncoder:
    folder = tmp_path_factory.mktemp("medcpt")
    return MedCPTEncoder(tiny_bert(folder / "query"), tiny_bert(folder / "article"))


@pytest.fixture(scope="module")
def reference() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(str(minilm_folder()))


def check_contract(encoder: Encoder) -> None:
    for encode in (encoder.encode_queries, encoder.encode_documents):
        vectors = encode(TEXTS)
        assert vectors.shape == (len(TEXTS), encoder.dimension)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
        assert encode([]).shape == (0, encoder.dimension)
        assert np.allclose(encode([TEXTS[0]])[0], vectors[0], atol=2e-2), "a batch changes a vector"
    assert encoder.limit > 0
    assert encoder.count_tokens(TEXTS)[3] > encoder.count_tokens(TEXTS)[1] > 0


def test_the_embedded_encoder_keeps_the_contract(encoder: Encoder) -> None:
    check_contract(encoder)


@pytest.mark.parametrize("bf16", [False, True])
def test_what_the_embedded_encoder_remembers_is_what_it_computes(bf16: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    memories = {kind: Remembered[bytes, Vectors](2, np.copy) for kind in (False, True)}
    monkeypatch.setattr("tools.encoders._memory", memories.__getitem__)
    computed: list[str] = []
    compute = MiniLMEncoder._encode
    monkeypatch.setattr(MiniLMEncoder, "_encode", lambda self, texts: computed.extend(texts) or compute(self, texts))
    encoder, other, unlike = (MiniLMEncoder(bf16=kind) for kind in (bf16, bf16, not bf16))
    alone = np.concatenate([compute(encoder, [text]) for text in TEXTS])
    assert np.allclose(compute(encoder, TEXTS), alone, atol=2e-2), "a batch changes a vector"
    assert np.allclose(encoder.encode_documents([*TEXTS, *TEXTS]), np.concatenate([alone, alone]), atol=2e-2)
    assert computed == TEXTS, "each once"
    assert np.allclose(other.encode_queries([TEXTS[3], TEXTS[2]]), alone[[3, 2]], atol=2e-2)
    assert computed == TEXTS, "what another one of the same weights has embedded"
    assert np.allclose(other.encode_queries([TEXTS[3], TEXTS[0]]), alone[[3, 0]], atol=2e-2)
    assert computed[4:] == TEXTS[:1], "the oldest is forgotten"
    assert not np.array_equal(unlike.encode_queries(TEXTS[3:]), alone[3:])
    assert computed[5:] == TEXTS[3:], "other weights"


def test_medcpt_keeps_the_contract(medcpt: MedCPTEncoder) -> None:
    check_contract(medcpt)
    assert not np.allclose(medcpt.encode_queries(["chest pain"]), medcpt.encode_documents(["chest pain"]), atol=1e-3)


def test_a_sentence_transformer_keeps_the_contract(reference: SentenceTransformerEncoder) -> None:
    check_contract(reference)


def test_models_of_one_name_and_other_weights_have_other_names(tmp_path: Path) -> None:
    one, two = tiny_bert(tmp_path / "one"), tiny_bert(tmp_path / "two")
    (tmp_path / "elsewhere").mkdir()
    same_name = shutil.copytree(two, tmp_path / "elsewhere" / "one")
    names = [SentenceTransformerEncoder(str(path)).name for path in (one, same_name, one)]
    assert all(re.fullmatch(r"one-[0-9a-f]{8}", name) for name in names)
    assert names[0] == names[2] != names[1]
    pairs = [MedCPTEncoder(query, article).name for query, article in ((one, one), (one, two), (two, one))]
    assert all(re.fullmatch(r"MedCPT-[0-9a-f]{8}", name) for name in pairs)
    assert len(set(pairs)) == 3


def test_the_vectors_are_those_of_sentence_transformers(reference: SentenceTransformerEncoder) -> None:
    expected = reference.encode_documents(TEXTS)
    assert np.abs(MiniLMEncoder(bf16=False).encode_documents(TEXTS) - expected).max() < 1e-5
    rounded = MiniLMEncoder(bf16=True).encode_documents(TEXTS)
    assert (rounded * expected).sum(axis=1).min() > 0.999


def test_another_file_in_place_of_the_weights_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"other weights")
    with pytest.raises(DataError, match="damaged"):
        verify_checksum(file, "0" * 64)


def test_weights_that_are_not_on_disk_are_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="ANAMNESIS_ENCODER"):
        load_encoder(str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="MedCPT"):
        load_encoder(f"medcpt:{tmp_path},{tmp_path}")
    with pytest.raises(InputError, match="two folders"):
        load_encoder("medcpt:only-one")


class Counting:
    """An encoder that counts what it is asked to embed."""

    name, dimension, limit = "counting", 3, 16

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_documents(self, texts: list[str]) -> Vectors:
        self.seen += texts
        return np.array([[len(t), 1, 0] for t in texts], dtype=np.float32)

    encode_queries = encode_documents

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(t.split()) for t in texts]


def test_no_document_is_embedded_twice_and_no_query_is_kept(tmp_path: Path) -> None:
    inner = Counting()
    first = CachedEncoder(inner, tmp_path)
    vectors = first.encode_documents(["a", "bb", "a"])
    assert inner.seen == ["a", "bb"]
    first.close()
    again = CachedEncoder(inner, tmp_path)
    assert np.array_equal(again.encode_documents(["bb", "ccc", "a"])[[2, 0]], vectors[:2])
    assert inner.seen == ["a", "bb", "ccc"]
    again.encode_queries(["my name is private"])
    again.close()
    assert b"private" not in b"".join(f.read_bytes() for f in tmp_path.iterdir())


def test_texts_of_one_length_are_embedded_together_and_each_once() -> None:
    lengths = [20] * (2 * BATCH + 3) + [9, 7] * 10
    batches = batches_by_length(lengths)
    assert sorted(place for rows in batches for place in rows) == list(range(len(lengths)))
    assert [len(rows) for rows in batches] == [10, 10, BATCH, BATCH, 3]
    assert all(len({lengths[place] for place in rows}) == 1 for rows in batches)
    assert batches_by_length([]) == []


@pytest.mark.slow
def test_memory_stays_flat_over_batches_of_many_lengths(encoder: Encoder) -> None:
    """Lengths differ from call to call; a process that gives no memory back grows beyond this within a few calls."""
    import psutil

    def texts(call: int) -> list[str]:
        return [" ".join(["cough fever pain"] * (1 + (7 * call + n) % 50)) for n in range(2 * BATCH)]

    encoder.encode_documents(texts(0))
    process = psutil.Process()
    before = process.memory_info().rss
    for call in range(1, 4):
        encoder.encode_documents(texts(call))
    assert process.memory_info().rss - before < 60e6

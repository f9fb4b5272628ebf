"""Encoders whose weights lie on disk or in the hub cache: sentence-transformers models and MedCPT."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from prompts.errors import DataError
from tools.encoders import BATCH, Vectors
from tools.text.within_tokens import within_tokens

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")  # the file names of Hugging Face's libraries
SINGLE_TOKENS, PAIR_TOKENS = 2, 3  # code: BERT's [CLS] and [SEP] around one text, or two
HASH = 8  # ours: hexadecimal digits, enough to tell a user's few models apart


class SentenceTransformerEncoder:
    """Any sentence-transformers model whose weights are on disk or in the hub cache (nothing is downloaded).

    Its name ends with a short hash of the weights: two models in folders of one name are two vector spaces.
    """

    def __init__(self, path: str) -> None:
        from sentence_transformers import SentenceTransformer

        try:
            self._model = SentenceTransformer(path, device="cpu", local_files_only=True)
            self.name = f"{Path(path).name}-{_weights_hash(path)}"
        except (OSError, ValueError) as error:
            raise DataError(
                f"The encoder {path!r} is not on this machine.",
                "Set ANAMNESIS_ENCODER to a folder with its weights, or unset it for the embedded one.",
            ) from error
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.limit = int(self._model.max_seq_length or 512)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension), with the model's own query prompt where it has one."""
        vectors = self._model.encode_query(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32).reshape(-1, self.dimension)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension), with the model's own document prompt where it has one."""
        vectors = self._model.encode_document(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32).reshape(-1, self.dimension)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens left out."""
        return count_with(self._model.tokenizer, texts)


class MedCPTEncoder:
    """NCBI's MedCPT: a query encoder (64 tokens) and an article encoder (512), CLS vectors, from folders on disk.

    Source: Jin et al. 2023, Bioinformatics 39(11); the released models' cards give the lengths and the pooling.
    MedCPT was trained for inner products of CLS vectors as they are. Here they are made unit length, on both sides and
    on import of the published ones, so that one kind of index serves every encoder: the length of an article's vector
    no longer counts. The name ends with a short hash of the weights in both folders.
    """

    limit = 512
    query_limit = 64

    def __init__(self, query_path: str, article_path: str) -> None:
        self._query = _of_cls(query_path, self.query_limit)
        self._article = _of_cls(article_path, self.limit)
        self.name = f"MedCPT-{_weights_hash(query_path, article_path)}"
        self.dimension = int(self._article.get_embedding_dimension())

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension). A text beyond 64 tokens is the mean of the vectors of its parts.

        For a search, ask with each part and fuse (`tools.literature.by_meaning`): a mean blurs what a list keeps.
        """
        parts = [self.query_parts(text) for text in texts]
        vectors = self._encode(self._query, [part for group in parts for part in group])
        rows, at = np.empty((len(texts), self.dimension), dtype=np.float32), 0
        for n, group in enumerate(parts):
            rows[n] = vectors[at : at + len(group)].mean(axis=0)
            at += len(group)
        unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return unit

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); what stands before the first line break is the title."""
        return self.encode_articles([(title, rest) for title, _, rest in (text.partition("\n") for text in texts)])

    def encode_articles(self, articles: Sequence[tuple[str, str]]) -> Vectors:
        """Array (len(articles), dimension) of (title, abstract) pairs, as the published vectors were made.

        What is beyond 512 tokens is not read: `beyond_limit` tells which articles that concerns.
        """
        return self._encode(self._article, articles)

    def beyond_limit(self, articles: Sequence[tuple[str, str]]) -> list[int]:
        """Places of the articles that are longer than the encoder reads; cut those into windows."""
        counts = self.count_tokens([f"{title} {abstract}" for title, abstract in articles])
        return [n for n, count in enumerate(counts) if count > self.limit - PAIR_TOKENS]

    def query_parts(self, text: str) -> list[str]:
        """A query as the parts that the query encoder reads whole, in order; nothing of the text is left out."""
        spans = within_tokens(text, self.query_limit - SINGLE_TOKENS, self._count_query)
        return [span.of(text) for span in spans] or [text]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens left out."""
        return count_with(self._article.tokenizer, texts)

    def _count_query(self, texts: Sequence[str]) -> list[int]:
        return count_with(self._query.tokenizer, texts)

    def _encode(self, model: Any, texts: Sequence[Any]) -> Vectors:
        vectors = model.encode(list(texts), batch_size=BATCH, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32).reshape(-1, self.dimension)


def _of_cls(path: str, limit: int) -> Any:
    """A model whose unit vector is that of [CLS]; raises DataError when it is not on this machine."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    with on_this_machine(path):
        here = {"local_files_only": True}
        words = Transformer(path, model_kwargs=here, processor_kwargs=here, config_kwargs=here, max_seq_length=limit)
        pooled = Pooling(words.get_embedding_dimension(), "cls")
        return SentenceTransformer(modules=[words, pooled, Normalize()], device="cpu")


@contextmanager
def on_this_machine(path: str) -> Iterator[None]:
    """Around loading a model of MedCPT: DataError when it is not there."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise DataError(f"No MedCPT model at {path!r}.", "Give a folder with its weights.") from error


def count_with(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    return [len(tokenizer.encode(text, add_special_tokens=False, verbose=False)) for text in texts]


def _weights_hash(*paths: str) -> str:
    """The first digits of the sha256 over the bytes of all weights of these models, in order.

    Raises DataError when a model has none in these formats.
    """
    digest = hashlib.sha256()
    for path in paths:
        folder = _model_folder(path)
        files = sorted({file for pattern in WEIGHTS for file in folder.rglob(pattern)})
        if not files:
            raise DataError(f"There are no weights in {folder}.", "Give a folder with .safetensors or .bin weights.")
        for file in files:
            with file.open("rb") as handle:
                digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:HASH]


def _model_folder(path: str) -> Path:
    """The folder of a model: the path itself, or the hub cache's snapshot of the model of that name."""
    if Path(path).is_dir():
        return Path(path)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(path, local_files_only=True))
    except FileNotFoundError:  # sentence-transformers finds its own models by their short names too
        return Path(snapshot_download(f"sentence-transformers/{path}", local_files_only=True))

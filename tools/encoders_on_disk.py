"""Encoders whose weights lie on disk or in the hub cache: sentence-transformers models and MedCPT."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prompts.errors import DataError
from tools.encoders import BATCH, Vectors

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")  # the file names of Hugging Face's libraries
HASH = 8  # ours: hexadecimal digits, enough to tell a user's few models apart


class SentenceTransformerEncoder:
    """Any sentence-transformers model whose weights are on disk or in the hub cache (nothing is downloaded).

    Its name ends with a short hash of the weights: two models in folders of one name are two vector spaces.
    """

    def __init__(self, path: str) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
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
        return [len(self._model.tokenizer.encode(t, add_special_tokens=False)) for t in texts]


class MedCPTEncoder:
    """NCBI's MedCPT: a query encoder (64 tokens) and an article encoder (512), CLS vectors, from folders on disk.

    Source: Jin et al. 2023, Bioinformatics 39(11); the released models' cards give the lengths and the pooling.
    Vectors are L2-normalised here, so that one index serves every encoder. The name ends with a short hash of the
    weights in both folders.
    """

    limit = 512
    query_limit = 64

    def __init__(self, query_path: str, article_path: str) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        self._query = _load_automodel(query_path)
        self._article = _load_automodel(article_path)
        self.name = f"MedCPT-{_weights_hash(query_path, article_path)}"
        self.dimension = int(self._article[1].config.hidden_size)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); a text beyond 64 tokens is not read to its end (split it first)."""
        return self._encode(self._query, texts, self.query_limit)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self._encode(self._article, texts, self.limit)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens left out."""
        return [len(self._article[0].encode(t, add_special_tokens=False)) for t in texts]

    def _encode(self, pair: tuple[Any, Any], texts: Sequence[str], limit: int) -> Vectors:
        import torch

        tokenizer, model = pair
        rows = []
        for at in range(0, len(texts), BATCH):
            batch = tokenizer(
                list(texts[at : at + BATCH]), truncation=True, padding=True, return_tensors="pt", max_length=limit
            )
            with torch.inference_mode():
                cls = model(**batch).last_hidden_state[:, 0, :].float()
            rows.append(torch.nn.functional.normalize(cls, dim=-1).numpy())
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)


def _load_automodel(path: str) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        return tokenizer, AutoModel.from_pretrained(path, local_files_only=True).eval()
    except (OSError, ValueError) as error:
        raise DataError(f"No MedCPT model at {path!r}.", "Give a folder with its weights.") from error


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

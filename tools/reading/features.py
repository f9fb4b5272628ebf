"""A short text as the trained heads see it: the embedded encoder's layers, joined with hashed character n-grams.

The last layer tells the subject, earlier ones the form; n-grams and pairs of words hold Chinese (which the encoder
hardly knows) and misspellings.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import MiniLMEncoder, Pieces, Vectors
from tools.remembered import Remembered
from tools.text.language import language_of

LAYERS = (2, 4, 6)  # ours
DENSE = 384 * len(LAYERS)
BUCKETS = 1 << 15  # ours: of hashed n-grams
LONGEST = 4  # ours: characters of an n-gram
LAYERS_WEIGH, GRAMS_WEIGH = 2.0, 1.5  # ours: of the two parts of a feature vector
LAYERS_ZH, GRAMS_ZH = 0.3, 2.0  # ours: what they weigh more or less in a Chinese text
READ = 1200  # ours: characters of a text's beginning, and of its end, that are read
SHORT = 20  # ours: characters of a word whose n-grams are remembered
MANY = 100  # ours: texts read at once from which speed matters; a case of a page makes fewer
REMEMBERED = 1024  # ours: texts; at most 30 MB
WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]+|\d+|[^\w\s]")


class Features(NamedTuple):
    """The encoder's part, (DENSE,), and the buckets of the n-grams with their values."""

    dense: NDArray[np.float32]
    buckets: NDArray[np.int32]
    values: NDArray[np.float32]


_known = Remembered[str, Features](REMEMBERED)


def features(texts: Sequence[str], *, of_long: bool = False) -> list[Features]:
    """What the heads see of some texts; of a long one its beginning and its end. The last ones are remembered.

    ``of_long``: they belong to a text that is long itself.
    """
    cut = [_cut(text) for text in texts]
    quick = of_long or len(texts) >= MANY or any(map(is_cut, texts))
    known = _known.read({text: text for text in cut}, partial(_read, quick=quick))
    return [known[text] for text in cut]


def is_cut(text: str) -> bool:
    """Whether a text is longer than what is read of it."""
    return len(text) > 2 * READ


def _read(texts: Sequence[str], *, quick: bool) -> list[Features]:
    if not texts:
        return []
    encoder = _quick_encoder() if quick else _encoder()
    dense = LAYERS_WEIGH * encoder.encode_layers(texts, LAYERS)
    return [_features(text, row.astype(np.float32)) for row, text in zip(dense, texts, strict=True)]


def _features(text: str, dense: NDArray[np.float32]) -> Features:
    buckets, values = _grams(text)
    if language_of(text) == "zh":
        return Features(np.float32(LAYERS_ZH) * dense, buckets, np.float32(GRAMS_ZH) * values)
    return Features(dense, buckets, values)


@lru_cache(maxsize=1)
def _encoder() -> MiniLMEncoder:
    return MiniLMEncoder()


@lru_cache(maxsize=1)
def _quick_encoder() -> MiniLMEncoder:
    """The same for a long message, by shorter numbers where the processor is faster with them: it holds them twice."""
    return MiniLMEncoder(bf16=None)


def pieces(text: str, layers: Sequence[int]) -> Pieces:
    """The embedded encoder's word pieces of a text, with their states behind some layers."""
    return _encoder().encode_pieces(text, layers)


def layers(texts: Sequence[str]) -> Vectors:
    """Array (texts, DENSE): the states of the layers, each of unit length, not weighed."""
    return _encoder().encode_layers(list(texts), LAYERS)


def meanings(read: Sequence[Features]) -> Vectors:
    """Array (texts, 384), each of unit length: what the embedded encoder's last layer says, its vector of the text."""
    last = np.stack([one.dense[-384:] for one in read])
    found: Vectors = last / np.linalg.norm(last, axis=1, keepdims=True)
    return found


def _cut(text: str) -> str:
    return f"{text[:READ]} {text[-READ:]}" if is_cut(text) else text


def _grams(text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Buckets of the character n-grams of each word and of the pairs of words, and the roots of their counts."""
    words = WORD.findall(text.lower())
    pairs = _buckets(f"{a}_{b}" for a, b in pairwise(["^", *words, "$"]))
    within = [_of_word(word) if len(word) <= SHORT else _of_word.__wrapped__(word) for word in words]
    buckets, counts = np.unique(np.concatenate([pairs, *within]), return_counts=True)
    values = np.sqrt(counts.astype(np.float32))
    weighed = GRAMS_WEIGH * values / max(float(np.linalg.norm(values)), 1.0)
    return buckets, weighed.astype(np.float32)


@lru_cache(maxsize=20_000)
def _of_word(word: str) -> NDArray[np.int32]:
    told = f" {word} "
    sizes = range(1, LONGEST + 1)
    return _buckets(g for n in sizes for at in range(len(told) - n + 1) if (g := told[at : at + n]).strip())


def _buckets(grams: Iterable[str]) -> NDArray[np.int32]:
    return np.array([zlib.crc32(gram.encode()) % BUCKETS for gram in grams], dtype=np.int32)

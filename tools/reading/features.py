"""A short text as the trained heads see it: the embedded encoder's layers, joined with hashed character n-grams.

The last layer tells the subject, earlier ones the form; n-grams and pairs of words hold Chinese (which the encoder
hardly knows) and misspellings.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections import Counter, OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import MiniLMEncoder, Pieces, Vectors
from tools.text.language import language_of

LAYERS = (2, 4, 6)  # ours
DENSE = 384 * len(LAYERS)
BUCKETS = 1 << 15  # ours: of hashed n-grams
LONGEST = 4  # ours: characters of an n-gram
LAYERS_WEIGH, GRAMS_WEIGH = 2.0, 1.5  # ours: of the two parts of a feature vector
LAYERS_ZH, GRAMS_ZH = 0.3, 2.0  # ours: what they weigh more or less in a Chinese text
READ = 1200  # ours: characters of a text's beginning, and of its end, that are read
MANY = 100  # ours: texts read at once from which speed matters; a case of a page makes fewer
REMEMBERED = 1024  # ours: texts; at most 30 MB
WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]+|\d+|[^\w\s]")


_lock = threading.Lock()
_known: OrderedDict[str, Features] = OrderedDict()


class Features(NamedTuple):
    """The encoder's part, (DENSE,), and the buckets of the n-grams with their values."""

    dense: NDArray[np.float32]
    buckets: NDArray[np.int32]
    values: NDArray[np.float32]


def features(texts: Sequence[str]) -> list[Features]:
    """What the heads see of some texts; of a long one its beginning and its end. The last ones are remembered."""
    cut = [_cut(text) for text in texts]
    wanted = dict.fromkeys(cut)
    with _lock:
        known = {text: _known[text] for text in wanted if text in _known}
    new = [text for text in wanted if text not in known]
    known |= dict(zip(new, _read(new), strict=True))
    with _lock:
        for text in new[-REMEMBERED:]:
            _known[text] = known[text]
        while len(_known) > REMEMBERED:
            _known.popitem(last=False)
    return [known[text] for text in cut]


def _read(texts: Sequence[str]) -> list[Features]:
    if not texts:
        return []
    encoder = _encoder() if len(texts) < MANY else _quick_encoder()
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
    return text if len(text) <= 2 * READ else f"{text[:READ]} {text[-READ:]}"


def _grams(text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Buckets of the character n-grams of each word and of the pairs of words, and the roots of their counts."""
    words = WORD.findall(text.lower())
    found: Counter[str] = Counter(f"{a}_{b}" for a, b in pairwise(["^", *words, "$"]))
    for word in words:
        told = f" {word} "
        for size in range(1, LONGEST + 1):
            found.update(g for at in range(len(told) - size + 1) if (g := told[at : at + size]).strip())
    counts: Counter[int] = Counter()
    for gram, count in found.items():
        counts[zlib.crc32(gram.encode()) % BUCKETS] += count
    buckets = np.array(sorted(counts), dtype=np.int32)
    values = np.sqrt(np.array([counts[int(b)] for b in buckets], dtype=np.float32))
    weighed = GRAMS_WEIGH * values / max(float(np.linalg.norm(values)), 1.0)
    return buckets, weighed.astype(np.float32)

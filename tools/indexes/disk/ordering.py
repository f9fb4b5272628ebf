"""Postings in the order they came, put in order of their words in bounded memory, as bm25s's memory-mapped arrays.

Blocks are sorted one by one into runs; then all runs are read side by side, some words at a time, and each posting's
BM25 is written where bm25s looks for it. Scores are those that bm25s computes for the whole collection at once.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.indexes.disk.layout import WORDS, mapped_array, put_in_place
from tools.indexes.disk.staging import Staging
from tools.indexes.lexical import K1, METHOD, B
from tools.indexes.vectors import Mask

RUN = 4_000_000  # ours: postings sorted at once, about 200 MB
COUNTS, LENGTHS = "counts.npy", "lengths.npy"
DATA, INDICES, INDPTR, PARAMETERS = (  # code: bm25s's own names
    "data.csc.index.npy",
    "indices.csc.index.npy",
    "indptr.csc.index.npy",
    "params.index.json",
)
Progress = Callable[[str, int, int], None]
Run = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # words, rows, counts, by word and then by row


def idf(frequency: int, rows: int) -> np.float32:
    """Lucene's inverse document frequency, as bm25s rounds it."""
    return np.float32(math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5)))


def contributions(
    counts: NDArray[Any], lengths: NDArray[Any], weights: np.float32 | NDArray[np.float32], average: float
) -> NDArray[np.float32]:
    """What a word adds to the score of each row.

    Args:
        counts: (n,) how often it stands there. lengths: (n,) words of the row. weights: its `idf`, or (n,) of them.
        average: mean length.
    """
    often = counts.astype(np.float64)
    share = often / (K1 * ((1 - B) + B * lengths / np.float64(average)) + often)
    return np.asarray(weights * share, dtype=np.float32)


def write_words(staging: Staging, alive: Mask, folder: Path, progress: Progress) -> int:
    """Write the words of the staged rows to ``folder``, and say how many there are in the rows that count.

    Args:
        alive: (rows,), which rows count: not those that were replaced.
    """
    temporary = folder / f"{WORDS}.new"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    lengths = np.where(alive, staging.lengths.mapped(len(alive)), 0).astype(np.int32)
    np.save(temporary / LENGTHS, lengths, allow_pickle=False)
    total = int(lengths.sum(dtype=np.int64))
    runs = temporary / "runs"
    runs.mkdir()
    frequencies, most = _sort(staging, alive, runs, progress)
    if total:
        _merge(_opened(runs), frequencies, most, lengths, int(alive.sum()), temporary, progress)
    shutil.rmtree(runs)
    put_in_place(temporary, folder / WORDS)
    return total


def _sort(staging: Staging, alive: Mask, folder: Path, progress: Progress) -> tuple[NDArray[np.int64], int]:
    """Write sorted runs; give the number of rows that hold each word, and the highest count."""
    count = staging.number("postings")
    arrays = [file.mapped(count) for file in (staging.words, staging.rows, staging.counts)]
    frequencies, most = np.zeros(staging.number("vocabulary"), dtype=np.int64), 1
    for at in range(0, count, RUN):
        words, rows, counts = (np.array(array[at : at + RUN]) for array in arrays)
        kept = np.flatnonzero(alive[rows])
        kept = kept[np.argsort(words[kept], kind="stable")]
        for name, array in (("words", words), ("rows", rows), ("counts", counts)):
            np.save(folder / f"{at:014}-{name}.npy", array[kept], allow_pickle=False)
        frequencies += np.bincount(words[kept], minlength=len(frequencies))
        most = max(most, int(counts[kept].max(initial=1)))
        progress("sort words", min(at + RUN, count), count)
    return frequencies, most


def _opened(folder: Path) -> list[Run]:
    names = sorted(path.name.split("-")[0] for path in folder.glob("*-words.npy"))
    kinds = ("words", "rows", "counts")
    return [tuple(mapped_array(folder / f"{name}-{kind}.npy") for kind in kinds) for name in names]  # type: ignore[misc]


def _merge(
    runs: list[Run],
    frequencies: NDArray[np.int64],
    most: int,
    lengths: NDArray[np.int32],
    rows: int,
    folder: Path,
    progress: Progress,
) -> None:
    ends = np.concatenate(([0], np.cumsum(frequencies)))
    size, average = int(ends[-1]), lengths.sum(dtype=np.int64) / rows
    weights = _weights(frequencies, rows)
    data, indices, counts = (
        np.lib.format.open_memmap(folder / name, "w+", kind, (size,))
        for name, kind in ((DATA, np.float32), (INDICES, np.int32), (COUNTS, np.min_scalar_type(most)))
    )
    for low, high in _spans(ends):
        word, row, often = _between(runs, low, high)
        place = slice(int(ends[low]), int(ends[high]))
        indices[place], counts[place] = row, often
        data[place] = contributions(often, lengths[row], weights[word], float(average))
        progress("order words", int(ends[high]), size)
    for array in (data, indices, counts):
        array.flush()
    np.save(folder / INDPTR, ends.astype(np.int64), allow_pickle=False)
    (folder / PARAMETERS).write_text(json.dumps(_parameters(len(lengths))), encoding="utf-8")


def _weights(frequencies: NDArray[np.int64], rows: int) -> NDArray[np.float32]:
    different, place = np.unique(frequencies, return_inverse=True)
    return np.array([idf(int(n), rows) for n in different], dtype=np.float32)[place]


def _spans(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of words with at most `RUN` postings together, or one word with more."""
    low, last = 0, len(ends) - 1
    while low < last:
        high = int(np.searchsorted(ends, ends[low] + RUN, side="right")) - 1
        high = min(max(high, low + 1), last)
        yield low, high
        low = high


def _between(runs: list[Run], low: int, high: int) -> Run:
    """The postings of words from ``low`` to before ``high``, by word and then by row."""
    spans = [slice(*np.searchsorted(words, (low, high)).tolist()) for words, _, _ in runs]
    word, row, count = (
        np.concatenate([run[kind][span] for run, span in zip(runs, spans, strict=True)]) for kind in range(3)
    )
    order = np.argsort(word, kind="stable")
    return word[order], row[order], count[order]


def _parameters(rows: int) -> dict[str, Any]:
    """What bm25s writes beside its arrays."""
    import bm25s

    model = bm25s.BM25(method=METHOD, k1=K1, b=B)
    names = ("k1", "b", "delta", "method", "idf_method", "dtype", "int_dtype", "backend")
    return {name: getattr(model, name) for name in names} | {"num_docs": rows, "version": bm25s.__version__}

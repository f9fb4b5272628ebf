"""Training of the assertion head (`tools/reading/assertion.py`) on marked texts beside the starter graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from evals.training.fitting import NOTES, WORDINGS, held_out, logistic, matrix_of
from tools.knowledge_graph.loader import read_graph
from tools.reading.assertion import ASSERTIONS, BUCKETS, RULES, Assertion, Context, contexts, meant
from tools.reading.corpus import rows
from tools.reading.features import DENSE
from tools.text.clauses import clauses
from tools.weights import store

MARKED = WORDINGS / "assertions.jsonl"  # sentences in which statements are marked, in the way of ConText's test set
FRAMES = WORDINGS / "frames.yaml"  # sentences for the name of any finding, by how they state it
FRAMED = {Assertion.PRESENT: 3}  # ours: frames of each way that a name stands in; of the other ways one
WORDED = 4  # ours: wordings of a kind of each finding, which people say of themselves and of now
FEWER = 0.3  # ours: what such a wording counts
INVERSE, STEPS = 1.0, 80  # ours: inverse strength of the penalty, steps of L-BFGS
# the text that it is held out with ("" of a wording), what is seen of a clause, how it states
Example = tuple[str, Context, Assertion]


def train_assertions(out: Path, tell: Callable[[str], None]) -> None:
    """Train the head and write its weights with a checksum beside; the same file for the same texts."""
    found = [*examples()]
    target = np.array([ASSERTIONS.index(kind) for _, _, kind in found])
    counts = np.bincount(target)
    weight = np.sqrt(counts.max() / counts[target])  # ours: a rare way counts more, not as much as a common one
    weight *= np.array([1.0 if text else FEWER for text, _, _ in found])
    every = [seen for _, seen, _ in found]
    matrix = matrix_of(meant(every), every, BUCKETS + RULES)
    held = held_out(matrix, target, weight, [text or seen.clause for text, seen, _ in found], INVERSE, STEPS)
    tell(f"{len(found)} clauses, held out: {100 * (held.argmax(1) == target).mean():.1f} % right")
    for at, kind in enumerate(ASSERTIONS):
        said = held.argmax(1) == at
        tell(f"{kind}: {100 * said[target == at].mean():.1f} % found, {100 * (target[said] == at).mean():.1f} % right")
    fitted = logistic(matrix, target, weight, INVERSE, STEPS)
    tensors: dict[str, Any] = {
        "dense": fitted.coef_[:, : 3 * DENSE].astype(np.float16),
        "words": fitted.coef_[:, 3 * DENSE :].astype(np.float16),
        "bias": fitted.intercept_.astype(np.float32),
    }
    store(out, tensors, {})


def examples() -> Iterator[Example]:
    """The clauses that hold marks of one kind, as the rules cut them, and wordings and framed names of one clause."""
    yield from _framed()
    for row in rows(WORDINGS / "wordings.jsonl"):
        for text in (t for kind in ("lay", "clinical", "zh") for t in row[kind][:WORDED]):
            told = [c for c in clauses(text) if not c.reading]
            if len(told) == 1:
                yield "", contexts(text, told)[0], Assertion.PRESENT
    for row in (*rows(NOTES), *rows(MARKED)):
        marks = [*_marks(row)]
        text = row["text"]
        told = [c for c in clauses(text) if not c.reading]
        for clause, seen in zip(told, contexts(text, told), strict=True):
            inside = {
                kind
                for start, end, kind in marks
                if 2 * (min(clause.end, end) - max(clause.start, start)) > end - start
            }
            if len(inside) == 1:
                yield text, seen, inside.pop()


def _framed() -> Iterator[Example]:
    """Names of symptoms and signs in plain sentences, each in others, so that a frame alone tells how it states."""
    frames = {Assertion(kind): texts for kind, texts in yaml.safe_load(FRAMES.read_text(encoding="utf-8")).items()}
    names = [f.name for f in read_graph().findings if f.kind in ("symptom", "sign")]
    for number, name in enumerate(names):
        for kind, texts in frames.items():
            count = FRAMED.get(kind, 1)
            for frame in (texts[(number * count + more) % len(texts)] for more in range(count)):
                text = frame.format(name)
                text = text[0].upper() + text[1:]
                told = [c for c in clauses(text) if not c.reading]
                if len(told) == 1:
                    yield "", contexts(text, told)[0], kind


def _marks(row: Mapping[str, Any]) -> Iterator[tuple[int, int, Assertion]]:
    told = ((words, kind) for _, kind, words in row["findings"]) if "findings" in row else map(tuple, row["marks"])
    for words, kind in told:
        start = row["text"].index(words)
        yield start, start + len(words), Assertion(kind)

"""Training of the two heads of messages (`graphs/triage/head.py`): logistic regression, and thresholds by folds.

Ordinary questions of BioASQ and PubMedQA are those of the *fit* part (`tools/reading/split.json`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from graphs.triage.head import BUCKETS, DENSE, SORTS, WEIGHTS, Features, Sort, features
from tools.files import sha256_of, write_atomic
from tools.reading import corpus

EXAMPLES = WEIGHTS.parent / "examples"
FEWER = 0.3  # ours: what a question of BioASQ or PubMedQA counts, and an emergency as a case: they are many
INVERSE = 10.0  # ours: inverse strength of the penalty
CALM = 2.0  # ours: what a case or look-alike that is no emergency counts: they are fewer here than among messages
FOLDS, SEED, STEPS = 3, 7, 60  # ours: folds, seed of their drawing, steps of L-BFGS
ALARMS = 0.01  # asked: share of ordinary questions that may be called an emergency
MILD_ALARMS = 0.05  # asked: the same of cases that are none
LEAST = 0.1  # ours: no text less likely an emergency than this is called one
CURVE = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
Floats = NDArray[np.float64]


class Message(NamedTuple):
    """A training text.

    Attributes:
        sort: None where unknown; emergency: None where it may be argued.
        group: what it is held out with; kind: the emergency that it tells of, or looks like.
        asked: a question of BioASQ or PubMedQA.
    """

    text: str
    sort: Sort | None
    emergency: bool | None
    group: str
    kind: str = ""
    asked: bool = False

    @property
    def weight(self) -> float:
        """What the text counts as a message of its sort."""
        return FEWER if self.asked or self.kind else 1.0


def train_heads(data: Path, out: Path, tell: Callable[[str], None]) -> None:
    """Train both heads and write their weights with a checksum beside; the same file for the same data."""
    from safetensors.numpy import save

    rows = messages(data)
    read = features([row.text for row in rows])
    tell(f"{len(rows)} texts")
    matrix = _parts(read)
    sorts = _sorts(rows, matrix, tell)
    alarm, least = _emergencies(rows, matrix, tell)
    held = [(row, one) for row, one in zip(rows, read, strict=True) if row.kind and row.emergency]
    parts = [np.vstack([a, b]) for a, b in zip(sorts, alarm, strict=True)]
    tensors: dict[str, NDArray[Any]] = {
        "dense": parts[0][:, :DENSE].astype(np.float16),
        "grams": parts[0][:, DENSE:].astype(np.float16),
        "bias": parts[1].reshape(-1).astype(np.float32),
        "exemplars": _small(np.stack([one.dense[-384:] for _, one in held])),
        "emergency": np.array([round(least, 3)], dtype=np.float32),
    }
    about = {"kinds": " ".join(row.kind for row, _ in held)}  # one entry: several are written in any order
    write_atomic(out, save(tensors, metadata=about))
    write_atomic(out.with_suffix(".sha256"), f"{sha256_of(out)}\n".encode())


def messages(data: Path) -> list[Message]:
    """Every training text. Raises InputError when the data is not there."""
    out = []
    for path in sorted(EXAMPLES.glob("kinds*.jsonl")):
        for at, row in enumerate(corpus.rows(path)):
            sort = Sort(row["kind"])
            out.append(Message(row["text"], sort, row.get("emergency", False), f"{path.stem}/{at}"))
    for path in sorted(EXAMPLES.glob("emergencies*.jsonl")):
        for row in corpus.rows(path):
            kind, urgent = row["kind"], row["label"] == "emergency"
            out.append(Message(row["text"], Sort.CASE if urgent else None, urgent, kind, kind))
    held = corpus.division()
    for source, file in (("pubmedqa", corpus.PUBMEDQA), ("bioasq", corpus.BIOASQ)):
        asked = [row for row in corpus.rows(data / file) if row["id"] not in held[source]]
        out += [Message(row["question"], Sort.QUESTION, False, row["id"], asked=True) for row in asked]
    return out


class Parts(NamedTuple):
    """The features of some texts: dense columns, then sparse ones."""

    dense: Floats
    grams: Any

    def of(self, rows: Any) -> Parts:
        """Some of the rows."""
        return Parts(self.dense[rows], self.grams[rows])

    def times(self, w: Floats) -> Floats:
        """(rows, classes) for weights (classes, features)."""
        product: Floats = self.dense @ w[:, :DENSE].T + self.grams @ w[:, DENSE:].T
        return product

    def back(self, slope: Floats) -> Floats:
        """(classes, features) for slopes (rows, classes)."""
        return np.hstack([slope.T @ self.dense, (self.grams.T @ slope).T])


def _parts(read: Sequence[Features]) -> Parts:
    from scipy import sparse

    rows = np.repeat(np.arange(len(read)), [len(one.buckets) for one in read])
    columns = np.concatenate([one.buckets for one in read])
    values = np.concatenate([one.values for one in read])
    grams = sparse.csr_matrix((values, (rows, columns)), shape=(len(read), BUCKETS))
    return Parts(np.stack([one.dense for one in read]).astype(np.float64), grams.astype(np.float64))


def _sorts(rows: Sequence[Message], matrix: Parts, tell: Callable[[str], None]) -> tuple[Floats, Floats]:
    """The head of sorts; from which probability a message is surely of another field (`SURELY`) is told."""
    known = [at for at, row in enumerate(rows) if row.sort is not None]
    target = np.array([SORTS.index(rows[at].sort or Sort.OTHER) for at in known])
    weight = np.array([rows[at].weight for at in known])
    share = np.array([weight[target == k].sum() / weight.sum() for k in range(len(SORTS))])
    weight = weight / np.sqrt(share[target] * len(SORTS))  # ours: a rare sort counts more, not as much as a common one
    x = matrix.of(known)
    held = _held_out(x, target, weight, [rows[at].group for at in known])
    own = np.array([rows[at].weight == 1.0 for at in known])
    medical = np.isin(target, [SORTS.index(s) for s in (Sort.CASE, Sort.QUESTION, Sort.PATIENT_QUESTION)])
    at_other = held[:, SORTS.index(Sort.OTHER)]
    for name, which in (("ours", own), ("of others", ~own)):
        right = (held.argmax(1) == target)[which].mean()
        tell(f"sorts, held out, {name}: {100 * right:.1f} % right of {int(which.sum())}")
    sets = {"other fields": ~medical & (target == SORTS.index(Sort.OTHER)), "our medical messages": medical & own}
    sets["medical messages of others"] = medical & ~own
    for at in CURVE:
        shares = (f"{100 * (at_other[which] >= at).mean():.1f} % of {name}" for name, which in sets.items())
        tell(f"surely another field from {at:.3f}: {', '.join(shares)}")
    return _fit(x, target, weight)


def _emergencies(
    every: Sequence[Message], matrix: Parts, tell: Callable[[str], None]
) -> tuple[tuple[Floats, Floats], float]:
    """The head of emergencies, and from which probability a text tells of one."""
    known = [at for at, row in enumerate(every) if row.emergency is not None]
    rows, x = [every[at] for at in known], matrix.of(known)
    target = np.array([int(bool(row.emergency)) for row in rows])
    calm = [not row.emergency and (row.sort is Sort.CASE or bool(row.kind)) for row in rows]
    weight = np.array([FEWER if row.asked else CALM if c else 1.0 for row, c in zip(rows, calm, strict=True)])
    held = _held_out(x, target, weight, [row.group for row in rows])[:, 1]
    ordinary = np.array([row.sort in (Sort.QUESTION, Sort.PATIENT_QUESTION) for row in rows])
    sets = {
        "emergencies": np.array([bool(row.kind) and bool(row.emergency) for row in rows]),
        "look-alikes": np.array([bool(row.kind) and not row.emergency for row in rows]),
        "questions": ordinary,
        "other cases": np.array([row.sort is Sort.CASE and not row.emergency for row in rows]),
    }
    bounds = (("questions", ALARMS), ("other cases", MILD_ALARMS))
    least = max(LEAST, *(float(np.quantile(held[sets[name]], 1 - most)) for name, most in bounds))
    for at in (*CURVE, least):
        shares = (f"{100 * (held[which] >= at).mean():.1f} % of {name}" for name, which in sets.items())
        tell(f"called an emergency from {at:.3f}: {', '.join(shares)}")
    w, bias = _fit(x, target, weight)
    return (w[1:] - w[:1], bias[1:] - bias[:1]), least


def _held_out(x: Parts, target: NDArray[Any], weight: Floats, groups: Sequence[str]) -> Floats:
    """Probabilities of each row by a head that saw none of its group."""
    names = sorted(set(groups))
    random.Random(SEED).shuffle(names)  # noqa: S311
    fold = {name: at % FOLDS for at, name in enumerate(names)}
    of = np.array([fold[g] for g in groups])
    out = np.zeros((len(target), int(target.max()) + 1))
    for k in range(FOLDS):
        w, bias = _fit(x.of(of != k), target[of != k], weight[of != k])
        out[of == k] = np.exp(log_softmax(x.of(of == k).times(w) + bias.T, axis=1))
    return out


def _fit(x: Parts, target: NDArray[Any], weight: Floats) -> tuple[Floats, Floats]:
    """Weights (classes, features) and biases (classes, 1) of a multinomial logistic regression."""
    from scipy.optimize import minimize

    classes, wide = int(target.max()) + 1, DENSE + BUCKETS
    wanted = np.eye(classes)[target]

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(classes, wide + 1)
        logs = log_softmax(x.times(w[:, :wide]) + w[:, wide], axis=1)
        slope = weight[:, None] * (np.exp(logs) - wanted)
        pull = np.hstack([x.back(slope), slope.sum(axis=0)[:, None]])
        pull[:, :wide] += w[:, :wide] / INVERSE
        cost = -(weight[:, None] * wanted * logs).sum() + 0.5 / INVERSE * (w[:, :wide] ** 2).sum()
        return float(cost), pull.ravel()

    start = np.zeros(classes * (wide + 1))
    done = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    w = done.x.reshape(classes, wide + 1)
    return w[:, :wide], w[:, wide:]


def _small(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Directions in a byte a number."""
    small: NDArray[np.int8] = np.round(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    return small

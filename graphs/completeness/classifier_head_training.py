"""Trains the light head: a small network over frozen vectors and plain features; seconds on two cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.annotation import AnnotatedCase
from graphs.completeness.classifier import HEAD, LABELS, Probabilities
from graphs.completeness.classifier_card import Card, data_sha256, write_card
from graphs.completeness.classifier_features import PLAIN, CaseFeatures, Matrix, vectors_of
from graphs.completeness.classifier_head import Head, project, save_head
from graphs.completeness.classifier_metrics import (
    Classes,
    best_weights,
    chosen,
    classes_of,
    folds,
    group_of,
    macro_f1,
    measured,
)
from graphs.completeness.classifier_split import check_enough
from tools.contract import Differential
from tools.encoders import Encoder
from tools.files import write_atomic

RATE, DECAY, BATCH = 3e-3, 0.1, 256  # ours: as usual for Adam with decay on a few thousand rows
FOLDS = 3  # ours: parts, each predicted by a head trained on the others: by them the size is chosen, labels are weighed
LEAST_SPREAD = 1e-3  # ours: a feature that varies less says nothing


class Size(NamedTuple):
    """What is kept of a unit's vector and of the rest's, the network's width, its drop-out, and steps of training."""

    unit: int
    rest: int
    hidden: int
    drop: float
    steps: int


# ours: the small one holds for diseases that were never seen, the large one learns more of those that were; which of
# the two is taken is decided by cases left out
SIZES = (Size(16, 4, 12, 0.3, 800), Size(64, 16, 48, 0.2, 1200))


class Trained(NamedTuple):
    """A head, its size, and (units, 3) probabilities of every unit by heads that never saw its group."""

    head: Head
    size: Size
    unseen: Probabilities


class Rows(NamedTuple):
    """Units to train on. features: (units, columns). classes: (units,). groups: (units,), whose case it is."""

    features: Matrix
    classes: Classes
    groups: tuple[str, ...]

    def where(self, rows: NDArray[np.bool_]) -> Rows:
        """Some of them."""
        return Rows(self.features[rows], self.classes[rows], tuple(np.array(self.groups)[rows].tolist()))


def rows_of(
    cases: Sequence[AnnotatedCase],
    look_up: Callable[[str], Differential],
    encoder: Encoder,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Rows:
    """The units of annotated cases with their features. Each different sentence is encoded once."""
    texts = sorted({unit.text for case in cases for unit in case.units})
    vector = dict(zip(texts, vectors_of(texts, encoder), strict=True))
    matrices = [np.zeros((0, 2 * encoder.dimension + len(PLAIN)), dtype=np.float32)]
    for done, case in enumerate(cases, start=1):
        vectors = np.array([vector[unit.text] for unit in case.units])
        matrices.append(CaseFeatures(case.text, look_up(case.text)).matrix(vectors))
        progress(done, len(cases))
    return Rows(
        np.vstack(matrices),
        classes_of([unit.label for case in cases for unit in case.units]),
        tuple(group_of(case.id) for case in cases for _ in case.units),
    )


def train_head(rows: Rows, encoder: str, seed: int) -> Trained:
    """A head of the size that does best on groups left out, by which its labels are weighed too.

    Raises:
        InputError: too few units, groups or labels.
    """
    check_enough(len(rows.classes), set(rows.groups), rows.classes)
    tried = [_out_of_fold(rows, encoder, seed, size) for size in SIZES]
    weights = [best_weights(unseen, rows.classes) for unseen in tried]
    reached = [macro_f1(chosen(p, w), rows.classes) for p, w in zip(tried, weights, strict=True)]
    best = reached.index(max(reached))
    return Trained(_fit(rows, encoder, seed, SIZES[best], weights[best]), SIZES[best], tried[best])


def _out_of_fold(rows: Rows, encoder: str, seed: int, size: Size) -> Probabilities:
    out = np.zeros((len(rows.classes), len(LABELS)))
    for fold in folds(rows.groups, FOLDS, seed):
        head = _fit(rows.where(~fold), encoder, seed, size, np.ones(len(LABELS)))
        out[fold] = head.probabilities(rows.features[fold])
    return out


def _fit(rows: Rows, encoder: str, seed: int, size: Size, weights: Probabilities) -> Head:
    """A head of rows, by Adam with decay on cross-entropy."""
    bare = _inputs(rows, encoder, size, weights)
    hidden, hidden_bias, out, out_bias = _network(bare.inputs(rows.features), rows.classes, seed, size)
    return Head(**{**vars(bare), "hidden": hidden, "hidden_bias": hidden_bias, "out": out, "out_bias": out_bias})


def save_trained(
    cases: Sequence[AnnotatedCase], rows: Rows, encoder: str, folder: Path, *, seed: int, data: str, licence: str
) -> Card:
    """Train a head and write it with its card. Raises InputError as `train_head`."""
    trained = train_head(rows, encoder, seed)
    weights = trained.head.weights.astype(np.float64)
    write_atomic(folder / HEAD.name, save_head(trained.head))
    card = Card(
        kind="head",
        backbone=encoder,
        data_sha256=data_sha256(cases),
        data=data,
        licence=licence,
        diagnosers=tuple(sorted({case.diagnoser for case in cases})),
        cases=len(cases),
        units=len(rows.classes),
        labels=dict(sorted(Counter(u.label.value for case in cases for u in case.units).items())),
        seed=seed,
        settings={**trained.size._asdict(), "folds": FOLDS},
        metrics=measured(chosen(trained.unseen, weights), rows.classes),
        weights=(float(weights[0]), float(weights[1]), float(weights[2])),
        files={HEAD.name: ""},
    )
    return write_card(folder, card)


def _inputs(rows: Rows, encoder: str, size: Size, weights: Probabilities) -> Head:
    """A head without its network: projections to the main directions of the vectors, and scales."""
    width = (rows.features.shape[1] - len(PLAIN)) // 2
    unit, rest = rows.features[:, :width], rows.features[:, width : 2 * width]
    none = np.zeros((0, 0), dtype=np.float32)
    bare = Head(
        unit=_directions(np.unique(unit, axis=0), size.unit),
        unit_mean=unit.mean(axis=0),
        rest=_directions(rest, size.rest),
        rest_mean=rest.mean(axis=0),
        mean=none, scale=none, hidden=none, hidden_bias=none, out=none, out_bias=none,
        weights=weights.astype(np.float32),
        encoder=encoder,
    )  # fmt: skip
    kept = project(bare, rows.features)
    spread = kept.std(axis=0)
    scale = np.where(spread > LEAST_SPREAD, spread, 1.0).astype(np.float32)
    return Head(**{**vars(bare), "mean": kept.mean(axis=0), "scale": scale})


def _directions(vectors: Matrix, count: int) -> Matrix:
    """Array (dimension, count): the directions in which the vectors vary most, signs settled."""
    covariance = np.cov(vectors.T.astype(np.float64)) if len(vectors) > 1 else np.eye(vectors.shape[1])
    _, found = np.linalg.eigh(covariance)
    main = found[:, ::-1][:, :count]
    signs = np.sign(main[np.abs(main).argmax(axis=0), np.arange(main.shape[1])])
    turned: Matrix = (main * signs).astype(np.float32)
    return turned


def _network(inputs: Matrix, classes: Classes, seed: int, size: Size) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    import torch
    from torch import nn

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = nn.Sequential(
            nn.Linear(inputs.shape[1], size.hidden),
            nn.ReLU(),
            nn.Dropout(size.drop),
            nn.Linear(size.hidden, len(LABELS)),
        )
        x, y = torch.from_numpy(inputs), torch.from_numpy(classes)
        optimizer: Any = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=size.steps)
        for _ in range(size.steps):
            drawn = torch.randint(len(y), (BATCH,))
            loss: Any = nn.functional.cross_entropy(net(x[drawn]), y[drawn])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    weights = {name: array.detach().numpy().copy() for name, array in net.named_parameters()}
    return weights["0.weight"].T, weights["0.bias"], weights["3.weight"].T, weights["3.bias"]

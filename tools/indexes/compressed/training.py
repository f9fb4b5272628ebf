"""Training on a sample of the collection: a principal component transform, and FAISS's quantisers behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.files import write_atomic
from tools.indexes.compressed.plan import BuildSettings, Kind, kind_for, lists_for
from tools.indexes.compressed.rows import Rows, StoredRows

PLAN, COMPONENTS, QUANTISERS = "plan.json", "components.npz", "quantisers.faiss"
SPECTRUM_SAMPLE = 50_000  # ours: rows the covariance is taken from, 65 a dimension at 768
PROBE_ROWS, PROBES = 20_000, 100  # ours: enough to see whether a shorter vector keeps the neighbours
KEEPS, NEAR = 0.995, 20  # ours: share of the best 10 that must be among the first 20; few, because real sets are denser
LIST_SAMPLE = 64  # ours: training rows a list, between the 39 and 256 that faiss asks for
PQ_DIMENSIONS = 2  # ours: dimensions a byte of a product quantiser's code
GRAPH_FROM = 16_384  # ours: lists from which the nearest ones are found by a graph, not by comparing all


@dataclass(frozen=True)
class Components:
    """x -> (x - mean) @ axes: the first principal components. Distances are kept but for what is left out.

    Attributes:
        mean: (dimension,). axes: (dimension, kept).
    """

    mean: Vectors
    axes: Vectors

    def apply(self, vectors: Vectors) -> Vectors:
        """(n, dimension) to (n, kept)."""
        return np.ascontiguousarray((vectors - self.mean) @ self.axes, dtype=np.float32)


@dataclass(frozen=True)
class Plan:
    """What was decided before training."""

    kind: Kind
    kept: int
    nlist: int


def decide(rows: StoredRows, settings: BuildSettings) -> tuple[Plan, Components]:
    """The type of index for this collection, and the transform before it."""
    alive = len(rows) - len(rows.dead)
    dimension = rows.vectors.shape[1]
    if alive <= settings.flat_up_to:
        return Plan("flat", dimension, 1), Components(np.zeros(dimension, np.float32), np.eye(dimension, dtype="f4"))
    sample = rows.gather(_chosen(rows, SPECTRUM_SAMPLE, settings.seed))
    sample = sample[np.random.default_rng(settings.seed).permutation(len(sample))]
    whole = principal_components(sample)
    kept = _kept(sample, whole)
    components = Components(whole.mean, np.ascontiguousarray(whole.axes[:, :kept]))
    return Plan(kind_for(alive, kept, settings), kept, lists_for(alive)), components


def principal_components(sample: Vectors) -> Components:
    """All components of a sample (n, dimension), the one with the largest variance first."""
    mean = sample.mean(axis=0, dtype=np.float64)
    centred = sample - mean.astype(np.float32)
    covariance = (centred.T @ centred).astype(np.float64) / max(len(sample) - 1, 1)
    _, axes = np.linalg.eigh(covariance)
    return Components(mean.astype(np.float32), np.ascontiguousarray(axes[:, ::-1], dtype=np.float32))


def train(rows: StoredRows, plan: Plan, components: Components, settings: BuildSettings) -> Any:
    """The empty, trained FAISS index of a plan that is not flat (L2 in the space of the components).

    L2 ranks unit vectors as their cosine does, and subtracting the mean does not change it; an inner product it would.
    """
    import faiss

    chosen = _chosen(rows, LIST_SAMPLE * plan.nlist, settings.seed + 1)
    parts = [chosen[at : at + settings.block] for at in range(0, len(chosen), settings.block)]
    sample = np.concatenate([components.apply(rows.gather(part)) for part in parts])
    lists = f"IVF{plan.nlist}" + ("_HNSW32" if plan.nlist >= GRAPH_FROM else "")
    codes = "SQ8" if plan.kind == "ivf_sq8" else f"PQ{plan.kept // PQ_DIMENSIONS}x8"
    index = faiss.index_factory(plan.kept, f"{lists},{codes}", faiss.METRIC_L2)
    if plan.kind == "ivf_pq":
        index.by_residual = False  # one table a query instead of one a list: the refine step makes up for it
        index.do_polysemous_training = False  # an order of the codes that is not used here, and most of the time
    if plan.nlist >= GRAPH_FROM:
        faiss.downcast_index(index.quantizer).hnsw.efSearch = 256  # ours: more than the lists usually searched
    index.train(sample)
    return index


def save_training(folder: Path, plan: Plan, components: Components, index: Any) -> None:
    """Keep the result; the plan is written last and says that the rest is complete."""
    import faiss

    np.savez(folder / COMPONENTS, mean=components.mean, axes=components.axes)
    if index is not None:
        faiss.write_index(index, str(folder / QUANTISERS))
    write_atomic(folder / PLAN, json.dumps(plan.__dict__).encode())


def load_plan(folder: Path) -> tuple[Plan, Components]:
    """The plan and the transform of a folder."""
    with np.load(folder / COMPONENTS, allow_pickle=False) as arrays:
        components = Components(arrays["mean"], arrays["axes"])
    return Plan(**json.loads((folder / PLAN).read_bytes())), components


def _kept(sample: Vectors, whole: Components) -> int:
    """The fewest dimensions, of some eighths of all, that keep the neighbours of a sample (`KEEPS`)."""
    dimension = int(sample.shape[1])
    base, probes = sample[: PROBE_ROWS + PROBES], sample[-PROBES:]
    base = base[:-PROBES] if len(base) == len(sample) else base[:PROBE_ROWS]
    exact = _nearest(base @ probes.T, 10)
    base_parts, probe_parts = whole.apply(base), whole.apply(probes)
    for eighths in range(1, 8):
        kept = max(8, dimension * eighths // 8 // 8 * 8)
        left, right = base_parts[:, :kept], probe_parts[:, :kept]
        near = _nearest(2 * left @ right.T - (left**2).sum(axis=1, keepdims=True), NEAR)
        share = np.mean([np.isin(exact[:, n], near[:, n]).mean() for n in range(probes.shape[0])])
        if share >= KEEPS and kept < dimension:
            return kept
    return dimension


def _nearest(scores: Vectors, k: int) -> NDArray[np.int64]:
    """For each column the rows with the k highest scores, in no order: (k, columns)."""
    k = min(k, len(scores))
    return np.argpartition(-scores, k - 1, axis=0)[:k]


def _chosen(rows: StoredRows, most: int, seed: int) -> Rows:
    """Rows of a sample, in order: the disk is read forwards."""
    return np.sort(np.random.default_rng(seed).permutation(len(rows))[:most])

"""Correlated vectors in any number: a low-rank part plus noise, fitted to the embedded encoder's real vectors.

A vector is ``mean + sum of z_i sqrt(l_i) b_i + noise``, made unit length: z_i are standard normal, l_i the largest
eigenvalues of the real vectors' covariance, b_i random orthonormal directions, and the noise is isotropic with the
mean of the eigenvalues left out. The real vectors have 384 dimensions; in 768 the low-rank part has the same
eigenvalues along directions of the larger space, and the noise has the same variance in each of its dimensions, so
that its share of the whole roughly doubles. The model has no clusters, which real collections have and which help
an index of inverted lists: it is the harder case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tools.encoders import Vectors

RANK = 128  # ours: keeps 92 % of the variance of the starter library's vectors
SEED_OF_DIRECTIONS = 7  # ours


@dataclass(frozen=True)
class Correlated:
    """A model to draw from.

    Attributes:
        mean: length of the mean vector. spectrum: (rank,) eigenvalues. noise: variance of each noise dimension.
        directions: (rank + 1, dimension) orthonormal; the last is the mean's.
    """

    mean: float
    spectrum: Vectors
    noise: float
    directions: Vectors

    @classmethod
    def fit(cls, vectors: Vectors, dimension: int, rank: int = RANK) -> Correlated:
        """The model of real unit vectors (n, any), in this many dimensions."""
        eigenvalues = np.clip(np.linalg.eigvalsh(np.cov(vectors.T.astype(np.float64)))[::-1], 0, None)
        rank = min(rank, len(eigenvalues) - 1)
        random = np.random.default_rng(SEED_OF_DIRECTIONS).normal(size=(dimension, rank + 1))
        return cls(
            mean=float(np.linalg.norm(vectors.mean(axis=0))),
            spectrum=eigenvalues[:rank].astype(np.float32),
            noise=float(eigenvalues[rank:].mean()),
            directions=np.linalg.qr(random)[0].T.astype(np.float32),
        )

    def draw(self, n: int, seed: int) -> Vectors:
        """(n, dimension) unit vectors; the same seed gives the same ones."""
        random = np.random.default_rng(seed)
        scores = random.standard_normal((n, len(self.spectrum)), dtype=np.float32) * np.sqrt(self.spectrum)
        vectors = scores @ self.directions[:-1] + self.mean * self.directions[-1]
        noise = random.standard_normal((n, self.directions.shape[1]), dtype=np.float32)
        vectors += noise * np.float32(np.sqrt(self.noise))
        drawn: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return drawn

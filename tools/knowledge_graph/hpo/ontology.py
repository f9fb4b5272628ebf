"""The phenotype ontology as arrays, and how often each disease has each term."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The ontology and its annotations as arrays: what is compiled once and loaded at once.
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


def information(carriers: Floats, diseases: int) -> Floats:
    """Information content in nats of terms that so many of ``diseases`` have, array like ``carriers``."""
    share = (carriers + 0.5) / (diseases + 0.5)  # ours: half a disease, so that none is infinite
    return np.asarray(-np.log(share), dtype=np.float32)


@dataclass(frozen=True)
class Ragged:
    """Lists of integers, one after another: list i is ``values[start[i]:start[i + 1]]``.

    Attributes:
        start: array (n + 1,). values: array (start[n],).
    """

    start: Ints
    values: Ints

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.start[row] : self.start[row + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1

    def take(self, rows: Ints) -> tuple[Ints, Ints]:
        """The lists of these rows, joined, and the length of each."""
        lengths = (self.start[rows + 1] - self.start[rows]).astype(np.int32)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        at = (
            np.arange(total, dtype=np.int64) - np.repeat(ends - lengths, lengths) + np.repeat(self.start[rows], lengths)
        )
        return self.values[at], lengths


def ragged(lists: list[list[int]]) -> Ragged:
    """Lists of integers as one array."""
    start = np.zeros(len(lists) + 1, dtype=np.int32)
    np.cumsum([len(x) for x in lists], out=start[1:])
    return Ragged(start, np.array([v for x in lists for v in x], dtype=np.int32))


@dataclass(frozen=True)
class Annotations:
    """Which disease has which phenotype, how often, and who says so. One row an annotation.

    Attributes:
        disease, term: arrays (rows,) of positions. rate: array (rows,), share of patients, 0..1.
        negated: array (rows,), True where the phenotype is stated to be absent.
        frequency: array (rows,), position of the stated frequency in `Ontology.frequencies`.
        named: array (rows,), True where the term was read from the disease's own name.
        references: for each row, positions in `Ontology.references`.
    """

    disease: Ints
    term: Ints
    rate: Floats
    negated: NDArray[np.bool_]
    frequency: Ints
    named: NDArray[np.bool_]
    references: Ragged


@dataclass(frozen=True)
class Columns:
    """A sparse table diseases x terms by columns: share of a disease's patients that have a term, 0..1."""

    start: Ints
    rows: Ints
    values: Floats

    def dense(self, columns: Ints, rows: int) -> Floats:
        """Array (rows, len(columns)) in column order; ``rows`` is that of the whole table."""
        out = np.zeros((rows, len(columns)), dtype=np.float32, order="F")
        for n, column in enumerate(columns):
            at = slice(self.start[column], self.start[column + 1])
            out[self.rows[at], n] = self.values[at]
        return out


@dataclass(frozen=True)
class Ontology:
    """Terms below "Phenotypic abnormality", the annotated diseases, and what is known of both.

    Attributes:
        release: date of the annotations.
        terms: ids; names: their names. others: alternative or replaced ids -> position.
        parents, ancestors: for each term the terms above; ancestors hold the term itself.
        phrases: names and lay synonyms in lower case, of the terms that some OMIM disease has; owner: their terms.
        ordered, unordered: normalised phrases -> position, words in their order and sorted (see `lexicon`).
        diseases: ids, those of OMIM first; titles: their names; omim: how many are of OMIM.
        relatives: for each disease those that share a gene; closeness: array, 0..1, beside ``relatives.values``.
        rates: diseases x terms, ancestors filled in.
        carriers: array (terms,), OMIM diseases annotated with a term or one below it.
    """

    release: str
    terms: list[str]
    names: list[str]
    others: dict[str, int]
    parents: Ragged
    ancestors: Ragged
    phrases: list[str]
    owner: Ints
    ordered: dict[str, int]
    unordered: dict[str, int]
    diseases: list[str]
    titles: list[str]
    omim: int
    frequencies: list[str]
    references: list[str]
    annotations: Annotations
    relatives: Ragged
    closeness: Floats
    rates: Columns
    carriers: Floats

    @cached_property
    def position(self) -> dict[str, int]:
        """Positions of terms by id, alternative ids too."""
        return {**self.others, **{t: i for i, t in enumerate(self.terms)}}

    @cached_property
    def disease_position(self) -> dict[str, int]:
        """Positions of diseases by id."""
        return {d: i for i, d in enumerate(self.diseases)}

    @cached_property
    def content(self) -> Floats:
        """Information content of each term in nats (Resnik 1995): -log of the share of OMIM diseases that have it."""
        return information(self.carriers, self.omim)


# How often a disease shows a phenotype: stated frequencies, the ontology's hierarchy, diseases of the same gene.

# The ontology's own frequency classes: the middle of the range that each is defined by.
CLASSES = {
    "HP:0040280": 1.0,  # Obligate, 100 %
    "HP:0040281": 0.895,  # Very frequent, 80-99 %
    "HP:0040282": 0.545,  # Frequent, 30-79 %
    "HP:0040283": 0.17,  # Occasional, 5-29 %
    "HP:0040284": 0.025,  # Very rare, 1-4 %
    "HP:0040285": 0.0,  # Excluded
}
# ours, tuned on development cases: "1 of 1" says little, so counts are smoothed to (n + 1) / (m + 5).
SEEN, UNSEEN = 1.0, 4.0
UNSTATED = 0.3  # ours, tuned: rate of an annotation without a frequency
NAMED = 0.6  # ours: rate of a term that the disease's own name holds; values from 0.3 to 0.9 rank alike
SHARED = 0.1  # ours, tuned: how much of a phenotype a disease has by those of the same gene alone
PRIOR = 1.0  # ours: closeness added to the sum, so that one distant relative counts little
LEAST = 0.002  # ours: a smaller rate is left out of the table


def rate_of(stated: str) -> float:
    """The rate that a frequency states (``5/12``, ``30%``, a class, or nothing), 0..1; ValueError for anything else."""
    if stated in CLASSES:
        return CLASSES[stated]
    if not stated:
        return UNSTATED
    if stated.endswith("%"):
        return min(1.0, float(stated[:-1]) / 100)
    count, _, total = stated.partition("/")
    number, people = float(count), float(total)
    return (number + SEEN) / (people + SEEN + UNSEEN) if people > 0 else UNSTATED


def propagate(disease: Ints, term: Ints, rate: Floats, ancestors: Ragged, shape: tuple[int, int]) -> Any:
    """A sparse array ``shape``: each disease's highest rate at or below each term."""
    from scipy.sparse import csr_array

    above, lengths = ancestors.take(term)
    key = np.repeat(disease.astype(np.int64), lengths) * shape[1] + above
    order = np.argsort(key, kind="stable")
    key, values = key[order], np.repeat(rate, lengths)[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=np.int64)
    highest = np.maximum.reduceat(values, first) if len(first) else values
    return csr_array((highest, (key[first] // shape[1], key[first] % shape[1])), shape=shape, dtype=np.float32)


def own_rates(annotations: Annotations, rows: NDArray[np.int64], ancestors: Ragged, shape: tuple[int, int]) -> Any:
    """`propagate` of those annotations (positions) that state a phenotype to be present."""
    rows = rows[~annotations.negated[rows] & (annotations.rate[rows] > 0)]
    return propagate(annotations.disease[rows], annotations.term[rows], annotations.rate[rows], ancestors, shape)


def with_relatives(own: Any, weights: Any, all_own: Any) -> Any:
    """Own rates, or ``SHARED`` of the relatives' mean where that is more.

    Args:
        own: array (k, terms) of k diseases. weights: array (k, diseases), rows from `relative_weights`.
        all_own: array (diseases, terms).
    """
    inherited = (weights @ all_own) * np.float32(SHARED)
    inherited.data[inherited.data < LEAST] = 0
    combined = own.maximum(inherited).tocsr()
    combined.eliminate_zeros()
    return combined


def relative_weights(relatives: Ragged, closeness: Floats) -> Any:
    """Sparse array (diseases, diseases): each disease's relatives by closeness, a row sums to less than 1."""
    from scipy.sparse import csr_array

    n = len(relatives)
    owner = np.repeat(np.arange(n), np.diff(relatives.start))
    totals = np.bincount(owner, weights=closeness, minlength=n) + PRIOR
    return csr_array((closeness / totals[owner], relatives.values, relatives.start), shape=(n, n), dtype=np.float32)


@dataclass(frozen=True)
class LeftOut:
    """What changes when a paper's annotations are left out.

    Attributes:
        diseases: positions whose rates change. rates: array (len(diseases), terms).
        sizes: their annotations that are left. lost: array (terms,), OMIM diseases fewer that carry a term.
    """

    diseases: Ints
    rates: Floats
    sizes: Floats
    lost: Floats


class Papers:
    """Leaves the annotations of one paper out, for an evaluation on that paper's own patients.

    Args:
        whole: also leave out what other papers support too. Else an annotation stays when another reference is given.
    """

    def __init__(self, ontology: Ontology, *, whole: bool) -> None:
        self._ontology, self._whole = ontology, whole
        self._shape = (len(ontology.diseases), len(ontology.terms))
        rows = ontology.annotations
        everything = np.arange(len(rows.term), dtype=np.int64)
        self._own = own_rates(rows, everything, ontology.ancestors, self._shape)
        self._weights = relative_weights(ontology.relatives, ontology.closeness)
        self._citing: dict[int, list[int]] = {}
        for row in everything:
            for reference in rows.references[int(row)]:
                self._citing.setdefault(int(reference), []).append(int(row))
        self._number = {r: i for i, r in enumerate(ontology.references)}

    def gone(self, pmid: str) -> NDArray[np.int64]:
        """Positions of the annotations that leaving a PubMed id out takes away."""
        references = self._ontology.annotations.references
        citing = self._citing.get(self._number.get(f"PMID:{pmid}", -1), [])
        return np.array([r for r in citing if self._whole or len(references[r]) == 1], dtype=np.int64)

    def without(self, pmid: str) -> LeftOut | None:
        """The change that leaving a PubMed id out makes; None when no annotation rests on it."""
        gone = self.gone(pmid)
        if not len(gone):
            return None
        disease = self._ontology.annotations.disease
        touched = np.unique(disease[gone]).astype(np.int32)
        own = self._own_without(gone, touched)
        related = np.flatnonzero(self._weights[:, touched].sum(axis=1) > 0)
        changed = np.union1d(touched, related).astype(np.int32)
        combined = with_relatives(own[changed], self._weights[changed], own)
        count = self._shape[0]
        sizes = np.bincount(disease, minlength=count) - np.bincount(disease[gone], minlength=count)
        omim = touched[touched < self._ontology.omim]
        lost = (self._own[omim] > 0).sum(axis=0) - (own[omim] > 0).sum(axis=0)
        return LeftOut(
            changed,
            np.asarray(combined.toarray(), dtype=np.float32),
            sizes[changed].astype(np.float32),
            np.asarray(lost, dtype=np.float32).ravel(),
        )

    def _own_without(self, gone: NDArray[np.int64], touched: Ints) -> Any:
        """Own rates, those of the touched diseases from the annotations that are left."""
        rows = self._ontology.annotations
        left = np.setdiff1d(np.flatnonzero(np.isin(rows.disease, touched)), gone)
        fresh = own_rates(rows, left, self._ontology.ancestors, self._shape)
        keep = np.ones(self._shape[0], dtype=np.float32)
        keep[touched] = 0
        return self._own.multiply(keep[:, None]).tocsr() + fresh

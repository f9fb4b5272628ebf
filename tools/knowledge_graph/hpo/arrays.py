"""The ontology and its annotations as arrays: what is compiled once and loaded at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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

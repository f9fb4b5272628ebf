"""Why a rare disease is ranked: which of its own phenotypes fit, which speak against it, which were not told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tools.knowledge_graph.hpo.arrays import Ontology

ALIKE = 3.0  # ours: nats of information that a shared ancestor needs, so that a phenotype is shown as fitting
USUAL = 0.5  # ours: rate from which a phenotype is usual
SHOWN = 6  # ours: phenotypes a list


@dataclass(frozen=True)
class Why:
    """Positions of terms: the disease's own that fit, those usual and denied, those usual and not told."""

    fitting: tuple[int, ...]
    against: tuple[int, ...]
    missing: tuple[int, ...]


class Explainer:
    """Explains the lines of a ranking."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        rows = ontology.annotations
        self._content: list[float] = ontology.content.tolist()  # plain floats: many single look-ups
        order = np.argsort(rows.disease, kind="stable")
        self._rows = order
        self._start = np.searchsorted(rows.disease[order], np.arange(len(ontology.diseases) + 1))
        self._above = lru_cache(maxsize=4096)(lambda term: frozenset(map(int, ontology.ancestors[term])))

    def explain(self, disease: int, present: Sequence[int], absent: Sequence[int]) -> Why:
        """The reasons for and against one disease."""
        rates = self._rates(disease)
        pairs = sorted({p for q in present if (p := self._nearest(q, rates)) is not None}, reverse=True)
        fitting = list(dict.fromkeys(term for _, term in pairs))
        against = [t for t, r in rates.items() if r >= USUAL and any(a in self._above(t) for a in absent)]
        told = frozenset().union(*(self._above(q) for q in present)) | set(fitting) | set(against)
        usual = sorted((-r, t) for t, r in rates.items() if r >= USUAL and t not in told)
        return Why(tuple(fitting[:SHOWN]), tuple(against[:SHOWN]), tuple(t for _, t in usual[:SHOWN]))

    def _rates(self, disease: int) -> dict[int, float]:
        rows = self._ontology.annotations
        own = self._rows[self._start[disease] : self._start[disease + 1]]
        stated = [r for r in own if not rows.negated[r] and not rows.named[r] and not self._in_none(r)]
        return {int(rows.term[r]): float(rows.rate[r]) for r in stated}

    def _in_none(self, row: int) -> bool:
        """Whether an annotation says that no patient had it (``0/5``)."""
        return self._ontology.frequencies[int(self._ontology.annotations.frequency[row])].startswith("0/")

    def _nearest(self, term: int, rates: dict[int, float]) -> tuple[float, int] | None:
        """The disease's phenotype that shares the most with a term: (information, position)."""
        if term in rates:
            return self._content[term], term
        above, content = self._above(term), self._content
        best = max(((max([content[a] for a in above & self._above(t)]), t) for t in rates), default=None)
        return best if best is not None and best[0] >= ALIKE else None

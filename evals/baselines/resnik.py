"""Plain Resnik best match: the mean, over a patient's terms, of the information of the best ancestor a disease has.

Resnik 1995 (information content of the most informative common ancestor) as Köhler et al. 2009 (Phenomizer) use it from
the patient's side. No frequency, no excluded term, no other source: what any ranking must beat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.hpo.ontology import Ontology, own_rates


class ResnikBestMatch:
    """Similarity of every OMIM disease to a patient."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        rows = ontology.annotations
        self._stated = np.flatnonzero(~rows.named)
        self._shape = (len(ontology.diseases), len(ontology.terms))
        self._has = own_rates(rows, self._stated, ontology.ancestors, self._shape)[: ontology.omim].tocsc()

    def scores(self, terms: Sequence[int], gone: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Similarity in nats, array (OMIM diseases,).

        Args:
            terms: positions of the patient's terms. gone: positions of annotations that are left out.
        """
        ontology = self._ontology
        columns = np.unique(np.concatenate([ontology.ancestors[t] for t in terms]))
        has = self._has[:, columns].toarray() > 0
        if gone is not None and len(gone):
            touched = np.unique(ontology.annotations.disease[gone])
            left = self._stated[np.isin(ontology.annotations.disease[self._stated], touched)]
            fresh = own_rates(ontology.annotations, np.setdiff1d(left, gone), ontology.ancestors, self._shape)
            touched = touched[touched < ontology.omim]
            has[touched] = fresh[touched][:, columns].toarray() > 0
        informed = np.where(has, ontology.content[columns], 0.0)
        best = [informed[:, np.isin(columns, ontology.ancestors[t])].max(axis=1) for t in terms]
        return np.asarray(np.mean(best, axis=0), dtype=np.float64)

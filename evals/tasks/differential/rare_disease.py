"""Rare diseases over HPO, a part of `differential`: rank of the right disease among all that OMIM annotations describe.

Rows: one published patient a paper, at least three observed terms, a disease that the annotations cover. ``hpo`` ranks
by all annotations. ``hpo_lpo`` leaves out, for each patient, every annotation that rests on the patient's own paper
alone (leave-paper-out); ``hpo_lpo_whole`` also those that other papers support too. Inputs: ``ids`` the terms,
``labels`` their labels as a text, ``lay`` wordings of our own for a hundred of the patients (``lay_ids``: the terms of
the same). ``..._resnik`` is the plain Resnik best match. A tie is given the middle of its places.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agent.rare_diseases import open_rare_diseases
from evals.contract import Figure, TaskContext
from evals.datasets.phenopackets import Patient, read_lay, read_patients
from evals.sessions import encoders
from evals.statistics import mean, share
from tools.knowledge_graph.hpo.lookup import RareDiseases, observations
from tools.knowledge_graph.hpo.ontology import Ontology, Papers, own_rates
from tools.knowledge_graph.hpo.ranking import Observed

TOPS = (1, 3, 10)  # the task's own
TIMED = 20  # ours: rankings timed with nothing cached, the first of them left out
LOADS = 3  # ours: loads timed, the first of them left out
Told = tuple[list[Observed], list[int]]


def figures(context: TaskContext) -> list[Figure]:
    """Every figure of the part."""
    with encoders(context.settings, context.home) as (plain, cached):
        rare = open_rare_diseases(context.home, cached)
        position, known = rare.ontology.disease_position, rare.ontology.position
        patients = context.sample(read_patients(context.data, position))
        lay = read_lay(patients)
        ids = [_terms(rare, p) for p in patients]
        told: dict[str, tuple[list[Patient], list[Told]]] = {
            "ids": (patients, ids),
            "labels": (patients, [observations(rare.read(p.labels())) for p in patients]),
            "lay": ([p for p, _ in lay], [observations(rare.read(text)) for _, text in lay]),
            "lay_ids": ([p for p, _ in lay], [_terms(rare, p) for p, _ in lay]),
        }
        alone, whole = (Papers(rare.ontology, whole=which) for which in (False, True))
        ways: dict[str, Papers | None] = {
            "hpo": None,
            "hpo_lpo": alone,
            "hpo_lpo_whole": whole,
        }
        out: list[Figure] = []
        for name, (rows, given) in told.items():
            for way, papers in ways.items():
                ranks = []
                for patient, own in context.each(list(zip(rows, given, strict=True)), f"{way} {name}"):
                    left_out = papers.without(patient.pmid) if papers is not None else None
                    ranks.append(rank_of(rare.scores(*own, left_out), position[patient.gold_diagnosis.id]))
                out += tops(f"{way}.{name}", ranks)
        baseline = ResnikBestMatch(rare.ontology)
        resnik: dict[str, list[float]] = {"hpo_resnik.ids": [], "hpo_lpo_resnik.ids": []}
        for patient, (observed, _) in context.each(list(zip(patients, ids, strict=True)), "Resnik"):
            terms, right = [o.terms[0] for o in observed], position[patient.gold_diagnosis.id]
            for name, gone in zip(resnik, (None, alone.gone(patient.pmid)), strict=True):
                resnik[name].append(rank_of(baseline.scores(terms, gone), right))
        out += [figure for name, ranks in resnik.items() for figure in tops(name, ranks)]
        fresh, some = open_rare_diseases(context.home, plain), patients[: TIMED + 1]
        # as a user has it, reading and reasons included
        rankings: dict[str, list[Callable[[], object]]] = {
            "ids": [lambda p=p: fresh.rank_terms([t.id for t in p.observed if t.id in known]) for p in some],  # type: ignore[misc]
            "labels": [lambda p=p: fresh.rank_text(p.labels()) for p in some],  # type: ignore[misc]
            "lay": [lambda text=text: fresh.rank_text(text) for _, text in lay[: TIMED + 1]],  # type: ignore[misc]
        }
        for name, works in rankings.items():
            out += mean(f"hpo.{name}.ms", _timed(works), context.seed)
        loads: list[Callable[[], object]] = [lambda: open_rare_diseases(context.home, plain)] * LOADS
        return out + mean("hpo.load.ms", _timed(loads), context.seed)


def tops(name: str, ranks: Sequence[float]) -> list[Figure]:
    """Shares of the ranks that are among the first; a middle of tied places counts as what it is."""
    return [f for k in TOPS for f in share(f"{name}.top{k}", [rank <= k for rank in ranks])]


def rank_of(scores: NDArray[np.float64], right: int) -> float:
    """Rank of a disease from 1, the middle of its places on a tie."""
    higher, equal = int((scores > scores[right]).sum()), int((scores == scores[right]).sum())
    return higher + (equal + 1) / 2


def _terms(rare: RareDiseases, patient: Patient) -> Told:
    """The patient's terms; those that this release does not hold are left out."""
    known = rare.ontology.position
    present = list(dict.fromkeys(known[t.id] for t in patient.observed if t.id in known))
    absent = {known[t.id] for t in patient.excluded if t.id in known} - set(present)
    return [Observed((t,)) for t in present], sorted(absent)


def _timed(works: Sequence[Callable[[], object]]) -> list[float]:
    """Milliseconds of each, the first left out: it reads what is not yet held in memory."""
    took = []
    for work in works:
        started = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - started))
    return took[1:]


class ResnikBestMatch:
    """Plain Resnik best match: the mean, over a patient's terms, of the information of the best ancestor a disease has.

    Resnik 1995 (information content of the most informative common ancestor) as Köhler et al. 2009 (Phenomizer) use it
    from the patient's side. No frequency, no excluded term, no other source: what any ranking must beat.
    """

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

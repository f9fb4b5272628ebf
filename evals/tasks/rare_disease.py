"""Rare diseases over HPO, a part of `differential`: rank of the right disease among all that OMIM annotations describe.

Rows: one published patient a paper, at least three observed terms, a disease that the annotations cover. ``hpo`` ranks
by all annotations. ``hpo_lpo`` leaves out, for each patient, every annotation that rests on the patient's own paper
alone (leave-paper-out); ``hpo_lpo_whole`` also those that other papers support too. Inputs: ``ids`` the terms,
``labels`` their labels as a text, ``lay`` wordings of our own for a hundred of the patients (``lay_ids``: the terms of
the same). ``..._resnik`` is the plain Resnik best match. A tie is given the middle of its places.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from evals.contract import Figure, TaskContext
from evals.statistics import mean, share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evals.datasets.phenopackets import Patient
    from tools.knowledge_graph.hpo.lookup import RareDiseases
    from tools.knowledge_graph.hpo.ontology import Papers
    from tools.knowledge_graph.hpo.ranking import Observed

    Told = tuple[list[Observed], list[int]]

TOPS = (1, 3, 10)  # the task's own
TIMED = 20  # ours: rankings timed with nothing cached, the first of them left out
LOADS = 3  # ours: loads timed, the first of them left out


def figures(context: TaskContext) -> list[Figure]:
    """Every figure of the part."""
    from agent.rare_diseases import open_rare_diseases
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders
    from evals.datasets.phenopackets import read_lay, read_patients
    from tools.knowledge_graph.hpo.lookup import observations
    from tools.knowledge_graph.hpo.ontology import Papers

    home = Home(context.settings.home).prepare()
    plain, cached = evaluation_encoders(context.settings, home)
    rare = open_rare_diseases(home, cached)
    patients = context.sample(read_patients(context.data, rare.ontology.disease_position))
    lay = read_lay(patients)
    ids = [_terms(rare, p) for p in patients]
    told = {
        "ids": (patients, ids),
        "labels": (patients, [observations(rare.read(p.labels())) for p in patients]),
        "lay": ([p for p, _ in lay], [observations(rare.read(text)) for _, text in lay]),
        "lay_ids": ([p for p, _ in lay], [_terms(rare, p) for p, _ in lay]),
    }
    ways: dict[str, Papers | None] = {
        "hpo": None,
        "hpo_lpo": Papers(rare.ontology, whole=False),
        "hpo_lpo_whole": Papers(rare.ontology, whole=True),
    }
    out: list[Figure] = []
    for name, (rows, given) in told.items():
        for way, papers in ways.items():
            out += _ranked(context, rare, (way, name, papers), rows, given)
    out += _resnik(context, rare, ways["hpo_lpo"], patients, ids)
    out += _times(context, open_rare_diseases(home, plain), patients, [text for _, text in lay])
    out += mean("hpo.load.ms", [1000 * s for s in _loads(lambda: open_rare_diseases(home, plain))], context.seed)
    cached.close()
    plain.close()
    return out


def tops(name: str, ranks: Sequence[float]) -> list[Figure]:
    """Shares of the ranks that are among the first; a middle of tied places counts as what it is."""
    return [f for k in TOPS for f in share(f"{name}.top{k}", [rank <= k for rank in ranks])]


def rank_of(scores: NDArray[np.float64], right: int) -> float:
    """Rank of a disease from 1, the middle of its places on a tie."""
    higher, equal = int((scores > scores[right]).sum()), int((scores == scores[right]).sum())
    return higher + (equal + 1) / 2


def _terms(rare: RareDiseases, patient: Patient) -> Told:
    """The patient's terms; those that this release does not hold are left out."""
    from tools.knowledge_graph.hpo.ranking import Observed

    known = rare.ontology.position
    present = list(dict.fromkeys(known[t.id] for t in patient.observed if t.id in known))
    absent = {known[t.id] for t in patient.excluded if t.id in known} - set(present)
    return [Observed((t,)) for t in present], sorted(absent)


def _ranked(
    context: TaskContext,
    rare: RareDiseases,
    setting: tuple[str, str, Papers | None],
    patients: Sequence[Patient],
    given: Sequence[Told],
) -> list[Figure]:
    way, name, papers = setting
    rows = context.tick(list(zip(patients, given, strict=True)), f"{way} {name}", len(patients))
    return tops(f"{way}.{name}", [_rank(rare, patient, told, papers) for patient, told in rows])


def _rank(rare: RareDiseases, patient: Patient, told: Told, papers: Papers | None) -> float:
    left_out = papers.without(patient.pmid) if papers is not None else None
    return rank_of(rare.scores(*told, left_out), rare.ontology.disease_position[patient.gold_diagnosis.id])


def _resnik(
    context: TaskContext,
    rare: RareDiseases,
    papers: Papers | None,
    patients: Sequence[Patient],
    given: Sequence[Told],
) -> list[Figure]:
    from evals.baselines.resnik import ResnikBestMatch

    baseline = ResnikBestMatch(rare.ontology)
    full: list[float] = []
    left: list[float] = []
    for patient, (observed, _) in context.tick(list(zip(patients, given, strict=True)), "Resnik", len(patients)):
        terms = [o.terms[0] for o in observed]
        right = rare.ontology.disease_position[patient.gold_diagnosis.id]
        full.append(rank_of(baseline.scores(terms), right))
        left.append(rank_of(baseline.scores(terms, papers.gone(patient.pmid) if papers is not None else None), right))
    return tops("hpo_resnik.ids", full) + tops("hpo_lpo_resnik.ids", left)


def _times(context: TaskContext, rare: RareDiseases, patients: Sequence[Patient], lay: Sequence[str]) -> list[Figure]:
    """Milliseconds of a ranking as a user has it, reading and reasons included; the first warms up."""
    known = rare.ontology.position
    some = patients[: TIMED + 1]

    def from_ids() -> Iterator[object]:
        for p in some:
            yield rare.rank_terms([t.id for t in p.observed if t.id in known])

    ways: dict[str, Iterator[object]] = {
        "ids": from_ids(),
        "labels": (rare.rank_text(p.labels()) for p in some),
        "lay": (rare.rank_text(text) for text in lay[: TIMED + 1]),
    }
    out: list[Figure] = []
    for name, rankings in ways.items():
        out += mean(f"hpo.{name}.ms", [1000 * s for s in _each(rankings)][1:], context.seed)
    return out


def _each(rankings: Iterator[object]) -> list[float]:
    seconds: list[float] = []
    while True:
        started = time.perf_counter()
        if next(rankings, None) is None:
            return seconds
        seconds.append(time.perf_counter() - started)


def _loads(load: Callable[[], object]) -> list[float]:
    """Seconds of each load from disk, the first left out: it reads what the system does not yet hold in memory."""
    seconds = []
    for _ in range(LOADS):
        started = time.perf_counter()
        load()
        seconds.append(time.perf_counter() - started)
    return seconds[1:]

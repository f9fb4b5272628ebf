"""A line of a ranking of rare diseases: what the ontology's room makes and a differential carries."""

from __future__ import annotations

from tools.evidence import Frozen


class RareDisease(Frozen):
    """A rare disease, ranked over the Human Phenotype Ontology.

    Attributes:
        disease: its id, ``OMIM:...``. score: share of belief over all annotated diseases, 0..1. log_evidence: nats.
        findings_for: the disease's own phenotypes that fit. findings_against: phenotypes that the patient has not and
            the disease usually has. missing: usual phenotypes of which nothing was said.
        evidence_id: of its entry, ``graph:hpo/OMIM:...``.
    """

    disease: str
    name: str
    score: float
    log_evidence: float
    findings_for: tuple[str, ...] = ()
    findings_against: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    evidence_id: str

"""ICA-RAG's table II: the published configuration and what each of its parts adds, by the published metric.

``ablation_full``; ``ablation_always``: without the decision; ``ablation_whole_documents``: documents searched for
whole in place of chunks; ``ablation_reranked``: a reranker in place of the count; ``ablation_no_filter``: every
document stays.
Columns: set-level ``precision``, ``recall`` and ``f1`` of ICD-10 categories over all cases; ``retrieval_rate``, the
share of cases that were researched; ``document``, the share of these in which a document of the right disease stayed.

The labels are the trained head's, as in the arm ``trained-classifier``, whose thresholds are ours. Without a language
model nobody reads the documents, so a reader of ours stands in for it: the first look-up's belief in a disease counts
twice where a document of it was kept, and the diseases with at least half of the first one's belief are named. The
figures therefore compare the arms with each other, not with the paper's. ``agentclinic`` are a sample of its cases
whose diagnosis has a code; ``ddxplus`` a sample of the validate rows with half of their statements removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.icd10 import open_linker
from agent.settings import Settings
from evals.contract import Figure, TaskContext
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import degraded, read_conditions, validate_texts
from evals.runner import local_settings
from evals.sessions import asking
from evals.statistics import METRICS, SetPair, set_figures, share
from evals.tasks.diagnosis import HALF, NAMED
from graphs.answering.contract import Answer
from tools.contract import RankedDisease
from tools.evidence import EvidenceId, Origin
from tools.knowledge_graph.schema import Graph

ARMS = {
    "full": "ica-rag:trained-classifier",
    "always": "ica-rag:without-decision",
    "whole_documents": "ica-rag:without-chunks",
    "reranked": "ica-rag:reranked",
    "no_filter": "ica-rag:without-filter",
}
CASES = 25  # ours: of each source, so that five arms take two minutes
LEVEL = 50  # ours: percent of the statements removed: few diagnoses are sure, few are hopeless
DOUBLED = 2.0  # ours: what a kept document of a disease does to the belief in it


@dataclass(frozen=True)
class AblationCase:
    """A case. ``codes``: ICD-10 categories of its diagnosis. ``documents``: names of the documents about it."""

    text: str
    codes: frozenset[str]
    documents: frozenset[str]


@dataclass(frozen=True)
class Read:
    """What the reader makes of an answer: the codes named, whether it was researched, and the documents that stayed."""

    codes: frozenset[str]
    researched: bool
    documents: frozenset[str]


def ablation_figures(context: TaskContext, graph: Graph) -> list[Figure]:
    """Every figure; ``graph`` is the starter graph."""
    sources = sources_of(context, graph)
    out: list[Figure] = []
    for arm in ARMS:
        with asking(arm_settings(context, arm)) as ask:
            for source, rows in sources.items():
                read = [read_of(ask(row.text)) for row in context.each(rows, f"{arm}, {source}")]
                out += arm_figures(f"ablation_{arm}.{source}", rows, read, context.seed)
    return out


def sources_of(context: TaskContext, graph: Graph) -> dict[str, list[AblationCase]]:
    """The cases by their source."""
    linker = open_linker(context.settings, context.home, "strict", None)
    return {"agentclinic": _clinic(context, graph, linker.codes), "ddxplus": _ddxplus(context, graph)}


def arm_settings(context: TaskContext, arm: str) -> Settings:
    """The settings of an arm. All arms but the one without a decision have the full one's gate."""
    settings, full = (local_settings(ARMS[name], home=context.settings.home) for name in (arm, "full"))
    return settings if arm == "always" else settings.model_copy(update={"gate": full.gate})


def _clinic(context: TaskContext, graph: Graph, codes: Callable[[str], frozenset[str]]) -> list[AblationCase]:
    """AgentClinic's cases whose diagnosis has a code."""
    names: dict[str, set[str]] = {}
    for disease in graph.diseases:
        names.setdefault(disease.icd10[:3], set()).add(disease.id)
    coded = [(case.text, codes(case.gold_diagnosis)) for case in read_clinic(context.data)]
    out = [
        AblationCase(text, right, frozenset(name for code in right for name in names.get(code, ())))
        for text, right in coded
        if right
    ]
    return context.sample_of(out, min(CASES, context.limit))


def _ddxplus(context: TaskContext, graph: Graph) -> list[AblationCase]:
    """Validate rows with half of their statements removed."""
    conditions = read_conditions()
    rows = context.sample_of(validate_texts(context.data), min(CASES, context.limit))
    diseases = [(row, graph.disease[conditions[row.pathology]]) for row in rows]
    return [
        AblationCase(degraded(row, LEVEL, context.seed), frozenset((d.icd10[:3],)), frozenset((d.id,)))
        for row, d in diseases
    ]


def arm_figures(name: str, cases: Sequence[AblationCase], read: Sequence[Read], seed: int) -> list[Figure]:
    """The columns of one arm on one source; nothing for no cases."""
    pairs: list[SetPair] = [(r.codes, c.codes) for c, r in zip(cases, read, strict=True)]
    micro = {f"{name}.micro_{metric}": f"{name}.{metric}" for metric in METRICS}
    found = [f.model_copy(update={"name": micro[f.name]}) for f in set_figures(name, pairs, seed) if f.name in micro]
    both = zip(cases, read, strict=True)
    kept = [bool(r.documents & c.documents) for c, r in both if r.researched and c.documents]
    return [*found, *share(f"{name}.retrieval_rate", [r.researched for r in read]), *share(f"{name}.document", kept)]


def read_of(answer: Answer) -> Read:
    """What the reader makes of an answer."""
    documents = frozenset(EvidenceId.parse(e.id).name for e in answer.evidence if e.origin is Origin.RETRIEVED)
    researched = answer.gate is None or answer.gate.decision.value != "direct"
    return Read(named(answer.differential, documents), researched, documents)


def named(ranking: Sequence[RankedDisease], documents: frozenset[str]) -> frozenset[str]:
    """The categories of the diseases that the reader names."""
    belief = {d.disease: d.score * (DOUBLED if d.disease in documents else 1.0) for d in ranking if d.icd10}
    code = {d.disease: d.icd10[:3] for d in ranking}
    best = sorted(belief, key=lambda disease: -belief[disease])[:NAMED]
    return frozenset(code[d] for d in best if belief[d] > 0 and belief[d] >= HALF * belief[best[0]])

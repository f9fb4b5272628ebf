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
from typing import TYPE_CHECKING

from evals.contract import Figure, TaskContext
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import degraded, read_conditions, validate_texts
from evals.metrics.entity_sets import METRICS, Pair, set_figures
from evals.statistics import share
from evals.told_diagnoses import HALF, NAMED
from tools.contract import RankedDisease
from tools.evidence import EvidenceId, Origin
from tools.knowledge_graph.schema import Graph

if TYPE_CHECKING:
    from agent.settings import Settings
    from evals.agent_runs import Ask
    from graphs.answering.contract import Answer

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
    """What an arm gave: the codes named, whether it was researched, and whether a right document stayed."""

    codes: frozenset[str]
    researched: bool
    right_document: bool


@dataclass(frozen=True)
class Reading:
    """What the reader makes of an answer, before it is held against a case; ``documents`` stayed."""

    codes: frozenset[str]
    researched: bool
    documents: frozenset[str]

    def among(self, right: frozenset[str]) -> Read:
        """The same for a case with these right documents."""
        return Read(self.codes, self.researched, bool(self.documents & right))


def ablation_figures(context: TaskContext, graph: Graph) -> list[Figure]:
    """Every figure; ``graph`` is the starter graph."""
    from agent.icd10 import open_linker
    from agent.sessions import Home
    from evals.agent_runs import asking

    codes = open_linker(context.settings, Home(context.settings.home), "strict", None).codes
    cases = {"agentclinic": clinic_cases(context, graph, codes), "ddxplus": ddxplus_cases(context, graph)}
    out: list[Figure] = []
    for arm in ARMS:
        with asking(arm_settings(context, arm)) as ask:
            for source, rows in cases.items():
                read = [_read(ask, row) for row in context.tick(rows, f"{arm}, {source}", len(rows))]
                out += arm_figures(f"ablation_{arm}.{source}", rows, read, context.seed)
    return out


def arm_settings(context: TaskContext, arm: str) -> Settings:
    """The settings of an arm. All arms but the one without a decision have the full one's gate."""
    from agent.settings import load_settings

    def of(name: str) -> Settings:
        literature = {"live": "off", "mirror": None}
        return load_settings(config=name, home=context.settings.home, model="", literature=literature).without_models()

    settings = of(ARMS[arm])
    return settings if arm == "always" else settings.model_copy(update={"gate": of(ARMS["full"]).gate})


def clinic_cases(context: TaskContext, graph: Graph, codes: Callable[[str], frozenset[str]]) -> list[AblationCase]:
    """AgentClinic's cases whose diagnosis has a code."""
    names: dict[str, set[str]] = {}
    for disease in graph.diseases:
        names.setdefault(disease.icd10[:3], set()).add(disease.id)
    out = []
    for case in read_clinic(context.data):
        right = codes(case.gold_diagnosis)
        documents = frozenset(name for code in right for name in names.get(code, ()))
        if right:
            out.append(AblationCase(case.text, right, documents))
    return context.sample_of(out, min(CASES, context.limit))


def ddxplus_cases(context: TaskContext, graph: Graph) -> list[AblationCase]:
    """Validate rows with half of their statements removed."""
    conditions = read_conditions()
    rows = context.sample_of(validate_texts(context.data), min(CASES, context.limit))
    out = []
    for row in rows:
        disease = graph.disease[conditions[row.pathology]]
        text = degraded(row, LEVEL, context.seed)
        out.append(AblationCase(text, frozenset((disease.icd10[:3],)), frozenset((disease.id,))))
    return out


def arm_figures(name: str, cases: Sequence[AblationCase], read: Sequence[Read], seed: int) -> list[Figure]:
    """The columns of one arm on one source; nothing for no cases."""
    pairs: list[Pair] = [(r.codes, c.codes) for c, r in zip(cases, read, strict=True)]
    micro = {f"{name}.micro_{metric}": f"{name}.{metric}" for metric in METRICS}
    found = [f.model_copy(update={"name": micro[f.name]}) for f in set_figures(name, pairs, seed) if f.name in micro]
    kept = [r.right_document for c, r in zip(cases, read, strict=True) if r.researched and c.documents]
    return [*found, *share(f"{name}.retrieval_rate", [r.researched for r in read]), *share(f"{name}.document", kept)]


def named(ranking: Sequence[RankedDisease], documents: frozenset[str]) -> frozenset[str]:
    """The categories of the diseases that the reader names."""
    belief = {d.disease: d.score * (DOUBLED if d.disease in documents else 1.0) for d in ranking if d.icd10}
    code = {d.disease: d.icd10[:3] for d in ranking}
    best = sorted(belief, key=lambda disease: -belief[disease])[:NAMED]
    return frozenset(code[d] for d in best if belief[d] > 0 and belief[d] >= HALF * belief[best[0]])


def _read(ask: Ask, case: AblationCase) -> Read:
    return read_of(ask(case.text)).among(case.documents)


def read_of(answer: Answer) -> Reading:
    """What the reader makes of an answer."""
    documents = documents_of(answer)
    researched = answer.gate is None or answer.gate.decision.value != "direct"
    return Reading(named(answer.differential, documents), researched, documents)


def documents_of(answer: Answer) -> frozenset[str]:
    """Names of the documents that stayed."""
    return frozenset(EvidenceId.parse(e.id).name for e in answer.evidence if e.origin is Origin.RETRIEVED)

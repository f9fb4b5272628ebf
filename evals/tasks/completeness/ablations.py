"""ICA-RAG's table II: the published configuration and what each of its parts adds, by the published metric.

``ablation_full``; ``ablation_always``: without the decision; ``ablation_whole_documents``: documents searched for
whole in place of chunks; ``ablation_reranked``: a reranker in place of the count; ``ablation_no_filter``: every
document stays.
Columns: set-level ``precision``, ``recall`` and ``f1`` of ICD-10 categories over all cases; ``retrieval_rate``, the
share of cases that were researched; ``document``, the share of these in which a document of the right disease stayed.
``ablation_full_over_ARM``: what the part adds, in points, paired by case; ``named_otherwise`` the share of cases in
which the arm names other categories than the full configuration: where it is 0 the two are equal.

Without a language model nobody reads the documents, so what was read weighs by its stance, in the direction that
`graphs.nodes.filter` states, and the diseases with at least half of the first one's belief are named.
The figures therefore compare the arms with each other, not with the paper's. ``agentclinic`` are a sample of its cases
whose diagnosis has a code; ``ddxplus`` a sample of the validate rows with half of their statements removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.icd10 import open_linker
from evals.contract import Figure, TaskContext
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import degraded, read_conditions, validate_texts
from evals.runner import local_settings
from evals.sessions import asking
from evals.statistics import METRICS, SetPair, paired_set_difference, set_figures, share
from evals.tasks.diagnosis import HALF, NAMED
from graphs.answering.contract import Answer
from tools.contract import RankedDisease
from tools.evidence import EvidenceId, Origin
from tools.knowledge_graph.schema import Graph

ARMS = {
    "full": "ica-rag",
    "always": "ica-rag:without-decision",
    "whole_documents": "ica-rag:without-chunks",
    "reranked": "ica-rag:reranked",
    "no_filter": "ica-rag:without-filter",
}
CASES = 100  # ours: of each source; AgentClinic has fewer
LEVEL = 50  # ours: percent of the statements removed: few diagnoses are sure, few are hopeless


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
    full: dict[str, list[Read]] = {}
    for arm in ARMS:
        with asking(local_settings(ARMS[arm], home=context.settings.home)) as ask:
            for source, rows in sources.items():
                read = [read_of(ask(row.text)) for row in context.each(rows, f"{arm}, {source}")]
                out += arm_figures(f"ablation_{arm}.{source}", rows, read, context.seed)
                if arm == "full":
                    full[source] = read
                else:
                    name = f"ablation_full_over_{arm}.{source}"
                    out += compared_figures(name, rows, full[source], read, context.seed)
    return out


def sources_of(context: TaskContext, graph: Graph) -> dict[str, list[AblationCase]]:
    """The cases by their source."""
    linker = open_linker(context.settings, context.home, "strict", None)
    return {"agentclinic": _clinic(context, graph, linker.codes), "ddxplus": _ddxplus(context, graph)}


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


def compared_figures(
    name: str, cases: Sequence[AblationCase], full: Sequence[Read], read: Sequence[Read], seed: int
) -> list[Figure]:
    """The full configuration less an arm, in points with paired intervals, and in how many cases they differ."""
    left, right = ([(r.codes, c.codes) for c, r in zip(cases, own, strict=True)] for own in (full, read))
    otherwise = [a.codes != b.codes for a, b in zip(full, read, strict=True)]
    return [*paired_set_difference(name, left, right, seed), *share(f"{name}.named_otherwise", otherwise)]


def read_of(answer: Answer) -> Read:
    """What the reader makes of an answer."""
    documents = frozenset(EvidenceId.parse(e.id).name for e in answer.evidence if e.origin is Origin.RETRIEVED)
    researched = answer.gate is None or answer.gate.decision.value != "direct"
    return Read(named(answer.differential), researched, documents)


def named(ranking: Sequence[RankedDisease]) -> frozenset[str]:
    """The categories of the first diseases with at least half of the first one's belief."""
    best = [d for d in ranking if d.icd10][:NAMED]
    return frozenset(d.icd10[:3] for d in best if d.score > 0 and d.score >= HALF * best[0].score)

"""`differential`: graphs of several origins on DDXPlus patients, told as texts and given as codes.

Rows: the release's validate split. `graphs` says what each graph is. A graph's plain name ranks over the 49 conditions
of DDXPlus only, as published methods do; ``_all`` over every disease of the graph, where it has more.
``text``: the fixed text; ``text_clean`` leaves out the rows whose text names the gold diagnosis, ``text_named`` keeps
only those; ``codes``: each evidence of the row as a statement of its own, read by itself, so that cutting up the text
is not measured. MRR counts 0 where the disease is not ranked. L2 is the category of the first disease in the graph's
own taxonomy, L1 the node above it, where the graph has more than one such node. ``naive_bayes`` learns the codes of the
98 train rows; its ``text`` are the codes that our own matcher finds in the text, over the statements of the evidences.
``hpo...``: rare diseases (`rare_disease`).
``<graph>_lay``: 100 of the rows in lay language (our own wordings); ``<graph>_fixed``: the same 100 in the fixed text.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evals.contract import Figure, Task, TaskContext
from evals.datasets.ddxplus import (
    CODES,
    EVIDENCES,
    RELEASED_CONDITIONS,
    STATEMENTS,
    TEXTS,
    CodedPatient,
    TextPatient,
    read_codes,
    read_lay,
    validate_texts,
)
from evals.datasets.ddxplus_graphs import TRIPLES
from evals.datasets.phenopackets import PATIENTS
from evals.sessions import encoders
from evals.statistics import mean, share
from evals.tasks.differential import follow_up, rare_disease
from evals.tasks.differential.graphs import CodeReader, NamedGraph, TextCodes, opened, places
from prompts.errors import DataError
from tools.contract import Finding
from tools.knowledge_graph.lookup import KnowledgeGraph

TIMED = 20  # ours: look-ups timed with no query vector kept on disk, the first of them left out
LAY_GRAPH = "starter"  # ours: the hand-written graph is what a patient's own words are for
TOPS = (1, 3, 5)  # ours: with the published top 1 and top 3
AGREED = 5  # ours: of how many diseases the gold differential and ours are compared
SMOOTHING = 1.0  # the textbook's add-one


def run(context: TaskContext) -> list[Figure]:
    """Look every patient up in every graph and count."""
    rows, codes = context.sample(validate_texts(context.data)), read_codes(context.data)
    lay = {r.id: r.text for r in read_lay()}
    folder, indexes = context.home.cache / "evaluations" / "graphs", context.home.indexes
    out: list[Figure] = []
    with encoders(context.settings, context.home) as (plain, cached):
        found = places(context.data, indexes, folder, cached)
        missing = sorted({row.pathology for row in rows} - set(found[0].diseases))
        if missing:
            names = ", ".join(missing)
            raise DataError(f"These are no conditions of DDXPlus: {names}.", "Give the official rows.")
        for named in opened(found, cached, folder):
            graph, conditions, known = named.graph, frozenset(named.diseases.values()), above(named.graph)
            reader = CodeReader(context.data, graph)
            told = [
                look_up(named, row, codes[row.id], row.text) for row in context.each(rows, f"{named.name}, text")
            ]  # fmt: skip
            coded = [
                look_up(named, row, codes[row.id], reader.person(row), reader.findings(codes[row.id].evidences))
                for row in context.each(rows, f"{named.name}, codes")
            ]
            more: dict[str, Any] = {"more": named.more, "above": known}
            out += figures_of(told, conditions, context.seed, graph=named.name, given="text", **more)
            out += figures_of(coded, conditions, context.seed, graph=named.name, given="codes", **more)
            if named.name == LAY_GRAPH:
                both = [r for r in rows if r.id in lay]
                for name, texts in (("lay", [lay[r.id] for r in both]), ("fixed", [r.text for r in both])):
                    ranked = [look_up(named, r, codes[r.id], text) for r, text in zip(both, texts, strict=True)]
                    own = figures_of(
                        ranked, conditions, context.seed, graph=f"{named.name}_{name}", more=False, above=known
                    )
                    out += [f for f in own if ".text." in f.name]
            if named.name == follow_up.GRAPH:
                out += follow_up.figures(context, graph, rows)
        records, conditions_graph = (next(p for p in found if p.name == name) for name in ("records", "conditions"))
        taxonomy = KnowledgeGraph(cached, folder, records.folder).graph
        finder = TextCodes(context.data, KnowledgeGraph(cached, folder, conditions_graph.folder))
        l2 = {c: taxonomy.disease[d].l2 for c, d in records.diseases.items()}
        out += _naive_bayes(context, rows, codes, finder.codes, l2)
        for named in opened(found, plain, folder):
            for name in ("ms", "again_ms"):
                milliseconds = _timed(named.graph, rows[: TIMED + 1])
                out += mean(f"{named.name}.text.{name}", milliseconds, context.seed)
    return out + rare_disease.figures(context)


@dataclass(frozen=True)
class Ranked:
    """A patient's right disease and category, and what was ranked.

    Attributes:
        ranking: (disease, category), best first. shares: of belief, one for each of ``ranking``; () when not kept.
        gold: (disease, probability) of the release's own differential; () when not given.
    """

    disease: str
    l2: str
    ranking: tuple[tuple[str, str], ...]
    names_gold: bool
    shares: tuple[float, ...] = ()
    gold: tuple[tuple[str, float], ...] = ()

    @property
    def rank(self) -> int:
        """Rank of the right disease from 1; 0 when it is not ranked."""
        return next((n for n, (disease, _) in enumerate(self.ranking, start=1) if disease == self.disease), 0)


def look_up(
    named: NamedGraph, row: TextPatient, coded: CodedPatient, text: str, known: Sequence[Finding] = ()
) -> Ranked:
    """What a graph ranks for one patient."""
    graph = named.graph.graph
    found = named.graph.look_up(text, "en", limit=len(graph.diseases), known=known, explained=0)
    disease = named.diseases[row.pathology]
    ranking = tuple((r.disease, r.l2) for r in found.ranking)
    gold = tuple((named.diseases[c], p) for c, p in coded.differential if c in named.diseases)
    shares = tuple(r.score for r in found.ranking)
    return Ranked(disease, graph.disease[disease].l2, ranking, row.names_gold, shares, gold)


def above(graph: KnowledgeGraph) -> dict[str, str] | None:
    """The first-level node of each category; None for a graph with a single one, which has no such level."""
    nodes = graph.graph.subcategories
    return {node.id: node.l1 for node in nodes} if len({node.l1 for node in nodes}) > 1 else None


def figures_of(
    ranked: Sequence[Ranked],
    conditions: frozenset[str],
    seed: int,
    *,
    graph: str = "starter",
    given: str = "text",
    more: bool = True,
    above: Mapping[str, str] | None = None,
) -> list[Figure]:
    """Every figure of ranked patients but the time.

    Args:
        conditions: the diseases that are conditions of the release. graph, given: the first parts of the names.
        more: the graph has other diseases too, so that ``<graph>_all`` is reported beside.
        above: the first-level node (L1) of each category; None where the graph has no such level.
    """
    parts = {given: list(ranked)}
    if given == "text":
        parts["text_clean"] = [r for r in ranked if not r.names_gold]
        parts["text_named"] = [r for r in ranked if r.names_gold]
    out: list[Figure] = []
    for setting, rows in parts.items():
        out += _metrics(f"{graph}.{setting}", [_among(r, conditions) for r in rows], seed, above)
        out += _metrics(f"{graph}_all.{setting}", rows, seed, above) if more else []
    return out


def _among(row: Ranked, diseases: frozenset[str]) -> Ranked:
    kept = [i for i, (disease, _) in enumerate(row.ranking) if disease in diseases]
    shares = tuple(row.shares[i] for i in kept) if row.shares else ()
    return replace(row, ranking=tuple(row.ranking[i] for i in kept), shares=shares)


def _metrics(name: str, rows: Sequence[Ranked], seed: int, above: Mapping[str, str] | None) -> list[Figure]:
    ranks = [r.rank for r in rows]
    out = [f for k in TOPS for f in share(f"{name}.l3_top{k}", [0 < rank <= k for rank in ranks])]
    out += mean(f"{name}.mrr", [1 / rank if rank else 0.0 for rank in ranks], seed)
    out += share(f"{name}.l2", [bool(r.ranking) and r.ranking[0][1] == r.l2 for r in rows])
    if above and rows:
        out += share(f"{name}.l1", [bool(r.ranking) and above[r.ranking[0][1]] == above[r.l2] for r in rows])
        commonest = 100 * Counter(above[r.l2] for r in rows).most_common(1)[0][1] / len(rows)
        out.append(Figure(name=f"{name}.l1_majority", value=commonest, n=len(rows)))
    agreed = [agreement(r) for r in rows if r.gold]
    for at, metric in enumerate((f"ddx_recall@{AGREED}", f"ddx_precision@{AGREED}", "ddx_overlap")):
        out += mean(f"{name}.{metric}", [a[at] for a in agreed], seed)
    return out


def agreement(row: Ranked) -> tuple[float, float, float]:
    """Agreement with the gold differential, each in 0..1.

    Returns:
        Recall: share of gold's `AGREED` most probable diseases among our first `AGREED` (of fewer when gold has fewer).
        Precision: share of our first `AGREED` that stand anywhere in the gold differential.
        Overlap: sum over diseases of the lesser of gold's probability and our share, both over what is ranked.
    """
    first = [disease for disease, _ in row.ranking[:AGREED]]
    gold = dict(row.gold)
    leading = [d for d, _ in sorted(row.gold, key=lambda g: -g[1])[:AGREED]]
    recall = sum(d in first for d in leading) / len(leading)
    precision = sum(d in gold for d in first) / len(first) if first else 0.0
    total, ours = sum(gold.values()), sum(row.shares)
    overlap = 0.0
    if total > 0 and ours > 0:
        shares = {d: s / ours for (d, _), s in zip(row.ranking, row.shares, strict=True)}
        overlap = sum(min(p / total, shares.get(d, 0.0)) for d, p in gold.items())
    return recall, precision, overlap


class NaiveBayes:
    """Bernoulli naive Bayes over evidence codes, add-one smoothing. An evidence that no training row has says nothing.

    Args:
        rows: (condition, evidences with their values) of each training row.
    """

    def __init__(self, rows: Sequence[tuple[str, Collection[str]]]) -> None:
        self.conditions = tuple(dict.fromkeys(condition for condition, _ in rows))
        self._column = {code: i for i, code in enumerate(dict.fromkeys(c for _, codes in rows for c in codes))}
        present, count = np.zeros((len(self.conditions), len(self._column))), np.zeros(len(self.conditions))
        for condition, codes in rows:
            at = self.conditions.index(condition)
            count[at] += 1
            present[at, [self._column[c] for c in set(codes)]] += 1
        rate = (present + SMOOTHING) / (count[:, None] + 2 * SMOOTHING)
        self._yes, self._no = np.log(rate), np.log(1 - rate)
        self._prior = np.log(count / count.sum())

    def rank(self, evidences: Collection[str]) -> list[tuple[str, float]]:
        """(condition, probability), most probable first."""
        there = np.zeros(len(self._column), dtype=bool)
        there[[self._column[c] for c in evidences if c in self._column]] = True
        log = self._prior + np.where(there, self._yes, self._no).sum(axis=1)
        share = np.exp(log - log.max())
        share /= share.sum()
        return [(self.conditions[i], float(share[i])) for i in np.argsort(-share, kind="stable")]


def _naive_bayes(
    context: TaskContext,
    rows: Sequence[TextPatient],
    codes: Mapping[str, CodedPatient],
    read: Callable[[str], Collection[str]],
    l2: Mapping[str, str],
) -> list[Figure]:
    """The baseline on the same 98 rows' codes; categories are those of the graph that was built from the rows."""
    model = NaiveBayes([(c.pathology, c.evidences) for c in codes.values() if c.split == "train"])
    out: list[Figure] = []
    for given in ("text", "codes"):
        ranked = []
        for row in context.each(rows, f"naive Bayes, {given}"):
            coded = codes[row.id]
            found = model.rank(read(row.text) if given == "text" else coded.evidences)
            ranking, shares = tuple((c, l2[c]) for c, _ in found), tuple(p for _, p in found)
            right = row.pathology
            ranked.append(Ranked(right, l2[right], ranking, row.names_gold, shares, coded.differential))
        known = frozenset(model.conditions)
        out += figures_of(ranked, known, context.seed, graph="naive_bayes", given=given, more=False)
    return out


def _timed(graph: KnowledgeGraph, rows: Sequence[TextPatient]) -> list[float]:
    """Milliseconds of each look-up as a user has it: no query vector on disk, ten diseases; the first warms up."""
    took = []
    for row in rows:
        started = time.perf_counter()
        graph.look_up(row.text, "en")
        took.append(1000 * (time.perf_counter() - started))
    return took[1:]


TASK = Task(
    name="differential",
    what="rank of the right disease for DDXPlus patients, by several graphs",
    inputs=(TEXTS, CODES, STATEMENTS, EVIDENCES, RELEASED_CONDITIONS, TRIPLES, PATIENTS),
    expected="4 minutes; 10 the first time",
    limit=588,
    run=run,
)

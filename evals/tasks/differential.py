"""`differential`: graphs of several origins on DDXPlus patients, told as texts and given as codes.

Rows: the release's validate split. `evals.differential_graphs` says what each graph is. A graph's plain name ranks over
the 49 conditions of DDXPlus only, as published methods do; ``_all`` over every disease of the graph, where it has more.
``text``: the fixed text; ``text_clean`` leaves out the rows whose text names the gold diagnosis, ``text_named`` keeps
only those; ``codes``: each evidence of the row as a statement of its own, read by itself, so that cutting up the text
is not measured. MRR counts 0 where the disease is not ranked. L2 is the category of the first disease in the graph's
own taxonomy, L1 the node above it, where the graph has more than one such node. ``naive_bayes`` learns the codes of the
98 train rows; its ``text`` are the codes that our own matcher finds in the text, over the statements of the evidences
(`evals.differential_codes`).
``hpo...``: rare diseases (`evals.tasks.rare_disease`).
``<graph>_lay``: 100 of the rows in lay language (our own wordings); ``<graph>_fixed``: the same 100 in the fixed text.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

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
from evals.differential_codes import CodeReader, TextCodes
from evals.differential_figures import Ranked, figures_of
from evals.differential_graphs import NamedGraph, Place, opened, places
from evals.naive_bayes import NaiveBayes
from evals.statistics import mean
from evals.tasks import follow_up, rare_disease
from prompts.errors import DataError
from tools.contract import Finding
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph

WHAT = "rank of the right disease for DDXPlus patients, by several graphs"
TIMED = 20  # ours: look-ups timed with no query vector kept on disk, the first of them left out
LAY_GRAPHS = ("starter",)  # ours: the hand-written graph is what a patient's own words are for

__all__ = ["TASK", "Ranked", "figures_of"]


def run(context: TaskContext) -> list[Figure]:
    """Look every patient up in every graph and count."""
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders

    rows = context.sample(validate_texts(context.data))
    home = Home(context.settings.home).prepare()
    plain, cached = evaluation_encoders(context.settings, home)
    folder = home.cache / "evaluations" / "graphs"
    found = places(context.data, home.indexes, folder, cached)
    _check(rows, found[0])
    codes = read_codes(context.data)
    out: list[Figure] = []
    for named in opened(found, cached, folder):
        out += _measured(context, named, rows, codes)
        out += _lay(context, named, rows)
        if named.name == follow_up.GRAPH:
            out += follow_up.figures(context, named.graph, rows)
    out += _naive_bayes(context, found, rows, codes, cached, folder)
    for named in opened(found, plain, folder):
        for name in ("ms", "again_ms"):
            seconds = _timed(named.graph, rows[: TIMED + 1])
            out += mean(f"{named.name}.text.{name}", [1000 * s for s in seconds], context.seed)
    cached.close()
    plain.close()
    return out + rare_disease.figures(context)


def _measured(
    context: TaskContext, named: NamedGraph, rows: Sequence[TextPatient], codes: dict[str, CodedPatient]
) -> list[Figure]:
    conditions = frozenset(named.diseases.values())
    reader = CodeReader(context.data, named.graph)
    out: list[Figure] = []
    for given in ("text", "codes"):
        ranked = [
            _ranked(row, codes[row.id], named, reader if given == "codes" else None)
            for row in context.tick(rows, f"{named.name}, {given}", len(rows))
        ]
        out += figures_of(
            ranked, conditions, context.seed, graph=named.name, given=given, more=named.more, above=above(named.graph)
        )
    return out


def _ranked(row: TextPatient, coded: CodedPatient, named: NamedGraph, reader: CodeReader | None) -> Ranked:
    if reader is None:
        return look_up(named, row.pathology, row.names_gold, coded, row.text)
    return look_up(named, row.pathology, row.names_gold, coded, reader.person(row), reader.findings(coded.evidences))


def look_up(
    named: NamedGraph,
    pathology: str,
    names_gold: bool,
    coded: CodedPatient,
    text: str,
    known: Sequence[Finding] = (),
) -> Ranked:
    """What a graph ranks for one patient."""
    graph = named.graph
    found = graph.look_up(text, "en", limit=len(graph.graph.diseases), known=known, explained=0)
    disease = named.diseases[pathology]
    return Ranked(
        disease,
        graph.graph.disease[disease].l2,
        tuple((r.disease, r.l2) for r in found.ranking),
        names_gold,
        tuple(r.score for r in found.ranking),
        tuple((named.diseases[c], p) for c, p in coded.differential if c in named.diseases),
    )


def above(graph: KnowledgeGraph) -> dict[str, str] | None:
    """The first-level node of each category; None for a graph with a single one, which has no such level."""
    nodes = graph.graph.subcategories
    return {node.id: node.l1 for node in nodes} if len({node.l1 for node in nodes}) > 1 else None


def _lay(context: TaskContext, named: NamedGraph, rows: Sequence[TextPatient]) -> list[Figure]:
    """The rows that were reworded in lay language, and the same rows in the fixed text; nothing for other graphs."""
    if named.name not in LAY_GRAPHS:
        return []
    codes = read_codes(context.data)
    lay = {r.id: r.text for r in read_lay()}
    both = [r for r in rows if r.id in lay]
    conditions = frozenset(named.diseases.values())
    out: list[Figure] = []
    for name, text in (("lay", lambda r: lay[r.id]), ("fixed", lambda r: r.text)):
        ranked = [look_up(named, r.pathology, r.names_gold, codes[r.id], text(r)) for r in both]
        known = above(named.graph)
        figures = figures_of(ranked, conditions, context.seed, graph=f"{named.name}_{name}", more=False, above=known)
        out += [f for f in figures if f".{'text'}." in f.name]
    return out


def _naive_bayes(
    context: TaskContext,
    found: Sequence[Place],
    rows: Sequence[TextPatient],
    codes: dict[str, CodedPatient],
    encoder: Encoder,
    cache: Path,
) -> list[Figure]:
    """The baseline on the same 98 rows' codes; categories are those of the graph that was built from the rows."""
    records, conditions = (next(p for p in found if p.name == name) for name in ("records", "conditions"))
    model = NaiveBayes([(c.pathology, c.evidences) for c in codes.values() if c.split == "train"])
    graph = KnowledgeGraph(encoder, cache, records.folder).graph
    finder = TextCodes(context.data, KnowledgeGraph(encoder, cache, conditions.folder))
    l2 = {c: graph.disease[d].l2 for c, d in records.diseases.items()}
    out: list[Figure] = []
    for given in ("text", "codes"):
        ranked = []
        for row in context.tick(rows, f"naive Bayes, {given}", len(rows)):
            coded = codes[row.id]
            ranking = model.rank(finder.codes(row.text) if given == "text" else coded.evidences)
            ranked.append(
                Ranked(
                    row.pathology,
                    l2[row.pathology],
                    tuple((c, l2[c]) for c, _ in ranking),
                    row.names_gold,
                    tuple(p for _, p in ranking),
                    coded.differential,
                )
            )
        out += figures_of(
            ranked, frozenset(model.conditions), context.seed, graph="naive_bayes", given=given, more=False
        )
    return out


def _timed(graph: KnowledgeGraph, rows: Sequence[TextPatient]) -> list[float]:
    """Seconds of each look-up as a user has it: no query vector on disk, ten diseases; the first warms up."""
    seconds = []
    for row in rows:
        started = time.perf_counter()
        graph.look_up(row.text, "en")
        seconds.append(time.perf_counter() - started)
    return seconds[1:]


def _check(rows: Sequence[TextPatient], place: Place) -> None:
    missing = sorted({row.pathology for row in rows} - set(place.diseases))
    if missing:
        raise DataError(f"These are no conditions of DDXPlus: {', '.join(missing)}.", "Give the official rows.")


TASK = Task(
    name="differential",
    what=WHAT,
    inputs=(TEXTS, CODES, STATEMENTS, EVIDENCES, RELEASED_CONDITIONS, TRIPLES, PATIENTS),
    expected="4 minutes; 10 the first time",
    limit=588,
    run=run,
)

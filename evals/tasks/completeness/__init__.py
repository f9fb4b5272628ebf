"""`completeness`: the gate and its comparators, the two arms that it chooses between, and what choosing can gain.

``ddxplus_N``: the validate rows with N percent of their statements removed; ``ddxplus_clean_N`` without the rows whose
text names the diagnosis, ``ddxplus_named_N`` these alone; ``ddxplus_among_N`` ranked over the 49 conditions of the
release alone; ``ddxplus_all`` the mean of the levels by patient; ``ddxplus_lay`` the rows in lay language.
``agentclinic``: the OSCE-like cases; ``agentclinic_reachable`` those whose diagnosis the graph has, which alone can be
right. ``leave_one_out_N``: the train rows, each without its own record; the ranking's constants were chosen there.
``direct`` and ``retrieve`` are the shares of cases with the right disease first, ``retrieve_over_direct`` the paired
difference in points, ``added_ms`` what the records add to a look-up (processor time, so that a busy machine counts
nothing). The gates' names are told in `gates`, those of labels below, of ICA-RAG's table II in `ablations`.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agent.sessions import Home
from evals.contract import Figure, Task, TaskContext
from evals.datasets.clinical import CASES
from evals.datasets.ddxplus import CODES, LEVELS, TEXTS
from evals.sessions import encoders
from evals.statistics import LEVEL, mean, paired_difference, points, share
from evals.tasks.completeness.ablations import ablation_figures
from evals.tasks.completeness.cases import SOURCES, ArmCase, ArmOutcome, ArmRow, Arms, completeness_pool, conditions
from evals.tasks.completeness.gates import gate_figures, gate_time, part_figures
from evals.training.gate import annotating
from evals.training.gate_annotation import AnnotatedCase, Case, Diagnoser, Reference, annotate_all
from evals.training.gate_labellers import (
    Classes,
    Rows,
    best_weights,
    check_enough,
    chosen,
    classes_of,
    folds,
    macro_f1,
    rows_of,
    train_head,
)
from graphs.completeness.labellers import HEAD, LABELS, Head, Matrix, Probabilities, RulesLabeller, load_head
from prompts.errors import InputError
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.ranking import TEMPER
from tools.knowledge_graph.record_ranking import RecordCollection
from tools.text.sentences import sentences
from tools.text.tokens import tokens

TIMED = 20  # ours: look-ups timed in each arm, after one that warms up


def run(context: TaskContext) -> list[Figure]:
    """Run both arms on every case and compare them."""
    home = context.home
    with encoders(context.settings, home) as (plain, cached):
        kept = Arms(context.data, home.indexes, cached, home.cache / "evaluations")
        with contextlib.closing(kept) as arms:
            pool = completeness_pool(context, arms)
            rows = {name: [pool.rows[i] for i in pool.of(name)] for name in SOURCES}
            out = arm_figures(rows["ddxplus"], context.seed)
            out += compared("ddxplus_lay", rows["ddxplus_lay"], context.seed)
            out += compared("agentclinic", rows["agentclinic"], context.seed)
            out += compared("agentclinic_reachable", [r for r in rows["agentclinic"] if r.case.right], context.seed)
            out += left_out(context, arms.graph, [r.case for r in rows["train"]])
            out += added_time(context, [r.case for r in rows["ddxplus"]], plain, arms)
            out += gate_figures(context, pool, cached)
            out += part_figures(context, pool)
            out += gate_time(context, pool, arms.graph)
            out += label_figures(context, rows["ddxplus"], arms.graph, cached)
            return out + ablation_figures(context, arms.graph.graph)


def arm_figures(rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """The figures of DDXPlus by level, with and without the rows that name the diagnosis, and over all levels."""
    among = conditions()

    def only(row: ArmRow) -> ArmRow:
        def kept(outcome: ArmOutcome) -> ArmOutcome:
            return outcome.model_copy(update={"ranking": tuple(r for r in outcome.ranking if r[0] in among)})

        return replace(row, direct=kept(row.direct), retrieve=kept(row.retrieve))

    out: list[Figure] = []
    for level in LEVELS:
        at = [r for r in rows if r.case.level == level]
        out += compared(f"ddxplus_{level}", at, seed)
        out += compared(f"ddxplus_clean_{level}", [r for r in at if not r.case.names_gold], seed)
        out += compared(f"ddxplus_named_{level}", [r for r in at if r.case.names_gold], seed)
        out += compared(f"ddxplus_among_{level}", [only(r) for r in at], seed)
    # A patient is one row, the mean over his levels, so that the interval does not count him four times.
    patients = list(dict.fromkeys(r.case.id for r in rows))
    right = {p: [[r.direct_right, r.retrieve_right] for r in rows if r.case.id == p] for p in patients}
    direct, retrieve = (100 * np.array([np.mean(right[p], axis=0) for p in patients]).reshape(-1, 2)).T.tolist()
    return [
        *out,
        *mean("arms.ddxplus_all.direct", direct, seed),
        *mean("arms.ddxplus_all.retrieve", retrieve, seed),
        *paired_difference("arms.ddxplus_all.retrieve_over_direct", retrieve, direct, seed),
    ]


def compared(setting: str, rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """Right disease first in each arm, and the paired difference in points; nothing for no rows."""
    direct, retrieve = [r.direct_right for r in rows], [r.retrieve_right for r in rows]
    return [
        *share(f"arms.{setting}.direct", direct),
        *share(f"arms.{setting}.retrieve", retrieve),
        *points(f"arms.{setting}.retrieve_over_direct", retrieve, direct, seed),
    ]


def left_out(context: TaskContext, graph: KnowledgeGraph, cases: Sequence[ArmCase]) -> list[Figure]:
    """The train rows, each looked up with all records but its own."""
    ranking = graph.record_ranking()
    if ranking is None:
        return []
    position = {name: n for n, name in enumerate(dict.fromkeys(c.id for c in cases))}
    right: dict[int, list[list[bool]]] = {level: [] for level in LEVELS}
    for case in context.each(cases, "one left out"):
        read = graph.read(case.text)
        own = np.log(graph.shares(read.standing)) / TEMPER
        weighed = ranking.weigh(own, read.told, read.matches, without=position[case.id])
        both = own if weighed is None else weighed.log_scores
        right[case.level].append([ranking.ids[int(scores.argmax())] in case.right for scores in (own, both)])
    out: list[Figure] = []
    for level, rows in right.items():
        for at, arm in enumerate(("direct", "retrieve")):
            out += share(f"arms.leave_one_out_{level}.{arm}", [row[at] for row in rows])
    return out


def added_time(context: TaskContext, cases: Sequence[ArmCase], encoder: Encoder, arms: Arms) -> list[Figure]:
    """Milliseconds that records add to a look-up: two graphs, neither of which has read the case before.

    Before the timing, the records are read: the agent does that once a process.
    """
    indexes = context.home.indexes
    collection = RecordCollection(arms.records, encoder)
    direct = KnowledgeGraph(encoder, indexes)
    retrieve = KnowledgeGraph(encoder, indexes, records=collection, table=arms.table)
    chosen = context.sample_of([c for c in cases if c.level == 0], TIMED + 1)
    retrieve.record_ranking()

    def timed(look: Callable[[str], object]) -> list[float]:
        took = []
        for case in chosen:
            started = time.process_time()
            look(case.text)
            took.append(1000 * (time.process_time() - started))
        return took[1:]

    plain = timed(lambda text: direct.look_up(text, "en"))
    learnt = timed(lambda text: retrieve.look_up(text, "en", learn=True))
    out = mean("arms.direct.ms", plain, context.seed)
    return out + paired_difference("arms.retrieve.added_ms", learnt, plain, context.seed)


TASK = Task(
    name="completeness",
    what="the gate and its comparators on cases with information removed, and its two arms: direct and retrieve",
    inputs=(TEXTS, CODES, CASES),
    expected="15 minutes; 30 the first time",
    limit=588,
    run=run,
)


# The labels of units: heads against plain rules, on cases and diseases that they were not trained on.
# The truth is the annotation by masking of DDXPlus' validate rows at every level, with the graph as diagnoser.
# Every method is fitted on four fifths of the patients (`unseen_patients`) or of the diseases
# (`unseen_diseases`) and asked for the others. `labels`: the light head. `labels_majority`: the commonest
# label. `labels_keywords`: naive Bayes over the words of a sentence. `labels_per_finding`: the commonest label
# of that very sentence in training, which DDXPlus words in one way for each finding; `..._weighed`: either with
# labels weighed as the head's are. `labels_rules`: the open rules. `labels_shipped`: the head that is shipped,
# which saw no validate row.
# Two ceilings. `labels.ceiling`: a second annotation of the same cases with their sentences in another order,
# which changes nothing that was told. `labels.twins`: the label of the most similar unit of another patient,
# which is how far labels follow from what can be seen at all.
# Macro-F1 of labels over three classes, in percent; intervals resample patients, whose units hang together.

# Plain ways to label a sentence, which a trained classifier must beat: by what is commonest, by words, by a table.
SMOOTHING = 1.0  # ours: Laplace's


def majority(known: Classes) -> int:
    """The commonest class; of equals the least important."""
    counts = np.bincount(known, minlength=len(LABELS))
    return int(len(LABELS) - 1 - counts[::-1].argmax())


def keyword_shares(known: Sequence[str], classes: Classes, asked: Sequence[str]) -> Probabilities:
    """Array (asked, 3): naive Bayes over whether each word stands in a sentence, fitted on the known ones."""
    column = {word: n for n, word in enumerate(sorted({w for text in known for w in tokens(text)}))}
    counts = np.zeros((len(LABELS), len(column)))
    for text, label in zip(known, classes.tolist(), strict=True):
        counts[label, [column[w] for w in set(tokens(text))]] += 1
    totals = np.bincount(classes, minlength=len(LABELS))[:, None]
    there = (counts + SMOOTHING) / (totals + 2 * SMOOTHING)
    log_there, log_not = np.log(there), np.log(1 - there)
    prior = np.log((totals[:, 0] + SMOOTHING) / (totals.sum() + len(LABELS) * SMOOTHING))
    out = np.zeros((len(asked), len(LABELS)))
    for row, text in enumerate(asked):
        at = [column[w] for w in set(tokens(text)) if w in column]
        out[row] = prior + log_not.sum(axis=1) + (log_there - log_not)[:, at].sum(axis=1)
    shares = np.exp(out - out.max(axis=1, keepdims=True))
    normal: Probabilities = shares / shares.sum(axis=1, keepdims=True)
    return normal


def sentence_shares(known: Sequence[str], classes: Classes, asked: Sequence[str]) -> Probabilities:
    """Array (asked, 3): how often that very sentence had each label; one that is not known has the shares of all."""
    table: dict[str, Probabilities] = {}
    for text, label in zip(known, classes.tolist(), strict=True):
        table.setdefault(text, np.zeros(len(LABELS)))[label] += 1
    overall = np.bincount(classes, minlength=len(LABELS)).astype(np.float64)
    rows = [table.get(text, overall) for text in asked]
    return np.array([row / row.sum() for row in rows]).reshape(-1, len(LABELS))


FOLDS = 5  # ours: a fifth is unseen at a time
JOBS = 2  # ours: diagnoses at once, one a core
AGAIN = 60  # ours: patients whose cases are annotated a second time
TWINS = 2000  # ours: units whose twin is looked for
COMPARED = ("majority", "keywords", "keywords_weighed", "per_finding", "per_finding_weighed", "rules")
Shares = Callable[[Sequence[str], Classes, Sequence[str]], Probabilities]


@dataclass(frozen=True)
class Labelled:
    """Annotated units: features, classes and patients; the disease, the sentence and the rules' label of each."""

    rows: Rows
    diseases: tuple[str, ...]
    sentences: tuple[str, ...]
    rules: Classes


def label_figures(
    context: TaskContext, arm_rows: Sequence[ArmRow], graph: KnowledgeGraph, encoder: Encoder
) -> list[Figure]:
    """Every figure of the labels; nothing for no rows, nor for too few, which the report's settings then say."""

    if not arm_rows:
        return []
    home = Home(context.settings.home)
    cases = [case_of(row, graph) for row in arm_rows]
    with annotating(context.settings, home, "graph", JOBS) as (diagnoser, reference):
        annotated = _annotate(context, cases, diagnoser, reference, "annotation")
        held = labelled(annotated, arm_rows, encoder)
        if lacking := too_few(held, context.seed):
            context.not_run["labels"] = lacking
            return []
        again = _again(context, cases, annotated, diagnoser, reference)
    out = unseen("unseen_patients", held, held.rows.groups, encoder.name, context.seed)
    out += unseen("unseen_diseases", held, held.diseases, encoder.name, context.seed)
    out += again + twins(held, encoder.name, context.seed)
    said = said_by(load_head(HEAD), held.rows.features)
    return out + macro_figure(
        "labels_shipped.validate_rows.macro_f1", said, held.rows.classes, held.rows.groups, context.seed
    )


def case_of(row: ArmRow, graph: KnowledgeGraph) -> Case:
    """A row as a case to annotate; its reference is the graph's name of the right disease."""
    disease = next(d for d in sorted(row.case.right) if d in graph.graph.disease)
    return Case(id=f"{row.case.id}@{row.case.level}", text=row.case.text, reference=graph.graph.disease[disease].name)


def labelled(annotated: Sequence[AnnotatedCase], arm_rows: Sequence[ArmRow], encoder: Encoder) -> Labelled:
    """The units with what every method reads of them."""
    look = {row.case.text: row.direct.differential for row in arm_rows}
    rules = [u.label for case in annotated for u in RulesLabeller().label(case.text, look[case.text])]
    return Labelled(
        rows=rows_of(annotated, look.__getitem__, encoder),
        diseases=tuple(case.reference for case in annotated for _ in case.units),
        sentences=tuple(unit.text for case in annotated for unit in case.units),
        rules=classes_of(rules),
    )


def too_few(held: Labelled, seed: int) -> str:
    """Why no head can be trained where a fifth of the patients, or of the diseases, is left out; "" where it can."""
    for who, groups in (("patients", held.rows.groups), ("diseases", held.diseases)):
        for fold in folds(groups, FOLDS, seed):
            known = {groups[i] for i in np.flatnonzero(~fold).tolist()}
            try:
                check_enough(int((~fold).sum()), known, held.rows.classes[~fold])
            except InputError as error:
                return f"a fifth of the {who} left out: {error.what}"
    return ""


def unseen(setting: str, held: Labelled, groups: Sequence[str], encoder: str, seed: int) -> list[Figure]:
    """Macro-F1 of every method on groups that it was not fitted on, and the head's lead over each by patient."""
    said = predictions(held, groups, encoder, seed)
    true, patients = held.rows.classes, held.rows.groups
    out = macro_figure(f"labels.{setting}.macro_f1", said["head"], true, patients, seed)
    for name in COMPARED:
        out += macro_figure(f"labels_{name}.{setting}.macro_f1", said[name], true, patients, seed)
    for name in COMPARED:
        out += macro_difference(f"labels.{setting}.over_{name}", said["head"], said[name], true, patients, seed)
    return out


def predictions(held: Labelled, groups: Sequence[str], encoder: str, seed: int) -> dict[str, Classes]:
    """Each method's label of every unit, by what was fitted on the folds without its group."""
    true = held.rows.classes
    out = {name: np.zeros(len(true), dtype=np.int64) for name in ("head", *COMPARED)}
    out["rules"] = held.rules
    for fold in folds(groups, FOLDS, seed):
        known, asked = np.flatnonzero(~fold), np.flatnonzero(fold)
        inside = [groups[i] for i in known.tolist()]
        rows = Rows(held.rows.features[~fold], true[~fold], tuple(inside))
        head = train_head(rows, encoder, seed).head
        out["head"][asked] = said_by(head, held.rows.features[asked])
        out["majority"][asked] = majority(rows.classes)
        for name, shares in (("keywords", keyword_shares), ("per_finding", sentence_shares)):
            plain, weighed = _both(shares, held.sentences, true, known, asked, inside, seed)
            out[name][asked], out[f"{name}_weighed"][asked] = plain, weighed
    return out


def said_by(head: Head, features: Matrix) -> Classes:
    """A head's labels of units (units, columns)."""
    return chosen(head.probabilities(features), head.weights.astype(np.float64))


def twins(held: Labelled, encoder: str, seed: int) -> list[Figure]:
    """The label of the unit that is most alike to the head, of another patient; of a sample of units."""
    inputs = train_head(held.rows, encoder, seed).head.inputs(held.rows.features)
    patients = np.array(held.rows.groups)
    count = min(TWINS, len(patients))
    asked = sorted(random.Random(seed).sample(range(len(patients)), count))  # noqa: S311
    squares = (inputs**2).sum(axis=1)
    said = []
    for i in asked:
        distance = squares - 2 * inputs @ inputs[i]
        distance[patients == patients[i]] = np.inf
        said.append(int(held.rows.classes[distance.argmin()]))
    groups = patients[asked].tolist()
    return macro_figure("labels.twins.macro_f1", np.array(said), held.rows.classes[asked], groups, seed)


def reordered(text: str, seed: int) -> tuple[str, list[int]]:
    """A text with all sentences but the first in another order, and for each sentence its place in the text given."""
    said = [span.of(text) for span in sentences(text)]
    order = list(range(1, len(said)))
    random.Random(f"{seed} {text}").shuffle(order)  # noqa: S311
    order = [0, *order]
    return " ".join(said[i] for i in order), order


def _again(
    context: TaskContext,
    cases: Sequence[Case],
    annotated: Sequence[AnnotatedCase],
    diagnoser: Diagnoser,
    reference: Reference,
) -> list[Figure]:
    patients = list(dict.fromkeys(case.id.partition("@")[0] for case in cases))
    chosen_ones = set(context.sample_of(patients, AGAIN))
    first = [case for case in annotated if case.id.partition("@")[0] in chosen_ones]
    orders = [reordered(case.text, context.seed) for case in first]
    pairs = [(case, text, order) for case, (text, order) in zip(first, orders, strict=True)]
    pairs = [(case, text, order) for case, text, order in pairs if len(sentences(text)) == len(order)]
    other = [Case(id=case.id, text=text, reference=case.reference) for case, text, _ in pairs]
    second = _annotate(context, other, diagnoser, reference, "second annotation")
    said, true, groups = [], [], []
    for (case, _, order), twice in zip(pairs, second, strict=True):
        for place, unit in zip(order, twice.units, strict=True):
            said.append(unit.label)
            true.append(case.units[place].label)
            groups.append(case.id.partition("@")[0])
    return macro_figure("labels.ceiling.macro_f1", classes_of(said), classes_of(true), groups, context.seed)


def _annotate(
    context: TaskContext,
    cases: Sequence[Case],
    diagnoser: Diagnoser,
    reference: Reference,
    label: str,
) -> list[AnnotatedCase]:

    ticks = iter(context.tick(cases, label, len(cases)))
    done = asyncio.run(annotate_all(cases, diagnoser, reference, jobs=JOBS, progress=lambda *_: next(ticks, None)))
    next(ticks, None)  # ends the bar
    return done


def _both(
    shares: Shares,
    texts: Sequence[str],
    true: Classes,
    known: NDArray[np.int64],
    asked: NDArray[np.int64],
    groups: Sequence[str],
    seed: int,
) -> tuple[Classes, Classes]:
    """A plain method's labels: the likeliest, and weighed as the head's are, by parts of what is known."""
    seen, classes = [texts[i] for i in known.tolist()], true[known]
    inner = np.zeros((len(known), 3))
    for fold in folds(groups, FOLDS, seed):
        rows = np.flatnonzero(~fold).tolist()
        inner[fold] = shares([seen[i] for i in rows], classes[~fold], [seen[i] for i in np.flatnonzero(fold).tolist()])
    found = shares(seen, classes, [texts[i] for i in asked.tolist()])
    return chosen(found, np.ones(3)), chosen(found, best_weights(inner, classes))


RESAMPLES = 2000  # ours: enough for two digits of an interval's ends
Counts = NDArray[np.float64]


def macro_figure(name: str, said: Classes, true: Classes, groups: Sequence[str], seed: int) -> list[Figure]:
    """Macro-F1 in percent; n is the units, the interval is by group; nothing for no units."""
    if not len(true):
        return []
    drawn = _drawn(_counts(said, true, groups), seed)
    return [Figure(name=name, value=100 * macro_f1(said, true), n=len(true), ci95=_interval(drawn))]


def macro_difference(
    name: str, first: Classes, second: Classes, true: Classes, groups: Sequence[str], seed: int
) -> list[Figure]:
    """Macro-F1 of the first less that of the second in points, paired: both over the same resampled groups."""
    if not len(true):
        return []
    drawn = _drawn(_counts(first, true, groups), seed) - _drawn(_counts(second, true, groups), seed)
    value = 100 * (macro_f1(first, true) - macro_f1(second, true))
    return [Figure(name=name, value=value, n=len(true), ci95=_interval(drawn))]


def _counts(said: Classes, true: Classes, groups: Sequence[str]) -> Counts:
    """Array (groups, 2, 3): for each class the units that both have, and those that each has, summed."""
    place = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    rows = np.array([place[group] for group in groups])
    out = np.zeros((len(place), 2, len(LABELS)))
    same = said == true
    both, due = out[:, 0], out[:, 1]
    np.add.at(both, (rows[same], true[same]), 1)
    np.add.at(due, (rows, said), 1)
    np.add.at(due, (rows, true), 1)
    return out


def _drawn(counts: Counts, seed: int) -> Counts:
    """Array (resamples,): macro-F1 of groups drawn with replacement; the same groups for the same seed."""
    random = np.random.default_rng(seed)
    times = random.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES).astype(np.float64)
    both, due = (times @ counts[:, part] for part in (0, 1))
    scores: Counts = np.divide(2 * both, due, out=np.zeros_like(due), where=due > 0).mean(axis=1)
    return scores


def _interval(drawn: Counts) -> tuple[float, float]:
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(100 * drawn, [tail, 100 - tail])
    return float(low), float(high)

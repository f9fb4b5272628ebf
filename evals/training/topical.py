"""Training of what tells whether a document is about what a question asks (`graphs/verdicts/topical.py`).

On the *fit* part of PubMedQA each question stands beside its own article (without its title, which is the question) and
the first others that a search of the literature finds; on that of Evidence Inference a question made of a comparison
stands beside its own abstract, where that has the evidence, beside the abstracts nearest to it, and its outcome gives
way to another article's. Trials of ours stand beside questions in other words than theirs.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.assembly import open_search
from evals.contract import TaskContext
from evals.datasets.closed import OwnDocument
from evals.datasets.literature import read_collection
from evals.datasets.pubmedqa import PubMedQuestion
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.sessions import encoders
from evals.tasks.literature import prepared
from evals.tasks.verdicts import abstracts
from graphs.verdicts.local import VerdictSettings
from graphs.verdicts.studies import Document
from graphs.verdicts.topical import FEATURES, features, with_products
from tools.encoders import Encoder
from tools.reading.corpus import CLOSED, comparisons
from tools.text.sentences import sentences
from tools.weights import store

OURS = "trials of ours"
WEIGHED = {OURS: 0.5}  # ours: of a set beside the others; these others are all far
TRIALS = SHIPPED / "dev" / "own_documents.jsonl"
FOUND = 15  # ours: of a search, documents that stand beside the question's own
NEIGHBOURS = 2  # ours: the nearest other abstracts of a comparison, or trials
PREFIX = 60  # ours: characters by which evidence is found in an abstract
FOLDS, INVERSE, STEPS, SEED = 5, 0.3, 500, 5  # ours
Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Rows of features, whether each document is the question's own, and the group of each."""

    x: Floats
    own: NDArray[np.bool_]
    group: tuple[str, ...]


def train_topical(context: TaskContext, out: Path, tell: Callable[[str], None]) -> None:
    """Train on both, say what the other questions of each would get, and write the weights."""
    with encoders(context.settings, context.home) as (_, encoder):
        sets = {
            "PubMedQA": _joined(searched(context, encoder)),
            "Evidence Inference": _joined(compared(context, encoder)),
            OURS: _joined(own_trials(context, encoder)),
        }
    x = np.vstack([rows.x for rows in sets.values()])
    own = np.concatenate([rows.own for rows in sets.values()])
    group = [g for rows in sets.values() for g in rows.group]
    weight = np.concatenate(
        [WEIGHED.get(n, 1.0) * np.where(r.own, 1 / r.own.sum(), 1 / (~r.own).sum()) for n, r in sets.items()]
    )
    weight *= len(weight) / weight.sum()
    mean, scale = x.mean(axis=0), x.std(axis=0)
    seen = with_products((x - mean) / scale)
    fold = np.array([zlib.crc32(g.encode()) % FOLDS for g in group])
    chance = np.zeros(len(x))
    for n in range(FOLDS):
        kept = fold != n
        chance[~kept] = _fitted(seen[kept], own[kept], weight[kept]).predict_proba(seen[~kept])[:, 1]
    least, begin = VerdictSettings().topical, 0
    for name, rows in sets.items():
        some = chance[begin : begin + len(rows.own)]
        begin += len(rows.own)
        kept, others = (some[rows.own] >= least).mean(), (some[~rows.own] >= least).mean()
        tell(f"held out, {name}: own {kept:.1%} of {rows.own.sum()}, others {others:.1%} of {(~rows.own).sum()}")
    model = _fitted(seen, own, weight)
    store(out, {"mean": mean, "scale": scale, "weight": model.coef_[0], "bias": model.intercept_}, {})


def searched(context: TaskContext, encoder: Encoder) -> Iterator[Rows]:
    """PubMedQA's questions over a mirror of the literature."""
    folder, _ = prepared(context, read_collection(context.data))
    search = open_search(context.settings, context.home, folder)
    for row in context.each(abstracts(context, judge=False), "questions"):
        found = asyncio.run(search.search(row.question, case=False, limit=FOUND)).documents
        pieces = [(e, of_question(e.id, row)) for d in found[:FOUND] for e in d.evidence]
        if pieces:
            documents = [
                _document("" if own else e.title, [s.of(e.text) for s in sentences(e.text)]) for e, own in pieces
            ]
            x = features(row.question, documents, encoder)
            yield Rows(x, np.array([own for _, own in pieces]), (row.id,) * len(pieces))


def of_question(evidence_id: str, row: PubMedQuestion) -> bool:
    """Whether an id is of a piece of the article that a question was made of."""
    return evidence_id.partition("@")[0] == f"pubmed:{row.pmid}"


def compared(context: TaskContext, encoder: Encoder) -> Iterator[Rows]:
    """Comparisons whose abstract has the evidence, one of each article."""
    rng = random.Random(SEED)  # noqa: S311
    by_article: dict[str, list[dict[str, Any]]] = {}
    for row in comparisons(context.data, judge=False):
        text = " ".join(s for s, _ in row["abstract"])
        if any(e[:PREFIX] in text for e in row["evidence"]):
            by_article.setdefault(row["pmcid"], []).append(row)
    some = [rng.choice(rows) for rows in by_article.values()]
    told = [_document(r["title"], [s for s, _ in r["abstract"]]) for r in some]
    titles = encoder.encode_documents([d.opening for d in told])
    near = np.argsort(-(titles @ titles.T), axis=1)
    for at, row in context.each(list(enumerate(some)), "comparisons"):
        form, other = rng.choice(CLOSED)[0], rng.choice([r for r in some if r is not row])
        others = [told[n] for n in near[at] if n != at][:NEIGHBOURS]
        x = [
            features(_question(form, row, row["outcome"]), [told[at], *others], encoder),
            features(_question(form, row, other["outcome"]), [told[at]], encoder),
        ]
        own = np.array([True] + [False] * (len(others) + 1))
        yield Rows(np.vstack(x), own, (str(row["pmcid"]),) * len(own))


def own_trials(context: TaskContext, encoder: Encoder) -> Iterator[Rows]:
    """Made-up trials, each asked in other words than its own."""
    rows = read_jsonl(TRIALS, OwnDocument)
    told = [_document(r.title, [s.of(r.text) for s in sentences(r.text)]) for r in rows]
    near = encoder.encode_queries([r.question for r in rows]) @ encoder.encode_documents([d.opening for d in told]).T
    for at, row in context.each(list(enumerate(rows)), "trials"):
        others = [int(n) for n in np.argsort(-near[at]) if n != at][:NEIGHBOURS]
        x = features(row.question, [told[n] for n in (at, *others)], encoder)
        yield Rows(x, np.array([True] + [False] * len(others)), (row.id,) * (1 + len(others)))


def _question(form: str, row: dict[str, Any], outcome: str) -> str:
    asked = form.format(i=row["intervention"], c=row["comparator"] or "no treatment", o=outcome)
    return asked[0].upper() + asked[1:]


def _document(title: str, said: Sequence[str]) -> Document:
    return Document(title, tuple(range(len(said))), tuple(said))


def _joined(rows: Iterator[Rows]) -> Rows:
    every = [r for r in rows if len(r.own)]
    x = np.vstack([r.x for r in every]) if every else np.zeros((0, FEATURES))
    return Rows(x, np.concatenate([r.own for r in every]), tuple(g for r in every for g in r.group))


def _fitted(x: Floats, own: NDArray[np.bool_], weight: Floats) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=INVERSE, max_iter=STEPS).fit(x, own, weight)

"""`effects`: the trained reader by itself on articles that it was not trained on: direction, role, stance.

Direction is of Evidence Inference's comparisons, the likeliest of increased, decreased and no difference, because the
gold is always one of these. ``direction.given`` is given the annotated sentences, ``direction.found`` chooses one
(relevance times the probability of being a result or conclusion) among the abstract's sentences and all that annotators
marked anywhere in the article; ``own_sentence`` is whether it was one marked for that very comparison. ``words`` and
``majority`` are baselines over the same rows; words are fitted on the part for training. Intervals draw articles.
``role.headed`` reads sentences of headed abstracts, three an article; ``stance.own`` the pairs of our own that were
held back.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from evals.contract import Figure, Task, TaskContext
from evals.statistics import clustered_share, macro_f1
from evals.tasks.verdicts import Known, commonest, the_reader, words
from tools.reading import corpus
from tools.reading.contract import DIRECTIONS, Direction, Pair, Reader, comparison

LABELS = tuple(d.value for d in (Direction.INCREASED, Direction.DECREASED, Direction.NO_DIFFERENCE))
HEADED = 3  # ours: sentences read of an abstract
Row = Mapping[str, Any]


def run(context: TaskContext) -> list[Figure]:
    """Read everything and count."""
    reader, held = the_reader(), corpus.comparisons(context.data, judge=True)
    return [*directions(context, reader, held), *roles(context, reader, held), *stances(context, reader)]


def directions(context: TaskContext, reader: Reader, held: Sequence[Row]) -> list[Figure]:
    """Macro F1 of the reader given the sentences, of the reader that finds one, and of the baselines."""
    pool: dict[str, dict[str, None]] = {}  # of each article its abstract's sentences, and all that were marked
    for row in held:
        own = pool.setdefault(row["pmcid"], dict.fromkeys(sentence for sentence, _ in row["abstract"]))
        own.update(dict.fromkeys(_marked(row)))
    rows = context.sample(held)
    gold, articles = [_label(row) for row in rows], [str(row["pmcid"]) for row in rows]
    found = [_found_in(reader, row, list(pool[row["pmcid"]])) for row in context.each(rows, "found")]
    given = [_found_in(reader, row, [_shown(row)]) for row in context.each(rows, "given")]
    said = {"given": [label for label, _ in given], "found": [label for label, _ in found]}
    said["majority"] = [commonest(gold)] * len(gold)
    fitted_on = corpus.rows(context.data / corpus.COMPARISONS)
    judged = corpus.division()["evidence_inference"]
    known = [Known(_shown(row), _label(row)) for row in fitted_on if row["pmcid"] not in judged]
    if len({k.label for k in known}) > 1:
        said["words"] = [label for label, _ in words(known, balanced=True)([_shown(row) for row in rows])]
    else:
        context.not_run["direction.words"] = "not measured: nothing to fit words on"
    out = [f for name, labels in said.items() for f in _scores(f"direction.{name}", gold, labels, articles, context)]
    right = [sentence in _marked(row) for (_, sentence), row in zip(found, rows, strict=True)]
    return out + clustered_share("direction.found.own_sentence", by_article(right, articles), context.seed)


def _scores(
    name: str,
    gold: Sequence[str],
    said: Sequence[str],
    groups: Sequence[str],
    context: TaskContext,
    labels: Sequence[str] = LABELS,
) -> list[Figure]:
    pairs = list(zip(gold, said, strict=True))
    hits = by_article([a == b for a, b in pairs], groups)
    out = macro_f1(f"{name}.macro_f1", pairs, labels, context.seed, groups)
    return out + clustered_share(f"{name}.accuracy", hits, context.seed)


def _label(row: Row) -> str:
    return corpus.DIRECTION[row["label"]].value


def _marked(row: Row) -> list[str]:
    """What annotators marked for a comparison, cut to what is read."""
    return [str(text)[: corpus.MOST] for text in row["evidence"]]


def _shown(row: Row) -> str:
    """The same joined, cut to what is read."""
    return " ".join(row["evidence"])[: corpus.MOST]


def _found_in(reader: Reader, row: Row, sentences: Sequence[str]) -> tuple[str, str]:
    """The likeliest direction in the sentence that tells most of the comparison, and that sentence."""
    asked = comparison(row["intervention"], row["comparator"], row["outcome"])
    readings = reader.read([Pair(asked, sentence) for sentence in sentences])
    told = zip(readings, sentences, strict=True)
    reading, sentence = max(told, key=lambda pair: pair[0].relevance * pair[0].telling)
    return max(LABELS, key=lambda label: reading.directions[DIRECTIONS.index(Direction(label))]), sentence


def roles(context: TaskContext, reader: Reader, held: Sequence[Row]) -> list[Figure]:
    """Accuracy of the role of sentences under headings, beside the commonest role."""
    rng, asked = random.Random(context.seed), []  # noqa: S311
    articles = list({row["pmcid"]: row for row in held}.values())
    for row in context.sample(articles):
        told = [(sentence, role) for sentence, role in row["abstract"] if role is not None]
        question = comparison(row["intervention"], row["comparator"], row["outcome"])
        for sentence, role in rng.sample(told, min(HEADED, len(told))):
            asked.append((row["pmcid"], Pair(question, sentence), role.value))
    if not asked:
        context.not_run["role.headed"] = "not measured: no abstract has headings"
        return []
    readings = reader.read([pair for _, pair, _ in asked])
    names, gold = [name for name, _, _ in asked], [role for _, _, role in asked]
    usual = commonest(gold)
    right = [reading.role == role for reading, role in zip(readings, gold, strict=True)]
    return [
        *clustered_share("role.headed.accuracy", by_article(right, names), context.seed),
        *clustered_share("role.majority.accuracy", by_article([role == usual for role in gold], names), context.seed),
    ]


def stances(context: TaskContext, reader: Reader) -> list[Figure]:
    """Stance of the held back pairs of our own, beside the commonest stance; the interval draws questions."""
    own = [e for e in corpus.own(judge=True, rng=random.Random(context.seed)) if len(e.stances) == 1]  # noqa: S311
    if not own:
        context.not_run["stance.own"] = "not measured: no pairs of our own are held back"
        return []
    readings = reader.read([e.pair for e in own])
    gold, questions = [e.stances[0].value for e in own], [e.article for e in own]
    said = {
        "own": [max(corpus.STANCE_AT, key=reading.stance).value for reading in readings],
        "majority": [commonest(gold)] * len(gold),
    }
    labels = sorted(set(gold))
    return [f for name, one in said.items() for f in _scores(f"stance.{name}", gold, one, questions, context, labels)]


def by_article(hits: Sequence[bool], articles: Sequence[str]) -> list[list[bool]]:
    """The hits of each article together."""
    out: dict[str, list[bool]] = {}
    for hit, article in zip(hits, articles, strict=True):
        out.setdefault(article, []).append(hit)
    return list(out.values())


TASK = Task(
    name="effects",
    what="the trained reader: direction of an effect given the sentence and where it must be found, roles, stances",
    inputs=(corpus.COMPARISONS, corpus.ABSTRACTS),
    expected="10 minutes",
    limit=1000,
    run=run,
)

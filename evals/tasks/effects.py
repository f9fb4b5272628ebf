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
from typing import Any, NamedTuple

from evals.contract import Figure, Task, TaskContext
from evals.statistics import clustered_share
from evals.verdict_figures import Known, commonest, macro_f1, the_reader, words
from tools.reading import corpus
from tools.reading.contract import DIRECTIONS, Direction, Pair, Reader, Reading, comparison

WHAT = "the trained reader: direction of an effect given the sentence and where it must be found, roles, stances"
LABELS = tuple(d.value for d in (Direction.INCREASED, Direction.DECREASED, Direction.NO_DIFFERENCE))
HEADED = 3  # ours: sentences read of an abstract
Row = Mapping[str, Any]


class Chosen(NamedTuple):
    """A direction and the sentence that it was read in."""

    direction: str
    sentence: str


def run(context: TaskContext) -> list[Figure]:
    """Read everything and count."""
    reader = the_reader()
    held = corpus.comparisons(context.data, judge=True)
    rows = context.sample(held)
    return [
        *directions(context, reader, rows, pools(held)),
        *roles(context, reader, held),
        *stances(context, reader),
    ]


def directions(
    context: TaskContext, reader: Reader, rows: Sequence[Row], pool: Mapping[str, Sequence[str]]
) -> list[Figure]:
    """Macro F1 of the reader given the sentences, of the reader that finds one, and of the baselines."""
    gold, articles = [label_of(row) for row in rows], [str(row["pmcid"]) for row in rows]
    found = [found_in(reader, row, pool[row["pmcid"]]) for row in context.tick(rows, "found", len(rows))]
    given = [found_in(reader, row, [shown(row)]) for row in context.tick(rows, "given", len(rows))]
    said = {"given": [c.direction for c in given], "found": [c.direction for c in found]}
    said["majority"] = [commonest(gold)] * len(gold)
    known = [Known(shown(row), label_of(row)) for row in to_fit_on(context)]
    if len({k.label for k in known}) > 1:
        said["words"] = [label for label, _ in words(known, balanced=True)([shown(row) for row in rows])]
    else:
        context.not_run["direction.words"] = "not measured: nothing to fit words on"
    out: list[Figure] = []
    for name, labels in said.items():
        pairs = list(zip(gold, labels, strict=True))
        out += macro_f1(f"direction.{name}.macro_f1", pairs, LABELS, context.seed, articles)
        out += clustered_share(
            f"direction.{name}.accuracy", by_article([a == b for a, b in pairs], articles), context.seed
        )
    own = [c.sentence in marked(row) for c, row in zip(found, rows, strict=True)]
    return out + clustered_share("direction.found.own_sentence", by_article(own, articles), context.seed)


def to_fit_on(context: TaskContext) -> list[Row]:
    """The comparisons of articles that may be trained on."""
    held = corpus.division()["evidence_inference"]
    return [row for row in corpus.rows(context.data / corpus.COMPARISONS) if row["pmcid"] not in held]


def label_of(row: Row) -> str:
    """The gold direction of a comparison."""
    return corpus.DIRECTION[row["label"]].value


def marked(row: Row) -> list[str]:
    """What annotators marked for a comparison, cut to what is read."""
    return [str(text)[: corpus.MOST] for text in row["evidence"]]


def shown(row: Row) -> str:
    """The same joined, cut to what is read."""
    return " ".join(row["evidence"])[: corpus.MOST]


def pools(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The sentences of each article in which an answer is to be found: its abstract's, and all that were marked."""
    out: dict[str, dict[str, None]] = {}
    for row in rows:
        held = out.setdefault(row["pmcid"], dict.fromkeys(sentence for sentence, _ in row["abstract"]))
        held.update(dict.fromkeys(marked(row)))
    return {article: list(held) for article, held in out.items()}


def found_in(reader: Reader, row: Row, sentences: Sequence[str]) -> Chosen:
    """The direction in the sentence that tells most of the comparison."""
    asked = comparison(row["intervention"], row["comparator"], row["outcome"])
    readings = reader.read([Pair(asked, sentence) for sentence in sentences])
    told = list(zip(readings, sentences, strict=True))
    reading, sentence = max(told, key=lambda pair: pair[0].relevance * pair[0].telling)
    return Chosen(likeliest(reading), sentence)


def likeliest(reading: Reading) -> str:
    """The likeliest of the three directions that gold may be."""
    return max(LABELS, key=lambda label: reading.directions[DIRECTIONS.index(Direction(label))])


def roles(context: TaskContext, reader: Reader, held: Sequence[Row]) -> list[Figure]:
    """Accuracy of the role of sentences under headings, beside the commonest role."""
    rng, asked = random.Random(context.seed), []  # noqa: S311
    articles = list({row["pmcid"]: row for row in held}.values())
    for row in context.sample(articles):
        told = [(sentence, role) for sentence, role in row["abstract"] if role is not None]
        question = comparison(row["intervention"], row["comparator"], row["outcome"])
        for sentence, role in rng.sample(told, min(HEADED, len(told))):
            asked.append((row["pmcid"], Pair(question, sentence), role))
    if not asked:
        context.not_run["role.headed"] = "not measured: no abstract has headings"
        return []
    readings = reader.read([pair for _, pair, _ in asked])
    names, gold = [name for name, _, _ in asked], [role.value for _, _, role in asked]
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
    out: list[Figure] = []
    for name, labels in said.items():
        pairs = list(zip(gold, labels, strict=True))
        out += macro_f1(f"stance.{name}.macro_f1", pairs, sorted(set(gold)), context.seed, questions)
        out += clustered_share(
            f"stance.{name}.accuracy", by_article([a == b for a, b in pairs], questions), context.seed
        )
    return out


def by_article(hits: Sequence[bool], articles: Sequence[str]) -> list[list[bool]]:
    """The hits of each article together."""
    out: dict[str, list[bool]] = {}
    for hit, article in zip(hits, articles, strict=True):
        out.setdefault(article, []).append(hit)
    return list(out.values())


TASK = Task(
    name="effects",
    what=WHAT,
    inputs=(corpus.COMPARISONS, corpus.ABSTRACTS),
    expected="10 minutes",
    limit=1000,
    run=run,
)

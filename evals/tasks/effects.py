"""`effects`: the trained reader by itself on articles that it was not trained on: direction, role, stance.

Direction is of Evidence Inference's comparisons, the likeliest of increased, decreased and no difference, because the
gold is always one of these. ``direction.given`` is given the annotated sentences, ``direction.found`` chooses one
(relevance times the probability of being a result or conclusion) among the abstract's sentences and all that annotators
marked anywhere in the article; ``own_sentence`` is whether it was one marked for that very comparison.
``role.headed`` reads sentences of headed abstracts, three an article; ``stance.own`` the pairs of our own that were
held back. ``words`` and ``majority`` are baselines over the same rows; words (logistic regression) are fitted on the
part for training. Intervals draw articles, or questions; ``risk@N`` and ``aurc`` are the curve of risk over coverage by
the probability of what was said, each row by itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.sessions import PartSittings, Sittings
from evals.statistics import clustered_share, macro_f1, risk_coverage
from evals.tasks.verdicts import Known, Sure, by_words, commonest, the_reader
from tools.reading import corpus
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Direction, Pair, Reader, comparison

LABELS = tuple(d.value for d in (Direction.INCREASED, Direction.DECREASED, Direction.NO_DIFFERENCE))
HEADED = 3  # ours: sentences read of an abstract
FITTED = 10_000  # ours: rows that words are fitted on, at most, drawn by the seed
DIRECTION, ROLE, STANCE = "direction", "role.headed", "stance.own"
WITHOUT = {ROLE: "no abstract has headings", STANCE: "no pairs of our own are held back"}
Row = Mapping[str, Any]


class Compared(NamedTuple):
    """A comparison with what annotators marked, and all sentences of its article that one is chosen from."""

    row: Row
    pool: tuple[str, ...]


class Pairs(NamedTuple):
    """Pairs of one article or question, each with its gold label."""

    article: str
    pairs: tuple[tuple[Pair, str], ...]


def items(context: TaskContext) -> list[Item]:
    """Every comparison, every article whose headed sentences are read, every question of our own that was held back."""
    held = corpus.comparisons(context.data, judge=True)
    pool: dict[str, dict[str, None]] = {}  # of each article its abstract's sentences, and all that were marked
    for row in held:
        own = pool.setdefault(row["pmcid"], dict.fromkeys(sentence for sentence, _ in row["abstract"]))
        own.update(dict.fromkeys(_marked(row)))
    out = [
        Item(f"{DIRECTION}/{at}", DIRECTION, (_asked(row),), _label(row), Compared(row, tuple(pool[row["pmcid"]])))
        for at, row in enumerate(context.sample(held))
    ]
    labelled = [(ROLE, roles(context, held)), (STANCE, stances(context))]
    for group, found in labelled:
        if not found:
            context.not_run[group] = f"not measured: {WITHOUT[group]}"
        for at, (article, pairs) in enumerate(found.items()):
            asked = (pairs[0][0].question, *(pair.sentence for pair, _ in pairs))
            told = Pairs(article, tuple(pairs))
            out.append(Item(f"{group}/{at}", group, ("\n".join(asked),), ", ".join(label for _, label in pairs), told))
    return out


def roles(context: TaskContext, held: Sequence[Row]) -> dict[str, list[tuple[Pair, str]]]:
    """Of each article some sentences under headings, asked of its comparison, with their roles."""
    rng = random.Random(context.seed)  # noqa: S311
    out: dict[str, list[tuple[Pair, str]]] = {}
    for row in context.sample(list({row["pmcid"]: row for row in held}.values())):
        headed = [(sentence, role) for sentence, role in row["abstract"] if role is not None]
        some = rng.sample(headed, min(HEADED, len(headed)))
        if some:
            out[row["pmcid"]] = [(Pair(_asked(row), sentence), role.value) for sentence, role in some]
    return out


def stances(context: TaskContext) -> dict[str, list[tuple[Pair, str]]]:
    """Of each question of our own that was held back its sentences with the stance of each."""
    out: dict[str, list[tuple[Pair, str]]] = {}
    for example in corpus.own(judge=True, rng=random.Random(context.seed)):  # noqa: S311
        if len(example.stances) == 1:
            out.setdefault(example.article, []).append((example.pair, example.stances[0].value))
    return out


@contextmanager
def opened(settings: Settings) -> Iterator[Sittings]:
    """The reader, asked by itself."""
    del settings
    reader = the_reader()
    yield PartSittings(lambda item: read(reader, item))


def read(reader: Reader, item: Item) -> dict[str, Any]:
    """What the reader says of an item, each answer with its probability."""
    if item.group == DIRECTION:
        row = item.row.row
        found, sure, sentence = _found_in(reader, row, item.row.pool)
        given, given_sure, _ = _found_in(reader, row, [_shown(row)])
        return {"found": [found, sure], "given": [given, given_sure], "sentence": sentence}
    readings = reader.read([pair for pair, _ in item.row.pairs])
    said = [(r.roles, ROLES) if item.group == ROLE else (r.stances, STANCES) for r in readings]
    return {"said": [[names[p.index(max(p))].value, max(p)] for p, names in said]}


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the direction in the sentence that was found is gold; of pairs whether all of them are."""
    if item.group == DIRECTION:
        said = str(reply.told["found"][0])
        return Judged(said == item.target, said, f"{item.target} is gold; read from: {reply.told['sentence']}")
    said = ", ".join(label for label, _ in reply.told["said"])
    return Judged(said == item.target, said, f"{item.target} is gold.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of directions, roles and stances, beside the baselines over the same rows."""
    out = directions(context, [(item.row.row, reply.told) for item, reply in told if item.group == DIRECTION])
    for group, known in ((ROLE, _roles_to_fit), (STANCE, _stances_to_fit)):
        rows = [
            PairSaid(item.row.article, pair, gold, str(said), float(sure))
            for item, reply in told
            if item.group == group
            for (pair, gold), (said, sure) in zip(item.row.pairs, reply.told["said"], strict=True)
        ]
        if rows:
            out += pair_figures(context, group, rows, known(context))
    return out


def directions(context: TaskContext, told: Sequence[tuple[Row, Mapping[str, Any]]]) -> list[Figure]:
    """Macro F1 of the reader given the sentences, of the reader that finds one, and of the baselines."""
    rows = [row for row, _ in told]
    if not rows:
        return []
    gold, articles = [_label(row) for row in rows], [str(row["pmcid"]) for row in rows]
    said: dict[str, Sure] = {way: [(str(o[way][0]), float(o[way][1])) for _, o in told] for way in ("given", "found")}
    said |= words_of_directions(context, "direction.words", [_shown(row) for row in rows])
    out = _ways(context, "direction", said, gold, articles, LABELS)
    right = [one["sentence"] in _marked(row) for row, one in told]
    return out + clustered_share("direction.found.own_sentence", by_article(right, articles), context.seed)


def words_of_directions(context: TaskContext, name: str, texts: Sequence[str]) -> dict[str, Sure]:
    """What words make of the direction that texts tell, fitted on the comparisons that are for training."""
    judged = corpus.division()["evidence_inference"]
    rows = corpus.rows(context.data / corpus.COMPARISONS) if context.has(corpus.COMPARISONS) else ()
    known = [Known(_shown(row), _label(row)) for row in rows if row["pmcid"] not in judged]
    return by_words(context, name, known, texts)


class PairSaid(NamedTuple):
    """A pair of an article or question, its gold label, and what was said of it, how surely."""

    article: str
    pair: Pair
    gold: str
    said: str
    sure: float


def pair_figures(
    context: TaskContext, group: str, rows: Sequence[PairSaid], known: Sequence[tuple[Pair, str]]
) -> list[Figure]:
    """Macro F1 and accuracy of one kind of label, beside words and the commonest label."""
    name, _, own = group.partition(".")
    some = random.Random(context.seed).sample(known, min(FITTED, len(known)))  # noqa: S311
    fitted = [Known(_joined(pair), label) for pair, label in some]
    said: dict[str, Sure] = {own: [(row.said, row.sure) for row in rows]}
    said |= by_words(context, f"{name}.words", fitted, [_joined(row.pair) for row in rows])
    gold = [row.gold for row in rows]
    return _ways(context, name, said, gold, [row.article for row in rows], sorted(set(gold)))


def _ways(
    context: TaskContext,
    name: str,
    said: Mapping[str, Sure],
    gold: Sequence[str],
    groups: Sequence[str],
    labels: Sequence[str],
) -> list[Figure]:
    """The figures of each way to say it, its curve, and those of the commonest label."""
    out: list[Figure] = []
    for way, told in {**said, "majority": [(commonest(gold), 1.0)] * len(gold)}.items():
        pairs = [(right, label) for right, (label, _) in zip(gold, told, strict=True)]
        hits = [right == label for right, label in pairs]
        out += macro_f1(f"{name}.{way}.macro_f1", pairs, labels, context.seed, groups)
        out += clustered_share(f"{name}.{way}.accuracy", by_article(hits, groups), context.seed)
        if way != "majority":
            sure = [p for _, p in told]
            out += risk_coverage(f"{name}.{way}", list(zip(sure, hits, strict=True)), context.seed)
    return out


def _roles_to_fit(context: TaskContext) -> list[tuple[Pair, str]]:
    found = roles(context, corpus.comparisons(context.data, judge=False))
    return [pair for pairs in found.values() for pair in pairs]


def _stances_to_fit(context: TaskContext) -> list[tuple[Pair, str]]:
    own = corpus.own(judge=False, rng=random.Random(context.seed))  # noqa: S311
    return [(e.pair, e.stances[0].value) for e in own if len(e.stances) == 1]


def _asked(row: Row) -> str:
    """A comparison as the reader is asked for it."""
    return comparison(row["intervention"], row["comparator"], row["outcome"])


def _joined(pair: Pair) -> str:
    """A pair as words are fitted on it."""
    return f"{pair.question}\n{pair.sentence}"


def _label(row: Row) -> str:
    return corpus.DIRECTION[row["label"]].value


def _marked(row: Row) -> list[str]:
    """What annotators marked for a comparison, cut to what is read."""
    return [str(text)[: corpus.MOST] for text in row["evidence"]]


def _shown(row: Row) -> str:
    """The same joined, cut to what is read."""
    return " ".join(row["evidence"])[: corpus.MOST]


def _found_in(reader: Reader, row: Row, sentences: Sequence[str]) -> tuple[str, float, str]:
    """The likeliest direction in the sentence that tells most of the comparison, its probability, and that sentence."""
    readings = reader.read([Pair(_asked(row), sentence) for sentence in sentences])
    told = zip(readings, sentences, strict=True)
    reading, sentence = max(told, key=lambda pair: pair[0].relevance * pair[0].telling)
    sure = {label: reading.directions[DIRECTIONS.index(Direction(label))] for label in LABELS}
    label = max(sure, key=sure.__getitem__)
    return label, sure[label] / (sum(sure.values()) or 1.0), sentence


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
    expected="15 minutes",
    limit=1000,
    asks=AgentEvaluation(items, judge, counted, opened, at_once=False),
)

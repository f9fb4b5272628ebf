"""What the measures of verdicts share: what a verdict counts as, macro F1, the surest answers, words as a baseline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.contract import Figure
from evals.statistics import BATCH, LEVEL, RESAMPLES, share
from graphs.verdicts.contract import VerdictValue
from tools.evidence import Evidence, Origin

if TYPE_CHECKING:
    from graphs.answering.contract import Answer
    from tools.reading.contract import Pair, Reader, Reading

YES, NO, DEPENDS = "yes", "no", "depends"
COUNTS_AS = {
    VerdictValue.YES: YES,
    VerdictValue.NO: NO,
    VerdictValue.NO_DIFFERENCE: NO,
    VerdictValue.DEPENDS: DEPENDS,
    VerdictValue.CONFLICTING: DEPENDS,
    VerdictValue.INSUFFICIENT: DEPENDS,
}
SUREST = (50, 75, 100)  # percent of the questions
MOST_WORDS = 30_000  # ours: the commonest runs of one or two words
STRENGTH = 10.0  # ours: C of the logistic regression, which for tf-idf is the usual order

Numbers = NDArray[np.float64]
Pairs = Sequence[tuple[str, str | None]]
"""Gold and what was said; None where nothing was."""


class Known(NamedTuple):
    """A text with its label."""

    text: str
    label: str


def the_reader() -> Reader:
    """The reader that the product ships, which reads a pair once; tests put another in its place."""
    from tools.reading.reader import TrainedReader

    return Remembering(TrainedReader())


class Remembering:
    """A reader that knows what it has read, so that two measures over the same pairs take the time of one."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[Pair, Reading] = {}

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """One reading a pair."""
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        self._known.update(zip(fresh, self._reader.read(fresh), strict=True))
        return [self._known[pair] for pair in pairs]


def said_of(answer: Answer) -> str | None:
    """What the answer's verdict counts as; None without one."""
    return COUNTS_AS[answer.verdict.value] if answer.verdict is not None else None


def pieces_of(texts: Sequence[tuple[str, str, str]]) -> list[Evidence]:
    """Evidence of abstracts or their snippets: (PMID, title, text) each."""
    kept = {(pmid, text.strip()): title for pmid, title, text in texts if text.strip()}
    return [
        Evidence(id=f"pubmed:{pmid}", text=text, title=title, kind="abstract", origin=Origin.RETRIEVED)
        for (pmid, text), title in kept.items()
    ]


def macro_f1(
    name: str, pairs: Pairs, labels: Sequence[str], seed: int, groups: Sequence[Hashable] | None = None
) -> list[Figure]:
    """Macro F1 over the labels in percent; whatever else is said is wrong for its label. Nothing for no rows.

    Without an interval where every draw gives the same (nothing is right, or all are one group): it would look sure.

    Args:
        groups: what each row hangs together with; the bootstrap draws whole groups. Without it every row by itself.
    """
    if not pairs:
        return []
    counts = _counts(pairs, labels, list(range(len(pairs))) if groups is None else groups)
    rng = np.random.default_rng(seed)
    drawn = []
    for done in range(0, RESAMPLES, BATCH):
        size = (min(BATCH, RESAMPLES - done), len(counts))
        drawn.append(_scores(counts[rng.integers(0, len(counts), size)].sum(axis=1)))
    low, high = np.percentile(np.concatenate(drawn), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    value = float(_scores(counts.sum(axis=0)[None])[0])
    ci95 = (float(low), float(high)) if low < high else None
    return [Figure(name=name, value=value, n=len(pairs), ci95=ci95)]


def _counts(pairs: Pairs, labels: Sequence[str], groups: Sequence[Hashable]) -> Numbers:
    """Array (groups, labels, 2): rows that are rightly said, and rows that are or are said to be (twice if both)."""
    place = {group: at for at, group in enumerate(dict.fromkeys(groups))}
    out = np.zeros((len(place), len(labels), 2))
    for (gold, said), group in zip(pairs, groups, strict=True):
        for at, label in enumerate(labels):
            out[place[group], at] += (gold == label == said, (gold == label) + (said == label))
    return out


def _scores(sums: Numbers) -> Numbers:
    right, either = sums[..., 0], sums[..., 1]
    f1 = np.divide(2 * right, either, out=np.zeros_like(right), where=either > 0)
    return np.asarray(100 * f1.mean(axis=-1))


def commonest(labels: Sequence[str]) -> str:
    """The commonest label."""
    return Counter(labels).most_common(1)[0][0]


def surest(name: str, rows: Sequence[tuple[float, bool]]) -> list[Figure]:
    """The share that is right of the surest 50, 75 and 100 %; a row is how sure it is, and whether it is right."""
    ordered = [right for _, right in sorted(rows, key=lambda row: -row[0])]
    return [
        figure
        for percent in SUREST
        for figure in share(f"{name}.right_of_surest_{percent}", ordered[: math.ceil(len(ordered) * percent / 100)])
    ]


def words(known: Sequence[Known], *, balanced: bool) -> Callable[[Sequence[str]], list[tuple[str, float]]]:
    """Logistic regression on tf-idf of runs of one or two words: gives (label, probability) of texts.

    Args:
        balanced: rows of rarer labels weigh more, as suits macro F1.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, max_features=MOST_WORDS)
    weight = "balanced" if balanced else None
    model = make_pipeline(texts, LogisticRegression(C=STRENGTH, class_weight=weight, max_iter=2000))
    model.fit([k.text for k in known], [k.label for k in known])

    def said(asked: Sequence[str]) -> list[tuple[str, float]]:
        shares = model.predict_proba(list(asked))
        return [(str(model.classes_[row.argmax()]), float(row.max())) for row in shares]

    return said


def forced(reader: Reader, question: str, evidence: Sequence[Evidence]) -> tuple[str | None, float]:
    """What the policy says when it must answer, and the probability of the leading sentence's answer.

    None, and 0, where no sentence is a result or a conclusion.
    """
    from graphs.verdicts.local import VerdictJudgeLocal, VerdictSettings
    from tools.reading.contract import ANSWERS

    kept = _Kept(reader)
    policy = VerdictJudgeLocal(kept, settings=VerdictSettings(sure=0.0))
    verdict = policy.judge(question, evidence).verdict
    told = [r for r in kept.last if r.telling >= policy.settings.telling]
    probability = max((r.stance(answer) for r in told for answer in ANSWERS), default=0.0)
    return (COUNTS_AS[verdict.value], probability) if verdict is not None else (None, 0.0)


class _Kept:
    """A reader whose last readings can be looked at."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.last: list[Reading] = []

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        self.last = self._reader.read(pairs)
        return self.last

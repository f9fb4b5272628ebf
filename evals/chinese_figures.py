"""The figures of `completeness_chinese`, from what every part made of every case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evals.contract import Figure
from evals.datasets.cases import ChineseCase
from evals.statistics import LEVEL, RESAMPLES, share
from graphs.completeness.contract import Decision, GateDecision, Label
from tools.contract import Differential
from tools.text.language import HAN
from tools.text.sentences import sentences
from tools.text.tokens import tokens

SHOWN = 5  # lines of the differential whose names are looked at, as many as the agent shows
DEPTHS = (5, 10)  # pages among which the right one is looked for


@dataclass(frozen=True)
class Shown:
    """What a text was given: the direct arm's differential, the retrieve arm's ranking, the gate's decision."""

    direct: Differential
    retrieve: tuple[str, ...]
    gate: GateDecision


Orders = Mapping[str, Sequence[str]]  # a way to search -> ids of pages, best first


@dataclass(frozen=True)
class Looked:
    """A case, what its complete and its sparse text were given, and orders of pages by the collection's name."""

    case: ChineseCase
    complete: Shown
    sparse: Shown
    pages: Mapping[str, Orders] = field(default_factory=dict)


def figures_of(looked: Sequence[Looked], seed: int) -> list[Figure]:
    """Every figure of one set of cases."""
    out = [*text_figures([x.case for x in looked]), *label_figures(looked), *name_figures(looked)]
    out += arm_figures("complete", [(x.case, x.complete) for x in looked])
    out += arm_figures("sparse", [(x.case, x.sparse) for x in looked])
    for style in ("lay", "clinical"):
        out += arm_figures(style, [(x.case, x.complete) for x in looked if x.case.style == style])
    out += told_apart([x.complete.gate.score for x in looked], [x.sparse.gate.score for x in looked], seed)
    for name in looked[0].pages if looked else ():
        out += page_figures(name, [(x.case.disease, x.pages[name]) for x in looked])
    return out


def text_figures(cases: Sequence[ChineseCase]) -> list[Figure]:
    """Whether sentences are cut as written, and whether medical words stay whole as tokens."""
    cut = [({s.of(c.text) for s in sentences(c.text)}, c) for c in cases]
    words = [(set(tokens(c.text)), c) for c in cases]
    return [
        *share("units.cases.as_written", [spans == set(c.sentences) for spans, c in cut]),
        *share("units.sentences.as_written", [s in spans for spans, c in cut for s in c.sentences]),
        *share("tokens.terms.whole", [t in found for found, c in words for t in c.terms]),
    ]


def label_figures(looked: Sequence[Looked]) -> list[Figure]:
    """Labels as expected, over all units and over those that should have each label; a lost unit is wrong."""
    pairs = [
        (letter, labels.get(sentence))
        for x in looked
        for labels in [{u.text: u.label for u in x.complete.gate.units}]
        for sentence, letter in zip(x.case.sentences, x.case.labels, strict=bool(x.case.labels))
    ]
    wanted = [letter for letter, _ in pairs]
    out = share("labels.units.as_expected", [letter == got for letter, got in pairs])
    for label in Label:
        out += share(
            f"labels.expected_{label.lower()}.as_expected", [got == want for want, got in pairs if want == label]
        )
    return out + share("labels.majority.as_expected", [w == max(Label, key=wanted.count) for w in wanted])


def name_figures(looked: Sequence[Looked]) -> list[Figure]:
    """Names that a Chinese reader is shown: of diseases, and of findings for and against."""
    lines = [d for x in looked for d in x.complete.direct.ranking[:SHOWN]]
    findings = [f for d in lines for f in (*d.findings_for, *d.findings_against)]
    return [
        *share("names.diseases.chinese", [HAN.search(d.name_zh) is not None for d in lines]),
        *share("names.findings.chinese", [HAN.search(f) is not None for f in findings]),
    ]


def arm_figures(setting: str, rows: Sequence[tuple[ChineseCase, Shown]]) -> list[Figure]:
    """Both arms and the gate over the texts of one setting."""
    direct = [(c.disease, [r.disease for r in s.direct.ranking], s) for c, s in rows]
    retrieve = [(c.disease, s.retrieve) for c, s in rows]
    answered = [ranking[:1] != [disease] for disease, ranking, s in direct if s.gate.decision is Decision.DIRECT]
    gated = [
        disease in (ranking if s.gate.decision is Decision.DIRECT else s.retrieve)[:1] for disease, ranking, s in direct
    ]
    return [
        *share(f"{setting}.direct.top1", [disease in ranking[:1] for disease, ranking, _ in direct]),
        *share(f"{setting}.direct.top3", [disease in ranking[:3] for disease, ranking, _ in direct]),
        *share(f"{setting}.retrieve.top1", [disease in ranking[:1] for disease, ranking in retrieve]),
        *share(f"{setting}.retrieve.top3", [disease in ranking[:3] for disease, ranking in retrieve]),
        *share(f"{setting}.gate.retrieval_rate", [s.gate.decision is not Decision.DIRECT for _, s in rows]),
        *share(f"{setting}.gate.warned", [s.gate.decision is Decision.RETRIEVE_WITH_WARNING for _, s in rows]),
        *share(f"{setting}.gate.accuracy", gated),
        *share(f"{setting}.gate.wrong_enough", answered),
    ]


def told_apart(complete: Sequence[float], sparse: Sequence[float], seed: int) -> list[Figure]:
    """AUROC of the gate's score, complete against sparse, with an interval over cases; nothing for no case."""
    count = len(complete)
    if not count:
        return []
    pairs = in_order(complete, sparse)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), RESAMPLES) / count
    low, high = np.percentile(((drawn @ pairs) * drawn).sum(axis=1), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    ci95 = (float(low), float(high))
    return [Figure(name="gate.complete_over_sparse.auroc", value=float(pairs.mean()), n=count, ci95=ci95)]


def in_order(above: Sequence[float], below: Sequence[float]) -> NDArray[np.float64]:
    """Array (above, below): 1 where a score of ``above`` exceeds one of ``below``, 0.5 where they are level, else 0."""
    difference = np.subtract.outer(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))
    return np.asarray((np.sign(difference) + 1) / 2, dtype=np.float64)


def page_figures(name: str, rows: Sequence[tuple[str, Orders]]) -> list[Figure]:
    """Recall of the right page (its id, and the orders that were found), in percent, by every way to search."""
    ways = list(rows[0][1]) if rows else []
    return [
        figure
        for way in ways
        for depth in DEPTHS
        for figure in share(f"{name}.{way}.recall@{depth}", [right in found[way][:depth] for right, found in rows])
    ]

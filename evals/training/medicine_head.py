"""Training of what medicines' records answer (`tools/medicines/answering.py`), on our own development questions.

Of the closed questions of `evals/data/dev` those are learned from that name a medicine whose record has something to
say; gold is what a careful reader of the record may conclude. Writers also said what 1,600 of them ask (`asks`).
Dangers and harmless things (`medicines.jsonl`) are learned from with their first accepted verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.datasets.closed import ClosedQuestion, Probe
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.training.fitting import fold_of, logistic
from tools.evidence import Frozen
from tools.medicines.answering import ASKS, SAID, Bars, Seen, by_advice, counted, decided, see
from tools.medicines.checks import Checked, check
from tools.reading.reader import TrainedReader
from tools.weights import store

CLOSED, PROBES = SHIPPED / "dev" / "closed_questions.jsonl", SHIPPED / "dev" / "medicines.jsonl"
FOLDS = 5
FLAT = 1e-6  # ours: standard deviation below which a feature is the same in all rows
Floats = NDArray[Any]


class Settings(Frozen):
    """Settings of the training. All ours.

    Attributes:
        asks, said: inverse strengths of the penalties of both regressions. steps: of L-BFGS, of each.
    """

    asks: float = 0.25
    said: float = 0.1
    steps: tuple[int, int] = (60, 200)


class Row(NamedTuple):
    """A question, what is told beside it, its checks, what it answers, of `SAID`, what it asks ("": nobody said), and
    whose record it is about."""

    question: str
    told: str
    found: Checked
    gold: str
    asks: str
    group: str


class Fitted(NamedTuple):
    """Both regressions, and what the counted features are brought to."""

    asks: Any
    said: Any
    mean: Floats
    scale: Floats

    def probabilities(self, seen: Seen) -> list[float]:
        """Of each of `SAID`."""
        (asks,) = _of(self.asks, seen.asking[None], ASKS)
        row = np.concatenate([(counted(seen, asks) - self.mean) / self.scale, by_advice(seen)])
        said: list[float] = _of(self.said, row[None], SAID)[0].tolist()
        return said


def _of(fitted: Any, rows: Floats, names: tuple[str, ...]) -> Floats:
    """Array (rows, names): probabilities."""
    found: Floats = fitted.predict_proba(rows)[:, [list(fitted.classes_).index(name) for name in names]]
    return found


def examples() -> list[Row]:
    """The development questions that a record has something to say of."""
    return [row for row in _rows() if row.found.checks]


def _rows() -> Iterator[Row]:
    for q in read_jsonl(CLOSED, ClosedQuestion):
        gold = "" if q.gold == "not_covered" else q.gold
        yield Row(q.question, "", check(q.question), gold, q.asks, q.monograph or str(q.id))
    for p in read_jsonl(PROBES, Probe):
        accepted = [a for a in p.accept if a != "none"]
        if accepted:
            *before, question = p.messages
            told = "\n".join(before)
            yield Row(question, told, check(question, told), accepted[0], "", p.id)


def fitted(rows: list[Row], seen: list[Seen], settings: Settings) -> Fitted:
    """Both regressions on some rows; the second one reads of each row what the first says of it unseen."""
    x = np.stack([s.asking for s in seen])
    of = np.array([fold_of(r.group, FOLDS) for r in rows])
    asks = np.zeros((len(rows), len(ASKS)))
    for k in set(of.tolist()):
        model = _asks([r for r, f in zip(rows, of, strict=True) if f != k], x[of != k], settings)
        asks[of == k] = _of(model, x[of == k], ASKS)
    features = np.stack([counted(s, a) for s, a in zip(seen, asks, strict=True)])
    mean, scale = features.mean(0), features.std(0)
    scale[scale < FLAT] = 1.0
    joined = np.concatenate([(features - mean) / scale, np.stack([by_advice(s) for s in seen])], axis=1)
    gold = np.array([r.gold for r in rows])
    said = logistic(joined, gold, np.ones(len(rows)), settings.said, settings.steps[1])
    return Fitted(_asks(rows, x, settings), said, mean, scale)


def _asks(rows: list[Row], x: Floats, settings: Settings) -> Any:
    known = np.array([bool(r.asks) for r in rows])
    asked = np.array([r.asks for r in rows])[known]
    return logistic(x[known], asked, np.ones(len(asked)), settings.asks, settings.steps[0])


def train_medicines(out: Path, tell: Callable[[str], None]) -> None:
    """Train on all development questions and write the weights; first tell what unseen medicines would get."""
    own = Settings()
    rows = examples()
    seen = see([(r.question, r.told, r.found) for r in rows], TrainedReader())
    tell(_held_out(rows, seen, own))
    model = fitted(rows, seen, own)
    width = len(model.mean)
    order = [list(model.said.classes_).index(name) for name in SAID]
    asked = [list(model.asks.classes_).index(name) for name in ASKS]
    arrays = {
        "asks": model.asks.coef_[asked],
        "asks_bias": model.asks.intercept_[asked],
        "mean": model.mean,
        "scale": model.scale,
        "counted": model.said.coef_[order][:, :width],
        "layers": model.said.coef_[order][:, width:],
        "bias": model.said.intercept_[order],
    }
    sized = {name: array.astype(np.float16 if name == "layers" else np.float32) for name, array in arrays.items()}
    store(out, sized, {})
    tell(f"{len(rows)} questions; {out.stat().st_size / 1e6:.2f} MB in {out}.")


def _held_out(rows: list[Row], seen: list[Seen], settings: Settings) -> str:
    """What questions on medicines get that were not learned from, beside what the rules alone answer."""
    of = np.array([fold_of(r.group, FOLDS) for r in rows])
    told, by_rules = Counter[bool](), Counter[bool]()
    for k in range(FOLDS):
        inside = np.flatnonzero(of != k).tolist()
        model = fitted([rows[i] for i in inside], [seen[i] for i in inside], settings)
        for i in np.flatnonzero(of == k).tolist():
            row, found = rows[i], rows[i].found
            answer = decided(found, model.probabilities(seen[i]), Bars()) if found.decides else ""
            rule = found.answer(found.checks[0]) if found.decides else ""
            told.update([answer == row.gold] if answer else [])
            by_rules.update([rule == row.gold] if rule else [])
    return (
        f"{len(rows)} questions, none of a medicine that was learned from: {told[True]} right, {told[False]} wrong; "
        f"by the rules alone {by_rules[True]} and {by_rules[False]}."
    )

"""Training of what warrants a verdict (`graphs/verdicts/warrant.py`), on the closed questions of `evals/data/dev`.

Each question is asked through the agent, as a user would; every sentence that its judge weighs is a row for each answer
that the reader holds possible, and right where that is the question's gold answer. A question that its writer took for
one that no page settles, though medicine has that answer, is left out: another page may say it. Some of the questions
that sentences are known to answer are asked word for word of their own pages too: users do ask them so.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from agent.agent import Agent
from evals.datasets.closed import ClosedQuestion
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.training.fitting import fold_of
from graphs.verdicts import local
from graphs.verdicts.local import VerdictJudgeLocal, VerdictSettings
from graphs.verdicts.warrant import Candidate, features, scaled
from tools.encoders import Encoder, MiniLMEncoder
from tools.evidence import Evidence, Frozen, Origin
from tools.library.monograph import COLLECTION, Monograph, read_monograph
from tools.reading.answered import answered
from tools.reading.contract import Stance
from tools.reading.reader import TrainedReader
from tools.text.sentences import sentences
from tools.weights import store

CLOSED = SHIPPED / "dev" / "closed_questions.jsonl"
SAYS = {Stance.SUPPORTS: "yes", Stance.REFUTES: "no", Stance.MIXED: "depends", Stance.UNSETTLED: "depends"}
STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"
FOLDS = 5
FLAT = 1e-6  # ours: standard deviation below which a feature is the same in all rows
Floats = NDArray[Any]


class Settings(Frozen):
    """Settings of the training. All ours.

    Attributes:
        hidden: units of each network. penalty: of the squares of its weights. networks: that are averaged.
        known: questions that are asked as sentences are known to answer them.
    """

    hidden: int = 24
    penalty: float = 1.0
    networks: int = 3
    known: int = 300
    seed: int = 7
    rate: float = 2e-3
    batch: int = 128
    passes: int = 25


class Weighed(NamedTuple):
    """A question with its rows, (rows, features), and the answer of each."""

    row: ClosedQuestion
    rows: Floats
    says: tuple[str, ...]

    @property
    def targets(self) -> Floats:
        """Of each row whether its answer is gold."""
        return np.array([says == self.row.gold for says in self.says], dtype=float)

    @property
    def learned(self) -> Floats:
        """Of each row whether it may be learned from."""
        return np.array([self.row.gold != "not_covered" or says != self.row.truth for says in self.says])


@contextmanager
def noted() -> Iterator[list[tuple[str, Sequence[Candidate], Encoder]]]:
    """What judges weigh meanwhile, in place of weighing it."""
    seen: list[tuple[str, Sequence[Candidate], Encoder]] = []

    def noting(question: str, candidates: Sequence[Candidate], encoder: Encoder) -> list[dict[Stance, float]]:
        seen.append((question, candidates, encoder))
        return [{} for _ in candidates]

    with patch.object(local, "warrants", noting):
        yield seen


def gathered(questions: Sequence[ClosedQuestion], tell: Callable[[str], None]) -> Iterator[Weighed]:
    """The questions as the agent's judge weighs them; one that never comes to it has no row."""
    agent = Agent()
    with noted() as seen:
        for at, question in enumerate(questions):
            seen.clear()
            agent.ask(question.question)
            yield weighed(question, *seen[-1]) if seen else Weighed(question, np.zeros((0, 0)), ())
            if at % 100 == 0:
                tell(f"{at} of {len(questions)} questions asked")


def as_known(count: int, seed: int) -> Iterator[Weighed]:
    """Known questions, drawn at random, each asked word for word of the page that has its sentence."""
    pages = [read_monograph(path) for path in sorted(STARTER.glob("*.md"))]
    place = {" ".join(s.of(p.text).split()): p for p in pages for s in sentences(p.text)}
    known = [(a, sentence) for sentence, own in answered().items() if sentence in place for a in own]
    judge = VerdictJudgeLocal(TrainedReader(), MiniLMEncoder())
    with noted() as seen:
        for a, sentence in random.Random(seed).sample(known, count):  # noqa: S311
            seen.clear()
            judge.judge(a.question, list(_pieces(place[sentence])))
            row = ClosedQuestion.model_validate(
                {"id": "known", "q": a.question, "gold": SAYS[a.answer], "monograph": place[sentence].front.id}
            )
            if seen:
                yield weighed(row, *seen[-1])


def _pieces(page: Monograph) -> Iterator[Evidence]:
    for section in page.sections:
        start, end = section.start, section.end
        yield Evidence(
            id=f"{COLLECTION}:{page.front.id}@{start}-{end}",
            text=page.text[start:end],
            title=page.front.title,
            kind="monograph",
            origin=Origin.RETRIEVED,
            section=section.title,
        )


def weighed(row: ClosedQuestion, question: str, candidates: Sequence[Candidate], encoder: Encoder) -> Weighed:
    """A question with the rows of its candidates."""
    places, rows = features(question, candidates, encoder)
    return Weighed(row, rows, tuple(SAYS[stance] for _, stance in places))


class Fitted(NamedTuple):
    """What features are brought to, and the networks."""

    mean: Floats
    scale: Floats
    networks: tuple[Any, ...]

    def probable(self, rows: Floats) -> Floats:
        """Of each row how probably its answer is right."""
        x = scaled(rows, self.mean, self.scale)
        found: Floats = np.mean([net.predict_proba(x)[:, 1] for net in self.networks], axis=0)
        return found


def fitted(questions: Sequence[Weighed], settings: Settings) -> Fitted:
    """The networks on some questions."""
    from sklearn.neural_network import MLPClassifier

    some = [q for q in questions if len(q.says)]
    keep = np.concatenate([q.learned for q in some])
    rows, targets = np.concatenate([q.rows for q in some])[keep], np.concatenate([q.targets for q in some])[keep]
    mean, scale = rows.mean(0), rows.std(0)
    scale[scale < FLAT] = 1.0
    made = [
        MLPClassifier(
            (settings.hidden,),
            alpha=settings.penalty,
            learning_rate_init=settings.rate,
            batch_size=settings.batch,
            max_iter=settings.passes,
            random_state=seed,
        ).fit(scaled(rows, mean, scale), targets)
        for seed in range(settings.networks)
    ]
    return Fitted(mean, scale, tuple(made))


def train_verdicts(out: Path, tell: Callable[[str], None], questions: Sequence[Weighed] | None = None) -> None:
    """Train on all development questions and write the weights; first tell what questions on unseen pages would get.

    Args:
        questions: as `gathered` gives them, where they were gathered before.
    """
    own = Settings()
    rows = questions if questions is not None else list(gathered(read_jsonl(CLOSED, ClosedQuestion), tell))
    known = list(as_known(own.known, own.seed))
    tell(held_out(rows, own, known))
    model = fitted([*rows, *known], own)
    arrays = {
        "mean": model.mean,
        "scale": model.scale,
        "first": np.stack([net.coefs_[0] for net in model.networks]),
        "shift": np.stack([net.intercepts_[0] for net in model.networks]),
        "second": np.stack([net.coefs_[1][:, 0] for net in model.networks]),
        "bias": np.array([net.intercepts_[1][0] for net in model.networks]),
    }
    store(out, {name: array.astype(np.float32) for name, array in arrays.items()}, {})


def held_out(questions: Sequence[Weighed], settings: Settings, known: Sequence[Weighed] = ()) -> str:
    """What questions get on pages that were not learned from, by the bar of a probability."""
    of = [fold_of(q.row.monograph or str(q.row.id), FOLDS) for q in questions]
    told: dict[float, Counter[str]] = {bar: Counter() for bar in (0.7, 0.75, VerdictSettings().warranted, 0.85, 0.9)}
    for k in range(FOLDS):
        own = [q for q in known if fold_of(q.row.monograph, FOLDS) != k]
        model = fitted([*own, *(q for q, f in zip(questions, of, strict=True) if f != k)], settings)
        for q in (q for q, f in zip(questions, of, strict=True) if f == k and len(q.says)):
            chances = model.probable(q.rows)
            best = int(np.argmax(chances))
            for bar, counts in told.items():
                if chances[best] >= bar:
                    counts.update([q.says[best] if q.says[best] == q.row.gold else "wrong"])
    covered = sum(q.row.gold != "not_covered" for q in questions)
    lines = [
        f"from {bar:.2f}: {100 * c['wrong'] / len(questions):.1f} % of all wrong, "
        f"{100 * (c.total() - c['wrong']) / covered:.1f} % of the {covered} covered right"
        for bar, c in told.items()
    ]
    return "\n".join([f"{len(questions)} questions, on pages that were not learned from:", *lines])

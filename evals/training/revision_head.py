"""Training of what reads corrections (`tools/reading/replacing.py`) on `graphs/triage/examples/corrections.jsonl`.

Each message of a dialogue but the first is a row: the case so far, the message, and which words of the case give way
to which of the message. Of a correction the right pairs are to be likelier than all others and than none together; of
any other message none is the likeliest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from evals.training.fitting import logistic, text_matrix
from graphs.triage.facts import join
from tools.reading.corpus import rows
from tools.reading.features import BUCKETS
from tools.reading.replacing import FARTHEST, LAYERS, LEAST, MOST_SURE, Side, pairs_of, quiet_sorts, seen, side_of
from tools.weights import store

EXAMPLES = Path(__file__).parents[2] / "graphs" / "triage" / "examples" / "corrections.jsonl"
FOLDS, SEED, NETWORKS = 4, 7, 3  # ours
KEPT = 200  # ours: wrong pairs of a row that are trained on, the others standing behind them
INVERSE, STEPS = 1.0, 60  # ours: of the message by itself: inverse strength of the penalty, steps of L-BFGS
HIDDEN, WIDTH, PASSES, BATCH, RATE, DECAY = 64, 24, 8, 16, 3e-3, 0.05  # ours
DROPPED, DROPPED_STATES, DROPPED_FEATURES = 0.25, 0.3, 0.1  # ours
SCALED = 60  # ours: pairs a row from which mean and scale are taken
SOFTEST = 0.02  # ours: added to a feature's scale


class Row(NamedTuple):
    """A case and a message as the network sees them, which pairs are right (numbered from 1, else 0), and whose."""

    case: Side
    message: Side
    text: str
    pairs: NDArray[np.int64]
    right: NDArray[np.int64]
    correction: bool
    writer: str


class Pairs(nn.Module):
    """The network of `tools.reading.replacing.Network`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        states = len(LAYERS) * 384
        self.old, self.new, self.like = (nn.Linear(states, WIDTH, bias=False) for _ in range(3))
        self.first, self.second = nn.Linear(width + 3 * WIDTH, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, x: torch.Tensor, old: torch.Tensor, new: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """Logits of pairs; ``x``: (pairs, features), ``old``, ``new``: states of stretches, of which ``pairs`` are."""
        old, new = self._dropped(old, DROPPED_STATES), self._dropped(new, DROPPED_STATES)
        i, j = pairs[:, 0], pairs[:, 1]
        both = self.like(old)[i] * self.like(new)[j]
        meant = [torch.relu(self.old(old))[i], torch.relu(self.new(new))[j], both]
        hidden = torch.relu(self.first(torch.cat([self._dropped(x, DROPPED_FEATURES), *meant], dim=1)))
        logits: torch.Tensor = self.second(self._dropped(hidden, DROPPED))[:, 0]
        return logits

    def _dropped(self, x: torch.Tensor, share: float) -> torch.Tensor:
        return nn.functional.dropout(x, share, self.training)


class Fitted(NamedTuple):
    """A network with what its features are brought to."""

    net: Pairs
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]

    def chances(self, row: Row, said: float) -> NDArray[np.float32]:
        """Probability of each pair of a row."""
        every = np.arange(len(row.pairs))
        with torch.inference_mode():
            logits = self.net(*_batch([Taken(row, every, self.scaled(row, every, said), 0.0)]))
            found: NDArray[np.float32] = torch.sigmoid(logits).numpy()
        return found

    def scaled(self, row: Row, some: NDArray[np.int64], said: float) -> torch.Tensor:
        """The features of some pairs of a row, (pairs, features)."""
        x = (seen(row.case, row.message, row.pairs[some], said) - self.mean) / self.scale
        return torch.as_tensor(np.clip(x, -FARTHEST, FARTHEST))


class Taken(NamedTuple):
    """What is trained on of a row: which pairs, their features, and the logarithm of how many each wrong one stands
    for."""

    row: Row
    pairs: NDArray[np.int64]
    x: torch.Tensor
    stands_for: float


def train_revisions(out: Path, tell: Callable[[str], None], *, held_out: bool = True) -> None:
    """Train and write the weights with a checksum beside; first, ``held_out``, say what writers not seen would get."""
    found = [*examples()]
    matrix, kinds = text_matrix([r.text for r in found]), np.array([r.correction for r in found])
    fold = _folds([r.writer for r in found])
    said = np.zeros(len(found), dtype=np.float32)
    for k in range(FOLDS):
        by_itself = logistic(
            matrix[fold != k], kinds[fold != k].astype(int), np.ones(int((fold != k).sum())), INVERSE, STEPS
        )
        said[fold == k] = np.clip(by_itself.decision_function(matrix[fold == k]), -MOST_SURE, MOST_SURE)
    tell(f"{len(found)} messages, by themselves: {100 * ((said > 0) == kinds).mean():.1f} % right, held out by writer")
    if held_out:
        _say_held_out(found, said, fold, tell)
    networks = [fitted(found, said, SEED + at) for at in range(NETWORKS)]
    by_itself = logistic(matrix, kinds.astype(int), np.ones(len(found)), INVERSE, STEPS)
    width = matrix.shape[1] - BUCKETS

    def stacked(name: str) -> NDArray[np.float32]:
        return np.stack([dict(one.net.named_parameters())[name].detach().numpy() for one in networks])

    tensors: dict[str, Any] = {
        "message": by_itself.coef_[0, :width].astype(np.float16),
        "message_grams": by_itself.coef_[0, width:].astype(np.float16),
        "message_bias": by_itself.intercept_.astype(np.float32),
        "mean": np.stack([one.mean for one in networks]),
        "scale": np.stack([one.scale for one in networks]),
        **{name: stacked(f"{name}.weight").astype(np.float16) for name in ("old", "new", "like", "first")},
        "shift": stacked("first.bias"),
        "second": stacked("second.weight")[:, 0],
        "bias": stacked("second.bias")[:, 0],
    }
    store(out, tensors, {})


def examples() -> Iterator[Row]:
    """Every message but a dialogue's first, with its pairs."""
    for dialogue in rows(EXAMPLES):
        case = ""
        for number, text in enumerate(dialogue["messages"]):
            changes = [c for c in dialogue["changes"] if c["message"] == number]
            if case:
                a, b = side_of(case, end=True), side_of(text, end=False)
                pairs = pairs_of(a, b)
                right = _right(a, b, pairs, [_gold(a, b, case, text, c) for c in changes])
                yield Row(a, b, text, pairs, right, bool(changes), dialogue["writer"])
            for change in changes:
                case = case.replace(change["old"], change["new"] or "", 1)
            case = join(case, text)


def _gold(case: Side, message: Side, told: str, text: str, change: dict[str, Any]) -> tuple[int, int, int, int]:
    """First and last words, behind, of what a change names in the case and in the message; -1 for none."""
    old = _words(case, told.find(change["old"]), len(change["old"]))
    new = _words(message, text.find(change["new"]), len(change["new"])) if change["new"] else (-1, -1)
    return *old, *new


def _words(side: Side, start: int, length: int) -> tuple[int, int]:
    start -= side.begun
    within = [at for at, w in enumerate(side.words) if w.start < start + length and w.end > start]
    while within and set(side.words[within[0]].sorts) <= quiet_sorts():
        within = within[1:]
    while within and set(side.words[within[-1]].sorts) <= quiet_sorts():
        within = within[:-1]
    return (within[0], within[-1] + 1) if within else (-1, -1)


def _right(case: Side, message: Side, pairs: NDArray[np.int64], gold: Sequence[tuple[int, int, int, int]]) -> Any:
    """Of each pair the number of the change that it makes, from 1; 0 for none. What reads the same is the same."""
    old, new = ([w.text for w in side.words] for side in (case, message))

    def after(a: int, b: int, c: int, d: int) -> tuple[str, ...]:
        return (*old[:a], *(new[c:d] if c >= 0 else ()), *old[b:])

    wanted = [after(*g) if g[0] >= 0 else None for g in gold]
    out = np.zeros(len(pairs), dtype=np.int64)
    for at, (i, j) in enumerate(pairs.tolist()):
        a, b = case.spans[i].tolist()
        c, d = message.spans[j].tolist() if j >= 0 else (-1, -1)
        for number, (g, text) in enumerate(zip(gold, wanted, strict=True), start=1):
            meets = a < g[1] and g[0] < b and (c < 0) == (g[2] < 0) and (c < 0 or (c < g[3] and g[2] < d))
            if meets and after(a, b, c, d) == text:
                out[at] = number
    return out


def fitted(found: Sequence[Row], said: NDArray[np.float32], seed: int = SEED) -> Fitted:
    """The network that these rows train; the same for the same rows on one machine."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    some = [_some(row, rng) for row in found]
    sample = np.concatenate(
        [seen(r.case, r.message, r.pairs[k[:SCALED]], float(s)) for r, k, s in zip(found, some, said, strict=True)]
    )
    model = Fitted(Pairs(sample.shape[1]), sample.mean(axis=0), sample.std(axis=0) + np.float32(SOFTEST))
    taken = [
        Taken(r, k, model.scaled(r, k, float(s)), _stands_for(r, k)) for r, k, s in zip(found, some, said, strict=True)
    ]
    optimiser = torch.optim.AdamW(model.net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = PASSES * -(-len(found) // BATCH)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    model.net.train()
    for _ in range(PASSES):
        order = rng.permutation(len(taken)).tolist()
        for start in range(0, len(order), BATCH):
            batch = [taken[k] for k in order[start : start + BATCH]]
            parts = model.net(*_batch(batch)).split([len(one.pairs) for one in batch])
            loss = torch.stack([_loss(logits, one) for logits, one in zip(parts, batch, strict=True)]).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.net.parameters(), 2.0)
            optimiser.step()
            pace.step()
    model.net.eval()
    return model


def _some(row: Row, rng: np.random.Generator) -> NDArray[np.int64]:
    """The right pairs of a row and some of the others, in any order."""
    wrong = rng.permutation(np.flatnonzero(row.right == 0))[:KEPT]
    some: NDArray[np.int64] = rng.permutation(np.concatenate([np.flatnonzero(row.right), wrong]))
    return some


def _stands_for(row: Row, some: NDArray[np.int64]) -> float:
    kept = int((row.right[some] == 0).sum())
    return float(np.log((row.right == 0).sum() / kept)) if kept else 0.0


def _batch(taken: Sequence[Taken]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """What `Pairs` takes, of several rows behind each other; the last state of a message is none."""
    old, new, pairs = [], [], []
    first_old = first_new = 0
    width = len(LAYERS) * 384
    for one in taken:
        row = one.row
        old.append(row.case.meant.reshape(-1, width))
        new.append(np.concatenate([row.message.meant.reshape(-1, width), np.zeros((1, width), np.float32)]))
        i, j = row.pairs[one.pairs].T
        pairs.append(np.stack([i + first_old, np.where(j < 0, len(new[-1]) - 1, j) + first_new], axis=1))
        first_old, first_new = first_old + len(old[-1]), first_new + len(new[-1])
    states = (torch.as_tensor(np.concatenate(part)) for part in (old, new, pairs))
    return torch.cat([one.x for one in taken]), *states  # type: ignore[return-value]


def _loss(logits: torch.Tensor, taken: Taken) -> torch.Tensor:
    right = torch.as_tensor(taken.row.right[taken.pairs] > 0)
    wrong = torch.logsumexp(torch.cat([logits[~right] + taken.stands_for, logits.new_zeros(1)]), 0)
    if right.any():
        told = torch.logsumexp(logits[right], 0)
        return torch.logaddexp(wrong, told) - told
    return wrong * 0.0 if taken.row.correction else wrong  # of a correction that no pair makes nothing is known


def _say_held_out(found: Sequence[Row], said: Any, fold: Any, tell: Callable[[str], None]) -> None:
    whole: list[bool] = []
    touched: list[bool] = []
    for k in range(FOLDS):
        model = fitted([r for r, f in zip(found, fold, strict=True) if f != k], said[fold != k])
        for at in np.flatnonzero(fold == k).tolist():
            row = found[at]
            chances = model.chances(row, float(said[at]))
            best = int(chances.argmax())
            if row.correction:
                whole.append(bool(chances[best] >= LEAST and row.right[best] > 0))
            else:
                touched.append(bool(chances[best] >= LEAST))
    tell(f"held out: of {len(whole)} corrections the surest change is right in {100 * np.mean(whole):.1f} %")
    tell(f"held out: of {len(touched)} other messages {100 * np.mean(touched):.1f} % change something")


def _folds(writers: Sequence[str]) -> NDArray[np.int64]:
    names = np.random.default_rng(SEED).permutation(sorted(set(writers))).tolist()
    return np.array([names.index(w) % FOLDS for w in writers])

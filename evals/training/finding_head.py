"""Training of the head of findings (`tools/knowledge_graph/spoken.py`) on the wordings beside the starter graph."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from evals.training.fitting import NOTES, WORDINGS
from evals.training.message_heads import EXAMPLES as MESSAGES
from tools.knowledge_graph.loader import STARTER, read_graph
from tools.reading.corpus import rows
from tools.reading.features import BUCKETS, DENSE, Features, features
from tools.reading.messages import Sort
from tools.text.clauses import clauses
from tools.weights import store

NONE = WORDINGS / "none.jsonl"  # clauses that tell no finding of the graph
NOT_TOLD = (Sort.QUESTION, Sort.ASSISTANT, Sort.COURTESY, Sort.OTHER)  # messages that tell no finding either
# ours: what a wording stands in, now and then
FRAMES = (
    "I have {}", "she has {}", "{} for three days", "{} since yesterday", "also {}", "and {}", "with {}", "c/o {}",
    "my son: {}", "{} again", "{}, getting worse", "he says {}", "presents with {}",
)  # fmt: skip
REPEATED = 3  # ours: how often a pass reads what tells of no finding, of which there is much less
WIDTH, PASSES, BATCH, RATE, DROPPED, SMOOTHED, SEED = 128, 8, 128, 3e-3, 0.3, 0.05, 7  # ours
Example = tuple[str, tuple[int, ...]]  # a text, and the places of the findings that it tells of


def train_findings(out: Path, tell: Callable[[str], None]) -> None:
    """Train the head and write its weights with a checksum beside; the same file for the same wordings."""
    ids = [f.id for f in read_graph(STARTER).findings if not f.only_shown]
    told = list(examples(ids))
    read = features([text for text, _ in told])
    tell(f"{len(told)} texts of {len(ids)} findings")
    target = torch.zeros(len(told), len(ids) + 1)
    for row, (_, places) in enumerate(told):
        target[row, list(places or [len(ids)])] = 1.0 / max(len(places), 1)
    head = fitted(read, target, tell)
    grams = head.grams.weight.detach().numpy()
    scale = np.abs(grams).max(axis=1) / 127
    tensors: dict[str, Any] = {
        "dense": head.dense.weight.detach().numpy().astype(np.float16),
        "grams": np.round(grams / np.maximum(scale, 1e-12)[:, None]).astype(np.int8),
        "scale": scale.astype(np.float32),
        "shift": head.dense.bias.detach().numpy(),
        "out": head.out.weight.detach().numpy().astype(np.float16),
        "bias": head.out.bias.detach().numpy(),
    }
    store(out, tensors, {"ids": " ".join(ids)})


def examples(ids: Sequence[str]) -> Iterator[Example]:
    """Every wording with its finding, many of them in a frame too; clauses of whole texts; what tells of none."""
    rng, at = random.Random(SEED), {name: i for i, name in enumerate(ids)}  # noqa: S311
    for node in read_graph(STARTER).findings:
        if node.id in at:
            yield from ((text, (at[node.id],)) for text in (node.name, node.zh, *node.say, *node.say_zh))
    for row in rows(WORDINGS / "wordings.jsonl"):
        place = (at[row["id"]],)
        for text in (*row["lay"], *row["clinical"]):
            yield text, place
            yield rng.choice(FRAMES).format(text[0].lower() + text[1:]), place
        yield from ((text, place) for text in row["zh"])
    for row in rows(NOTES):
        yield from _of_note(row, at)
    messages = rows(MESSAGES / "kinds.jsonl")
    none = [*(row["text"] for row in rows(NONE)), *(m["text"][:200] for m in messages if m["kind"] in NOT_TOLD)]
    yield from ((text, ()) for text in none * REPEATED)


def _of_note(row: Mapping[str, Any], at: Mapping[str, int]) -> Iterator[Example]:
    """The marks of a text, and its clauses as they are read, each with the findings of which it holds the most."""
    text = row["text"]
    marks = [(text.index(words), words, at[name]) for name, _, words in row["findings"] if name in at]
    yield from ((words, (place,)) for _, words, place in marks)
    for clause in clauses(text):
        inside = [
            place
            for start, words, place in marks
            if 2 * (min(clause.end, start + len(words)) - max(clause.start, start)) > len(words)
        ]
        if inside or not any(clause.start < start + len(words) and start < clause.end for start, words, _ in marks):
            yield clause.plain, tuple(inside)


class Head(nn.Module):
    """The network of `tools/knowledge_graph/spoken.py`."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.dense, self.out = nn.Linear(DENSE, WIDTH), nn.Linear(WIDTH, classes)
        self.grams = nn.EmbeddingBag(BUCKETS, WIDTH, mode="sum")
        nn.init.normal_(self.grams.weight, std=0.05)

    def forward(self, read: Sequence[Features], drop: float) -> torch.Tensor:
        """Logits (texts, classes)."""
        starts = np.cumsum([0, *(len(r.buckets) for r in read[:-1])])
        dense = torch.tensor(np.stack([r.dense for r in read]))
        values = torch.tensor(np.concatenate([r.values for r in read]))
        dense, values = (nn.functional.dropout(part, drop, self.training) for part in (dense, values))
        buckets = torch.tensor(np.concatenate([r.buckets for r in read])).long()
        few = self.dense(dense) + self.grams(buckets, torch.tensor(starts), per_sample_weights=values)
        logits: torch.Tensor = self.out(few)
        return logits


def fitted(read: Sequence[Features], target: torch.Tensor, tell: Callable[[str], None]) -> Head:
    """A head fitted by AdamW whose rate falls in a line."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    head = Head(target.shape[1])
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE)
    steps = PASSES * (len(read) // BATCH)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for number in range(PASSES):
        order, total = np.random.default_rng(SEED + number).permutation(len(read)), 0.0
        for at in range(0, len(read) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            logits = head([read[i] for i in batch], DROPPED)
            loss = nn.functional.cross_entropy(logits, target[batch], label_smoothing=SMOOTHED)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            falling.step()
            total += float(loss.detach())
        tell(f"pass {number + 1} of {PASSES}: loss {total / (len(read) // BATCH):.3f}")
    head.eval()
    return head

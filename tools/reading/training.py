"""Training of the reader: AdamW over what may be trained on, one linear rise and fall; the same file for one seed.

Teachers, whose every layer is trained, may come first: what they make of each pair together, and of pairs without a
label (`corpus.beside`), is learned beside the labels
(knowledge distillation: Hinton and others 2015, arXiv:1503.02531).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tools.evidence import Frozen
from tools.reading.contract import DIRECTIONS, ROLES, STANCES
from tools.reading.corpus import DIRECTION_AT, ROLE_AT, STANCE_AT, Example, beside, counted, epoch
from tools.reading.model import HEADED, Encoded, PairModel, PairTokenizer, load, padded, save, split

EMBEDDINGS = ("encoder.segment", "encoder.norm.")
ROLE_SHARE = 0.5  # ours: what a sentence's role counts beside its stance and direction


class TrainingSettings(Frozen):
    """Settings of a training run. All ours.

    Attributes:
        batch: pairs a step; rate, head_rate: learning rates of the layers and the heads, which rise in the first
            ``warm`` steps and then fall in a line, to 0 at the end of the last pass.
        smoothing: share of a stance's weight that goes to the others; swapped: see `corpus.swapped`.
        teachers: how many are trained first; taught: what their readings weigh against the labels, 0..1;
            beside: pairs without a label that a pass reads where there are teachers.
        bf16: mixed precision; threads: of torch (1 for the same file again); device: "cpu" or "cuda".
    """

    passes: int = 7
    batch: int = 128
    rate: float = 4e-4
    head_rate: float = 1e-3
    warm: int = 300
    decay: float = 0.01
    dropout: float = 0.1
    smoothing: float = 0.0
    swapped: bool = True
    teachers: int = 4
    taught: float = 0.9
    beside: int = 12_000
    seed: int = 7
    bf16: bool = True
    threads: int = 1
    device: str = "cpu"


def train_reader(
    data: Path,
    path: Path,
    settings: TrainingSettings,
    tell: Callable[[str], None],
    start: Path | None = None,
    judged: Callable[[PairModel], str] = lambda _model: "",
) -> None:
    """Train on the *fit* part of the data for so many passes, and write the weights after each.

    ``start``: weights to go on from; ``judged`` says how the model does after a pass. Raises InputError when the data
    is not there.
    """
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # without it a GPU adds in any order
    torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(settings.seed)
    model = load(start) if start else PairModel()
    teachers = []
    for number in range(1, settings.teachers + 1):
        own = settings.model_copy(update={"seed": settings.seed + 1000 * number})
        torch.manual_seed(own.seed)
        tell(f"teacher {number} of {settings.teachers}")
        teachers.append(PairModel())
        for told in _fit(teachers[-1], data, own, [], _optimiser(teachers[-1], own, whole=True)):
            tell(told)
    torch.manual_seed(settings.seed)
    optimiser = _optimiser(model, settings, embeddings=start is None)
    for told in _fit(model, data, settings, teachers, optimiser):
        save(model, path, about(settings))
        tell(f"{told} {judged(model)}")


def _fit(
    model: PairModel,
    data: Path,
    settings: TrainingSettings,
    teachers: Sequence[PairModel],
    optimiser: torch.optim.Optimizer,
) -> Iterator[str]:
    """Train a model, which is left as it reads; yields after each pass what is to be told of it."""
    tokenizer = PairTokenizer()
    _drop(model, settings.dropout)
    model.to(settings.device)
    rates = [group["lr"] for group in optimiser.param_groups]
    started, done = time.perf_counter(), 0
    for number in range(settings.passes):
        rng = random.Random(settings.seed + number)  # noqa: S311
        examples = epoch(data, rng, swaps=settings.swapped)
        if teachers:
            examples += beside(rng, settings.beside)
        batches = _batches(examples, settings.batch, rng)
        counts = f", pairs {counted(examples)}" if number == 0 else ""
        model.train()
        total = 0.0
        for at, batch in enumerate(batches):
            left = 1 - (number + at / len(batches)) / settings.passes
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * min((done + 1) / settings.warm, left)
            total += _step(model, tokenizer, optimiser, batch, settings, teachers)
            done += 1
        model.eval()
        told = f"loss {total / len(batches):.3f}, {time.perf_counter() - started:.0f} s{counts}"
        yield f"pass {number + 1} of {settings.passes}: {told}"


def _optimiser(
    model: PairModel, settings: TrainingSettings, *, embeddings: bool = True, whole: bool = False
) -> torch.optim.Optimizer:
    """``embeddings``: their segments and norm too, whose gradient has to pass the first layer; ``whole``: all."""
    every = dict(model.named_parameters()) if whole else model.trained()
    trained = {n: p for n, p in every.items() if embeddings or not n.startswith(EMBEDDINGS)}
    for name, p in model.named_parameters():
        p.requires_grad_(name in trained)
    head = [p for n, p in trained.items() if n.startswith(HEADED)]
    body = [p for n, p in trained.items() if not n.startswith(HEADED)]
    groups = [{"params": body, "lr": settings.rate}, {"params": head, "lr": settings.head_rate}]
    return torch.optim.AdamW(groups, weight_decay=settings.decay)


def _step(
    model: PairModel,
    tokenizer: PairTokenizer,
    optimiser: torch.optim.Optimizer,
    batch: Sequence[Example],
    settings: TrainingSettings,
    teachers: Sequence[PairModel],
) -> float:
    loss = _loss(model, tokenizer, batch, settings, teachers)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    return float(loss.detach())


def about(settings: TrainingSettings) -> dict[str, str]:
    """What a weights file says of itself."""
    return {"stances": " ".join(STANCES), "directions": " ".join(DIRECTIONS), "roles": " ".join(ROLES)} | {
        "settings": settings.model_dump_json()
    }


def _drop(model: PairModel, share: float) -> None:
    """Dropout after each block; within attention and the linear layers it takes a fifth of the time."""
    for layer in model.encoder.layers.layers:
        layer.dropout1.p = layer.dropout2.p = share


def _batches(examples: Sequence[Example], size: int, rng: random.Random) -> list[list[Example]]:
    """Batches of like length in random order: padding costs as much as text."""
    pools = [examples[at : at + 24 * size] for at in range(0, len(examples), 24 * size)]
    out = []
    for pool in pools:
        lengths = [len(e.pair.sentence) + len(e.pair.question) + len(e.pair.title) + len(e.pair.before) for e in pool]
        order = sorted(range(len(pool)), key=lambda i: lengths[i])
        out += [[pool[i] for i in order[at : at + size]] for at in range(0, len(order), size)]
    rng.shuffle(out)
    return out


def _loss(
    model: PairModel,
    tokenizer: PairTokenizer,
    batch: Sequence[Example],
    settings: TrainingSettings,
    teachers: Sequence[PairModel],
) -> torch.Tensor:
    """Cross-entropy of what is known: of a stance among several, that it is one of them; and of what teachers read."""
    encoded = Encoded(*(t.to(settings.device) for t in padded(tokenizer.rows([e.pair for e in batch]))))
    mixed = torch.autocast(settings.device, torch.bfloat16, enabled=settings.bf16)
    with mixed, sdpa_kernel(SDPBackend.MATH):  # on a processor twice as fast backward
        logits = model(encoded)
        with torch.no_grad():
            read = [split(teacher(encoded).float().cpu()) for teacher in teachers]
    stance, direction, role = parts = tuple(part.log_softmax(-1) for part in split(logits.float().cpu()))
    allowed = torch.full_like(stance, -1e9)
    for at, example in enumerate(batch):
        allowed[at, [STANCE_AT[s] for s in example.stances]] = 0.0
    weight = torch.tensor([e.weight for e in batch])
    known = torch.tensor([len(e.stances) < len(STANCES) for e in batch]).float()
    told = (stance + allowed).logsumexp(-1) * (1 - settings.smoothing) + stance.mean(-1) * settings.smoothing
    loss = -(told * weight * known).sum()
    for part, places, share in (
        (direction, [DIRECTION_AT[e.direction] if e.direction else -1 for e in batch], 1.0),
        (role, [ROLE_AT[e.role] if e.role else -1 for e in batch], ROLE_SHARE),
    ):
        target = torch.tensor(places)
        named = (target >= 0).float()
        picked = part.gather(1, target.clamp(min=0).unsqueeze(1)).squeeze(1)
        loss = loss - share * (picked * named * weight).sum()
    if not teachers:
        return loss / len(batch)
    shown = torch.zeros(())
    for at, (part, share) in enumerate(zip(parts, (1.0, 1.0, ROLE_SHARE), strict=True)):
        together = torch.stack([heads[at].softmax(-1) for heads in read]).mean(0)
        shown = shown - share * (together * part).sum()
    return ((1 - settings.taught) * loss + settings.taught * shown) / len(batch)

"""Training of the reader: AdamW over what may be trained on, one linear rise and fall; the same file for one seed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tools.evidence import Frozen
from tools.reading.contract import DIRECTIONS, ROLES, STANCES
from tools.reading.corpus import DIRECTION_AT, ROLE_AT, STANCE_AT, Example, counted, epoch, schedule
from tools.reading.model import HEADED, PairModel, PairTokenizer, padded, save, split

EVERY = 50  # ours: steps between two lines of progress


class TrainingSettings(Frozen):
    """Settings of a training run. All ours.

    Attributes:
        batch: pairs a step; rate, head_rate: learning rates of the layers and the heads, which rise in the first
            ``warm`` steps and fall to 0 in the last pass.
        bf16: mixed precision; threads: of torch (1 for the same file again).
    """

    batch: int = 16
    rate: float = 1.5e-4
    head_rate: float = 1e-3
    warm: int = 200
    decay: float = 0.01
    dropout: float = 0.1
    seed: int = 7
    bf16: bool = True
    threads: int = 1


def train_reader(
    data: Path,
    path: Path,
    settings: TrainingSettings,
    tell: Callable[[str], None],
    judged: Callable[[PairModel], str] = lambda _model: "",
) -> None:
    """Train on the *fit* part of the data, pass by pass of the schedule, and write the weights after each.

    ``judged`` says how the model does after a pass. Raises InputError when the data is not there.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    model, tokenizer = PairModel(), PairTokenizer()
    _drop(model, settings.dropout)
    optimiser = _optimiser(model, settings)
    rates = [group["lr"] for group in optimiser.param_groups]
    started, done, number = time.perf_counter(), 0, 0
    while number < len(schedule()):
        files = schedule()[number]
        rng = random.Random(settings.seed + number)  # noqa: S311
        number += 1
        examples = epoch(data, rng, files)
        batches = _batches(examples, settings.batch, rng)
        tell(f"pass {number}: {counted(examples)} pairs, {len(batches)} steps")
        model.train()
        total, last = 0.0, number == len(schedule())
        for at, batch in enumerate(batches):
            factor = min((done + 1) / settings.warm, 1.0) * (1 - at / len(batches) if last else 1.0)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            total += _step(model, tokenizer, optimiser, batch, settings.bf16)
            done += 1
            if done % EVERY == 0:
                tell(
                    f"step {at + 1} of {len(batches)}, loss {total / EVERY:.3f}, {time.perf_counter() - started:.0f} s"
                )
                total = 0.0
        model.eval()
        save(model, path, about(settings))
        tell(f"pass {number}: {judged(model)}")


def _optimiser(model: PairModel, settings: TrainingSettings) -> torch.optim.Optimizer:
    trained = model.trained()
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
    bf16: bool,
) -> float:
    loss = _loss(model, tokenizer, batch, bf16)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.trained().values(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    return float(loss.detach())


def about(settings: TrainingSettings) -> dict[str, str]:
    """What a weights file says of itself."""
    return {"stances": " ".join(STANCES), "directions": " ".join(DIRECTIONS), "roles": " ".join(ROLES)} | {
        "settings": settings.model_dump_json()
    }


def _drop(model: PairModel, share: float) -> None:
    for module in model.encoder.layers.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = share


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


def _loss(model: PairModel, tokenizer: PairTokenizer, batch: Sequence[Example], bf16: bool) -> torch.Tensor:
    """Cross-entropy of what is known: of a stance among several, that it is one of them."""
    encoded = padded(tokenizer.rows([e.pair for e in batch]))
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16), sdpa_kernel(SDPBackend.MATH):  # twice as fast backward
        logits = model(encoded)
    stance, direction, role = (part.float().log_softmax(-1) for part in split(logits.float()))
    allowed = torch.full_like(stance, -1e9)
    for at, example in enumerate(batch):
        allowed[at, [STANCE_AT[s] for s in example.stances]] = 0.0
    weight = torch.tensor([e.weight for e in batch])
    known = torch.tensor([len(e.stances) < len(STANCES) for e in batch]).float()
    loss = -((stance + allowed).logsumexp(-1) * weight * known).sum()
    for part, places, share in (
        (direction, [DIRECTION_AT[e.direction] if e.direction else -1 for e in batch], 1.0),
        (role, [ROLE_AT[e.role] if e.role else -1 for e in batch], 0.5),
    ):
        target = torch.tensor(places)
        told = (target >= 0).float()
        picked = part.gather(1, target.clamp(min=0).unsqueeze(1)).squeeze(1)
        loss = loss - share * (picked * told * weight).sum()
    return loss / len(batch)

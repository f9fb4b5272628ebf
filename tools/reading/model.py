"""The reader's network: the embedded encoder's layers over a question and a sentence in its context, and three heads.

Input: ``[CLS] question [SEP] title. sentence before [SEP] sentence [SEP]``. The heads read the first token's state and
the mean over the sentence's own tokens, and give stance (6), direction (4) and role (7). Whether a sentence supports or
refutes is a product (ours): what the question asks for, read from the question alone (whether a thing holds, rises or
changes at all), times what the sentence shows of it. A negated question then needs no sentences of its own to be
learned from. Word embeddings and the first layer are the embedded encoder's, as its package carries them; what training
changed in the other layers is shipped as int8 differences with a scale a row, so that the file stays under 10 MB.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from tools.bert import BertEncoder
from tools.encoders import HEADS, minilm_tokenizer, minilm_weights
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Pair
from tools.weights import store

QUESTION, CONTEXT, SENTENCE = 64, 40, 144  # ours: word pieces of each part; what is longer is not read
FROZEN = 1  # ours: first layers that stay the encoder's; with them the differences of six layers would pass 10 MB
HIDDEN = 384


HEADED = ("head.", "asked.")  # parameters that training makes, rather than changes
ASKED = 3  # ours: what a question may ask for: whether it holds, whether it rises, whether it changes
SCALE = 4.0  # ours: probabilities of directions to the size of logits


class Encoded(NamedTuple):
    """Token ids, segments (0 question, 1 rest), which tokens are the sentence's, and the questions by themselves.

    One row a pair, padded.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    segments: torch.Tensor
    sentence: torch.Tensor
    asked: torch.Tensor
    asked_mask: torch.Tensor


class PairTokenizer:
    """Pairs to token ids, with the embedded encoder's word pieces."""

    def __init__(self) -> None:
        self._tokenizer = minilm_tokenizer()
        self._first, self._end = (int(self._tokenizer.token_to_id(t) or 0) for t in ("[CLS]", "[SEP]"))

    def rows(self, pairs: Sequence[Pair]) -> list[tuple[list[int], int, int]]:
        """For each pair its ids, where its question ends, and where its sentence begins."""
        parts = [part for p in pairs for part in (p.question, f"{p.title}. {p.before}".strip(". "), p.sentence)]
        ids = [e.ids for e in self._tokenizer.encode_batch(parts, add_special_tokens=False)]
        out = []
        for at in range(0, len(ids), 3):
            question, context, sentence = ids[at][:QUESTION], _ends(ids[at + 1]), ids[at + 2][:SENTENCE]
            head: list[int] = [self._first, *question, self._end]
            body = [*context, self._end]
            out.append(([*head, *body, *sentence, self._end], len(head), len(head) + len(body)))
        return out


def _ends(context: list[int]) -> list[int]:
    """The beginning and the end of a context that is too long: the title, and the words before the sentence."""
    half = CONTEXT // 2
    return context if len(context) <= CONTEXT else [*context[:half], *context[-half:]]


def padded(rows: Sequence[tuple[list[int], int, int]]) -> Encoded:
    """The rows as tensors."""
    longest = max(len(ids) for ids, _, _ in rows)
    tensors = [torch.zeros((len(rows), longest), dtype=torch.long) for _ in range(4)]
    for at, (ids, question, sentence) in enumerate(rows):
        tensors[0][at, : len(ids)] = torch.tensor(ids)
        tensors[1][at, : len(ids)] = 1
        tensors[2][at, question : len(ids)] = 1
        tensors[3][at, sentence : len(ids) - 1] = 1
    longest = max(question for _, question, _ in rows)
    asked, asked_mask = torch.zeros((len(rows), longest), dtype=torch.long), torch.zeros((len(rows), longest))
    for at, (ids, question, _) in enumerate(rows):
        asked[at, :question] = torch.tensor(ids[:question])
        asked_mask[at, :question] = 1
    return Encoded(tensors[0], tensors[1].bool(), tensors[2], tensors[3].bool(), asked, asked_mask.bool())


class PairModel(nn.Module):
    """Encoded pairs to logits (n, 17): stances, directions, roles side by side."""

    def __init__(self) -> None:
        super().__init__()
        from safetensors.torch import load_file

        self.encoder = BertEncoder.from_weights(load_file(str(minilm_weights())), heads=HEADS)
        self.head = nn.Linear(2 * HIDDEN, len(STANCES) + len(DIRECTIONS) + len(ROLES))
        self.asked = nn.Linear(2 * HIDDEN, ASKED)
        nn.init.normal_(self.asked.weight, std=0.02)
        self.asked.bias.data = torch.tensor([1.0, 0.0, 0.0])  # until it is trained, a question asks whether it holds
        self.dropout = nn.Dropout(0.1)

    def forward(self, pairs: Encoded) -> torch.Tensor:
        """Logits."""
        states = self.encoder.states(pairs.ids, pairs.mask, pairs.segments)
        logits = self.head(self.dropout(_pooled(states, pairs.sentence))).float()
        alone = self.encoder.states(pairs.asked, pairs.asked_mask)
        asked = self.asked(self.dropout(_pooled(alone, pairs.asked_mask))).float()
        stance, direction, _ = split(logits)
        rises, falls, same = direction.softmax(-1)[:, :3].unbind(-1)
        shown = torch.stack([stance[:, 1], SCALE * (rises - falls), SCALE * (rises + falls - same)], dim=-1)
        turned = (asked * shown).sum(-1)
        return torch.cat([(stance[:, 0] + turned)[:, None], (stance[:, 0] - turned)[:, None], logits[:, 2:]], dim=-1)

    def trained(self) -> dict[str, nn.Parameter]:
        """The parameters that training changes, by name."""
        kept = tuple(f"encoder.layers.layers.{n}." for n in range(FROZEN))
        fixed = ("encoder.word.", "encoder.position.", *kept)
        return {name: p for name, p in self.named_parameters() if not name.startswith(fixed)}


def _pooled(states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The first token's state beside the mean over some tokens."""
    inside = tokens.unsqueeze(-1).float()
    mean = (states * inside).sum(1) / inside.sum(1).clamp(min=1.0)
    return torch.cat([states[:, 0], mean], dim=-1)


def split(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The logits of the three heads."""
    a, b = len(STANCES), len(STANCES) + len(DIRECTIONS)
    return logits[:, :a], logits[:, a:b], logits[:, b:]


def save(model: PairModel, path: Path, about: dict[str, str]) -> None:
    """Write what training changed: int8 differences with a scale a row, the head in float16; atomic."""
    base = PairModel().state_dict()
    out: dict[str, torch.Tensor] = {}
    for name, value in model.trained().items():
        if name.startswith(HEADED):
            out[name] = value.detach().cpu().half().contiguous()
            continue
        change = (value.detach().cpu() - base[name]).float()
        rows = change.reshape(change.shape[0], -1) if change.dim() > 1 else change.reshape(1, -1)
        scale = rows.abs().amax(dim=1).clamp(min=1e-12) / 127
        out[f"{name}.change"] = (rows / scale.unsqueeze(1)).round().to(torch.int8).reshape(change.shape).contiguous()
        out[f"{name}.scale"] = scale
    told = json.dumps(about, sort_keys=True)  # one entry: several are written in any order
    store(path, {name: value.numpy() for name, value in out.items()}, {"about": told})


def load(path: Path) -> PairModel:
    """The model with the changes of a file; ready to read."""
    from safetensors.torch import load_file

    model = PairModel()
    stored = load_file(str(path))
    with torch.no_grad():
        for name, value in model.trained().items():
            value.copy_(_restored(name, value, stored))
    return model.eval()


def _restored(name: str, value: torch.Tensor, stored: dict[str, Any]) -> torch.Tensor:
    if name.startswith(HEADED):
        head: torch.Tensor = stored[name].float()
        return head
    change, scale = stored[f"{name}.change"].float(), stored[f"{name}.scale"]
    rows = change.reshape(change.shape[0], -1) if change.dim() > 1 else change.reshape(1, -1)
    restored: torch.Tensor = value + (rows * scale.unsqueeze(1)).reshape(value.shape)
    return restored

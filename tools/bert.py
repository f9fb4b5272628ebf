"""A BERT encoder with mean pooling, out of torch's own transformer layers (with their fused inference path)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import nn

EPSILON = 1e-12  # layer_norm_eps of BERT's configuration


class BertEncoder(nn.Module):
    """Token ids (n, t) and mask (n, t) to L2-normalised vectors (n, hidden), float32; `states` gives them a token.

    Args:
        vocabulary, positions, hidden, feedforward, layers, heads: sizes of the model.
    """

    def __init__(self, vocabulary: int, positions: int, hidden: int, feedforward: int, layers: int, heads: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            hidden, heads, feedforward, dropout=0.0, activation="gelu", layer_norm_eps=EPSILON, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        # Given weights: initialising them here would import torch's compiler, a second of start-up.
        self.word = nn.Embedding(vocabulary, hidden, _weight=torch.empty(vocabulary, hidden))
        self.position = nn.Embedding(positions, hidden, _weight=torch.empty(positions, hidden))
        self.segment = nn.Parameter(torch.zeros(2, hidden))
        self.norm = nn.LayerNorm(hidden, eps=EPSILON)

    @classmethod
    def from_weights(cls, weights: dict[str, torch.Tensor], *, heads: int) -> BertEncoder:
        """Build the encoder from the tensors of a BERT checkpoint (names as `transformers` saves them)."""
        word = weights["embeddings.word_embeddings.weight"]
        position = weights["embeddings.position_embeddings.weight"]
        feedforward = weights["encoder.layer.0.intermediate.dense.weight"].shape[0]
        layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
        with torch.device("meta"):
            model = cls(word.shape[0], position.shape[0], word.shape[1], feedforward, layers, heads)
        state = {
            "word.weight": word,
            "position.weight": position,
            "segment": weights["embeddings.token_type_embeddings.weight"],
            "norm.weight": weights["embeddings.LayerNorm.weight"],
            "norm.bias": weights["embeddings.LayerNorm.bias"],
        }
        for layer in range(layers):
            state.update(_layer(weights, layer))
        model.load_state_dict(state, assign=True)
        return model.eval()

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Embed, attend, take the mean over the tokens that are no padding, normalise."""
        x = self.states(ids, mask)
        weight = mask.unsqueeze(-1).float()
        mean = (x * weight).sum(1) / weight.sum(1)
        return nn.functional.normalize(mean, dim=-1)

    def means(self, ids: torch.Tensor, mask: torch.Tensor, layers: Sequence[int]) -> torch.Tensor:
        """The mean state behind each of these layers (from 1), each of unit length: (n, len(layers) * hidden)."""
        weight = mask.unsqueeze(-1).float()
        every = (layer for number, layer in enumerate(self.behind(ids, mask), start=1) if number in layers)
        out = [nn.functional.normalize((x * weight).sum(1) / weight.sum(1), dim=-1) for x in every]
        return torch.cat(out, dim=-1)

    def behind(self, ids: torch.Tensor, mask: torch.Tensor) -> Iterator[torch.Tensor]:
        """Token states (n, t, hidden) behind each layer."""
        x = self._embedded(ids, None)
        padding = None if bool(mask.all()) else ~mask
        for layer in self.layers.layers:
            x = layer(x, src_key_padding_mask=padding)
            yield x

    def states(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor | None = None) -> torch.Tensor:
        """Token states (n, t, hidden), float32; ``segments`` (n, t) are 0 and 1, all 0 when not given."""
        x = self._embedded(ids, segments)
        states: torch.Tensor = self.layers(x, src_key_padding_mask=None if bool(mask.all()) else ~mask).float()
        return states

    def _embedded(self, ids: torch.Tensor, segments: torch.Tensor | None) -> torch.Tensor:
        first, second = self.segment
        segment = first if segments is None else first + segments.unsqueeze(-1) * (second - first)
        embedded: torch.Tensor = self.norm(self.word(ids) + self.position.weight[: ids.shape[1]] + segment)
        return embedded


def _layer(weights: dict[str, torch.Tensor], layer: int) -> dict[str, torch.Tensor]:
    source, target = f"encoder.layer.{layer}.", f"layers.layers.{layer}."
    names = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    state = {}
    for kind in ("weight", "bias"):
        parts = [weights[f"{source}attention.self.{p}.{kind}"] for p in ("query", "key", "value")]
        state[f"{target}self_attn.in_proj_{kind}"] = torch.cat(parts)
        for ours, theirs in names.items():
            state[f"{target}{ours}.{kind}"] = weights[f"{source}{theirs}.{kind}"]
    return state

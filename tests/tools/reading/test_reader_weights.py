"""The reader's file: what training changed, small, and the same model when it is read again."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open

from tools.encoders import Encoder
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Pair
from tools.reading.model import CONTEXT, QUESTION, SENTENCE, PairModel, PairTokenizer, load, padded, save, split

PAIRS = [
    Pair("Does rest help a sprain?", "Rest did not help.", "Sprains", "We compared rest with walking."),
    Pair("Is honey good for a cough?", "Children who were given honey coughed less at night than those given nothing."),
    Pair("Does it work?", "It does " + "really " * 300 + "work.", "A title " * 60, "Words before it " * 60),
]
MOST = 10 * 1000 * 1000  # bytes that the shipped file may have


def logits(model: PairModel) -> torch.Tensor:
    with torch.inference_mode():
        return model(padded(PairTokenizer().rows(PAIRS)))


def test_what_is_written_in_int8_is_the_same_model_again(changed: PairModel, weights: Path) -> None:
    again = load(weights)
    assert not again.training
    assert float((logits(again) - logits(changed)).abs().max()) < 1e-2
    assert float((logits(PairModel().eval()) - logits(changed)).abs().max()) > 1e-2, "the change is seen at all"


def test_the_file_is_small_says_what_it_is_and_is_the_same_each_time(
    changed: PairModel, weights: Path, tmp_path: Path
) -> None:
    assert weights.stat().st_size < MOST
    with safe_open(str(weights), "pt") as file:
        assert file.metadata() == {"about": '{"settings": "none"}'}
        assert not [name for name in file.keys() if "word" in name or "position" in name]  # noqa: SIM118
    save(changed, tmp_path / "again.safetensors", {"settings": "none"})
    assert (tmp_path / "again.safetensors").read_bytes() == weights.read_bytes()


def test_an_unchanged_model_is_written_too(tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = PairModel().eval()
    save(model, tmp_path / "same.safetensors", {})
    assert float((logits(load(tmp_path / "same.safetensors")) - logits(model)).abs().max()) < 1e-2


def test_long_texts_are_cut_part_by_part_and_the_sentence_is_marked() -> None:
    rows = PairTokenizer().rows(PAIRS)
    assert max(len(ids) for ids, _, _ in rows) <= QUESTION + CONTEXT + SENTENCE + 4
    encoded = padded(rows)
    assert encoded.ids.shape == encoded.mask.shape == encoded.segments.shape == encoded.sentence.shape
    for at, (ids, question, sentence) in enumerate(rows):
        assert int(encoded.mask[at].sum()) == len(ids)
        assert int(encoded.segments[at].sum()) == len(ids) - question
        assert int(encoded.sentence[at].sum()) == len(ids) - 1 - sentence > 0


def test_three_heads_side_by_side() -> None:
    parts = split(logits(PairModel().eval()))
    assert [p.shape for p in parts] == [(3, len(STANCES)), (3, len(DIRECTIONS)), (3, len(ROLES))]


def test_the_encoder_that_searches_is_what_it_was(encoder: Encoder) -> None:
    before = encoder.encode_queries(["rest helps a sprain"])
    load_nothing = PairModel()
    with torch.no_grad():
        for value in load_nothing.trained().values():
            value.add_(1.0)
    assert (encoder.encode_queries(["rest helps a sprain", "another"])[0] @ before[0]) > 0.999

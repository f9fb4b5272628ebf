"""A reader with weights that nobody trained: the encoder's, each changed a little at random."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tools.files import sha256_of
from tools.reading.model import PairModel, save
from tools.reading.reader import TrainedReader


@pytest.fixture(scope="session")
def changed() -> PairModel:
    """A model that differs from the encoder by what training may change."""
    model = PairModel().eval()
    dice = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for value in model.trained().values():
            value.add_(torch.randn(value.shape, generator=dice) * 0.003)
    return model


@pytest.fixture(scope="session")
def weights(changed: PairModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of that model, with its checksum beside it."""
    path = tmp_path_factory.mktemp("reader") / "weights.safetensors"
    save(changed, path, {"settings": "none"})
    path.with_suffix(".sha256").write_text(sha256_of(path) + "\n")
    return path


@pytest.fixture(scope="session")
def reader(weights: Path) -> TrainedReader:
    return TrainedReader(weights)

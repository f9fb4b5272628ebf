"""The trainings that `anamnesis dev reader` finds by name are there, with the weights that each writes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from evals.commands import TRAININGS


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_has_its_function_and_its_weights(name: str) -> None:
    train, weights, _ = TRAININGS[name]
    module, _, function = train.partition(".")
    assert callable(getattr(import_module(f"evals.training.{module}"), function))
    assert isinstance(import_module(weights).WEIGHTS, Path)

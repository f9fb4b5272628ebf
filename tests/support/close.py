"""Values that differ no more than two ways of adding up the same numbers."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

NEAR = 1e-4  # the encoder's batches differ from the seventh digit on; shares of a ranking a little earlier


def assert_close(left: Any, right: Any, at: str = "it") -> None:
    """Fail unless both are the same but for the last digits of their numbers; ``at`` names the place."""
    if isinstance(left, BaseModel) and isinstance(right, BaseModel):
        assert type(left) is type(right), at
        assert_close(left.model_dump(), right.model_dump(), at)
    elif isinstance(left, dict) and isinstance(right, dict):
        assert left.keys() == right.keys(), at
        for key, value in left.items():
            assert_close(value, right[key], f"{at}.{key}")
    elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
        assert len(left) == len(right), at
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_close(one, other, f"{at}[{number}]")
    elif isinstance(left, float) and isinstance(right, float):
        assert left == pytest.approx(right, abs=NEAR), at
    else:
        assert left == right, at

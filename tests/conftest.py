"""Fixtures for every test."""

from __future__ import annotations

import pytest

from tools.encoders import Encoder, load_encoder


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The embedded encoder, loaded once."""
    return load_encoder()

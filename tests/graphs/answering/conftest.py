"""Every answerer that is held against the contract."""

from __future__ import annotations

import pytest

from graphs.answering.contract import Answerer
from support.answerers import FACTORIES, Factory
from tools.encoders import Encoder


@pytest.fixture(params=FACTORIES)
def answerer(request: pytest.FixtureRequest, encoder: Encoder) -> Answerer:
    factory: Factory = request.param
    return factory(encoder)

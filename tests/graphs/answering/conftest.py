"""Every answerer that is held against the contract: the local one, and one by a model that is served here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphs.answering.contract import Answerer
from support.answerers import FACTORIES, Factory, local
from support.answering_model import by_model
from tools.encoders import Encoder

BY_MODEL = "by model"


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(params=[*FACTORIES, BY_MODEL])
def answerer(request: pytest.FixtureRequest, encoder: Encoder) -> Iterator[Answerer]:
    if request.param == BY_MODEL:
        with by_model(local(encoder), encoder) as (made, _):
            yield made
        return
    factory: Factory = request.param
    yield factory(encoder)

"""Every answerer that is held against the contract: the local one, and one by a model that is served here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphs.answering.contract import Answerer, AnswerView
from prompts.metering import Meter, metered
from support.answerers import FACTORIES, Factory, answer, local
from support.answering_model import Answered, Answering, Ask, by_model
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


@pytest.fixture
def ask(encoder: Encoder) -> Ask:
    """Puts a view to the answerer by a model that says what it is told to."""

    def asking(answering: Answering, asked_view: AnswerView, **settings: Any) -> Answered:
        with by_model(local(encoder), encoder, answering, **settings) as (made, server), metered(Meter()) as meter:
            return answer(made, asked_view, parametric=True), server, meter

    return asking

"""The setting of the indexes: what it takes, what it refuses, and that an address is told."""

from __future__ import annotations

import json

import pytest

from agent.cli.doctor import endpoints
from agent.settings import load_settings
from prompts.errors import InputError

OFF = {"literature": {"live": "off"}}


def test_a_milvus_is_set_by_the_environment_and_told_by_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoints(load_settings(**OFF)) == []
    given = {"BACKEND": "milvus", "ADDRESS": "http://milvus.example:19530", "TOKEN": "root:secret-word", "TIMEOUT": "7"}
    for name, value in given.items():
        monkeypatch.setenv(f"ANAMNESIS_INDEX__{name}", value)
    settings = load_settings(**OFF)
    assert (settings.index.backend, settings.index.timeout) == ("milvus", 7)
    (told,) = endpoints(settings)
    assert told["url"] == "http://milvus.example:19530"
    assert "secret-word" not in json.dumps(told) + repr(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [("BACKEND", "elsewhere"), ("ADDRESS", "http://user:secret-word@host"), ("ADDRESS", "milvus.db"), ("TIMEOUT", "0")],
)
def test_what_cannot_be_is_refused_without_its_text(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"ANAMNESIS_INDEX__{name}", value)
    with pytest.raises(InputError, match=rf"index\.{name.lower()}") as told:
        load_settings()
    assert "secret-word" not in str(told.value)

"""The setting of the indexes: what it takes, what it refuses, and that an address is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli.doctor import endpoints
from agent.corpus import backend
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


def test_the_same_settings_share_one_backend_and_its_connection(tmp_path: Path) -> None:
    here, there = ({**OFF, "home": tmp_path / name} for name in ("here", "there"))
    assert backend(load_settings(**here)) is backend(load_settings(**here))
    assert backend(load_settings(**here)) is not backend(load_settings(**there))
    assert backend(load_settings(**here)) is not backend(load_settings(**here, index={"backend": "milvus"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("BACKEND", "elsewhere"), ("ADDRESS", "http://user:secret-word@host"), ("ADDRESS", "milvus.db"), ("TIMEOUT", "0")],
)
def test_what_cannot_be_is_refused_without_its_text(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"ANAMNESIS_INDEX__{name}", value)
    with pytest.raises(InputError, match=rf"index\.{name.lower()}") as told:
        load_settings()
    assert "secret-word" not in str(told.value)

"""Fixtures for tests that call a model's server on this machine."""

from __future__ import annotations

import pytest


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands before this machine."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")

"""Tiny models for the tests of MedCPT."""

from __future__ import annotations

import pytest

from support.tiny_medcpt import tiny_models


@pytest.fixture(scope="session")
def medcpt_folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """Folders of a query encoder, an article encoder and a cross-encoder."""
    return tiny_models(tmp_path_factory.mktemp("tiny-medcpt"))

"""Fixtures: the small ontology, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.small_hpo import write_small_hpo
from tools.knowledge_graph.hpo.compiled import Sources, build
from tools.knowledge_graph.hpo.ontology import Ontology


@pytest.fixture(scope="session")
def small_sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """The files of the small ontology."""
    return write_small_hpo(tmp_path_factory.mktemp("small-hpo"))


@pytest.fixture(scope="session")
def small(small_sources: Sources) -> Ontology:
    """The small ontology."""
    return build(small_sources)


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    """A folder for compiled files."""
    return tmp_path / "indexes"

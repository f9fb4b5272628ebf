"""Fixtures of the retrieval rooms: a small library, built once with the embedded encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.encoders import Encoder
from tools.library.build import build_library
from tools.library.collection import Library

STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"
SMALL = ("gerd", "acute-bronchitis", "statins-primary-prevention", "sle", "corticosteroids-croup", "pericarditis")


@pytest.fixture(scope="session")
def monographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few of the starter monographs."""
    folder = tmp_path_factory.mktemp("monographs")
    for name in SMALL:
        shutil.copy(STARTER / f"{name}.md", folder)
    return folder


@pytest.fixture(scope="session")
def library_folder(monographs: Path, encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built library of these monographs."""
    folder = tmp_path_factory.mktemp("built") / "library"
    build_library(monographs, folder, encoder)
    return folder


@pytest.fixture(scope="session")
def library(library_folder: Path, encoder: Encoder) -> Library:
    """The library, open."""
    return Library.open(library_folder, encoder)

"""Fixtures of the mirror: made-up records, loaded once in several batches."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from support.mirror_records import SmallDescriptors, made_up
from tools.mirror.engine import Mirror
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord

TODAY = date(2012, 6, 30)


@pytest.fixture(scope="session")
def records() -> list[MirrorRecord]:
    return made_up()


@pytest.fixture(scope="session")
def mirror_folder(records: list[MirrorRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    load_records(folder, records, source="made up", batch=120)
    return folder


@pytest.fixture(scope="session")
def mirror(mirror_folder: Path) -> Mirror:
    return Mirror.open(mirror_folder, today=lambda: TODAY)


@pytest.fixture(scope="session")
def mirror_with_descriptors(mirror_folder: Path) -> Mirror:
    return Mirror.open(mirror_folder, SmallDescriptors(), today=lambda: TODAY)

"""Where sessions lie: a fixture for the tests of both databases."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, object]:
    """Settings of a data folder whose sessions lie in SQLite, and of one whose sessions lie in PostgreSQL."""
    more = {"database": request.getfixturevalue("postgres")} if request.param == "postgres" else {}
    return {"home": tmp_path, **more}

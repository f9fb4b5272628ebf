"""Data folders of a test's own, on what another one has built."""

from __future__ import annotations

from pathlib import Path


def linked(built: Path, home: Path) -> Path:
    """A folder with sessions of its own, whose indexes and vectors are those of the other: nothing is damaged there."""
    home.mkdir(parents=True, mode=0o700)
    for part in ("indexes", "cache", "encoder.json"):
        if (built / part).exists():
            (home / part).symlink_to(built / part)
    return home

"""The source of small builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.corpus_files import deletion, publication, revised, write_xml


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A baseline of two files, and an update that revises, deletes and retracts."""
    folder = tmp_path / "source"
    folder.mkdir()
    write_xml(folder / "pubmed99n0001.xml.gz", [publication(n) for n in range(1, 31)])
    write_xml(folder / "pubmed99n0002.xml", [*(publication(n) for n in range(31, 56)), publication(56, sentences=0)])
    update = [
        publication(3, "gout"),
        deletion(4, 5),
        publication(6, types=("Retracted Publication",)),
        revised(publication(7, "sepsis"), 2),
        publication(7, "migraine"),
    ]
    write_xml(folder / "pubmed99n0003.xml", update)
    return folder

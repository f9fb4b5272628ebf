"""A shelf with a quick encoder, and some files for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.own_documents import HashedWords, note
from tools.library.shelf import Shelf


@pytest.fixture
def encoder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def shelf(tmp_path: Path, encoder: HashedWords) -> Shelf:
    return Shelf(tmp_path / "shelf", encoder)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    note(folder / "gout.md", "Gout", "Colchicine settles an acute attack of gout within a day.")
    note(folder / "asthma.md", "Asthma", "Inhaled budesonide prevents attacks of asthma in children.")
    (folder / "broken.pdf").write_bytes(b"\x00 no pdf")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("# Hidden\n\nNobody reads this.")
    return folder

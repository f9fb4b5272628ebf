"""The benchmark of own documents: what it puts on the shelf, and what it asks for first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.bench.shelf import measure, own_file
from prompts.errors import InputError
from support.word_encoder import WordEncoder
from tools.library.adding import add
from tools.library.shelf import Shelf


def test_abstracts_become_own_documents(tmp_path: Path) -> None:
    rows = [
        {"pmid": "1", "title": "Croup", "abstract": "A barking cough."},
        {"title": "Gout", "abstract": "A hot toe."},
    ]
    file = own_file(tmp_path, [json.dumps(row) for row in rows])
    shelf = Shelf(tmp_path / "shelf", WordEncoder())
    assert add(shelf, [file]).rows[0].documents == 2
    assert sorted(shelf.document(one.id).title for one in shelf.documents()) == ["Croup", "Gout"]
    shelf.close()


def test_missing_abstracts_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--data"):
        measure(tmp_path, 10)

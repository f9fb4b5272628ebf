"""Some pages of the starter library and one with headings of its own, as a library that is searched by meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.encoders import MiniLMEncoder
from tools.library.build import build_library
from tools.library.collection import Library

STARTER = Path(__file__).parents[3] / "tools" / "library" / "starter"
PAGES = ("gout", "croup", "myocardial-infarction", "acute-appendicitis", "shingles", "guillain-barre-syndrome",
         "parkinsons-disease", "gerd", "ebola", "statins-primary-prevention")  # fmt: skip

OWN = """---
id: reed-fever
title: Reed fever
kind: condition
written: 2026-11-01
review_by: 2028-11-01
clinically_reviewed: false
---
## Causes of reed fever
Reed fever is caused by a bite of the reed mite.

## Treatment of reed fever
Rest and fluids are enough for most people with reed fever.

Doxycycline is given where the fever lasts.

### In children
Children are given azithromycin.
"""


@pytest.fixture
def own_page() -> str:
    """The page with headings of its own."""
    return OWN


@pytest.fixture(scope="package")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Some of the starter library, with the encoder that searches it."""
    source, built = tmp_path_factory.mktemp("pages"), tmp_path_factory.mktemp("built")
    for name in PAGES:
        (source / f"{name}.md").write_bytes((STARTER / f"{name}.md").read_bytes())
    (source / "reed-fever.md").write_text(OWN, encoding="utf-8")
    encoder = MiniLMEncoder()
    build_library(source, built / "library", encoder)
    return Library.open(built / "library", encoder)

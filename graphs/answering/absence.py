"""Whether a statement only says that the documents lack something: nothing can be cited for that, nor need it be."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from tools.text.sentences import sentences
from tools.yaml_files import read_patterns

FORMS = Path(__file__).with_name("absence.yaml")


@lru_cache(maxsize=1)
def _forms() -> dict[str, re.Pattern[str]]:
    return read_patterns(FORMS)


def says_absent(text: str) -> bool:
    """Whether every sentence of a text says that the documents do not tell of something, and nothing beside."""
    said = [span.of(text).strip() for span in sentences(text)]
    return bool(said) and all(_forms()["absent"].search(s) and not _forms()["goes_on"].search(s) for s in said)

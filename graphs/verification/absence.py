"""What a statement says that the documents, or a case, do not tell: nothing can be cited for that, nor need it be."""

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


def without_absence(text: str) -> str:
    """A text without the parts that only say what the documents do not tell, or that a case does not tell of something;
    as it is where nothing else is left."""
    kept = _forms()["untold"].sub("", text)
    parts = _forms()["apart"].split(kept)
    said = [part for part in parts if not says_absent(part)]
    return ("; ".join(said) if len(said) < len(parts) else kept) if any(c.isalnum() for s in said for c in s) else text

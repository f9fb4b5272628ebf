"""ICD-10 codes and names, compiled once from the ICD-10-CM tree that `simple-icd-10-cm` carries.

The library takes 1.7 s and 190 MB to import; the compiled table is one JSON file that is read in milliseconds.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.files import write_atomic

FORMAT = 2  # raised when the compiled file changes its shape or its codes
READABLE = (1, FORMAT)  # 1 lacks the categories that are a block of their own (B20, C50); set-up replaces it
LONGEST = len("J93.1")  # ours: categories and their first subdivision, the depth that WHO's edition has


class Code(Frozen):
    """An ICD-10-CM code, its name, and the chapter and block above it (as codes)."""

    code: str
    name: str
    chapter: str
    block: str


def compile_icd10(target: Path) -> int:
    """Write the table (JSON: code -> [name, chapter, block]); returns the number of codes. Takes a few seconds."""
    import simple_icd_10_cm as tree

    rows: dict[str, list[str]] = {}
    for code in tree.get_all_codes(with_dots=True):
        if len(code) > LONGEST or tree.is_chapter(code) or not (tree.is_category(code) or tree.is_subcategory(code)):
            continue
        above = tree.get_ancestors(code)
        rows[code] = [tree.get_description(code), above[-1], above[-2] if len(above) > 1 else ""]
    document = {"format": FORMAT, "codes": rows}
    write_atomic(target, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    return len(rows)


def categories() -> list[tuple[str, str]]:
    """The three-character categories with their names, in the order of the tree. Takes a few seconds."""
    import simple_icd_10_cm as tree

    return [(c, tree.get_description(c)) for c in tree.get_all_codes(with_dots=True) if tree.is_category(c)]


def is_current(source: Path) -> bool:
    """Whether the compiled table is there and of this version."""
    try:
        return bool(json.loads(source.read_text(encoding="utf-8"))["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False


@lru_cache(maxsize=4)
def load_icd10(source: Path) -> ICD10:
    """The compiled table; raises DataError when it is missing, damaged or of another format."""
    try:
        document = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError("The compiled ICD-10 table cannot be read.", "Run `anamnesis setup`.") from error
    if document.get("format") not in READABLE:
        raise DataError("The compiled ICD-10 table is of another version.", "Run `anamnesis setup`.")
    return ICD10(document["codes"])


class ICD10:
    """Look-up in the compiled table."""

    def __init__(self, rows: dict[str, list[str]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, code: str) -> Code | None:
        """The entry of a code such as ``J93.1``; None for an unknown one."""
        row = self._rows.get(code)
        return Code(code=code, name=row[0], chapter=row[1], block=row[2]) if row is not None else None

    def names(self) -> list[str]:
        """The names of all codes."""
        return [row[0] for row in self._rows.values()]

    def codes(self) -> list[Code]:
        """Every entry, in the order of the tree."""
        return [Code(code=code, name=row[0], chapter=row[1], block=row[2]) for code, row in self._rows.items()]

    def nearest(self, code: str) -> Code | None:
        """The entry of a code, or of its category when only the WHO edition has the subdivision."""
        return self.get(code) or self.get(code.split(".")[0])

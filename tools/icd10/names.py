"""Every English name of the codes, and names from elsewhere, with the words that they are matched by; compiled once.

Beside the titles of the table: the terms that ICD-10-CM lists under a code, the titles of its finer codes (of diseases,
not of injuries, where they only add sides and encounters), names of our own (``names.yaml``), and a graph's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from prompts.errors import DataError
from tools.files import REBUILD, locked, write_atomic
from tools.icd10.contract import Name, at_depth
from tools.icd10.table import ICD10
from tools.icd10.words import Words, words
from tools.yaml_files import read_yaml

NAMES_FORMAT = 1  # raised when the compiled file changes its shape
OURS = Path(__file__).with_name("names.yaml")
LIBRARY = "simple-icd-10-cm"
DISEASES = "ABCDEFGHIJKLMNOPQR"  # chapters of diseases; of S and T only the titles are taken
NO_DISEASE = "VWXYZ"  # external causes, and reasons for contact with a health service: they name no disease
_FRAGMENT = ("any ", "conditions in", "infections in")  # terms that only make sense beside others
_LAST_BRACKET = re.compile(r"^(.+?)\s*\[([^\[\]]{3,})\]$")


class NamedCodes(NamedTuple):
    """Names with their words, and the words alone; ``rows[i]`` is the name whose words are ``read[i]``."""

    rows: list[Name]
    read: list[Words]

    def where(self, wanted: Sequence[bool]) -> NamedCodes:
        """Those that are wanted."""
        kept = [i for i, want in enumerate(wanted) if want]
        return NamedCodes([self.rows[i] for i in kept], [self.read[i] for i in kept])


def open_names(
    target: Path, table: ICD10, graph: str = "", aliases: Callable[[], Iterable[Name]] = tuple
) -> NamedCodes:
    """The compiled names; compiled first where they are missing or were made by other rules, names or graph.

    Args:
        target: the compiled file.
        graph: a hash of the graph whose names ``aliases`` gives, which is only called when compiling.

    Raises DataError when the file cannot be written.
    """
    key = _key(graph, len(table))
    found = _read(target, key)
    if found is not None:
        return found
    with locked(target):
        found = _read(target, key)
        if found is None:
            _write(target, key, table, aliases())
            found = _read(target, key)
    if found is None:
        raise DataError(f"{target.name} cannot be written and read again.", REBUILD)
    return found


def read_ours(table: ICD10) -> list[Name]:
    """Our own names; a table of an older version may lack the code of some, which are then left out."""
    rows = read_yaml(OURS)
    return [Name(code, name, "alias") for code, names in rows.items() if table.get(code) for name in names]


def distinct(names: Iterable[Name]) -> NamedCodes:
    """The names with their words; of those of one category with the same words, the first."""
    rows: list[Name] = []
    read: list[Words] = []
    seen: set[tuple[str, frozenset[tuple[str, float]]]] = set()
    for name in names:
        found = words(name.text)
        key = (at_depth(name.code, "subdivision"), frozenset(found.items()))
        if found and key not in seen:
            seen.add(key)
            rows.append(name)
            read.append(found)
    return NamedCodes(rows, read)


def variants(name: Name) -> Iterator[Name]:
    """The name, and what its square brackets hold: another name (``Acute nasopharyngitis [common cold]``)."""
    match = _LAST_BRACKET.match(name.text)
    if match is None:
        yield name
        return
    yield name._replace(text=match[1])
    initials = "".join(word[0] for word in match[1].split()).upper()
    if (" " in match[2] or "-" in match[2] or match[2] == initials) and not match[2].startswith(
        _FRAGMENT
    ):  # one word in them is part of a name, or who described it
        yield Name(name.code, match[2], "term")


def _library(table: ICD10) -> Iterator[Name]:
    import simple_icd_10_cm as tree

    for row in table.codes():
        if row.code[0] not in NO_DISEASE:
            yield from variants(Name(row.code, row.name))
    for code in tree.get_all_codes(with_dots=True):
        if code[0] not in DISEASES or not (tree.is_category(code) or tree.is_subcategory(code)):
            continue
        listed = [*tree.get_inclusion_term(code), *tree.get_includes(code)]
        known = table.nearest(at_depth(code, "subdivision"))
        if known is not None:
            texts = listed if table.get(code) is not None else [tree.get_description(code), *listed]
            for text in texts:
                if not text.startswith(_FRAGMENT):
                    yield from variants(Name(known.code, text, "term"))


def _write(target: Path, key: dict[str, Any], table: ICD10, aliases: Iterable[Name]) -> None:
    known = [*_library(table), *read_ours(table), *aliases]
    held = distinct(name for name in known if table.nearest(name.code) is not None)
    rows = [[*name, _written(read)] for name, read in zip(held.rows, held.read, strict=True)]
    document = {"key": key, "names": rows}
    write_atomic(target, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _read(target: Path, key: dict[str, Any]) -> NamedCodes | None:
    try:
        stored = json.loads(target.read_bytes())
        if stored["key"] != key:
            return None
        rows = [Name(code, text, kind) for code, text, kind, _ in stored["names"]]
        read = [_words(row[3]) for row in stored["names"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # missing or damaged: it is compiled again
    return NamedCodes(rows, read)


def _written(read: Words) -> str:
    return " ".join(f"{word}:{weight:g}" if weight < 1 else word for word, weight in read.items())


def _words(written: str) -> Words:
    found: Words = {}
    for part in written.split():
        word, _, weight = part.partition(":")
        found[word] = float(weight) if weight else 1.0
    return found


def _key(graph: str, codes: int) -> dict[str, Any]:
    return {"format": NAMES_FORMAT, "codes": codes, "library": version(LIBRARY), "rules": rules_hash(), "graph": graph}


@lru_cache(maxsize=1)
def rules_hash() -> str:
    """A hash of what decides the words of a name, and of our own names."""
    files = (Path(__file__), *map(Path(__file__).with_name, ("words.py", "words.yaml", "patterns.yaml")), OURS)
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()

"""Cancer terms: headings of MeSH below Neoplasms with the words that stand for them, and the search for these in texts.

The shipped list (``neoplasms.yaml``) is ours. With NLM's descriptor file every heading of tree C04 and its entry terms
are taken instead, inverted ones ("Neoplasms, Breast") in their natural order too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from prompts.errors import DataError

LIST = Path(__file__).with_name("neoplasms.yaml")
TREE = "C04"  # MeSH: Neoplasms
WORD = re.compile(r"[^\W_]+(?:'s)?")
ACRONYM = re.compile(r"^[A-Z]{2,5}$")


class CancerTerms:
    """Finds the headings that a text names.

    Args:
        words: heading -> the words that stand for it.
    """

    def __init__(self, words: Mapping[str, Iterable[str]]) -> None:
        self._headings: dict[tuple[str, ...], str] = {}
        self._acronyms: dict[str, str] = {}
        for heading, own in words.items():
            for word in own:
                if ACRONYM.match(word):
                    self._acronyms.setdefault(word, heading)
                elif told := _tokens(word):
                    self._headings.setdefault(told, heading)
        self._longest = max((len(told) for told in self._headings), default=1)

    def __len__(self) -> int:
        return len(self._headings) + len(self._acronyms)

    def found_in(self, text: str) -> tuple[str, ...]:
        """The headings that a text names, each once, in order of the text; an acronym only in capitals."""
        written = WORD.findall(text)
        told = [_plain(word) for word in written]
        out: dict[str, None] = {}
        for at, word in enumerate(written):
            if word in self._acronyms:
                out[self._acronyms[word]] = None
            for size in range(min(self._longest, len(told) - at), 0, -1):
                heading = self._headings.get(tuple(told[at : at + size]))
                if heading is not None:
                    out[heading] = None
                    break
        return tuple(out)


def shipped_terms() -> CancerTerms:
    """The list of this project."""
    return CancerTerms(yaml.safe_load(LIST.read_text(encoding="utf-8")))


def mesh_terms(path: Path) -> CancerTerms:
    """Every heading below Neoplasms of a descriptor file; raises DataError where it cannot be read or has none."""
    from tools.mirror.mesh import read_descriptors

    words = {
        d.name: [natural(term) for term in (d.name, *d.entries)]
        for d in read_descriptors(path)
        if any(number.split(".")[0] == TREE for number in d.numbers)
    }
    if not words:
        raise DataError(f"{path.name} has no heading below {TREE}.", "Give NLM's descriptor file, as desc2026.xml.")
    return CancerTerms(words)


def natural(term: str) -> str:
    """An inverted term in its natural order: "Carcinoma, Renal Cell" as "Renal Cell Carcinoma"."""
    return " ".join(reversed(term.split(", ")))


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_plain(word) for word in WORD.findall(text))


def _plain(word: str) -> str:
    """A word in lower case, without a possessive or a plural s."""
    word = word.casefold().removesuffix("'s")
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "is", "us")) else word

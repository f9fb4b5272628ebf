"""How common a word is in English, by wordfreq's large list (Speer, CC BY-SA 4.0), on Zipf's scale.

The list is read from the file that the package carries, without importing the package: its tokenisers and language
tables take three times as long as the list itself, and a word of plain letters needs neither.
"""

from __future__ import annotations

import gzip
import math
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from prompts.errors import DataError

LIST = Path("data", "large_en.msgpack.gz")  # in wordfreq's folder; format "cB", see `wordfreq.read_cBpack`


def zipf(word: str) -> float:
    """The logarithm to base 10 of a word's uses in a billion words; 0 for one that is not listed.

    The same as `wordfreq.zipf_frequency(word, "en")`. Raises DataError when the package is missing or another one.
    """
    parts = word.lower().replace("-", " ").split()
    if parts and word.isascii() and all(part.isalpha() for part in parts):
        found = [_listed().get(part, 0.0) for part in parts]
        if len(found) == 1 or not all(found):
            return min(found)
        together = 1 / sum(10 ** (9 - one) for one in found)  # code: 1 / f = 1 / f1 + 1 / f2, in three digits
        return round(math.log10(round(together, 3 + math.floor(-math.log10(together)))) + 9, 2)
    from wordfreq import zipf_frequency  # of words with other signs

    return float(zipf_frequency(word, "en"))


def common_words(least: float) -> list[tuple[str, float]]:
    """Words of plain letters from a Zipf frequency on, each with its own."""
    return [(w, common) for w, common in _listed().items() if common >= least and w.isascii() and w.isalpha()]


@lru_cache(maxsize=1)
def _listed() -> dict[str, float]:
    import msgpack

    spec = find_spec("wordfreq")
    try:
        folder = Path(spec.origin or "").parent if spec is not None else Path()
        head, *words = msgpack.loads(gzip.decompress((folder / LIST).read_bytes()), raw=False)
        if (head["format"], head["version"]) != ("cB", 1):
            raise ValueError(head)
    except (OSError, EOFError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            "The frequencies of English words cannot be read.", "Reinstall wordfreq at the version in constraints.txt."
        ) from error
    frequencies: dict[str, float] = {}
    for place, held in enumerate(words):  # the frequency in hundredths of a logarithm to base 10, its sign turned
        frequencies |= dict.fromkeys(held, round(9 - place / 100, 2))
    return frequencies

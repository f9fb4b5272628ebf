"""A vocabulary for tests of search plans: the words of the starter library."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

from tools.library.monograph import read_monograph
from tools.library.search import WORD
from tools.literature.vocabulary import Vocabulary

STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"


@lru_cache(maxsize=1)
def starter_vocabulary() -> Vocabulary:
    """Words of the starter monographs with the number of monographs that hold them."""
    texts = [f"{m.front.title} {m.text}".lower() for m in map(read_monograph, sorted(STARTER.glob("*.md")))]
    counts = Counter(w for text in texts for w in set(WORD.findall(text)))
    return Vocabulary(frequencies=counts, documents=len(texts))

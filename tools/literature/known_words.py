"""What is known of words: published medical prose, lists of ontologies, codes, and words that are names too.

The files of `words/` are made by `evals/privacy_words.py` out of published texts and ontologies; `names.txt`,
`words_and_names.txt`, `places.txt`, `brands.txt` and `chinese.txt` are ours. Words are kept in small letters and
without accents, codes as written.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np

from tools.literature.adapt_e.entries import table_words
from tools.literature.word_lists import ABBREVIATIONS, ASKING_WORDS, EPONYMS, NO_TERM
from tools.medicines.names import medicine_words
from tools.text.abbreviations import ANY_CASE, CAPITALS

FOLDER = Path(__file__).with_name("words")
ENDING = re.compile(  # of words that nothing but medicine has
    r"\w{2,}(?:itis|osis|oses|aemia|emia|ectomy|ostomy|otomy|plasty|algia|uria|plegia|paresis|pathy|pathies|cillins?|"
    r"mycins?|conazole|prazoles?|sartans?|statins?|olols?|dipines?|umabs?|ximabs?|zumabs?|tinibs?|ciclibs?|gliptins?|"
    r"gliflozins?|glutides?|parins?|xabans?|gatran|oxacins?|cyclines?|azepams?|triptans?|setrons?|lukasts?|scopy|"
    r"penia|cytosis|megaly|rrh(?:o)?ea|coccus|cocci|virus|viruses|blastoma|carcinoma|sarcoma|adenoma|lymphoma)"
)
COMMON = 25  # ours: documents of published prose; a name written in small letters stands in fewer
STEM = re.compile(  # WHO's stems of the names of substances (INN)
    r"\w{3,}(?:mab|nib|vir|vec|parib|lisib|gepant|ditan|taurin|cept|tide|stat|nersen|virsen|leucel|relin|zolid|afil|"
    r"fenacin|tecan|rubicin|platin|bactam|penem|thiazide|coxib|trexed|citabine|dronate|orexant|glinide|glitazone)s?"
)
GRAMS, SHORTEST_SHAPE = 1 << 15, 5  # ours: buckets of letter n-grams; letters of a word that has a shape
GREEK = frozenset("αβγδεζηθικλμνξοπρστυφχψω")


class KnownWords:
    """The lists, as one collection of published words that satisfies `vocabulary.Collection`."""

    def __init__(self) -> None:
        head, *rows = _lines("prose")
        self.documents = int(head.split()[-1])
        self._prose = {word: int(count) for word, count in map(str.split, rows)}
        listed = {*_lines("listed"), *_lines("brands"), *ANY_CASE, *table_words(), *medicine_words()}
        self._listed = {folded(w) for w in listed} - NO_TERM
        self.codes = frozenset(_lines("codes")) | ABBREVIATIONS.keys() | CAPITALS.keys()
        self._codes = frozenset(c.lower() for c in self.codes if any(x.isdigit() for x in c))
        self.eponyms = frozenset(_lines("eponyms")) | {folded(e) for e in EPONYMS}
        self.names = frozenset(_lines("names"))
        self.surnames = frozenset(_lines("surnames"))
        self.borne = frozenset(_lines("borne"))
        self.words_and_names = frozenset(_lines("words_and_names"))
        self.places = frozenset(_lines("places"))
        with np.load(FOLDER / "shape.npz") as shape:
            self._weights, self._bias = shape["weights"].astype(np.float32), float(shape["bias"])
        self._sorted = sorted({*self._prose, *self._listed, *self.eponyms, *map(str.lower, self.codes)})

    def frequency(self, word: str) -> int:
        """Documents of published medical prose that hold a word (in small letters)."""
        return self._prose.get(word, 0)

    def frequent(self, least: int) -> dict[str, int]:
        """Words that stand in at least so many documents of published medical prose, with their number."""
        return {word: count for word, count in self._prose.items() if count >= least}

    def listed(self, word: str) -> bool:
        """Whether an ontology, a table of ours, or a list of medicines holds a word in either number, or it ends as
        words of medicine alone do, or as names of medicines while it does not look like a name."""
        forms = (word, f"{word}s", word.removesuffix("s"), word.removesuffix("es"))
        if any(f in self._listed for f in forms) or ENDING.fullmatch(word) is not None:
            return True
        return STEM.fullmatch(word) is not None and self.shape(word) >= 0.0

    def code(self, word: str) -> bool:
        """Whether a word is the code of a gene, a protein, a compound or a term; in any letters with a digit in it."""
        return word in self.codes or word.removesuffix("s") in self.codes or word.lower() in self._codes

    def sure(self, word: str) -> bool:
        """Whether a word of prose is no name by chance: nobody is called so, or it is common there."""
        return word not in self.borne or self.frequency(word) >= COMMON or self.listed(word)

    def shape(self, word: str) -> float:
        """How much a word looks like one of medicine rather than a name, by its letters: log odds.

        Of names that it was not fitted on 0.3 % lie above 2 and 0.13 % above 3; of words of medicine 71 and 60 % do.
        """
        if len(word) < SHORTEST_SHAPE or not word.isascii() or not word.isalpha():
            return -9.0
        return float(self._weights[letter_grams(word)].sum()) + self._bias

    def any(self, word: str) -> bool:
        """Whether any list holds a word in any way, or it is one in which questions are asked."""
        low = folded(word.lower())
        return low in self._prose or self.listed(low) or self.code(word) or low in self.eponyms or asks(low)

    def begins(self, start: str) -> bool:
        """Whether a known word begins like this."""
        at = bisect_left(self._sorted, start)
        return at < len(self._sorted) and self._sorted[at].startswith(start)


def letter_grams(word: str) -> list[int]:
    """The buckets of a word's letter n-grams, 2 to 5 long, its ends marked."""
    marked = f"^{word}$"
    return sorted({crc32(marked[i : i + n].encode()) % GRAMS for n in (2, 3, 4, 5) for i in range(len(marked) - n + 1)})


@lru_cache(maxsize=1)
def known_words() -> KnownWords:
    """The lists, read once."""
    return KnownWords()


@lru_cache(maxsize=1)
def _chinese() -> tuple[tuple[str, str], ...]:
    rows = (line.partition(" ") for line in _lines("chinese"))
    return tuple(sorted(((zh, english) for zh, _, english in rows), key=lambda row: -len(row[0])))


def chinese_terms(text: str) -> list[str]:
    """English names of the illnesses and medicines that a text names in Chinese, the longest name first."""
    found = []
    for name, english in _chinese():
        if name in text:
            found.append((text.index(name), english))
            text = text.replace(name, "|" * len(name))
    return [english for _, english in sorted(found)]


def asks(word: str) -> bool:
    """Whether a word in small letters is grammar or one in which questions are asked."""
    return word in NO_TERM or word in ASKING_WORDS


def folded(word: str) -> str:
    """A word without accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()

"""What is known of a word: how many documents hold it, how common it is in everyday English, which lists have it.

A word of medicine stands more often in medical text than in everyday English. The ratio of the two frequencies tells
terms from talk, and it tells names, which are common in everyday English and rare in abstracts.

The files of `words/` are made by `evals/training/privacy_words.py` out of published texts and ontologies; `names.txt`,
`words_and_names.txt`, `places.txt`, `brands.txt`, `chinese.txt`, `chinese_searched.txt`, `grammar.txt`, `asking.txt`,
`abbreviations.txt`, `phrases.txt` and `well_known_eponyms.txt` are ours. Words are kept in small letters, codes as
written.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol
from zlib import crc32

import numpy as np

from tools.literature.adapt_e.entries import table_words
from tools.medicines.names import medicine_words
from tools.text.abbreviations import ANY_CASE, CAPITALS
from tools.text.frequency import zipf

FOLDER = Path(__file__).with_name("words")


def _lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()


# Grammar, narrative, time, numbers in words, people, and the words in which questions are asked. These lists are ours.
NO_TERM = frozenset(_lines("grammar"))
# Words in which things are asked for and told, beside `NO_TERM`: they ask, and are no subject of a search.
ASKING_WORDS = frozenset(_lines("asking"))
# Written out as the literature writes it; the abbreviation itself stays the first form.
ABBREVIATIONS = dict(line.split(" ", 1) for line in _lines("abbreviations"))
BOUND = tuple(_lines("phrases"))  # phrases that hold a word which is no term by itself
MEDICAL_ENDING = re.compile(
    r"(?:itis|[ae]mia|osis|oses|oma|omas|pathy|pathies|ectomy|ostomy|otomy|plasty|algia|uria|pno?ea|plegia|paresis|"
    r"cillins?|mycins?|"
    r"azoles?|prils?|sartans?|statins?|olols?|dipines?|mabs?|nibs?|virs?|gliptins?|gliflozins?|"
    r"glutides?|formin|parins?|xabans?|gatran|"
    r"tidines?|profens?|oxacins?|cyclines?|caines?|azepams?|zolams?|"
    r"triptans?|setrons?|lukasts?|terols?|tropium|sones?|solones?|onides?|"
    r"thyroxine|vaccines?|scopy|graphy|grams?|"
    r"therapy|emesis|phagia|phasia|rrh(?:o)?ea|rrhages?|trophy|megaly|penia|cytosis|lysis|"
    r"spasms?|toxic(?:ity)?|genic|"
    r"virus|viruses|bacter|coccus|cocci|amines?|idines?|zumab|biotics?|coagulants?|pressants?)$"
)
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
        listed = {
            *_lines("listed"),
            *_lines("brands"),
            *_lines("practice"),
            *_lines("everyday"),
            *ANY_CASE,
            *table_words(),
            *medicine_words(),
        }
        self._listed = {folded(w) for w in listed} - NO_TERM
        self.everyday = frozenset(_lines("everyday"))
        self.acronyms = frozenset(_lines("acronyms"))
        self.codes = self.acronyms.union(_lines("codes")) | ABBREVIATIONS.keys() | CAPITALS.keys()
        self._codes = frozenset(c.lower() for c in self.codes if not c.isalpha() and any(map(str.isdigit, c)))
        self.eponyms = frozenset(_lines("eponyms")) | {folded(e) for e in _lines("well_known_eponyms")}
        self.names = frozenset(_lines("names"))
        self.surnames = frozenset(_lines("surnames"))
        self.borne = frozenset(_lines("borne"))
        self.words_and_names = frozenset(_lines("words_and_names"))
        self.people = (self.names, self.surnames, self.borne, self.words_and_names)
        self.places = frozenset(_lines("places"))
        with np.load(FOLDER / "shape.npz") as shape:
            self._weights, self._bias = shape["weights"].astype(np.float32), float(shape["bias"])

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

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted({*self._prose, *self._listed, *self.eponyms, *map(str.lower, self.codes)})

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


@lru_cache(maxsize=2)
def _chinese(*files: str) -> tuple[tuple[str, str], ...]:
    rows = dict(line.split(" ", 1) for file in files for line in _lines(file))
    return tuple(sorted(rows.items(), key=lambda row: -len(row[0])))


def chinese_terms(text: str) -> list[str]:
    """English names of the illnesses and medicines that a text names in Chinese, in its order."""
    return list(chinese_names(text).values())


def chinese_searched(text: str) -> dict[str, str]:
    """The names of a text with their English ones by a table seventy times as long, of all that is searched for:
    symptoms, tests and treatments too, in clinical and in everyday words."""
    return chinese_names(text, _chinese("chinese_searched", "chinese"))


def chinese_names(text: str, table: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """The illnesses and medicines that a text names in Chinese with their English names, in its order; a name within a
    longer one is none.

    Args:
        table: names with their English ones, longest first; else the short one that the trained heads know.
    """
    found = []
    for name, english in table or _chinese("chinese"):
        if name in text:
            found.append((text.index(name), name, english))
            text = text.replace(name, "|" * len(name))
    return {name: english for _, name, english in sorted(found)}


def asks(word: str) -> bool:
    """Whether a word in small letters is grammar or one in which questions are asked."""
    return word in NO_TERM or word in ASKING_WORDS


def folded(word: str) -> str:
    """A word without accents."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


UNKNOWN_WEIGHT = 0.8  # ours: a word that no collection knows, as a share of the rarest that is known
WORDS_A_DOCUMENT = 150  # ours: different words of an abstract, to compare frequencies of documents with those of words
EVERYDAY = 3.5  # ours: Zipf frequency of everyday words; most given names and many surnames lie above it
NAME_WORD = re.compile(r"[a-z][a-z-]{2,}")
CODE = re.compile(r"\d|[a-z][A-Z]|[A-Z]{2}")  # how the names of genes and compounds are written
CODE_IS = 0.8  # ours: such a name is technical, whatever word has the same letters
RAREST = 1.0  # code: the least Zipf frequency in wordfreq's large list; a word that is not listed is no more common


class Collection(Protocol):
    """The words of the collection that is searched, for example of a local mirror."""

    @property
    def documents(self) -> int:
        """How many documents it has."""

    def frequency(self, word: str) -> int:
        """How many of them hold a word (in lower case), 0 for one that is not there."""


@dataclass(frozen=True)
class Vocabulary:
    """The words that the library knows, each with the number of documents that hold it.

    Attributes:
        frequencies: documents of the library by word, lower case. documents: how many the library has.
        collection: the words of the collection that is searched, or those of published medical prose.
        words: further words that are medical: names of the graph and of the ICD-10 table, lower case.
        names: names of several words of the same, lower case, the last word in the singular (`several_words`): each
            word of such a name is part of a term, also one of talk (frozen shoulder, restless leg).
    """

    frequencies: Mapping[str, int]
    documents: int
    collection: Collection = field(default_factory=known_words, repr=False)
    words: frozenset[str] = field(default=frozenset(), repr=False)
    names: frozenset[str] = field(default=frozenset(), repr=False)

    def knows(self, word: str) -> bool:
        """Whether a word, singular or plural, stands in the library or among the medical names."""
        return any(form in self.frequencies or form in self.words for form in _forms(word))

    def collected(self, word: str) -> int:
        """Documents of the collection that hold a word, each part of a hyphened one."""
        parts = [p for p in word.lower().split("-") if p]
        return min((self.collection.frequency(p) for p in parts), default=0)

    def weight(self, word: str) -> float:
        """How much a word tells: its inverse document frequency, in the collection where that knows the word."""
        seen, documents = self._seen(word)
        rarest = math.log((1 + documents) / 1.5)
        return math.log((1 + documents) / (0.5 + seen)) if seen else UNKNOWN_WEIGHT * rarest

    def technical(self, word: str) -> float:
        """The logarithm to base 10 of a word's frequency in medical text over that in everyday English.

        Above 0 for words of medicine, far below for talk and names. A word that is in neither counts as 0, a code
        (PRDM9, iNKT) as no word of everyday English. Of a hyphened word the most technical part counts.
        """
        parts = [p for p in word.split("-") if len(p) > 1] or [word]
        if CODE.search(word):
            return max(CODE_IS, *(self._technical(p, RAREST) for p in parts))
        return max(self._technical(p, max(RAREST, zipf(p))) for p in parts)

    def _technical(self, word: str, everyday: float) -> float:
        seen, documents = self._seen(word.lower())
        if not seen and everyday <= RAREST:
            return 0.0
        return math.log10((0.5 + seen) / (1 + documents) / WORDS_A_DOCUMENT) - (everyday - 9)  # Zipf: per billion

    def _seen(self, word: str) -> tuple[int, int]:
        return self.collected(word), self.collection.documents


@lru_cache(maxsize=1)
def published() -> Vocabulary:
    """What published medical prose knows of words, without any library."""
    return Vocabulary({}, 0)


class CountedWords:
    """The words of a collection that can count: each word is counted once and remembered.

    Args:
        count: how many documents hold a word in title or abstract.
        documents: how many the collection has.
    """

    def __init__(self, count: Callable[[str], int], documents: int) -> None:
        self._count, self.documents = count, documents
        self._known: dict[str, int] = {}

    def frequency(self, word: str) -> int:
        """Documents that hold a word; 0 for what is no word."""
        if not word.isalnum():
            return 0
        if word not in self._known:
            self._known[word] = self._count(word)
        return self._known[word]


def technical_words(names: Iterable[str]) -> frozenset[str]:
    """The words of some medical names that are no everyday English, lower case."""
    words = {w for name in names for w in NAME_WORD.findall(name.lower())}
    return frozenset(w for w in words if zipf(w) < EVERYDAY)


def several_words(names: Iterable[str]) -> frozenset[str]:
    """The names of two to four plain words, none of them grammar, lower case, as `Vocabulary.names` holds them."""
    split = (name.lower().split() for name in names)
    return frozenset(
        " ".join([*words[:-1], words[-1].removesuffix("s")])
        for words in split
        if 2 <= len(words) <= 4 and all(NAME_WORD.fullmatch(w) and not asks(w) for w in words)
    )


def _forms(word: str) -> tuple[str, str, str]:
    return word, f"{word}s", word.removesuffix("s")

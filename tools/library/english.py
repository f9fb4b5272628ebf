"""A Chinese question of medicine in English, in which the library is written and which its encoder reads.

Every word of the question must be known: names of diseases, findings and medicines by the tables that hold them in
both languages, what is asked of them by ``english.yaml``. A question with a word that none knows is left as it is,
and is then declined as an English one is of which the library holds no word. All ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.library.contract import LibraryHit
from tools.literature.vocabulary import chinese_searched
from tools.text.language import HAN, language_of
from tools.text.questions import is_closed, parts
from tools.yaml_files import read_yaml

WORDS = Path(__file__).with_suffix(".yaml")
LATIN = re.compile(r"[A-Za-z0-9][\w.%+/-]*", re.ASCII)
MARKS = re.compile(r"[\s，。？！?!,.；;：:“”\"'（）()]+")
LONGEST = 120  # ours: characters of a question; a longer one tells a story
SHORTEST_NAME = 2  # characters of a name; one character is a part of many words
FIRST = 3  # ours: documents by words among which one in Chinese is looked for
DURATION = ("long term", "short term", "lifelong", "early")  # of a treatment, not of an illness
SAID = ("word", "name", "aspect")  # what words of a question say something

Names = Callable[[str], Mapping[str, Sequence[str]]]
ByWords = Callable[[str, int], Mapping[str, Sequence[LibraryHit]]]


class Word(NamedTuple):
    """A Chinese word, what it is for in a question (ask, may, silent, aspect, word, name), and its English."""

    written: str
    role: str
    english: str


class InEnglish:
    """Puts Chinese questions into English.

    Args:
        names: names of diseases and findings in a text, with their English names.
        by_words: documents of the library for a query by its words: a question whose names stand in a Chinese document
            is asked in Chinese. None where there is no library.
    """

    def __init__(self, names: Names, by_words: ByWords | None = None) -> None:
        self._names, self._by_words = names, by_words

    def __call__(self, text: str) -> str:
        """The question in English; "" for one that is not Chinese, that holds a word nobody knows, or that a Chinese
        document answers."""
        if language_of(text) != "zh" or len(text) > LONGEST:
            return ""
        asked = [self._question(part) for part in parts(text)]
        return " ".join(asked) if all(asked) else ""

    def _question(self, text: str) -> str:
        words = self._read(text) or []
        names = [w.written for w in words if w.role == "name"]
        if not any(w.role in SAID for w in words) or self._in_chinese(text, names):
            return ""
        return _composed(words, closed=is_closed(text))

    def _read(self, text: str) -> list[Word] | None:
        """The words of a text, at each place the longest that is known; None where a place has none."""
        known = _words() | {name: Word(name, "name", english) for name, english in self._named(text)}
        longest = max(map(len, known))
        out: list[Word] = []
        at = 0
        while at < len(text):
            if mark := MARKS.match(text, at):
                at = mark.end()
                continue
            word = next((known[w] for n in range(longest, 0, -1) if (w := text[at : at + n]) in known), None)
            latin = LATIN.match(text, at)
            if latin and (word is None or len(word.written) < len(latin[0])):
                word = Word(latin[0], "word", latin[0])
            if word is None:
                return None
            out.append(word)
            at += len(word.written)
        return out

    def _named(self, text: str) -> Iterable[tuple[str, str]]:
        """Names of the tables in a text that ``english.yaml`` has none for, with their English names."""
        tables = [chinese_searched(text), {n: e[0] for n, e in self._names(text).items() if e}]
        for name, english in ((n, e) for table in reversed(tables) for n, e in table.items()):
            if HAN.search(name) and len(name) >= SHORTEST_NAME and name not in _words():
                yield name, english[:1].lower() + english[1:] if english[1:2].islower() else english

    def _in_chinese(self, text: str, names: Sequence[str]) -> bool:
        """Whether a Chinese document of the library speaks of what a question names."""
        found = self._by_words(text, FIRST) if self._by_words is not None else {}
        documents = [hit.document for hits in found.values() for hit in hits]
        return any(d.language == "zh" and any(n in d.text for n in names) for d in documents)


def _composed(words: Sequence[Word], *, closed: bool) -> str:
    """The words as a question: what asks stands first, then the auxiliary."""
    ask = "" if closed else next((w.english for w in words if w.role == "ask"), "What")
    may = next((w.english for w in words if w.role == "may"), "")
    said = [w for w in words if w.role in SAID or w.english == "must"]
    if closed and (used := _used(said)):
        return f"{'Can' if may == 'can' else 'Should'} {used}?"
    if closed and may == "must":  # "... must surgery" is whether it needs surgery
        said, may = [w._replace(english="need") if w.english == "must" else w for w in said], ""
    said = [w for w in said if w.english != "must"]
    if ask == "What" or any(w.english == "need" for w in said):
        said = [w for w in said if w.english != "use"]
    last = said[-1]
    others = [w for w in said if w.english != last.english]
    if last.role == "aspect" and others and ask in ("How", "What"):
        about = _joined(others, _forms("nouns"))
        if ask == "What":
            return f"What is the {_forms('nouns')[last.english]} of {about}?"
        return f"How should {about} be {last.english}?" if may == "should" else f"How is {about} {last.english}?"
    if closed:
        return f"{(may or 'does').capitalize()} {_joined(said, _forms('verbs'))}?"
    between = "" if ask == "What to do about" else "is "
    between = f"{may} " if may in ("should", "can") and ask not in ("What", "What to do about") else between
    return f"{ask} {between}{_joined(said, _forms('nouns'))}?"


def _used(said: Sequence[Word]) -> str:
    """What is used in what, where a question asks whether it is: "antibiotics be used in bronchitis"; else ""."""
    at = next((n for n, w in enumerate(said) if w.english == "use"), 0)
    before = [w for w in said[:at] if w.english not in ("need", "must", *DURATION)]
    how_long = [w for w in said[:at] if w.english in DURATION]
    if not before or at == len(said) - 1:
        return ""
    what = _joined(said[at + 1 :], _forms("nouns"))
    return " ".join([what, "be used", *(w.english for w in how_long), "in", _joined(before, _forms("nouns"))])


def _joined(words: Sequence[Word], forms: Mapping[str, str]) -> str:
    """Words in a row, each once."""
    return " ".join(dict.fromkeys(forms.get(w.english, w.english) for w in words))


@lru_cache(maxsize=1)
def _words() -> dict[str, Word]:
    """Every word of the file by how it is written."""
    told = read_yaml(WORDS)
    out = {word: Word(word, "silent", "") for word in told["silent"]}
    for role, part in (("ask", "ask"), ("may", "may"), ("aspect", "aspects"), ("name", "names"), ("word", "words")):
        for english, written in told[part].items():
            out |= {word: Word(word, role, english) for word in written}
    return out


@cache
def _forms(name: str) -> dict[str, str]:
    forms: dict[str, str] = read_yaml(WORDS)[name]
    return forms

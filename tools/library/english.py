"""A Chinese question of medicine in English, in which the library is written and which its encoder reads.

Every word of the question must be known: names of diseases, findings and medicines by the tables that hold them in
both languages, what is asked of them by ``english.yaml``. A question with a word that none knows is left as it is,
and is then declined as an English one is of which the library holds no word. All ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tools.library.contract import LibraryHit
from tools.literature.vocabulary import chinese_searched
from tools.medicines.names import medicines_in
from tools.text.language import HAN, language_of
from tools.text.questions import is_closed, parts
from tools.yaml_files import read_yaml

WORDS = Path(__file__).with_suffix(".yaml")
LATIN = re.compile(r"[A-Za-z0-9][\w.%+/-]*", re.ASCII)
MARKS = re.compile(r"[\s，。？！?!,.；;：:“”\"'（）()]+")
LONGEST = 120  # ours: characters of a question; a longer one tells a story
SHORTEST_NAME = 2  # characters of a name; one character is a part of many words
FIRST = 3  # ours: documents by words among which one in Chinese is looked for
DURATION = ("long term", "short term", "lifelong", "early", "daily", "yearly", "alone")  # of a treatment
AT = {"at": "in", "during": "during", "after": "after", "before": "before"}  # behind a time, and before it in English
MANY = {"is": "are", "does": "do"}
MOSTLY = 0.75  # ours: share of a question's characters; of 500 of other fields with medical words three reach it
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
        titles: Chinese names with the English ones by which the library calls the same thing.
        words: the library's words, in small letters.
    """

    def __init__(
        self,
        names: Names,
        by_words: ByWords | None = None,
        titles: Mapping[str, str] = MappingProxyType({}),
        words: Container[str] = (),
    ) -> None:
        self._names, self._by_words = names, by_words
        self._titles, self._words = titles, words

    def __call__(self, text: str) -> str:
        """The question in English; "" for one that is not Chinese, that holds a word nobody knows, or that a Chinese
        document answers."""
        if language_of(text) != "zh" or len(text) > LONGEST:
            return ""
        asked = [self._question(part) for part in parts(text)]
        return " ".join(asked) if all(asked) else ""

    def knows(self, text: str) -> bool:
        """Whether a text is Chinese, a name of medicine stands in it, and the words of most of its characters are
        known: it is about medicine, also where it cannot be put into English."""
        if language_of(text) != "zh":
            return False
        pieces = self._pieces(text)
        known = sum(len(piece.written) for piece in pieces if piece.role)
        named = any(piece.role == "name" for piece in pieces)
        return named and known >= MOSTLY * sum(len(piece.written) for piece in pieces)

    def _question(self, text: str) -> str:
        words = self._read(text) or []
        names = [w.written for w in words if w.role == "name"]
        if not any(w.role in SAID for w in words) or self._in_chinese(text, names):
            return ""
        return _composed(words, closed=is_closed(text))

    def _read(self, text: str) -> list[Word] | None:
        """The words of a text; None where a place has none that is known."""
        pieces = self._pieces(text)
        return pieces if all(piece.role for piece in pieces) else None

    def _pieces(self, text: str) -> list[Word]:
        """The words of a text, at each place the longest that is known; a character that begins none has no role."""
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
            out.append(word or Word(text[at], "", ""))
            at += len(out[-1].written)
        return out

    def _named(self, text: str) -> Iterable[tuple[str, str]]:
        """Names of the tables in a text that ``english.yaml`` has none for, with their English names."""
        tables = [chinese_searched(text), {n: e[0] for n, e in self._names(text).items() if e}]
        for name, english in ((n, e) for table in reversed(tables) for n, e in table.items()):
            if HAN.search(name) and len(name) >= SHORTEST_NAME and name not in _words():
                english = self._titles.get(name, "") or next(iter(generics(english)), "") or self._spelt(english)
                yield name, english[:1].lower() + english[1:] if english[1:2].islower() else english

    def _spelt(self, english: str) -> str:
        """A name in the library's spelling: of a word that it lacks, the British form that it has."""
        words = [next((w for w in british(word) if w in self._words), word) for word in english.split()]
        return " ".join(words)

    def _in_chinese(self, text: str, names: Sequence[str]) -> bool:
        """Whether a Chinese document of the library speaks of what a question names."""
        found = self._by_words(text, FIRST) if self._by_words is not None else {}
        documents = [hit.document for hits in found.values() for hit in hits]
        return any(d.language == "zh" and any(n in d.text for n in names) for d in documents)


def generics(english: str) -> list[str]:
    """The generic name of the medicine that a name is; none for another name."""
    return [m.generic for m in medicines_in(english) if m.written.lower() == english.lower() and m.generic]


def british(word: str) -> Iterator[str]:
    """A word, and the ways in which British English may write it: haem, oedema, tumour, sulphate, localise."""
    yield word
    for american, ours in (("e", "ae"), ("e", "oe"), ("or", "our"), ("f", "ph"), ("z", "s"), ("er", "re")):
        yield from (f"{word[: m.start()]}{ours}{word[m.end() :]}" for m in re.finditer(american, word))


def _composed(words: Sequence[Word], *, closed: bool) -> str:
    """The words as a question: what asks stands first, then the auxiliary."""
    auxiliaries = [w.english for w in words if w.role == "may"]
    may = next((m for m in auxiliaries if m != "is"), next(iter(auxiliaries), ""))
    said = [w for w in words if w.role in SAID or w.english == "must"]
    if closed:
        return _closed(said, may)
    ask = next((w.english for w in words if w.role == "ask"), "What")
    said = [w for w in said if w.english not in ("must", "for", "at")] or said
    if ask == "What" or any(w.english == "need" for w in said):
        said = [w for w in said if w.english != "use"] or said
    last = said[-1]
    others = [w for w in said if w.english != last.english]
    if last.role == "aspect" and others and ask in ("How", "What"):
        about = _joined(others, _forms("nouns"))
        if ask == "What":
            return f"What is the {_forms('nouns')[last.english]} of {about}?"
        return f"How should {about} be {last.english}?" if may == "should" else f"How is {about} {last.english}?"
    between = "" if ask == "What to do about" else "is "
    between = f"{may} " if may in ("should", "can") and ask not in ("What", "What to do about") else between
    return f"{ask} {between}{_joined(said, _forms('nouns'))}?"


def _closed(said: Sequence[Word], may: str) -> str:
    """A closed question: whether something is so, does something, is needed, or is used in something."""
    if may == "must":  # "... must surgery" is whether it needs surgery
        said, may = [w._replace(english="need") if w.english == "must" else w for w in said], "does"
    said = [w for w in said if w.english != "must"]
    said = [w for w, after in pairwise([*said, said[-1]]) if w.english != "together with" or not _acts(after)]
    while len(said) > 1 and said[0].english in ("use", "need", "for"):  # "to take it, does it ..." is whether it does
        said = said[1:]
    got = "get" if said[0].english in _listed("whom") else "cause"  # people get an illness, a thing causes it
    point, where = _beside(_qualified([w._replace(english=got) if w.english == "get" else w for w in said]))
    first = next((n for n, w in enumerate(point) if w.english == "first-choice"), 0)
    if first:  # "in D the first choice is X", "X is in D the first choice"
        what, disease = (point[first + 1 :], point[:first]) if point[first + 1 :] else (point[:1], point[1:first])
        return f"{_agreeing('is', what)} the first choice{_in(disease)}{where}?"
    return _used(point, where, may) or _asked(point, where, may)


def _asked(point: Sequence[Word], where: str, may: str) -> str:
    """Whether something is needed, is so, may be used or does something, where none is said to be used in another."""
    *subject, last = point
    if not subject:
        return f"{_agreeing(may or 'does', point)}{where}?"
    if point[0].english == "need" or last.english == "need":
        return f"{_agreeing('is', [w for w in point if w.english != 'need'])} needed{where}?"
    if any(w.english == "better than" for w in subject):
        return f"{_agreeing('is', [w for w in point if w.english not in _listed('predicates')])}{where}?"
    if last.english in _listed("predicates"):
        return _is_so(subject, last, f"{_how_long(point)}{where}", may)
    if may == "can" and last.english == "use":
        return _may_be_used(subject, where)
    if may == "can" and not any(map(_acts, point)) and last.english not in _forms("endings"):
        return f"Can {last.english} be used{_in(subject)}{where}?"
    if may == "does" and last.role == "name" and not any(map(_acts, subject)):
        return f"{_agreeing('does', subject)} cause {last.english}{where}?"
    may = "does" if not may or (may == "is" and any(map(_acts, point))) else may
    may = "can" if may == "does" and any(w.english in ("cause", "get") for w in subject) else may
    end = _forms("nouns" if any(w.english == "need" for w in subject) else "endings").get(last.english)
    if end is not None and (not any(map(_acts, subject)) or last.english in _forms("nouns")):
        may = "can" if may == "does" and end.startswith("be ") else may
        return f"{_agreeing(may, subject)} {end}{where}?"
    return f"{_agreeing(may, point)}{where}?"


def _is_so(subject: Sequence[Word], last: Word, where: str, may: str) -> str:
    """Whether something is effective, safe, infectious, ..., where it says so to do something."""
    subject = [w for w in subject if w.english not in DURATION]
    disease, *rest = subject
    of_use = last.english in ("effective", "safe") and disease.role == "name" and not generics(disease.english)
    at = next((n for n, w in enumerate(subject) if n and w.english in ("for", *_listed("purposes"))), len(subject))
    if of_use and rest and at == len(subject):  # "in D X is effective"
        return _is_so(rest, last, f"{_in([disease])}{where}", may)
    to = "" if at == len(subject) or subject[at].english == "for" else "to "
    so = " ".join([last.english, *([f"{to}{_said(subject[at:])}"] if subject[at:] else [])])
    what = subject[:at]
    return f"Can {_said(what)} be {so}{where}?" if may == "can" else f"{_agreeing('is', what)} {so}{where}?"


def _may_be_used(subject: Sequence[Word], where: str) -> str:
    """Whether the first thing may be used, in the others or together with them."""
    what, *others = [w for w in subject if w.english not in DURATION]
    if any(w.english in ("and", "together with") for w in others):
        return f"Can {_said([what, *others])} be used together{_how_long(subject)}{where}?"
    return f"Can {what.english} be used{_how_long(subject)}{_in(others)}{where}?"


def _used(point: Sequence[Word], where: str, may: str) -> str:
    """Whether something is used in something, does or is something there; "" where that is not asked."""
    at = next((n for n, w in enumerate(point) if w.english in ("use", "alone")), len(point))
    before = [w for w in point[:at] if w.english not in ("need", "must", *DURATION, *_listed("routes"))]
    where_all, how_long = f"{_in(before)}{where}", _how_long(point)
    what = [w for w in point[:at] if w.english in _listed("routes")]
    what += [w for w in point[at + 1 :] if w.english not in ("use", *DURATION)]
    if at == len(point) or not what or not where_all:
        return ""
    *subject, last = what
    if subject and last.english in _listed("predicates"):
        return _is_so(subject, last, f"{how_long}{where_all}", "is")
    if subject and _acts(last):  # "in gout, with allopurinol, prevent"
        return f"Can {_said([*what, *before])}{how_long}{where}?"
    if any(map(_acts, subject)):
        return f"Can {_said(what)}{how_long}{where_all}?"
    if may == "does" and last.role == "name" and any(w.role == "name" for w in subject):
        return f"{_agreeing('does', subject)} cause {last.english}{how_long}{where_all}?"
    return f"{'Can' if may == 'can' else 'Should'} {_said(what, 'nouns')} be used{how_long}{where_all}?"


def _agreeing(verb: str, words: Sequence[Word]) -> str:
    """A verb at the head of a question, with words of which the first says whether they are many: "Are statins"."""
    first = words[0].english.split()[-1]
    many = first.endswith("s") and not first.endswith(("is", "ss", "us")) and first not in _listed("one")
    return f"{(MANY.get(verb, verb) if many else verb).capitalize()} {_said(words)}"


def _how_long(words: Sequence[Word]) -> str:
    return "".join(f" {w.english}" for w in words if w.english in DURATION)


def _qualified(said: Sequence[Word]) -> list[Word]:
    """Words with how a thing is before its name: in Chinese it stands behind, "D-dimer raised"."""
    out: list[Word] = []
    for n, word in enumerate(said):
        of_last = word.english in _listed("qualities") and out and not _acts(out[-1]) and n < len(said) - 1
        out.insert(len(out) - 1 if of_last else len(out), word)
    return out


def _beside(said: Sequence[Word]) -> tuple[list[Word], str]:
    """What is asked, and in whom or when, which stands at the end in English."""
    at = next((n for n, w in enumerate(said) if w.english in AT), 0)
    when, rest = ([*said[:at]], [*said[at + 1 :]]) if 0 < at < len(said) - 1 else ([], [*said])
    if len(rest) == 1 and len(when) > 1:  # "gout, stopped, after: recurs?"
        when, rest = when[1:], [when[0], *rest]
    when_said = f" {AT[said[at].english]} {_said(when, 'nouns')}" if when else ""
    whom = [w for w in rest if w.english in _listed("whom")]
    point = [w for n, w in enumerate(rest) if w not in whom and not (w.english == "for" and [*rest, w][n + 1] in whom)]
    if not whom or not point or (point[0].english != "need" and (_acts(point[0]) or len(point) == 1)):
        return rest, when_said  # the people are who does it
    return point, f"{_in(whom)}{when_said}"


def _acts(word: Word) -> bool:
    return word.english in _listed("acts")


def _in(words: Sequence[Word]) -> str:
    return f" in {_said(words, 'nouns')}" if words else ""


def _said(words: Sequence[Word], forms: str = "verbs") -> str:
    """Words in a row: of two verbs together the first is a thing, of two apart the second is what the first is for."""
    out: list[str] = []
    acted = False
    for word, after in zip(words, [*words[1:], None], strict=True):
        is_thing = after is not None and _acts(word) and _acts(after)
        out += ["to"] if acted and word.english in _listed("purposes") else []
        out.append(_forms("nouns" if is_thing else forms).get(word.english, word.english))
        acted = acted or (_acts(word) and not is_thing)
    return " ".join(dict.fromkeys(out))


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


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(read_yaml(WORDS)[name])

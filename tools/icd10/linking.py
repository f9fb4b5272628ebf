"""Entities of a diagnosis text: its phrases, each linked to a code at a chosen depth, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy
from typing import NamedTuple

from tools.contract import unique
from tools.icd10.chinese import ChineseNames
from tools.icd10.contract import Depth, Entity, Linked, Match, Name, Phrase, Setting, at_depth
from tools.icd10.matching import STRICT_THRESHOLD_ZH, Matcher, PublishedMatch, StrictMatch
from tools.icd10.names import NamedCodes, distinct
from tools.icd10.table import ICD10
from tools.icd10.words import PATTERNS
from tools.text.abbreviations import expand
from tools.text.definitions import definitions
from tools.text.language import HAN
from tools.text.negation import TRAILING, chinese_negation, negations

# Diagnosis texts cut into phrases, one a diagnosis, English and Chinese.
LONGEST_RUN = 5  # ours: pieces that may be one name together; no name of the table has more joints
SHORTEST = 2  # ours: characters; a single letter or character is no diagnosis

_BREAK = re.compile(
    r"[\n\r\t;；。|•●▪◦·]+|(?<=[^\W\d_][^\W\d_][^\W\d_])[.!](?=\s|$)|(?<=[)\]）】])[.!](?=\s|$)|"
    r"(?<=\d)\.(?=\s+[A-Z])|(?<=[A-Z][A-Z])\.(?=\s)|\s/\s|"
    r"^\s*[-*]\s+|\bvs?\.\s|\bversus\b"
)
_NUMBER = re.compile(r"(?:(?<=^)|(?<=[\s;；,，。、:：(（.]))[(（]?(\d{1,2})(?:[)、）]|[.．](?!\d))\s*|[①-⑳]\s*")
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_JOINT = re.compile(
    r"\s*[,，]\s*(?:(?:and|or|with|but)\s+)?|(?<!\bcontact)\s+with\s+|\s+(?:and|or|plus|as well as|but|"
    r"associated with|complicated by|"
    r"complicating|"
    r"due to|secondary to|caused by|following|in the setting of|on a background of)\s+|\s+[&+–—-]\s+|"
    r"(?<=[A-Za-z]{3})/(?=[A-Za-z]{3})|(?<=[\u4e00-\u9fff])/(?=[\u4e00-\u9fff])|"
    r"\s*[、＋]\s*|(?<=[\u4e00-\u9fff])\s*(?:以及|合并|伴发|伴有?|及|和|或|并发?)\s*(?=[\u4e00-\u9fff])|"
    r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"\s*[(（\[【]([^()（）\[\]【】]*)[)）\]】]")
_SOFT = re.compile(r"\s*(?:[,，、/]|\bor\b|\band\b|或|和|及)", re.IGNORECASE)
_TURN = re.compile(r"\bbut\b", re.IGNORECASE)
_BEFORE = [PATTERNS[name] for name in ("lead_in", "suspected_before", "past_before", "article")]
_AFTER = [PATTERNS[name] for name in ("suspected_after", "past_after")]

Known = Callable[[str], bool]


class _Piece(NamedTuple):
    start: int
    end: int
    joint: str


def phrases(text: str, known: Known = lambda _: False) -> list[Phrase]:
    """The diagnoses of a text in order; never overlapping, each with its own characters.

    Args:
        text: any text.
        known: whether some words are one name, joints and all.
    """
    return [phrase for start, end in _segments(text) for phrase in _of_segment(text, start, end, known)]


def _segments(text: str) -> Iterator[tuple[int, int]]:
    marks = [m.span() for m in _BREAK.finditer(text)] + list(_numbers(text))
    at = 0
    for start, end in sorted(marks):
        if start >= at:
            yield from _some(text, at, start)
        at = max(at, end)
    yield from _some(text, at, len(text))


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """The numbers of a list: they count up from one, so that the 2 of ``type 2.`` is none."""
    due = 1
    for match in _NUMBER.finditer(text):
        said = int(match[1]) if match[1] else _CIRCLED.index(match[0][0]) + 1
        if said in (due, 1):
            yield match.span()
            due = said + 1


def _some(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trimmed(text, start, end)
    if end > start:
        yield start, end


def _of_segment(text: str, start: int, end: int, known: Known) -> Iterator[Phrase]:
    if known(text[start:end]):
        yield Phrase(text=text[start:end], start=start, end=end)
        return
    core = read_core(text, start, end)
    if core.told and known(text[core.start : core.end]):
        yield from _phrase(text, core.start, core.end, known, suspected=core.suspected, past=core.past)
        return
    denied = suspected = past = False
    for piece in _grouped(text, start, end, known):
        soft = _SOFT.match(piece.joint) is not None and not _TURN.search(piece.joint)
        core = read_core(text, piece.start, piece.end)
        denied = not core.told or (denied and soft)
        suspected = core.suspected or (suspected and soft)
        past = core.past or (past and soft)
        if not denied:
            yield from _phrase(text, core.start, core.end, known, suspected=suspected, past=past)


def _phrase(text: str, start: int, end: int, known: Known, *, suspected: bool, past: bool) -> Iterator[Phrase]:
    """The phrase, and those in its brackets; an abbreviation or a grade in brackets is none."""
    whole = text[start:end]
    bracket = None if known(whole) else _BRACKET.search(whole)
    if bracket is None:
        cut = None if known(whole) else PATTERNS["denied_inside"].search(whole)
        start, end = trimmed(text, start, start + cut.start() if cut else end)
        said = text[start:end]
        if len(said) >= SHORTEST and not (
            PATTERNS["not_accompanied"].match(said) or PATTERNS["heading"].fullmatch(said)
        ):
            yield Phrase(text=said, start=start, end=end, suspected=suspected, past=past)
        return
    inner = (start + bracket.start(1), start + bracket.end(1))
    aside = read_core(text, *inner)
    alone = not bracket[1].strip(" ?？") or not text[aside.start : aside.end].strip(" ?？")
    marks = {"suspected": suspected or (aside.told and aside.suspected and alone), "past": past}
    for from_, to in _some(text, start, start + bracket.start()):
        yield from _phrase(text, from_, to, known, **marks)
    if not alone and bracket[1] not in definitions(whole) and not only_grades(bracket[1].strip()):
        yield from _of_segment(text, *trimmed(text, *inner), known)
    for from_, to in _some(text, start + bracket.end(), end):
        yield from _phrase(text, from_, to, known, **marks)


def _grouped(text: str, start: int, end: int, known: Known) -> list[_Piece]:
    """The pieces between joints: the longest runs that are known names together, grades with what they qualify."""
    single = _pieces(text, start, end)
    out: list[_Piece] = []
    at = 0
    while at < len(single):
        run = next(
            (n for n in range(min(LONGEST_RUN, len(single) - at), 1, -1) if _is_name(text, single[at : at + n], known)),
            1,
        )
        piece = _Piece(single[at].start, single[at + run - 1].end, single[at].joint)
        if out and only_grades(text[piece.start : piece.end].strip(" ()（）")):
            piece = _Piece(out[-1].start, piece.end, out.pop().joint)
        out.append(piece)
        at += run
    return out


def _is_name(text: str, run: list[_Piece], known: Known) -> bool:
    core = read_core(text, run[0].start, run[-1].end)
    return core.told and known(text[core.start : core.end])


def _pieces(text: str, start: int, end: int) -> list[_Piece]:
    inside = [(start + m.start(), start + m.end()) for m in _BRACKET.finditer(text[start:end])]
    out: list[_Piece] = []
    at, joint = start, ""
    for match in _JOINT.finditer(text, start, end):
        if any(a <= match.start() < b for a, b in inside):
            continue
        if match.start() > at:
            out.append(_Piece(at, match.start(), joint))
        at, joint = match.end(), match[0]
    if end > at:
        out.append(_Piece(at, end, joint))
    return out


# What stands around a diagnosis and is none: introductions, doubt, the past, denials, grades and sides.


class Core(NamedTuple):
    """The characters of the diagnosis itself, and what was said around it. ``told`` is False for what is denied."""

    start: int
    end: int
    suspected: bool = False
    past: bool = False
    told: bool = True


def read_core(source: str, start: int, end: int) -> Core:
    """What is left of ``source[start:end]`` without introductions, doubt, the past and denials."""
    suspected = past = False
    if PATTERNS["others"].search(source[start:end]):
        return Core(start, end, told=False)
    while True:
        start, end = trimmed(source, start, end)
        words = source[start:end]
        if _denied(words):
            return Core(start, end, told=False)
        before = [pattern.match(words) for pattern in _BEFORE]
        after = [pattern.search(words) for pattern in _AFTER]
        at = next((m for m in before if m and m.end()), None)
        tail = next((m for m in after if m and m.start()), None)
        if at is None and tail is None:
            return Core(start, end, suspected, past)
        suspected = suspected or (at is not None and at is before[1]) or (tail is not None and tail is after[0])
        past = past or (at is not None and at is before[2]) or (tail is not None and tail is after[1])
        if at is not None:
            start += at.end()
        elif tail is not None:
            end = start + tail.start()


def _denied(words: str) -> bool:
    """Whether a piece begins or ends with what denies the diagnosis."""
    chinese = chinese_negation(words)
    leading = [*negations(words), *([chinese] if chinese else [])]
    return any(cut.start == 0 for cut in leading) or bool(TRAILING.search(words) or PATTERNS["denied_zh"].search(words))


def trimmed(source: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without white space and stray punctuation at its ends; brackets that belong to it stay."""
    while start < end and not (source[start].isalnum() or source[start] in "?？"):
        start += 1
    while end > start and not (source[end - 1].isalnum() or source[end - 1] in "?？)]）】+"):
        end -= 1
    while end > start and source[end - 1] in ")]）】" and not any(c in source[start:end] for c in "([（【"):
        end -= 1
    return start, end


def only_grades(words: str) -> bool:
    """Whether a piece says nothing but a type, a stage, a side or a grade."""
    return bool(PATTERNS["grade"].fullmatch(words) or PATTERNS["grade_zh"].fullmatch(words))


def without_grades(words: str) -> str:
    """A phrase without the types, stages, sides and grades behind it (``高血压病3级 极高危组``)."""
    while True:
        parts = re.split(r"[,，]\s*", words)
        match = PATTERNS["last_grade_zh"].search(words)
        if len(parts) > 1 and only_grades(parts[-1]):
            words = words[: len(words) - len(parts[-1])].rstrip(" \t,，")
        elif match is not None and match.start() > 1:
            words = words[: match.start()].rstrip(" \t,，、")
        else:
            return words


class Linker:
    """Links diagnosis texts to ICD-10. Use changes nothing that it holds; it may be shared by threads.

    Attributes:
        table, setting: as given.

    Args:
        table: the compiled table, which every English code is of.
        named: names with their words, English and Chinese (`open_names`).
        setting: ``paper``, the published threshold over the table's own names, or ``strict``, ours over all.
        chinese: a user's table; None for none: ``strict`` then knows only the Chinese names among ``named``.
    """

    def __init__(
        self,
        table: ICD10,
        named: NamedCodes,
        setting: Setting = "strict",
        chinese: ChineseNames | None = None,
    ) -> None:
        self.table, self.setting, self._chinese = table, setting, chinese
        han = [bool(HAN.search(name.text)) for name in named.rows]
        self._strict = StrictMatch(named.where([not h for h in han]))
        own = chinese.diseases() if chinese is not None else []
        aliases = named.where(han).rows
        self._strict_zh = StrictMatch(distinct([*own, *aliases]), STRICT_THRESHOLD_ZH)
        self._english: Matcher = self._strict
        self._han: Matcher = self._strict_zh
        if setting == "paper":
            self._english = PublishedMatch([Name(row.code, row.name) for row in table.codes()])
            self._han = PublishedMatch(chinese.names if chinese is not None else [])

    def at(self, threshold: float) -> Linker:
        """The same linker with another threshold, in 0..1, for both languages."""
        other = copy(self)
        other._english, other._han = self._english.at(threshold), self._han.at(threshold)
        return other

    def phrases(self, text: str) -> list[Phrase]:
        """The diagnoses of a text; words that are one name in the tables stay together."""
        return phrases(text, self._known)

    def link(self, text: str, depth: Depth = "category") -> list[Linked]:
        """Each diagnosis of a text with what it names, in order; what is denied is left out."""
        return [Linked(phrase=p, entity=self.entity(p.text, depth, context=text)) for p in self.phrases(text)]

    def codes(self, text: str, depth: Depth = "category") -> frozenset[str]:
        """The set of codes that a text names: what set-level precision and recall compare."""
        return frozenset(linked.entity.code for linked in self.link(text, depth) if linked.entity is not None)

    def entity(self, phrase: str, depth: Depth = "category", *, context: str = "") -> Entity | None:
        """What one diagnosis names; None for nothing. ``context`` decides what its abbreviations mean."""
        forms = unique([phrase, without_grades(phrase), expand(phrase, context or phrase)])
        chinese = HAN.search(phrase) is not None
        match = (self._han if chinese else self._english).best(forms)
        return self._entity(match, depth) if match is not None else None

    def _entity(self, match: Match, depth: Depth) -> Entity | None:
        code = self._chinese.code(match.name.code, depth) if self._chinese is not None else ""
        name = self._chinese.title(code) if self._chinese is not None and HAN.search(match.name.text) else ""
        if not HAN.search(match.name.text) or not code:
            row = self.table.nearest(at_depth(match.name.code, depth)) or self.table.get(match.name.code[:3])
            if row is None:
                return None
            code, name = row.code, row.name
        return Entity(code=code, name=name or match.name.text, matched=match.name.text, score=round(match.score, 4))

    def _known(self, words: str) -> bool:
        return (self._strict_zh if HAN.search(words) else self._strict).names(words)

"""Diagnosis texts cut into phrases, one a diagnosis, English and Chinese.

Lines, numbers, semicolons and sentences always separate. Commas, "and", "with", "due to" and brackets separate unless
the words around them are a known name together (``hand, foot and mouth disease``): whoever calls says what is known.
What is denied or is about a relative is left out; doubt and the past are kept as marks. A type, a stage or a side
behind a comma goes with the piece before it (``diabetes mellitus, type 2``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tools.icd10.contract import Phrase
from tools.icd10.qualifiers import DENIED_INSIDE, HEADING, NOT_ACCOMPANIED, only_grades, read_core, trimmed
from tools.text.definitions import definitions

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
        cut = None if known(whole) else DENIED_INSIDE.search(whole)
        start, end = trimmed(text, start, start + cut.start() if cut else end)
        said = text[start:end]
        if len(said) >= SHORTEST and not (NOT_ACCOMPANIED.match(said) or HEADING.fullmatch(said)):
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

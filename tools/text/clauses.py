"""A case cut into clauses with exact offsets, and what each says: present or absent, of whom, where, when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.text import negation
from tools.text.abbreviations import expand
from tools.text.body_sites import side, sites
from tools.text.language import language_of
from tools.text.sentences import Span, sentences
from tools.text.vital_signs import readings


@dataclass(frozen=True)
class Clause:
    """One clause of a case.

    Attributes:
        text: the characters ``start`` to ``end`` of the case, exactly.
        told: the clause with abbreviations written out, negating words kept.
        plain: the same without the words that negate it: what is looked for in the graph.
        present: True stated, False denied or said to be normal, None uncertain.
        normal: it says that something is as it should be.
        other: it is about somebody else. past: it tells plainly of the past.
        side, sites: as `tools.text.body_sites` reads them.
        sentence: number of its sentence, from 0.
        reading: it is a vital sign, read from a number.
    """

    text: str
    start: int
    end: int
    told: str
    plain: str
    present: bool | None = True
    normal: bool = False
    other: bool = False
    past: bool = False
    side: str | None = None
    sites: frozenset[str] = frozenset()
    sentence: int = 0
    reading: bool = False


@dataclass(frozen=True)
class _Piece:
    """A clause before it is understood: its characters, and the delimiter in front of it."""

    start: int
    end: int
    joint: str


_JOINT = re.compile(
    r"[;()\[\]]|:(?!\d)|,(?!\d{3}\b)|\.{2,}|\.(?=\s)|\s[-–—]+\s|\b(?:but|however|although|though|whereas|while|except|yet|then|"
    r"because|and|or|nor|plus)\b",
    re.IGNORECASE,
)
_JOINT_ZH = re.compile(
    r"[，,；;、：:（）()。]|(?<![以涉普波])及(?!时)|或(?!者?许)|(?<![缓温饱平])和(?!缓)|伴有?|但是?|(?<=\s)\s*"
)
_SOFT = frozenset({",", "and", "or", "nor", "、", "及", "或", "和"})
# ours: a piece that begins or holds one of these says something of its own, and ends the scope of a negation
_OWN_START = re.compile(
    r"^\W*(?:I|I'm|he|she|it|we|they|you|there|my|his|her|the|an?|some|has|have|had|is|was|now|mild|slight|severe|also|just|only|"
    r"still|feels?|with|since|after|when|on|for|takes?|taking|smokes?|drinks?|lives?|works?|PMH|O/E|had|got|getting)\b",
    re.IGNORECASE,
)
_OWN_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|feels?|came|comes|started|began|keeps?|hurts?|says)\b|\d", re.IGNORECASE
)
BARE_SITE = 4  # Chinese characters in front of a negation that only say where; ours
SHORT = 4  # words of a bare item in a list of denials; ours
_PAST_SECTION = re.compile(r"^\W*(?:PMHx?|PSH|past (?:medical|surgical) history|background|既往史?)\b", re.IGNORECASE)
_FAMILY_SECTION = re.compile(r"^\W*(?:FHx?|family history|家族史)\b", re.IGNORECASE)
_PATIENT = re.compile(
    r"^\W*(?:.{0,30}\b(?:writing|asking|calling|worried|here|came) (?:for|about|on behalf of|with) )?(?:my|our|this|a)"
    rf"(?: \w+){{0,3}}? ({negation.RELATIVE})\b",
    re.IGNORECASE,
)
_TELLER = re.compile(r"\bI(?:'m|’m| am| have|'ve|’ve)\b(?! (?:writing|asking|calling|worried|here)\b)")
_NEW_SUBJECT = re.compile(r"^\W*(?:I|I'm|I’m|I've|my|mine|me)\b|^我|患者")


def clauses(text: str, age: float | None = None) -> list[Clause]:
    """The clauses of a case in order; ``text[c.start:c.end] == c.text`` for each.

    Args:
        text: the case, in English or Chinese.
        age: of the patient in years, for reading vital signs; None for an adult.
    """
    found: list[Clause] = []
    patient = _patient(text)
    for number, sentence in enumerate(sentences(text)):
        found += _of_sentence(text, sentence, number, age, patient)
    return found


def _of_sentence(text: str, sentence: Span, number: int, age: float | None, patient: str) -> list[Clause]:
    told = sentence.of(text)
    vital = readings(told, age)
    found: list[Clause] = []
    masked = told
    for r in vital:
        start, end = sentence.start + r.start, sentence.start + r.end
        masked = masked[: r.start] + ";" * (r.end - r.start) + masked[r.end :]
        found.append(Clause(text[start:end], start, end, r.words, r.words, r.present, sentence=number, reading=True))
    chinese = language_of(told) == "zh"
    pieces = list(_pieces(masked, chinese))
    denied = _denied_zh(masked, pieces) if chinese else _denied(masked, pieces)
    past = other = False
    for piece, absent in zip(pieces, denied, strict=True):
        words = masked[piece.start : piece.end]
        past = past or _PAST_SECTION.match(words) is not None
        other = (
            negation.is_other_person(words, patient)
            or _FAMILY_SECTION.match(words) is not None
            or (other and not _NEW_SUBJECT.match(words))
        )
        where = Span(sentence.start + piece.start, sentence.start + piece.end)
        found.append(_understand(text, where, number, absent, past, other))
    return sorted(found, key=lambda c: (c.start, c.end))


def _understand(text: str, where: Span, number: int, absent: bool, past: bool, other: bool) -> Clause:
    words = where.of(text)
    told = expand(words)
    plain, normal = _without_negation(told, absent)
    uncertain = negation.UNCERTAIN.search(words) is not None or text[: where.start].endswith("?")
    present: bool | None = not (absent or normal)
    return Clause(
        text=words,
        start=where.start,
        end=where.end,
        told=told,
        plain=plain,
        present=None if present and uncertain else present,
        normal=normal,
        other=other,
        past=past or negation.is_past(told),
        side=side(told),
        sites=sites(told),
        sentence=number,
    )


def _without_negation(told: str, absent: bool) -> tuple[str, bool]:
    """The clause without what negates it, and whether it says that something is normal."""
    if absent:
        cuts = negation.negations(told)[:1] or [c for c in [negation.verbal_negation(told)] if c]
        cuts = cuts or [c for c in [negation.chinese_negation(told)] if c]
        plain = told
        for cut in cuts:
            plain = f"{told[: cut.start]} {told[cut.end :]}"
        plain = negation.TRAILING.sub("", plain)
        return " ".join(plain.split()) or told, False
    match = negation.NORMAL.search(told)
    if match is None or negation.verbal_negation(told):
        return told, False
    return " ".join((told[: match.start()] + told[match.end() :]).split()) or told, True


def _pieces(sentence: str, chinese: bool) -> Iterator[_Piece]:
    at, joint = 0, ""
    for match in (_JOINT_ZH if chinese else _JOINT).finditer(sentence):
        yield from _cut_at_triggers(sentence, at, match.start(), joint, chinese)
        at, joint = match.end(), match[0].strip().lower()
    yield from _cut_at_triggers(sentence, at, len(sentence), joint, chinese)


def _cut_at_triggers(sentence: str, start: int, end: int, joint: str, chinese: bool) -> Iterator[_Piece]:
    """The stretch as pieces: a leading trigger (``red throat without exudate``) begins a piece of its own."""
    stretch = sentence[start:end]
    cut = negation.chinese_negation(stretch) if chinese else None
    triggers = (
        ([cut] if cut and sentence[start + cut.start] not in "不未" else []) if chinese else negation.negations(stretch)
    )
    at = start
    for trigger in triggers:
        here = start + trigger.start
        before = sentence[at:here].strip()
        if chinese and len(before) <= BARE_SITE and sites(before):
            continue
        if len(before) >= (2 if chinese else 4) and not negation.TRAILING.search(stretch):
            yield from _trimmed(sentence, at, here, joint)
            at, joint = here, " "
    yield from _trimmed(sentence, at, end, joint)


def _trimmed(sentence: str, start: int, end: int, joint: str) -> Iterator[_Piece]:
    while start < end and not sentence[start].isalnum() and sentence[start] not in "?↑↓":
        start += 1
    while end > start and not sentence[end - 1].isalnum() and sentence[end - 1] not in "%+":
        end -= 1
    if start < end:
        yield _Piece(start, end, joint)


def _denied(sentence: str, pieces: list[_Piece]) -> list[bool]:
    """For each piece of an English sentence, whether it is denied, scopes followed over lists."""
    out: list[bool] = []
    scope = False
    for i, piece in enumerate(pieces):
        words = expand(sentence[piece.start : piece.end])
        leading = negation.negations(words)
        own = bool(leading) or negation.verbal_negation(words) is not None or bool(negation.TRAILING.search(words))
        scope = own or (scope and _goes_on(sentence, pieces, i))
        out.append(scope)
    return out


def _goes_on(sentence: str, pieces: list[_Piece], i: int) -> bool:
    """Whether the scope of a denial reaches piece ``i``: an item of the same list."""
    piece = pieces[i]
    words = sentence[piece.start : piece.end]
    if piece.joint not in _SOFT or _OWN_START.match(words) or negation.NORMAL.search(words):
        return False
    if piece.joint in ("or", "nor"):
        return True
    ahead = [p.joint for p in pieces[i + 1 :]]
    listed = next((joint for joint in ahead if joint != ","), "") in ("or", "nor")
    return not _OWN_VERB.search(words) and (listed or len(words.split()) <= SHORT)


def _denied_zh(sentence: str, pieces: list[_Piece]) -> list[bool]:
    out: list[bool] = []
    scope = denial = False
    for piece in pieces:
        words = sentence[piece.start : piece.end]
        cut = negation.chinese_negation(words)
        goes_on = scope and (piece.joint in "、及或和" or (denial and piece.joint in "，,"))
        if cut:
            denial = words[cut.start : cut.end] == "否认"
        scope = (
            cut is not None or (goes_on and not re.match(r"[有伴现今近自]", words)) or words.endswith(("阴性", "正常"))
        )
        denial = denial and scope
        out.append(scope)
    return out


def _patient(text: str) -> str:
    """The word by which the teller names the patient (``my little boy is two``), "" when the teller is the patient."""
    first = sentences(text)[:1]
    if not first:
        return ""
    lead = first[0].of(text)
    match = _PATIENT.match(lead)
    return match[1] if match and not _TELLER.search(lead) else ""

"""A case cut into clauses with exact offsets, and what each says: present or absent, of whom, where, when."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from tools.spelling import mended
from tools.text import negation
from tools.text.abbreviations import expand
from tools.text.allergies import reactions_told
from tools.text.body_sites import side, sites
from tools.text.demographics import Person, read_person
from tools.text.language import HAN, language_of
from tools.text.measures import readings
from tools.text.scopes import denied, pieces
from tools.text.sentences import Span, sentences


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
        reading: it is a vital sign or a laboratory value, read from a number.
        allergy: it tells what an allergy once did.
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
    allergy: bool = False


_PAST_SECTION = re.compile(r"^\W*(?:PMHx?|PSH|past (?:medical|surgical) history|background|既往史?)\b", re.IGNORECASE)
_FAMILY_SECTION = re.compile(r"^\W*(?:FHx?|family history|家族史)\b", re.IGNORECASE)
_PATIENT = re.compile(
    r"^\W*(?:.{0,30}\b(?:writing|asking|calling|worried|here|came) (?:for|about|on behalf of|with) )?"
    r"(?:(?:my|our|this|a|the(?=(?: \w+){0,2} (?:child|kid|boy|girl|baby|toddler)\b))"
    rf"(?: \w+){{0,3}}? ({negation.RELATIVE})|"
    r"(mum|mummy|mom|dad|daddy|nan|granny|grandad|husband|wife|son|daughter))\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|hope|sorry|thanks?|thank you|quick|just a)\b"
    r"(?:\W+\w+){0,6}\W*$",
    re.IGNORECASE,
)  # ours: an opening sentence that tells of nobody
_TELLER = re.compile(r"\bI(?:'m|’m| am| have|'ve|’ve| had| feel| get)\b(?! (?:writing|asking|calling|worried|here)\b)")
_JOINED = re.compile(r"\W*(?:,|&|and|or)\W*", re.IGNORECASE)
_PLACED = re.compile(
    r"(?:\w+ )?\w+ (?:of|in|over|around|on) (?:the|my|his|her|their|one|both|left|right)\b", re.IGNORECASE
)
# ours: complaints that are of a place, told without it: "redness", "sudden pain"
_LOCAL = re.compile(
    r"(?:(?:no|the|some|sudden|severe|mild|marked|painful) )*"
    r"(?:redness|pains?|swelling|itch(?:ing|iness)?|burning|tenderness|numbness|tingling|stiffness|warmth|heat|soreness|"
    r"aching|aches?|bruising|erythema|oedema|edema)",
    re.IGNORECASE,
)
# ours: how a place looks or feels, told without it after the place: "my calf, sore and warm"
_FELT = re.compile(
    r"\W*(?:(?:and|also|is|are|it(?:'s)?|feels?|looks?|very|really|quite|so|a|bit|all|bright|dark|slightly|mildly|minimally|"
    r"generally|red(?:d?ish)?|pink(?:ish)?)\W+)*"
    r"(?:sore|warm|hot|red(?:d?ish)?|swollen|tender|tight|itchy|scaly|painful|hurts?|aching|achy|throbs|throbbing|puffy|"
    r"bruised|hard|firm|shiny|numb|stiff|inflamed|crusty|flaky|weeping|oozing|blistered|peeling)"
    r"(?:\W+(?:edges?|borders?|margins?|rim|skin|to (?:the )?touch|(?:since|for) .{1,20}|now|today|like hell))*\W*",
    re.IGNORECASE,
)
_NEW_SUBJECT = re.compile(r"^\W*(?:I|I'm|I’m|I've|my|mine|me)\b|^我|患者")


def clauses(text: str, person: Person | None = None) -> list[Clause]:
    """The clauses of a case in order; ``text[c.start:c.end] == c.text`` for each.

    Args:
        text: the case, in English or Chinese.
        person: the patient, for reading numbers; None for an adult of unknown sex.
    """
    return list(_read(text, person))


@lru_cache(maxsize=64)  # ours: gate, tools, answer and review read the same case in one turn
def _read(text: str, person: Person | None) -> tuple[Clause, ...]:
    found: list[Clause] = []
    patient = patient_in(text)
    for number, sentence in enumerate(sentences(text)):
        found += _of_sentence(text, sentence, number, person, patient)
    return tuple(found)


def affirmed(text: str) -> str:
    """A case without what it denies (``no fever``)."""
    for clause in reversed(clauses(text)):
        if clause.present is False and not clause.reading:
            text = text[: clause.start] + text[clause.end :]
    return text


def _of_sentence(text: str, sentence: Span, number: int, person: Person | None, patient: str) -> list[Clause]:
    told = sentence.of(text)
    found: list[Clause] = []
    masked = _signs(told)
    reactions = list(reactions_told(told))
    for r in readings(told, person, patient):
        start, end = sentence.start + r.start, sentence.start + r.end
        masked = masked[: r.start] + ";" * (r.end - r.start) + masked[r.end :]
        if r.words:
            found.append(
                Clause(text[start:end], start, end, r.words, r.words, r.present, sentence=number, reading=True)
            )
    chinese = language_of(told) == "zh"
    found_pieces = pieces(masked, chinese)
    past = other = False
    for piece, absent in zip(found_pieces, denied(masked, found_pieces, chinese), strict=True):
        words = masked[piece.start : piece.end]
        if absent is None:
            continue
        past = past or _PAST_SECTION.match(words) is not None
        other = (
            negation.is_other_person(words, patient)
            or _FAMILY_SECTION.match(words) is not None
            or (other and not _NEW_SUBJECT.match(words))
        )
        where = Span(sentence.start + piece.start, sentence.start + piece.end)
        clause = _understand(text, where, number, absent, past, other)
        noted = any(start <= piece.start and piece.end <= end for start, end in reactions)
        found.append(replace(clause, past=True, allergy=True) if noted else clause)
    return _with_sites(text, sorted(found, key=lambda c: (c.start, c.end)))


def _with_sites(text: str, found: list[Clause]) -> list[Clause]:
    """Clauses with the place that they share with the next ("redness and swelling of the toe" is redness of the toe),
    or that was told before how it looks or feels."""
    for at in range(len(found) - 2, -1, -1):
        clause, following = found[at], found[at + 1]
        joined = _JOINED.fullmatch(text, clause.end, following.start) and _PLACED.match(following.text)
        if joined and following.sites and not clause.sites and _LOCAL.fullmatch(clause.text):
            found[at] = replace(clause, sites=following.sites)
    for at in range(1, len(found)):
        if not found[at].sites and found[at - 1].sites and _FELT.fullmatch(found[at].text):
            found[at] = replace(found[at], sites=found[at - 1].sites)
    return found


def _signs(sentence: str) -> str:
    """The sentence with (+) and (-) as words of the same length, so that no bracket cuts them off."""
    nil, there = ("阴性 ", "阳性 ") if language_of(sentence) == "zh" else ("nil", "   ")
    sentence = re.sub(r"[（(][-－—–][)）]", nil, sentence)
    return re.sub(r"[（(][+＋][)）]", there, sentence)


def _understand(text: str, where: Span, number: int, absent: bool, past: bool, other: bool) -> Clause:
    words = where.of(text)
    told = expand(mended(words), text)
    plain, normal = _without_negation(told, absent)
    if absent and (negation.FUNCTION.fullmatch(plain) or negation.DISABILITY.search(told)):
        plain, absent = told, False
    uncertain = negation.UNCERTAIN.search(words) is not None or text.endswith("?", 0, where.start)
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
        sites=sites(told) or sites(words),
        sentence=number,
    )


def _without_negation(told: str, absent: bool) -> tuple[str, bool]:
    """The clause without what negates it, and whether it says that something is normal."""
    if absent:
        cuts = negation.negations(told)[:1] or [c for c in [negation.verbal_negation(told)] if c]
        cuts = cuts or [c for c in [negation.chinese_negation(told)] if c]
        plain = told
        for cut in cuts:
            joint = "" if HAN.match(told, cut.start) else " "
            plain = f"{told[: cut.start]}{joint}{told[cut.end :]}"
        plain = negation.EMPHASIS.sub("", negation.TRAILING.sub("", plain)).rstrip(" :：")
        return " ".join(plain.split()) or told, False
    match = negation.NORMAL.search(told)
    if match is None or negation.verbal_negation(told):
        return told, False
    return " ".join((told[: match.start()] + told[match.end() :]).split()) or told, True


def patient_in(text: str) -> str:
    """The word by which the teller names the patient (``my little boy is two``), "" when the teller is the patient."""
    lead = next((told for s in sentences(text) if not _GREETING.match(told := s.of(text))), "")
    match = _PATIENT.match(lead)
    if match is None or _TELLER.search(lead):
        return ""
    return (match[1] or match[2]) if read_person(lead).age is not None or not _TELLER.search(text) else ""

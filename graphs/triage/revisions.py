"""What a message makes of the case told so far: what it puts right or takes back goes, what it tells stands behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from graphs.triage.contract import Change
from tools.reading.replacing import Pair, Word, correction_chance, quiet_sorts, replaced, sort_names, words_of
from tools.text.clauses import Clause, clauses
from tools.text.demographics import age_in, read_person
from tools.text.language import language_of
from tools.text.negation import is_other_person
from tools.text.questions import parts
from tools.text.tokens import tokens

SURELY = 0.85  # ours: probability from which a message by itself puts something right, whatever that is
ASKED = 0.9  # ours: probability from which a message changes the case while a question of ours waits for its answer
FEW = 8  # ours: words and signs of a message that tells an age and nothing else
NUMBER = re.compile(r"\d+")
BESIDE = re.compile(r" ?[A-Za-z]+|[\u4e00-\u9fff]")
SAYS = re.compile(r"(?:it|s?he|i|that|there|they|we|you|who)['’](?:s|m|ve|re|d|ll)")
MOST_DENIED = 3  # ours: words of what is taken back that can be denied in a sentence
TIDY = (
    (re.compile(r"(?<!\s)\s+([,.;，。；])"), r"\1"),
    (re.compile(r"([,;，；])(?:\s*(?:(?:and|or|but)\s*)?[,;，；、])+"), r"\1"),
    (re.compile(r"[,;，；]\s*(?:(?:and|or|but)\s*)?([.。])"), r"\1"),
    (re.compile(r"(?:(?<=[.。])|^)\s*(?:(?:and|or|but)\s*)?[,.;，。；]+\s*"), " "),
    (re.compile(r"(?<!\s)\s+(?:and|or|but)\s*([.。])"), r"\1"),
    (re.compile(r" {2,}"), " "),
)
# Who is meant, beside a complaint in one clause (``45F fever``): stays when the complaint goes. Ours.
PERSON = re.compile(
    r"(?:\b[Aa]n? )?\b\d{1,3}(?:[- ]?(?:(?:year|month|week|day)s?[- ]old|y/?o|yr|y)\b"
    r"(?:[- ]?(?:(?:wo)?man|(?:fe)?male|boy|girl|lady|gentleman|[MF])\b)?|[MF]\b)|"
    r"\d{1,3} ?(?:周?岁|(?:个?月|周|天)[大龄])的?(?:[男女](?:性|孩|童|婴|士)?)?(?:患者)?"
)
# Words that say nothing of what is told; ours
GENERIC = (
    "have got getting feel feeling now also actually still bit little much day days week weeks since more like"
    " 她 他 我 患者 病人"
)
# Words of one sex and of the other, in this order; ours
SEXES = (
    ("man", "woman"), ("male", "female"), ("boy", "girl"), ("gentleman", "lady"), ("son", "daughter"), ("he", "she"),
    ("him", "her"), ("his", "her"), ("himself", "herself"), ("男", "女"), ("他", "她"),
)  # fmt: skip
SAID_SEX = re.compile(r"^(?:(?:wo)?man|(?:fe)?male|boy|girl|lady|gentleman)$|[男女]")

NEW_CASE = (
    "another patient", "different patient", "new patient", "new case", "next patient", "另一个患者", "另一位患者",
    "新病例",
    "换一个",
)  # fmt: skip
# A person who comes in with an age: ``A 2-year-old girl``, ``45M``, ``2岁女孩``, ``男,45岁``.
INTRODUCED = re.compile(
    r"(?i:^\W*(?:(?:an?|the|this|another) )?(?:\w+ ){0,2}?[\d.]{1,4}[- ]?"
    r"(?:years?|yrs?|months?|mths?|weeks?|wks?|days?)"
    r"[- ]old\b)|^\W*\d{1,3} ?(?:yo|y/o|y)?[ -]?(?:M|F|(?i:male|female))\b|"
    r"^\W*(?:一?[名位个])?(?:患者|病人)?[，, ]?"
    r"(?:[男女][性孩童]?[，,、 ]*\d{1,3} ?(?:岁|个月)|\d{1,3} ?(?:岁|个月)(?:大)?的?[男女])",
)
PEOPLE = 1.5  # years by which two ages must differ to be two people when nobody is introduced
ROUNDING = 0.05  # years; ages that differ by less are the same
TOLD = 0.8  # of a message's words that the case must hold for it to have been told


class Revision(NamedTuple):
    """A case after a message, and what of it was replaced or removed."""

    case: str
    changes: tuple[Change, ...] = ()


def is_correction(message: str, case: str, *, asked: bool = False) -> bool:
    """Whether a message takes back something that the case says, or puts another thing in its place.

    ``asked``: a question of ours waits for its answer, so that only what surely changes the case is a correction.
    """
    if not case or not message.strip():
        return False
    found = _pairs(case, message)
    if asked:
        return any(pair.new is not None and pair.chance >= ASKED for pair in found)
    return bool(found) or correction_chance(message) >= SURELY


def corrects_person(message: str, case: str) -> bool:
    """Whether a message puts right who the patient is, so that another age or sex is no other patient's."""
    start, end = age_in(case)[1]
    ages = any(p.old[0] < end and start < p.old[1] for p in _pairs(case, message))
    return (
        ages
        or correction_chance(message) >= SURELY
        or (_of_sex(case, message) != case and is_correction(message, case))
    )


def is_other_patient(text: str, case: str) -> bool:
    """Whether a message begins the case of somebody else than ``case`` is about."""
    if any(words in text.lower() for words in NEW_CASE):
        return True
    if not case or corrects_person(text, case):
        return False
    now, before = read_person(text), read_person(case)
    introduced = INTRODUCED.match(text) is not None
    if introduced and (now.sex and before.sex) and now.sex != before.sex:
        return True
    if now.age is None or before.age is None:
        return False
    return abs(now.age - before.age) > (ROUNDING if introduced else PEOPLE)


def is_repeated(text: str, messages: Sequence[str], case: str) -> bool:
    """Whether the user sent this message before and the case already holds what it says."""
    if same(text) not in {same(m) for m in messages}:
        return False
    words, known = set(tokens(text)), set(tokens(case))
    return len(words & known) >= TOLD * len(words)


def correct(case: str, message: str) -> Revision:
    """The case with what the message replaces or takes back, and what else it tells at its end."""
    found = _pairs(case, message)
    if not found:
        return add(case, message)
    changes = tuple(_shown(case, message, p) for p in sorted(found, key=lambda p: p.old))
    revised = case
    for pair in sorted(found, key=lambda p: p.old, reverse=True):
        put = message[slice(*pair.new)] if pair.new else ""
        revised = revised[: pair.old[0]] + _written_like(put, case[slice(*pair.old)]) + revised[pair.old[1] :]
    revised = _of_sex(_tidy(revised), message)
    rest = _tells(message, found, case, revised)
    more = add(revised, rest)
    return Revision(more.case, (*changes, *more.changes))


def add(case: str, text: str) -> Revision:
    """The case with more text; what the text denies or states against a denial goes."""
    text = text.strip()
    if not case or not text or _told(case, text):
        return Revision(case or text)
    revised, gone = _without(case, text)
    changes = tuple(Change(before=c.text, after=text.rstrip(".。")) for c in gone)
    return Revision(join(revised, text), changes)


@lru_cache(maxsize=64)
def _pairs(case: str, message: str) -> tuple[Pair, ...]:
    """What a message changes in a case."""
    return tuple(replaced(case, message) or _age(case, message))


def _age(case: str, message: str) -> list[Pair]:
    """The patient's age, put right by a message that tells another and nothing else: ``she is 52``."""
    said, at = age_in(message)
    before, old = age_in(case)
    if None in (said, before) or said == before or len(words_of(message)) > FEW or is_other_person(message):
        return []
    there, here = NUMBER.search(case, *old), NUMBER.search(message, *at)
    return [Pair(there.span(), here.span(), 1.0)] if there and here else []


def _shown(case: str, message: str, pair: Pair) -> Change:
    """What is told of a replacement: the words with the one behind them."""
    beside = BESIDE.match(case, pair.old[1])
    more = beside[0] if beside else ""
    old = case[slice(*pair.old)]
    return Change(before=old + more, after=_written_like(message[slice(*pair.new)], old) + more if pair.new else "")


def _written_like(put: str, old: str) -> str:
    """What is put into the case in the letters of what it replaces: ``L`` for ``R``, ``left`` for ``right``."""
    if old in ("L", "R") and put.lower() in ("left", "right"):
        return put[0].upper()
    return put[:1].lower() + put[1:] if old[:1].islower() and put[1:].islower() else put


def _of_sex(case: str, message: str) -> str:
    """The case of a person of the sex that the message names, pronouns and all; a pronoun may be somebody else's."""
    new, before = read_person(message).sex, read_person(case).sex
    if new is None or before in (None, new) or not any(SAID_SEX.search(w.text) for w in words_of(message)):
        return case
    pairs = dict(SEXES if new == "female" else [(b, a) for a, b in SEXES])
    for old, put in pairs.items():
        bound = r"\b" if old.isascii() else ""
        case = re.sub(rf"{bound}{old}{bound}", put, case)
        case = re.sub(rf"{bound}{old.capitalize()}{bound}", put.capitalize(), case)
    letter = ("M", "F") if new == "female" else ("F", "M")
    return re.sub(rf"(?<=\d)( ?(?:yo|y/o|y)? ?){letter[0]}\b", rf"\g<1>{letter[1]}", case)


def _names(word: Word) -> set[str]:
    return {sort_names()[at] for at in word.sorts}


def _tells(message: str, found: Sequence[Pair], told: str, case: str) -> str:
    """What a correction tells beside what it puts right, without the words by which it begins.

    ``told`` is the case before it, ``case`` the one in which the old is replaced.
    """
    quiet = quiet_sorts() | {sort_names().index(name) for name in ("back", "not", "sex")}
    replaced_words = " ; ".join(told[slice(*p.old)] for p in found)
    known = {w.stem for text in (case, replaced_words) for w in words_of(text)}
    put = [p.new for p in found if p.new is not None]
    kept = []
    for part in parts(message):
        start = message.find(part)
        words = words_of(part)
        news = [
            w for w in words
            if not quiet & set(w.sorts) and w.stem not in known and not SAYS.fullmatch(w.text)
            and not any(a <= start + w.start < b for a, b in put)
        ]  # fmt: skip
        if news:
            kept.append(_begun(part, words))
    gone = (told[slice(*p.old)] for p in found if p.new is None)
    denied = [text for text in gone if len(text.split()) <= MOST_DENIED]
    says = clauses(message)
    for text in denied:
        if any(c.present is False and set(tokens(text)) & set(tokens(c.plain)) for c in says):
            kept = kept or [_begun(message, words_of(message))]
        else:
            kept.insert(0, f"没有{text}。" if language_of(text) == "zh" else f"No {text}.")
    return " ".join(kept) if language_of(message) != "zh" else "".join(kept)


def _begun(part: str, words: Sequence[Word]) -> str:
    """A sentence without what only says that something is put right: ``No, wait, the rash itches``."""
    empty = {"empty", "stop", "back", "not"}
    start = 0
    for at, word in enumerate(words):
        if not _names(word) <= empty:
            break
        if "stop" in _names(word):
            start = words[at + 1].start if at + 1 < len(words) else len(part)
    return part[start:] or part


def _tidy(case: str) -> str:
    for pattern, into in TIDY:
        case = pattern.sub(into, case)
    return case.strip()


def _told(case: str, text: str) -> bool:
    """Whether every sentence of the text stands in the case already."""
    known = {same(part) for part in parts(case)}
    return all(same(part) in known for part in parts(text))


def same(text: str) -> str:
    """A text as it is compared: lower case, without spaces and closing marks."""
    return re.sub(r"[\s.!?;,。！？；，]+", "", text).lower()


def join(case: str, text: str) -> str:
    """The case and a further statement as one text."""
    case, text = case.strip(), text.strip()
    if not case or not text:
        return case or text
    stop = "。" if language_of(case) == "zh" else "."
    gap = "" if stop == "。" else " "
    closed = case if case.endswith((".", "!", "?", "。", "！", "？")) else case + stop
    ended = text if text.endswith((".", "!", "?", "。", "！", "？")) else text + stop
    return closed + gap + (ended if gap == "" else ended[0].upper() + ended[1:])


def _without(case: str, statement: str) -> tuple[str, list[Clause]]:
    """The case without clauses that the statement contradicts, and these.

    Only the denial of the wider contradicts (``no cough`` and ``cough at night``); where words say that something is
    put right, the narrower contradicts the wider too, and what is so now what was before.
    """
    loose = any("back" in _names(word) for word in words_of(statement))
    now = [(frozenset(tokens(c.plain)) - _generic(), c) for c in clauses(statement)]
    gone: list[Clause] = []
    for clause in reversed(clauses(case)):
        if any(_contradicts(words, said, clause, loose) for words, said in now):
            gone.append(clause)
            person = PERSON.search(case, clause.start, clause.end)
            stays = person[0].strip() + ("，" if language_of(case) == "zh" else ",") if person else ""
            case = _tidy(case[: clause.start] + stays + case[clause.end :])
    return case, gone[::-1]


def _contradicts(words: frozenset[str], said: Clause, clause: Clause, loose: bool) -> bool:
    if said.present is None or clause.present is None or said.present == clause.present:
        return False
    if clause.normal or clause.other or said.other or said.normal or (not loose and said.past != clause.past):
        return False
    told = frozenset(tokens(clause.plain)) - _generic()
    if not words or not told:
        return False
    denied, stated = (told, words) if said.present else (words, told)
    return denied <= stated or (loose and stated <= denied)


@lru_cache(maxsize=1)
def _generic() -> frozenset[str]:
    return frozenset(tokens(GENERIC))  # when first asked: its Chinese words load a dictionary

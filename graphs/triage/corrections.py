"""Corrections of a case: the later statement stays, what it contradicts goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from graphs.triage.contract import Change
from graphs.triage.instead import instead, positive
from graphs.triage.questions import parts
from graphs.triage.swaps import QUALITY, SIDE, age, sex, swapped
from tools.text.clauses import Clause, clauses
from tools.text.language import language_of
from tools.text.tokens import tokens

LEAD = re.compile(
    r"^\W*(?:(?:no(?=\s*[,.:;!-]|\s+(?:it|the|i|he|she|my|sorry|wait)\b)|sorry|oops|wait|hang on|hold on|well|"
    r"my mistake|apologies|actually|correction|i meant|i mean|i should have said|"
    r"i got that wrong|i (?:was|am) (?:wrong|mistaken)|"
    r"that(?:'s| is| was) (?:wrong|not right)|scratch that|not quite|to be (?:exact|"
    r"precise))\b[\s,.:;!-]+)+(?:it(?:'s| is| was)\s+)?|"
    r"^\W*(?:不对|不是的?(?=[，,。\s]|$)|说错了|我说错了|搞错了|更正(?:一下)?|其实是?|抱歉|应该是|"
    r"准确地?说)[\s，,。:：;；]*(?:是|"
    r"应该是)?|^(?:她|他|我|患者|病人)(?:其实|实际上|应该)是?",
    re.IGNORECASE,
)
TAIL = re.compile(
    r"(?<![\s,.;，。；-])[\s,.;，。；-]+(?:i (?:was|am) (?:wrong|mistaken)|my mistake|i got (?:that|it) wrong|"
    r"我?(?:刚才)?(?:说错|搞错|弄错|记错|看错)了)\W*$",
    re.IGNORECASE,
)
# Words anywhere in a short message that take something back; with another value of it they make a correction. Ours.
CUE = re.compile(
    r"\b(?:sorry|typo|wrong|mistaken?|misread|misheard|meant|amend(?:ed|ment)?|correction|actually|apologies|oops|"
    r"my bad|scrap|scratch|swapped|rather than|instead|not right|checked|counted|birthday|"
    r"says (?:she|he|it)'s)\b|^\s*\*|纠正|更正|不对|不准确|[说记搞弄看]错|划掉|不是|应该是|才对",
    re.IGNORECASE,
)
# ``I was wrong about the fever``: what the case says is taken back, whatever follows. Ours.
WITHDRAWN = re.compile(
    r"\b(?:wrong|mistaken) about (?:the |my |his |her )?(?P<en>[a-z][\w -]{1,30}?)(?=\s*[,.;!]|$)|"
    r"(?:刚才|前面|之前)?说的?(?P<zh>[\u4e00-\u9fff]{1,8}?)(?:不对|不准确|说错了)",
    re.IGNORECASE,
)
SHORT = 20  # words, or Chinese characters by two, of such a message; ours
# Words before what was left out; they say nothing of the patient.
FORGOT = re.compile(
    r"^\W*(?:(?:oh|ah|sorry|oops|wait|and|also|by the way|ps)\b[\s,.:;!-]+)*(?:(?:i )?should have (?:said|mentioned)|"
    r"i (?:forgot|should (?:add|mention|say))"
    r"(?: to (?:say|mention|add|tell you))?|i (?:did not|didn't) (?:say|mention)(?: that)?)\b[\s,.:;!-]+(?:that )?|"
    r"^\W*(?:对了|哦|另外)?[，,\s]*(?:我)?(?:刚才)?(?:忘了|忘记)(?:说|讲|提)(?:了)?[，,。:：\s]*",
    re.IGNORECASE,
)
# A message that says no more than an age or a sex.
AGE_ONLY = re.compile(
    r"^\W*(?:(?:he|she|i)(?:'s|'m| is| am)|the patient is) (?:actually |really |only )?\d{1,3}(?: years? old)?\W*$|"
    r"^(?:她|他|我|患者)(?:是|今年|其实|只有)*\d{1,3} ?岁\W*$",
    re.IGNORECASE,
)
SEX_ONLY = re.compile(
    r"^\W*(?:(?:he|she|it|i|that)(?:'s|'m| is| am)|the patient is) (?:actually |really |"
    r"in fact )?(?:an? )?(?:man|woman|"
    r"male|female|boy|girl|lady|gentleman)\W*$|^(?:她|他|我|患者|病人)?(?:其实)?是(?:个|"
    r"一[个位名])?[男女](?:性|孩子?|的|士|生|患者)?\W*$",
    re.IGNORECASE,
)
PLAIN_NO = re.compile(
    r"^\W*(?:(?:no(?=\s*[,.:;!-]|\s+(?:it|the|i|he|she|my)\b)|well)\b|不是的?(?=[，,。\s]|$))[\s,.:;!，。-]*",
    re.IGNORECASE,
)
GENERIC = frozenset(
    tokens(
        "have got getting feel feeling now also actually still bit little much day days week weeks since more like"
        " 她 他 我 患者 病人"
    )
)
# Words of a correction that the case need not hold for it to have been told: what merely points. Ours.
POINTS = GENERIC | frozenset(tokens("side actually really it is he she patient meant 是 的 侧 边 她 他 患者 应该"))
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
WORDS = re.compile(r"[A-Za-z]+(?:['/][a-z]+)*|\d+(?:[./]\d+)*|[\u4e00-\u9fff]|[^\w\s]")
FEW = 4  # words and signs; ours
BESIDE = 2  # ours: words of the case told beside one that was replaced


def is_correction(message: str, case: str, *, asked: bool = False) -> bool:
    """Whether a message takes back something that the case says. ``asked``: a question of ours waits for its answer,
    so that a plain "no" is one unless the message names another side, time or age."""
    if not case:
        return False
    if _puts_instead(case, message) or TAIL.search(message) or withdrawn(message) or _other_side(case, message):
        return True
    if CUE.search(message) and len(WORDS.findall(message)) <= SHORT and swapped(case, body(message)) != case:
        return True
    if QUALITY.search(message) and len(parts(message)) == 1 and swapped(case, message) != case:
        return True
    if (AGE_ONLY.match(message) and age(case, message) != case) or (
        SEX_ONLY.match(message) and sex(case, message) != case
    ):
        return True
    if LEAD.match(message) is None:
        return False
    plain_no = PLAIN_NO.match(message)
    if plain_no is None or LEAD.sub("", message, count=1) != message[plain_no.end() :]:
        return True
    revised = swapped(case, body(message))
    return revised != case or (not asked and _without(case, body(message), both=True)[0] != case)


def _puts_instead(case: str, message: str) -> bool:
    said = body(message)
    return len(parts(said)) == 1 and instead(said) is not None and swapped(case, said) != case


def _other_side(case: str, message: str) -> bool:
    """Whether a message begins with a part of the case and its other side, and nothing else: ``Right breast.``"""
    first = parts(message)[0]
    told = SIDE.match(first)
    named = told is not None and (told[2] or "").lower() in tokens(case)
    return named and len(WORDS.findall(first)) <= FEW and swapped(case, first) != case


def body(message: str) -> str:
    """A correction without its first words: ``no, the left knee`` -> ``the left knee``."""
    return TAIL.sub("", LEAD.sub("", message.strip(), count=1)).strip() or message.strip()


def withdrawn(message: str) -> str:
    """What a message takes back, as a denial before it (``wrong about the fever``: ``No fever.``), "" when nothing."""
    found = WITHDRAWN.search(message)
    if found is None:
        return ""
    return f"No {found['en'].strip()}. {message.strip()}" if found["en"] else f"没有{found['zh']}。{message.strip()}"


class Revision(NamedTuple):
    """A case after a message, and what of it was replaced or removed."""

    case: str
    changes: tuple[Change, ...] = ()


def correct(case: str, message: str) -> Revision:
    """The case with what the message contradicts replaced or removed, and what is new in the message at its end."""
    statement = withdrawn(message) or body(message)
    new = positive(statement)
    put = swapped(case, statement)
    denies_quality = put != case and QUALITY.search(statement) is not None
    revised, gone = (put, []) if denies_quality else _without(put, new if put != case else statement, both=True)
    changes = (*_replaced_in(case, put), *_removed(gone, new))
    if _told(revised, statement) or (revised != case and not gone and _holds(revised, new)):
        return Revision(revised, changes)
    return Revision(join(revised, new), changes)


def add(case: str, text: str) -> Revision:
    """The case with more text; what the text contradicts goes."""
    text = FORGOT.sub("", text.strip(), count=1) or text.strip()
    if not case or _told(case, text):
        return Revision(case or text)
    revised, gone = _without(case, text, both=False)
    return Revision(join(revised, text), _removed(gone, text))


def _removed(gone: Sequence[Clause], statement: str) -> tuple[Change, ...]:
    """What was taken back, each with the sentence of the statement that says otherwise."""
    return tuple(Change(before=c.text, after=statement.strip().rstrip(".。")) for c in gone)


def _replaced_in(before: str, after: str) -> tuple[Change, ...]:
    """What was replaced in a case, in its own words, with the word beside it."""
    old, new = list(WORDS.finditer(before)), list(WORDS.finditer(after))
    matcher = SequenceMatcher(None, [m[0].lower() for m in old], [m[0].lower() for m in new], autojunk=False)
    found = [
        Change(before=_stretch(before, old, a, b), after=_stretch(after, new, c, d) if d > c else "")
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag in ("replace", "delete")
    ]
    return tuple(dict.fromkeys(found))


def _stretch(text: str, words: list[re.Match[str]], start: int, end: int) -> str:
    """The characters of some words and of what is told beside them; a Chinese word is told whole."""
    if re.match(r"[\u4e00-\u9fff]", words[start][0]):
        left = re.split(r"[，,。；;、]", text[: words[start].start()])[-1]
        start_at = words[start].start() - min(len(left), BESIDE)
    else:
        start_at = words[start].start()
    last = min(end + _beside(words, end), len(words))
    return text[start_at : words[last - 1].end()].strip(" ,.;，。；")


def _beside(words: list[re.Match[str]], at: int) -> int:
    """How many words after a replaced one are told with it: those up to the next stop."""
    count = 0
    for match in words[at : at + BESIDE]:
        if not match[0][0].isalnum():
            break
        count += 1
    return min(count, 1) if count and not re.match(r"[\u4e00-\u9fff]", words[at][0]) else count


def _holds(case: str, statement: str) -> bool:
    """Whether the case holds every word of a statement that denies nothing."""
    told = clauses(statement)
    return all(c.present is not False for c in told) and set(tokens(statement)) - POINTS <= set(tokens(case))


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


def _without(case: str, statement: str, *, both: bool) -> tuple[str, list[Clause]]:
    """The case without clauses that the statement contradicts, and these.

    ``both``: the narrower contradicts the wider too, as in a correction; else only the denial of the wider does
    (``no cough`` and ``cough at night``).
    """
    now = [(frozenset(tokens(c.plain)) - GENERIC, c) for c in clauses(statement)]
    gone: list[Clause] = []
    for clause in reversed(clauses(case)):
        if any(_contradicts(words, said, clause, both=both) for words, said in now):
            gone.append(clause)
            person = PERSON.search(case, clause.start, clause.end)
            stays = person[0].strip() + ("，" if language_of(case) == "zh" else ",") if person else ""
            case = case[: clause.start] + stays + case[clause.end :]
            for pattern, into in TIDY:
                case = pattern.sub(into, case)
    return case.strip(), gone[::-1]


def _contradicts(words: frozenset[str], said: Clause, clause: Clause, *, both: bool) -> bool:
    if said.present is None or clause.present is None or said.present == clause.present:
        return False
    if clause.normal or clause.other or said.other or said.normal or (not both and said.past != clause.past):
        return False
    told = frozenset(tokens(clause.plain)) - GENERIC
    if not words or not told:
        return False
    denied, stated = (told, words) if said.present else (words, told)
    return denied <= stated or (both and stated <= denied)

"""A sentence cut into pieces at commas, conjunctions and negations, and which of the pieces are denied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.text import negation
from tools.text.abbreviations import expand
from tools.text.body_sites import sites

# Where ``with`` opens a list of further complaints: ``chest pain for 2 hours with sweating, nausea and vomiting``.
# ours: words that name a complaint; only between two of them does ``with`` add one to the other
_COMPLAINT = re.compile(
    r"\b(?:\w*aches?|aching|pains?|painful|hurts?|sore|soreness|discomfort|cramps?|cough|fever\w*|"
    r"chills|rigors|shivering|sweats?|sweating|sweaty|clamm\w+|nausea\w*|vomit\w*|diarrh\w+|constipation|bloating|"
    r"heartburn|breathless\w*|(?:short(?:ness)?|out) of breath|dyspn\w+|wheez\w+|palpitations|dizz\w+|light-?headed\w*|"
    r"vertigo|faint\w*|syncope|collapse\w*|blackouts?|confusion|confused|drows\w+|seizures?|fits|weak|weakness|numb\w*|"
    r"tingling|pins and needles|stiff|stiffness|rash\w*|itch\w*|hives|blisters|swelling|swollen|jaundice|bleeding|"
    r"discharge|photophobia|blurr\w+|double vision|slurr\w+|tremor|tired\w*|fatigue|malaise|pallor|pale|hoarse\w*|"
    r"haematuria|hematuria|dysuria|(?:weight|appetite|hair|hearing|visual|memory) loss|loss of \w+)\b",
    re.IGNORECASE,
)
# ours: words that are a complaint in front of ``with`` and may be a cause after it
_LEADING = re.compile(r"\b(?:tightness|pressure|heaviness)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"(?<=\w)\s+(?:(?:(?:associated|along|together) )?with|accompanied by)\s+(?=\w)(?!(?:no|nothing)\b)", re.IGNORECASE
)
# ours: a verb or comparison that takes the words after ``with`` as its own: cause, company or what it is full of
_BOUND = re.compile(
    r"\b(?:worse\w*|better|reliev\w+|eas(?:es|ed?|ing)|improv\w+|help\w*|aggravat\w+|trigger\w*|"
    r"comes?(?: on)?|came(?: on)?|brought on|"
    r"made \w+|mix\w+|fill\w+|cover\w+|streak\w+|ting\w+|fleck\w+|starts?|started|starting|begins?|began|"
    r"treat\w+|diagnos\w+|manag\w+|cop(?:e|es|ed|ing)|liv(?:es|ed?|ing)|woken?|wakes?|wak(?:es|ing) up|only|off|"
    r"trouble|problems?|bothered|consistent|deal\w*|always|except)\W*$",
    re.IGNORECASE,
)

NEAR = 200  # ours: characters on either side of ``with`` in which a complaint is looked for


def openings(sentence: str, barriers: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Where in an English sentence ``with`` stands between one complaint and a further one, white space included.

    Args:
        barriers: characters of the joints of the sentence: no complaint is looked for beyond them.
    """
    for match in _OPENING.finditer(sentence):
        start = max((end for _, end in barriers if end <= match.start()), default=0)
        end = min((begin for begin, _ in barriers if begin >= match.end()), default=len(sentence))
        start, end = max(start, match.start() - NEAR), min(end, match.end() + NEAR)
        before, after = expand(sentence[start : match.start()]), expand(sentence[match.end() : end])
        if _tells(before) and _COMPLAINT.search(after):
            yield match


def _tells(before: str) -> bool:
    """Whether words name a complaint of today, stated, that ``with`` may add to."""
    if not (_COMPLAINT.search(before) or _LEADING.search(before)) or _BOUND.search(before):
        return False
    return not (negation.negations(before) or negation.verbal_negation(before) or negation.is_past(before))


@dataclass(frozen=True)
class Piece:
    """A clause before it is understood: its characters, and the delimiter in front of it."""

    start: int
    end: int
    joint: str


_JOINT = re.compile(
    r"[;()\[\]]|:(?!\d|\s*(?:none|nil|no|neg(?:ative)?|absent|denied)\s*(?:[,;.]|$))|,(?!\d{3}\b)|\.{2,}|\.(?=\s)|\s[-–—]+\s|\b(?:but|however|although|though|whereas|while|except|yet|then|"
    r"because|and|or|nor|plus)\b|"
    r"\bas(?=\W+(?:not|unable|no longer)\b)|"
    r"\bdespite(?=\W+(?:an? )?(?:good|normal|increased|great|eating|adequate|healthy|big)\b)",
    re.IGNORECASE,
)
_JOINT_ZH = re.compile(
    r"[，,；;、（）()。]|[：:](?!\s*(?:无|没有|阴性|否认)\s*(?:[，,；;、。]|$))|(?<![以涉普波])及(?!时)|或(?!者?许)|(?<![缓温饱平])和(?!缓)|伴有?|但是?|(?<=\s)\s*"
)
_SOFT = frozenset({",", "and", "or", "nor", "、", "及", "或", "和"})
_COMPANION = ("with", "by")  # joints of `tools.text.companions`: what follows is told as what goes before
# ours: a piece that begins or holds one of these says something of its own, and ends the scope of a negation
_OWN_START = re.compile(
    r"^\W*(?:I|I'm|he|she|it|we|they|you|there|my|his|her|the|an?|some|has|have|had|is|was|now|mild(?:ly)?|"
    r"slight(?:ly)?|severe(?:ly)?|minimal(?:ly)?|diffuse(?:ly)?|also|just|only|"
    r"still|feels?|with|since|after|when|on|for|takes?|taking|smokes?|drinks?|lives?|works?|PMH|O/E|had|got|getting)\b",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"\W*(?:without|w/o)\b", re.IGNORECASE)
# ours: a finding with an adjective, which may be told and not denied
_DESCRIBED = re.compile(
    r"\W*(?:\w{2,}(?:ed|ing)|swollen|red|sore|stiff|dry|pale|cold|hot|itchy|painful|tender|high|low|bloody|black|blue|"
    r"yellow|weak|puffy|hoarse|blurry|cloudy|dark|loose|tight|thick|raw|scaly|bright|purple|white)\s+[a-z]",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\W*(?:an?|any)\b", re.IGNORECASE)
_OWN_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|feels?|came|comes|started|began|keeps?|hurts?|says|all|gone|very|really|quite|"
    r"getting)\b|\d",
    re.IGNORECASE,
)
# a clause of its own within another: what it denies is not what it stands by (``ulcers that don't hurt``)
_RELATIVE = re.compile(
    rf"(?<=\w)\s+(?!{negation.NOT_THERE})"
    r"(?=(?:that|which|who)(?:'s|\s+(?:is|are|was|were|has|have|had|do|does|did))?(?:\s+not|n[’']t|\s+never|"
    r"\s+(?:do|does|did|is|are|was|were|has|have|had|wo|ca|could|would)n[’']?t)\b)",
    re.IGNORECASE,
)
BARE_SITE = 4  # Chinese characters in front of a negation that only say where; ours
SHORT = 4  # words of a bare item in a list of denials; ours


def pieces(sentence: str, chinese: bool) -> list[Piece]:
    """The pieces of a sentence in order, trimmed of white space and punctuation."""
    return list(_pieces(sentence, chinese))


def denied(sentence: str, found: list[Piece], chinese: bool) -> Sequence[bool | None]:
    """For each piece whether it is denied; the scope of a denial is followed over lists. None: it may be or not."""
    return _denied_zh(sentence, found) if chinese else _denied(sentence, found)


def _pieces(sentence: str, chinese: bool) -> Iterator[Piece]:
    at, joint = 0, ""
    joints = [*(_JOINT_ZH if chinese else _JOINT).finditer(sentence), *_RELATIVE.finditer(sentence)]
    if not chinese:
        joints += list(openings(sentence, [m.span() for m in joints]))
    joints.sort(key=lambda m: m.start())
    for match in joints:
        yield from _cut_at_triggers(sentence, at, match.start(), joint, chinese)
        at, joint = match.end(), match[0].strip().lower()
    yield from _cut_at_triggers(sentence, at, len(sentence), joint, chinese)


def _cut_at_triggers(sentence: str, start: int, end: int, joint: str, chinese: bool) -> Iterator[Piece]:
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
        answers = not any(c.isalnum() for c in stretch[trigger.end :])  # ``发热：无``
        if len(before) >= (2 if chinese else 4) and not answers and not negation.TRAILING.search(stretch):
            yield from _trimmed(sentence, at, here, joint)
            at, joint = here, " "
    yield from _trimmed(sentence, at, end, joint)


def _trimmed(sentence: str, start: int, end: int, joint: str) -> Iterator[Piece]:
    while start < end and not sentence[start].isalnum() and sentence[start] not in "?↑↓":
        start += 1
    while end > start and not sentence[end - 1].isalnum() and sentence[end - 1] not in "%+":
        end -= 1
    if start < end:
        yield Piece(start, end, joint)


def _denied(sentence: str, pieces: list[Piece]) -> list[bool | None]:
    """For each piece of an English sentence, whether it is denied, scopes followed over lists.

    "Without pus, cracked lips" may deny the lips or not.
    """
    out: list[bool | None] = []
    scope: bool | None = False
    lacks = False
    for i, piece in enumerate(pieces):
        words = expand(sentence[piece.start : piece.end])
        leading = negation.negations(words)
        own = bool(leading) or negation.verbal_negation(words) is not None or bool(negation.TRAILING.search(words))
        lacks = _WITHOUT.match(words) is not None if own else lacks
        goes_on = scope is not False and _goes_on(sentence, pieces, i)
        if own or not goes_on:
            scope = own
        elif lacks and piece.joint == "," and _DESCRIBED.match(words) and not _listed(pieces, i):
            scope = None
        out.append(scope)
    return out


def _goes_on(sentence: str, pieces: list[Piece], i: int) -> bool:
    """Whether the scope of a denial reaches piece ``i``: an item of the same list."""
    piece = pieces[i]
    words = sentence[piece.start : piece.end]
    if piece.joint.endswith(_COMPANION):
        return True
    if piece.joint in ("or", "nor") and _ARTICLE.match(words) and not _OWN_VERB.search(words):
        return True  # "without fever or a rash"
    if piece.joint not in _SOFT or _OWN_START.match(words) or negation.NORMAL.search(words):
        return False
    if piece.joint in ("or", "nor"):
        return True
    return not _OWN_VERB.search(words) and (_listed(pieces, i) or len(words.split()) <= SHORT)


def _listed(pieces: list[Piece], i: int) -> bool:
    """Whether a piece is an item of a list that "or" closes."""
    return next((p.joint for p in pieces[i + 1 :] if p.joint != ","), "") in ("or", "nor")


def _as_it_should_be(words: str) -> bool:
    """Whether a Chinese piece says that something is normal or negative, and of nothing else that it is not."""
    return words.endswith(("阴性", "正常")) and "而" not in words


def _denied_zh(sentence: str, pieces: list[Piece]) -> list[bool]:
    out: list[bool] = []
    scope = denial = False
    for piece in pieces:
        words = sentence[piece.start : piece.end]
        cut = negation.chinese_negation(words)
        goes_on = scope and (piece.joint in "、及或和" or (denial and piece.joint in "，,"))
        if cut:
            denial = words[cut.start : cut.end] == "否认"
        scope = cut is not None or (goes_on and not re.match(r"[有伴现今近自]", words)) or _as_it_should_be(words)
        denial = denial and scope
        out.append(scope)
    return out

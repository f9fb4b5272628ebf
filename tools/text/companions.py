"""Where ``with`` opens a list of further complaints: ``chest pain for 2 hours with sweating, nausea and vomiting``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.text import negation
from tools.text.abbreviations import expand

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


def openings(sentence: str, barriers: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Where in an English sentence ``with`` stands between one complaint and a further one, white space included.

    Args:
        barriers: characters of the joints of the sentence: no complaint is looked for beyond them.
    """
    for match in _OPENING.finditer(sentence):
        start = max((end for _, end in barriers if end <= match.start()), default=0)
        end = min((begin for begin, _ in barriers if begin >= match.end()), default=len(sentence))
        before, after = expand(sentence[start : match.start()]), expand(sentence[match.end() : end])
        if _tells(before) and _COMPLAINT.search(after):
            yield match


def _tells(before: str) -> bool:
    """Whether words name a complaint of today, stated, that ``with`` may add to."""
    if not (_COMPLAINT.search(before) or _LEADING.search(before)) or _BOUND.search(before):
        return False
    return not (negation.negations(before) or negation.verbal_negation(before) or negation.is_past(before))

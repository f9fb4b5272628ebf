"""What a clause tells beside its frame: who says it of whom, ages, and denials that tell of a deficit (English)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.text.clauses import Clause

# Who tells, of whom, that there is or was something.
FRAME = re.compile(
    r"^\W*(?:(?:and|but|so|also|then|now|as a baby|strangely|sometimes|often)\b\W*)*"
    r"(?:(?:the )?(?:doctors?|eye doctor|scan|they|tests?|x-ray)(?: \w+)?"
    r" (?:says?|said|found|sees|saw|showed|shows|told us)(?: that| us)?\b\W*)?"
    r"(?:(?:i|he|she|it|they|we|my|his|her|their|our|the|there)\b\W*)?"
    r"(?:(?:\w+[- ])?(?:son|daughter|boy|girl|baby|child|brother|sister|wife|husband)(?: of \w+)?\b\W*)?"
    r"(?:(?:am|is|are|was|were|has|have|had|been|gets?|got|became|becomes|suffers from|keeps?|a|an|very)\b\W*)*",
    re.IGNORECASE,
)
AGE = re.compile(
    r"\W*(?:(?:nearly|almost|about|not yet) )?(?:\d+|\w+)(?: (?:and a half|months?|years?|weeks?|days?|old))*\W*"
)
# A denied verb of what people do when well tells of a deficit, and "than normal" of a difference.
DEFICIT = re.compile(
    r"\b(?:cannot|can['’]?t|could(?: not|n['’]t)|never|barely|hardly|do(?:es)?(?: not|n['’]t)|did(?: not|n['’]t)|"
    r"has(?: not|n['’]t))\b(?! (?:ever )?(?:have|had|get|got|suffer|any|lost|stop))|"
    r"\b(?:than|not|from|nor) normal|than (?:it|they|he|she) should|not (?:well|fully|properly|quite)\b|too few\b",
    re.IGNORECASE,
)


def core(clause: Clause) -> str:
    """What a clause says without its frame; "" when it only says how old somebody is."""
    told = clause.told if stated(clause) else clause.plain
    left = FRAME.sub("", told, count=1).strip()
    return "" if AGE.fullmatch(left) and any(c.isdigit() for c in left) else left


def stated(clause: Clause) -> bool:
    """Whether a clause says that the patient has something, be it that something cannot be done."""
    return clause.present is not False or DEFICIT.search(clause.text) is not None


def joined(clause: Clause, every: Sequence[Clause]) -> list[str]:
    """The clause read together with the one before it, and with the one after it, in the same sentence."""
    at = every.index(clause)
    near = [(every[at - 1], clause)] if at else []
    near += [(clause, every[at + 1])] if at + 1 < len(every) else []
    return [f"{core(a)} {core(b)}" for a, b in near if a.sentence == b.sentence and stated(a) == stated(b)]

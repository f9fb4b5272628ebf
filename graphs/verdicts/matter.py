"""Whether a sentence speaks of what a closed question asks, where its words show it plainly: of an effect, of harm, of
how groups were before treatment, of another comparison, or only of the research that is to come.

The trained reader takes "both were well tolerated" for an answer to "is it more effective". In doubt a sentence counts.
"""

from __future__ import annotations

import re

from graphs.verdicts.stated import people_of
from graphs.verdicts.studies import PLAIN, parts_of
from tools.medicines.names import medicines_in
from tools.text.tokens import tokens


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# All ours.
BEFORE = _words(
    r"\bat (?:baseline|entry|enrol+ment|inclusion|study entry|the (?:start|outset|beginning) of the (?:study|trial))\b"
    r"|\bbaseline\s(?!to\b)|\b(?:demographics?|(?:demographic|clinical|patient) characteristics)\b"
    r"|\bgroups (?:were|was) (?:\w+ ){0,2}(?:matched|balanced)\b"
)
ALIKE = _words(
    r"\b(?:similar\w*|comparable|balanced|matched|equal|alike|homogeneous"
    r"|no (?:\w+ ){0,2}differences?"
    r"|not (?:\w+ ){0,1}differ\w*|non-?inferior\w*|equivalent|as (?:effective|well|good) as)\b"
)
SINCE = _words(
    r"\b(?:from|to|versus|over|above|below) baseline\b|\bcompared (?:with|to) baseline\b|\bchang\w+|\bafter\b"
    r"|\bfollow-?up\b|\bat (?:the end|\d+|week|month|day|discharge)\b|\b(?:but|whereas|however|although|while)\b"
    r"|\b(?:reduc|improv|adjust|decreas|increas)\w*"
)
ASKS_BENEFIT = _words(
    r"\b(?:effective|efficac|better|superior|help|work|reliev|improv|treat|cur(?:e|ing)\b|prevent|reduc|lower|shorten|speed"
    r"|useful|benefi|eas(?:e|es|ing)\b|heal|prolong|slow)"
)
ASKS_HARM = _words(
    r"\b(?:unsafe|safe|side[- ]effect|adverse|tolera|toxic|harm|danger|hurt|damag|injur|caus|worsen"
    r"|discontinu|withdraw)"
)
ASKS_SAFETY = _words(r"\b(?:unsafe|safe|side[- ]effects?|adverse|tolera|toxic|harm)")
TOLERATED = _words(r"\b(?:tolerated|tolerab\w+|safe(?:ty|ly|r)?)\b")
EVENTS = _words(r"\badverse\b|\bside[- ]effects?\b|\btoxicit\w+|\b(?:withdr|discontinu)\w+ (?:due|because|owing)\b")
HARMS = _words(
    r"\b(?:risks?|harm\w*|deaths?|died|mortality|bleed\w*|bled|injur\w*|damage|complication\w*|malformation\w*)\b"
)
EFFICACY = _words(
    r"\b(?:effective\w*|efficac\w*|reliev\w*|relief|respon[sd]\w*|remission|cur(?:e|es|ed)|heal(?:ed|ing)|surviv\w*"
    r"|mortality|recover\w*|benefi\w*|improv\w*|superior\w*|inferior\w*|pain\w*|symptom\w*|recurr\w*|relaps\w*)\b"
)
WORKED = _words(
    r"\b(?:effective\w*|efficac\w*|superior\w*|reliev\w*|relief|response rates?|remission|cur(?:e|es|ed))\b"
)
IN_BRACKETS = re.compile(r"\s?\([^()]{0,60}\)")
MORE = re.compile(r"\w")
CAVEAT = _words(
    r"\b(?:further|more|larger?|additional|future|longer|well-designed|confirmatory)\b[^.;]{0,60}"
    r"\b(?:stud(?:y|ies)|trials?|research|data|evidence|investigations?|work)\b[^.;]{0,40}"
    r"\b(?:needed|required|warranted|necessary|recommended|justified|awaited)\b"
    r"|\b(?:needs?|requires?|warrants?|deserves?|merits?) (?:further|more|larger|additional)\b"
    r"|\b(?:should|needs? to|must) be confirmed\b"
)
OPEN = _words(
    r"\b(?:insufficient|no evidence|not enough|uncertain\w*|unclear|inconclusive|limited|lack of|not settled|unknown"
    r"|cannot|unproven|whether)\b"
)


def of_another_matter(question: str, text: str) -> bool:
    """Whether a sentence plainly speaks of something else than a question asks: only of who was studied; of groups
    before treatment; of harm where an effect is asked for; of an effect where safety is."""
    if not MORE.search(IN_BRACKETS.sub("", text).replace(people_of([text]) or " ", "", 1)):
        return True
    if BEFORE.search(text) and ALIKE.search(text) and not SINCE.search(text):
        return BEFORE.search(question) is None
    benefit, harm = ASKS_BENEFIT.search(question) is not None, ASKS_HARM.search(question) is not None
    if benefit and not harm:
        tolerated = TOLERATED.search(text) is not None
        if EFFICACY.search(text) or not (tolerated or EVENTS.search(text)):
            return False
        return tolerated or not _shared(parts_of(question).outcome, text)
    if ASKS_SAFETY.search(question) and not benefit:
        told = any(harms.search(text) for harms in (TOLERATED, EVENTS, HARMS))
        return WORKED.search(text) is not None and not told
    return False


def likens_to_another(question: str, text: str) -> bool:
    """Whether a sentence says that a medicine of the question is like one not asked about: it denies nothing."""
    asked = {name for m in medicines_in(question) for name in (m.generic, "" if m.generic else m.family) if name}
    told = [{name for name in (m.generic, m.family) if name} for m in medicines_in(text)]
    of_it = [bool(names & asked) for names in told]
    return ALIKE.search(text) is not None and any(of_it) and not all(of_it)


def is_caveat(text: str) -> bool:
    """Whether a sentence only asks for more research, and does not say that the matter itself is open."""
    return CAVEAT.search(text) is not None and OPEN.search(text) is None


def _shared(outcome: str, text: str) -> bool:
    return bool((set(tokens(outcome)) - PLAIN) & set(tokens(text)))

"""Yes, no or maybe from what a study reports: differences that were found, and differences that were not.

A report of results seldom answers a question in its words. It says "did not differ", "p = 0.03" or
"OR 1.4 (0.9-2.2)". Each sentence is read for such cues and weighed by how near it is to the question; the balance
decides. Word cues only, all ours; a reading is no appraisal of the study.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphs.judging.polarity import HEDGE, Reply
from tools.evidence import Frozen
from tools.text.sentences import Span, sentences

NUMBER = r"[.·]?\d*[.·]?\d+"
RESULT = (
    r"(?:differen\w+|associat\w+|correlat\w+|relation\w*|effects?|change[sd]?|improve\w*|benefit\w*|influence\w*|impact|"
    r"increase\w*|decrease\w*|reduc\w+|advantages?|evidence|predict\w*|interactions?|trend)"
)
# Nothing was found: in words, by a p of 0.05 or more.
NULL = re.compile(
    rf"\b(?:no|not (?:any|a)|without(?: any)?|nor|lack of|absence of|neither)\b(?:[ -]\w+){{0,4}}?[ -]{RESULT}\b|"
    rf"\b(?:not|never|n['’]t|cannot|nor|neither)\b(?: \w+){{0,3}}? (?:{RESULT}|differ|related|"
    r"significan\w+|affect\w*|alter\w*|reach|support\w*|show\w*|detect\w*|useful|helpful|effective|reliable|necessary|superior|inferior|"
    r"better|worse|more|less|greater|lower|higher)\b|"
    r"\b(?:non-?significant\w*|insignificant\w*|unchanged|unaffected|unrelated|failed to|no longer significant|"
    r"nearly identical|identical|similar(?:ly)?|comparable|equivalent|equal(?:ly)?|no different|"
    r"as (?:well|good|effective|likely) as|poor(?:ly)? (?:correlat\w+|predict\w+|agreement)|ineffective)\b|"
    r"\bp ?(?:>|≥|>=) ?0?[.·]0?[5-9]|\bp ?(?:=|~) ?0?[.·](?:0[5-9]|[1-9])\d*|\bp ?(?:=|>) ?ns\b|\(ns\)",
    re.IGNORECASE,
)
# Something was found: in words, by a p below 0.05.
FOUND = re.compile(
    r"(?<!not )(?<!no )(?<!non)(?<!non-)(?<!in)\bsignifican\w+|"
    r"\bp ?(?:<|≤|<=|&lt;) ?0?[.·]\d+|\bp ?= ?0?[.·]0[0-4]\d*|"
    r"\b(?:(?:was|were|is|are|strongly|independently|positively|negatively|inversely|directly|also|be|being|been) "
    r"(?:associated|correlated|related|linked|predict\w*)|correlates? (?:with|well|strongly)|predicted|predictors? of|"
    r"risk factors? for|improved|improves|improvement in|reduced|reduces|increased|increases|decreased|decreases|"
    r"lower|higher|greater|better|worse|shorter|longer|fewer|"
    r"(?:more|less) (?:likely|often|frequent\w*|common\w*|effective)|"
    r"effective|successful(?:ly)?|beneficial|differed|influenced|affected|superior|feasible|accurate(?:ly)?)\b",
    re.IGNORECASE,
)
INTERVAL = re.compile(
    rf"(?:\bCI|confidence interval\w*)\W{{0,4}}[^\d-]{{0,8}}({NUMBER})\s?(?:-|–|to|,|;)\s?({NUMBER})", re.IGNORECASE
)
RATIO = re.compile(r"\b(?:odds|hazard|risk|rate|likelihood|relative risk|OR|HR|RR|AOR|aOR|aHR)\b")
CUT = re.compile(r"[;:]|,? \b(?:but|while|whereas|however)\b|(?=\b(?:although|though|despite|except)\b)", re.IGNORECASE)
ASIDE = re.compile(r"^\W*(?:although|though|despite|except)\b", re.IGNORECASE)
CONCEDED = 0.2  # ours: weight of a clause that is only granted ("although ...")
# Questions that a report without differences affirms: is it as good, safe, can it be left out; ours.
SAME = re.compile(
    r"\b(?:as (?:\w+ )?as|safe(?:ly|ty)?|equivalent|equal|comparable|similar|same|non-?inferior\w*|omit\w*|avoid\w*|"
    r"without|justified|alternative|feasible|acceptable|harmless|enough|sufficient)\b",
    re.IGNORECASE,
)
# Sections of an abstract by their labels, and sentences that say what a study set out to do; ours.
LABEL = re.compile(r"^[ \t]*([A-Z][A-Za-z /&,]{2,40}):\s", re.MULTILINE)
RESULTS = re.compile(r"result|finding|outcomes? and|conclusion|interpretation|implication", re.IGNORECASE)
AIM = re.compile(
    r"\b(?:aims?|purpose|objective|goal|hypothes\w+|sought|aimed|designed|intended|question) \b|^\W*to \w+\b|"
    r"\bwhether\b|\bwe (?:\w+ )?(?:investigated|explored|assessed|evaluated|examined|compared|studied|"
    r"reviewed|asked|tested)\b|"
    r"\b(?:was|were) (?:\w+ )?(?:assessed|evaluated|examined|measured|compared|investigated|performed|used|collected|"
    r"calculated|determined|enrolled|recruited|randomi[sz]ed)\b",
    re.IGNORECASE,
)
TOLD = re.compile(
    r"\b(?:baseline|demographic\w*|characteristics|age and sex|respondents|response rate)\b", re.IGNORECASE
)


class ReportSettings(Frozen):
    """Settings of the reading. All ours.

    Attributes:
        near: how far below the nearest sentence one may lie and still count; floor: weight of one that lies farther.
        decided: balance, -1 to 1, from which the answer is yes or no; nearer to 0 nothing is decided.
        least: cues, weighed, that a reading needs.
        background: weight of a sentence on who was studied. aim: the same for what was to be studied.
    """

    near: float = 0.8
    floor: float = 0.1
    decided: float = 0.2
    least: float = 0.15
    background: float = 0.3
    aim: float = 0.0


class Reading(Frozen):
    """What a report answers, the index of the sentence that says so most, and the balance, -1 (no) to 1 (yes)."""

    reply: Reply
    at: int
    balance: float


def reported(text: str) -> list[Span]:
    """The sentences of a text that may report results: those of its results sections, else all but its aims."""
    spans = [s for s in sentences(text) if s.of(text).strip()]
    labels = list(LABEL.finditer(text))
    ends = [*(m.start() for m in labels[1:]), len(text)]
    sections = [(m.end(), end) for m, end in zip(labels, ends, strict=False) if RESULTS.search(m[1])]
    if sections:
        inside = [(s, start) for s in spans for start, end in sections if start <= (s.start + s.end) // 2 < end]
        return [Span(max(s.start, start), s.end) for s, start in inside]  # without the label
    return [s for s in spans if not AIM.search(s.of(text))]


def read_report(
    question: str, told: Sequence[tuple[str, float]], settings: ReportSettings | None = None
) -> Reading | None:
    """What sentences of results, each with its relevance in 0..1, answer to a closed question; None without cues."""
    set_ = settings or ReportSettings()
    if not told:
        return None
    best = max(relevance for _, relevance in told)
    turned = -1.0 if SAME.search(question) else 1.0
    weights = [_weight(text, relevance, best, set_) for text, relevance in told]
    values = [w * turned * signal(text) for w, (text, _) in zip(weights, told, strict=True)]
    total = sum(abs(v) for v in values)
    if total < set_.least:
        return None
    balance = sum(values) / total
    if abs(balance) < set_.decided:
        return None
    sign = 1.0 if balance > 0 else -1.0
    at = max(range(len(values)), key=lambda i: (sign * values[i], -i))
    return Reading(reply=Reply.YES if balance > 0 else Reply.NO, at=at, balance=balance)


def signal(sentence: str) -> float:
    """What a sentence reports, -1 (nothing was found) to 1 (something was), 0 without a cue."""
    weighed = [(CONCEDED if ASIDE.match(c) else 1.0, _clause(c)) for c in CUT.split(sentence)]
    cues = [(w, v) for w, v in weighed if v]
    return sum(w * v for w, v in cues) / sum(w for w, _ in cues) if cues else 0.0


def _clause(text: str) -> float:
    """-1 where a clause denies or its interval holds no difference, 1 where it affirms; a denial weighs more."""
    if HEDGE.search(text):
        return 0.0
    spans = [(float(_n(m[1])), float(_n(m[2]))) for m in INTERVAL.finditer(text)]
    if spans and RATIO.search(text):
        low, high = spans[0]
        return -1.0 if low <= 1 <= high else 1.0
    if NULL.search(text):
        return -1.0
    found = FOUND.search(text)
    if found is None:
        return 0.0
    return 1.0 if re.search(r"signif|\bp ?[<=≤&]|associated|correlat|predict", found[0], re.IGNORECASE) else 0.5


def _weight(text: str, relevance: float, best: float, settings: ReportSettings) -> float:
    near = 1 - (best - relevance) / settings.near
    return max(near, settings.floor) * (settings.background if TOLD.search(text) else 1.0)


def _n(text: str) -> str:
    return text.replace("·", ".")

"""Whether a sentence affirms, denies or leaves open what a closed question asks. Word cues only; all lists are ours."""

from __future__ import annotations

import re
from collections.abc import Set
from enum import StrEnum

from tools.text.language import language_of
from tools.text.tokens import tokens

ECHO = 0.5  # ours: share of the question's words that a clause says back, and the fewest words
LEAST_ECHO = 3


class Reply(StrEnum):
    """The answer to a closed question."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


CLOSED = re.compile(
    r"^\W*(?:(?:in|for|among)\b[^,?]{0,80},\s*)?"
    r"(?:do|does|did|is|are|was|were|can|could|should|will|would|has|have|may|might|must)\b",
    re.IGNORECASE,
)
ALTERNATIVE = re.compile(r"\bor (?:can|should|could|is|are|do|does|will|would|may)\b|还是", re.IGNORECASE)
CLOSED_ZH = re.compile(r"吗|是否|能否|可否|有无|会不会|能不能|需不需要|要不要|是不是")

SAID = (
    (Reply.YES, re.compile(r"^\W*(?:yes\b|是的|可以[,，。]|有效[,，。]|能[,，。])", re.IGNORECASE)),
    (Reply.NO, re.compile(r"^\W*(?:no[,;:.]|不[,，。]|不能|不需要|无效|没有证据)", re.IGNORECASE)),
    (
        Reply.MAYBE,
        re.compile(r"^\W*(?:it depends|possibly|perhaps|maybe|sometimes|视情况|取决于|不一定)", re.IGNORECASE),
    ),
)
NEGATION = re.compile(
    r"\b(?:little or (?:no|nothing)|not|no(?! longer)|never|neither|nor|nothing|no longer|cannot|fail(?:s|ed)? to"
    r"|lack(?:s|ed)?|withh[eo]ld\w*|rarely|seldom|poorly|advise against|ineffective"
    r"|unreliable|unhelpful|unnecessary|unlikely|[a-z]+n['’]t"
    r"|without (?:\w+ )?(?:benefit|effect|improvement))\b"
    r"|不|没有|未|无(?!菌)|并非",
    re.IGNORECASE,
)
VERB_NEGATION = re.compile(
    r"\b(?:not|never|cannot|[a-z]+n['’]t|needs? no|advise against|rarely|seldom|no longer)\b|不|没有|未|并非",
    re.IGNORECASE,
)
CONDITION = re.compile(r"\b(?:who|whose|that|which|if|when|where|while)\b.*", re.IGNORECASE | re.DOTALL)
POSSIBLY = re.compile(r"\b(?:may|might|perhaps|possibly)\b|可能|或许", re.IGNORECASE)
HEDGE = re.compile(
    r"\b(?:it depends|uncertain|unclear|mixed|conflicting|inconclusive|insufficient|not settled|debated|unproven"
    r"|varies|guidelines differ|may or may not|remains? (?:to be|open)|low certainty|weak evidence)\b"
    r"|尚不明确|不确定|证据不足|有争议|视情况",
    re.IGNORECASE,
)
GOOD = re.compile(
    r"\b(?:benefits?|beneficial|effective(?:ly)?|efficacious|helps?|helpful|useful|recommended|advised|indicated|improve[sd]?"
    r"|improving|improvement|better|superior|relieve[sd]?|prevents?|prevented|prevention|protects?|protective"
    r"|first(?:-line| line| choice| treatment)|standard|safe(?:ly)?|speeds?|heals?|healing|works?|enough|needed"
    r"|required|associated|equally|similar|noninferior|non-inferior|as (?:good|effective) as|treatment of choice"
    r"|mainstay|cure[sd]?|reason to)\b"
    r"|有效|获益|推荐|建议|改善|预防|首选|缓解|必要|相关|安全",
    re.IGNORECASE,
)
UP = re.compile(
    r"\b(?:increas|rais|worsen|higher|greater|elevat|caus|lead to|leads to|promot)\w*|增加|升高|加重|导致|引起", re.I
)
DOWN = re.compile(
    r"\b(?:reduc|lower|decreas|shorten|prevent|less|fewer|diminish|cut|halv|relie)\w*|降低|减少|缩短|预防|减轻", re.I
)
# What a treatment is given for, and what against: "fewer with a good outcome" and "raises the risk" deny that it helps.
ASKS_GOOD = re.compile(
    r"\b(?:benefits?|beneficial|effective|efficacious|helps?|helpful|useful|recommended|advised|better|superior|safe"
    r"|works?|worth)\b|有效|有益|获益|推荐|建议|安全|有用|有帮助",
    re.I,
)
GAIN = re.compile(
    r"\b(?:good (?:\w+ )?outcomes?|recover(?:y|ed|ing)?|surviv(?:al|ed|ing)|independen\w+|quality of life|well-?being"
    r"|remission|cures?|healing|benefits?)\b|良好结局|康复|恢复|生存|治愈|缓解率|生活质量|获益",
    re.I,
)
HARM = re.compile(
    r"\b(?:risks?|mortality|deaths?|dying|harms?|bleed\w*|h[ae]+morrhag\w*|complications?|infections?|adverse"
    r"|side[- ]effects?|disabilit\w+|relapses?|recurren\w+|(?:re)?admissions?|falls?|fractures?|attacks?|exacerbations?"
    r"|poor (?:\w+ )?outcomes?)\b|风险|死亡|危害|出血|并发症|感染|不良|副作用|残疾|复发|跌倒|骨折|发作|加重",
    re.I,
)
CLAUSE = re.compile(r"[,;:，；：。]|\b(?:but|because|although|though|whereas|while|so that|unless)\b|但|因为|虽然|而")


def is_alternative(question: str) -> bool:
    """Whether a question offers two ways ("... or can we wait?"), which no yes or no answers."""
    return ALTERNATIVE.search(question) is not None


def is_closed(question: str) -> bool:
    """Whether a yes, no or maybe answers the question."""
    if language_of(question) == "zh":
        return CLOSED_ZH.search(question) is not None
    return CLOSED.match(question) is not None


def opens(sentence: str) -> bool:
    """Whether a sentence opens with yes, no or "it depends"."""
    return any(said.search(sentence) for _, said in SAID)


def negated(text: str) -> bool:
    """Whether the text holds an odd number of negations, so that it denies."""
    return len(NEGATION.findall(text)) % 2 == 1


def clauses(text: str) -> list[str]:
    """The text cut at commas and conjunctions, empty pieces left out."""
    return [piece for piece in (p.strip() for p in CLAUSE.split(text)) if piece]


def reply_of(question: str, sentence: str) -> Reply | None:
    """What a sentence answers to a closed question; None when no cue says.

    A leading yes, no or "it depends" decides. Then a hedge makes it maybe. Then the first clause with a cue decides:
    the direction (lowers, raises) where the question asks for one, else a word of benefit, a negated verb, or the
    question's own words said back; a negation turns it, and "may" leaves it open.
    """
    for reply, said in SAID:
        if said.search(sentence):
            return reply
    if HEDGE.search(sentence):
        return Reply.MAYBE
    denied = language_of(question) != "zh" and VERB_NEGATION.search(CONDITION.sub("", question)) is not None
    words = set(tokens(question))
    for clause in clauses(sentence):
        affirmed = _affirms(question, words, clause)
        if affirmed is not None:
            if POSSIBLY.search(clause):
                return Reply.MAYBE
            return Reply.YES if affirmed != denied else Reply.NO
    return None


def _affirms(question: str, words: Set[str], clause: str) -> bool | None:
    asked, found = _direction(question), _direction(clause)
    if asked and found:
        return (asked == found) != negated(clause)
    if found and ASKS_GOOD.search(question) and (helps := _helps(clause)) is not None:
        return helps != negated(clause)
    said = set(tokens(clause)) & words
    if (
        found
        or GOOD.search(clause)
        or (said and VERB_NEGATION.search(clause))
        or len(said) >= max(ECHO * len(words), LEAST_ECHO)
    ):
        return not negated(clause)
    return None


def _helps(clause: str) -> bool | None:
    """Whether what a clause says goes up or down is good for a patient, by the first thing named after it; None when
    nothing is named."""
    change = min((m for m in (UP.search(clause), DOWN.search(clause)) if m), key=lambda m: m.start())
    before, rest = clause[: change.start()], clause[change.start() :]
    if re.search(r"\band\b", before) and (GOOD.search(before) or NEGATION.search(before)):
        return None  # "does not help and causes nausea": what was said first decides
    gain, harm = GAIN.search(rest), HARM.search(rest)
    if gain is None and harm is None:
        return None
    rises = DOWN.match(change[0]) is None
    good = harm is None or (gain is not None and gain.start() < harm.start())
    return rises == good


def _direction(text: str) -> int:
    up, down = UP.search(text), DOWN.search(text)
    if up and down:
        return 1 if up.start() < down.start() else -1
    return 1 if up else -1 if down else 0

"""Statements turned into the questions that they answer: by their subject, their verb, and what is said behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.questions.topic import EMPTY, name_at, sentence_case

LONGEST = 14  # ours: words of a question; one that takes a whole statement over would be found by the statement itself
LEAST = 4  # ours: fewer words ask for nothing in particular
AUXILIARY = re.compile(
    r" (is|are|was|were|can|may|should|must|will) (?:also |usually |often |sometimes |generally |not )*"
)
# ours: verbs of medical statements, third person and plural -> the plain form
VERBS = {
    form: plain
    for plain in (
        """cause prevent treat reduce lower raise increase relieve cure improve help affect worsen trigger damage block
        protect produce control include involve require need mean show spread last begin start destroy slow stop ease
        contain make interact recommend decrease lead result depend belong occur develop appear work""".split()
    )
    for form in (plain, plain + "s", plain + "es")
}
ACTIVE = re.compile(rf" ({'|'.join(sorted(VERBS, key=len, reverse=True))}) (?=[a-z0-9])")
# ours: verbs whose doer is worth asking for ("what lowers blood pressure")
DOERS = frozenset(
    """cause prevent treat reduce lower raise increase relieve cure improve affect worsen trigger damage block protect
    produce control require slow stop decrease ease""".split()
)
NOUN_OF = re.compile(
    r"^(?:The |An? )?((?:[a-z-]+ ){0,2}[a-z-]+) (of|for|in) (.+?) "
    r"(?:is|are|include|includes|depend|depends|vary|varies|may|can)\b",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"^(?:If|When) (?P<if>(?:you|someone|a person|people|a child|the|an?) [^,;]{8,70}), (?P<then>.+)"
)
ADVICE = re.compile(
    r"^(?P<do>Call|See|Seek|Ask|Tell|Avoid|Take|Use|Stop|Keep|Do not|Don't|Go|Get|Offer|Give|Check|Start) "
    r"(?P<rest>[^.;]{8,80})"
)
# ours: what begins no subject that stands by itself, and what ends one
NO_SUBJECT = frozenset(
    """it this that these those they he she we you i his her their its our your if when while because since although
    there here what which who how why and but or so then however also in on at for with by to from as other another
    such both each""".split()
)
CLAUSE = frozenset(
    "who which that whom whose if when because is are was were can may should will must has have".split()
)
NEGATED = ("Do not", "Don't")
CLAUSE_END = re.compile(
    r",|;|:| \(| because | although | but | which | whereas | so that | unless | when | who | – | — "
)
PRONOUN = re.compile(r"^(?:It|This|They|These|That|Those|This (?:condition|disease|disorder|test|syndrome|medicine))$")


def questions_of(words: str, subject: str) -> Iterator[str]:
    """The questions that a statement answers, the plainest first.

    Args:
        words: the statement. subject: what the document is about; it stands for a pronoun at the beginning.
    """
    statement = words.rstrip(" .").strip()
    for made in (
        *_noun_of(statement),
        *_inverted(statement, subject),
        *_active(statement, subject),
        *_advice(statement),
    ):
        count = len(made.split())
        if LEAST <= count <= LONGEST:
            yield made


def _noun_of(statement: str) -> Iterator[str]:
    """``The symptoms of X are ...`` -> what are the symptoms of X."""
    match = NOUN_OF.match(statement)
    if match is None or match[1].split()[0].lower() in EMPTY - {"symptoms", "signs", "treatment", "causes", "risk"}:
        return
    name = name_at(match[3], 0)
    if name and name.lower() not in EMPTY:
        head = match[1].lower()
        many = head.endswith("s") and not head.endswith(("ss", "is", "us"))
        yield f"What {'are' if many else 'is'} the {head} {match[2]} {sentence_case(name)}?"


def _inverted(statement: str, subject: str) -> Iterator[str]:
    """``X is caused by Y`` -> is X caused by Y; what is X caused by."""
    match = AUXILIARY.search(statement)
    if match is None:
        return
    doer, rest = _subject(statement[: match.start()], subject), _clipped(statement[match.end() :])
    if not doer or not rest:
        return
    helper = match[1].lower()
    yield f"{helper.capitalize()} {doer} {rest}?"
    passive = re.match(r"([a-z]+ed|found|given|made|known|seen|taken|done) (by|with|as|for|in|from|to|on|at)\b", rest)
    if passive:
        yield f"What {helper} {doer} {passive[1]} {passive[2]}?"


def _active(statement: str, subject: str) -> Iterator[str]:
    """``X lowers Y`` -> does X lower Y; what lowers Y; what does X lower."""
    match = ACTIVE.search(statement)
    if match is None:
        return
    doer, said = _subject(statement[: match.start()], subject), _clipped(statement[match.end() :])
    if not doer or not said:
        return
    plain = VERBS[match[1]]
    many = match[1] == plain
    yield f"{'Do' if many else 'Does'} {doer} {plain} {said}?"
    if plain in DOERS:
        yield f"What {plain}s {said}?"
    yield f"What {'do' if many else 'does'} {doer} {plain}?"


def _advice(statement: str) -> Iterator[str]:
    """``If A, do B`` -> what should I do if A; ``Call a doctor for A`` -> when should I call a doctor."""
    condition = CONDITION.match(statement)
    if condition:
        yield f"What should I do if {condition['if']}?"
    advice = ADVICE.match(statement)
    if advice:
        rest = _clipped(advice["rest"])
        if rest:
            asks = "When should I" if advice["do"] in ("Call", "See", "Seek", "Go", "Get") else "Should I"
            verb = "" if advice["do"] in NEGATED else f"{advice['do'].lower()} "
            yield f"{asks} {verb}{rest}?"


def _subject(before: str, subject: str) -> str:
    """Who a statement speaks of: the words before its verb; the document's subject for a pronoun; "" for a clause."""
    before = before.strip()
    if PRONOUN.match(before):
        return subject
    words = before.lower().split()
    if not words or words[0] in NO_SUBJECT or "," in before or len(words) > LONGEST // 2:
        return ""
    if set(words) <= EMPTY or any(w in CLAUSE for w in words[1:]):
        return ""
    return sentence_case(before)


def _clipped(said: str) -> str:
    """What is said, up to the end of its clause."""
    end = CLAUSE_END.search(said)
    return (said[: end.start()] if end else said).strip(" .")

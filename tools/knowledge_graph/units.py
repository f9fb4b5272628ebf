"""The pieces of text that are matched for each clause: itself, read with its neighbour, and with its topic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.text.body_sites import tells_of_spreading
from tools.text.clauses import Clause, only_examined, tells_of_none
from tools.text.demographics import after_subject, only_age
from tools.text.language import language_of
from tools.text.negation import UNCHANGED, is_deficit, is_negative_phrase

JOINED = 0.95  # ours: a match of several clauses read together, against one of a single clause
ALONE = 0.6  # ours: the same of what only changes a complaint, read without it
LONGEST = 24  # words; ours: beyond it a joined piece says too much at once
# ours: a clause that goes on about what was told before
_GOES_ON = re.compile(
    r"^\W*(?:it|they|that|this|these|which|the attacks?|worse|better|relieved|eased|eases|"
    r"aggravated|lasts|lasted|lasting|radiat\w+|spread\w*|going|goes|comes|came|constant|mostly|usually|made|brought)\b",
    re.IGNORECASE,
)
# ours: what changes a complaint, and is shown of it alone: "worse lying flat"
_CHANGES = re.compile(
    r"^\W*(?:worse|better|relieved|eased|eases|aggravated|brought on|made (?:worse|better))\b", re.IGNORECASE
)
# ours: a test without its result, and a weight or height, which tell nothing without another
BARE_TEST = re.compile(
    r"\W*(?:(?:body )?weight|height|weighs)\W+(?:is )?(?:about )?\d+(?:\.\d+)?\W*"
    r"(?:kg|kgs|kilos?|kilograms?|lbs?|pounds|stone|st|cm|m|metres)?\W*|"
    r"\W*(?:(?:the|his|her|my|an?|repeat|urgent)\W+)*"
    r"(?:CT|MRI?|MRA|CTPA|CXR|XR|TVS|KUB|dip|spinal fluid|(?:chest )?X-?rays?|ultrasound|USS?|"
    r"scans?|ECG|EKG|electrocardiogram|echo(?:cardiogram)?|EEG|bloods?(?: tests?)?|FBC|LFTs?|urine(?: dip)?|dipstick|"
    r"lumbar puncture|CSF|endoscopy|colonoscopy|biopsy|O/E|on examination)"
    r"(?:\W+(?:scan|of|the|head|brain|chest|abdo\w*|pelvi[sc]|spine|neck|heart|legs?|knee|hip|"
    r"kidneys|X-ray))*\W*",
    re.IGNORECASE,
)
# ours: a part and what it is, and what else it is: "his left calf is swollen", "warm"
_PART_IS = re.compile(
    r"^.*?\b(?:is|are|was|were|looks?|feels?|became|went|has (?:become|gone|been))(?= )", re.IGNORECASE
)
_LOCAL = re.compile(
    r"^\W*(?:(?:also|very|really|quite|so|a (?:bit|little)|slightly) )*"
    r"(?:hot|warm|red|swollen|tender|sore|painful|puffy|stiff|itchy|numb|throbbing|burning)\b",
    re.IGNORECASE,
)
# ours: a quality and its part, and a part that shares it: "dry eyes and mouth for a year"
_QUALITY = re.compile(
    r"\b(?P<how>dry|swollen|painful|sore|itchy|stiff|red|numb|tender|burning|cold|weak|bleeding|puffy)\s+[a-z]+\W*$",
    re.IGNORECASE,
)
_SHARES = re.compile(r"^\W*(?:(?:my|his|her|the) )?(?P<part>[a-z]+)(?: (?:for|since|over) .*)?$", re.IGNORECASE)
_NAMES_TOPIC = re.compile(r"^\W*(?:the|this|my) (\w+)\b.* \1$")  # read with the topic's last word behind it
_ONLY_WHERE = re.compile(r"^\W*(?:in |on |at )?(?:my|the|his|her|both|left|right)(?: \w+){1,3}$", re.IGNORECASE)
SPREADS = " spreads to the "  # ours: between a topic and such a part
# ours: a part behind others that a pain spreads to: "to his left arm and jaw"
_PART = re.compile(r"\W*(?:(?:to|into|my|his|her|the|left|right|upper|lower|both) )*(?P<part>[a-z]+)", re.IGNORECASE)
_TOPICS = (
    (
        "pain",
        re.compile(
            r"\b(?:pains?|painful|aches?|aching|hurts?|sore|discomfort|agony|stabbing|cramps?)\b", re.IGNORECASE
        ),
    ),
    ("headache", re.compile(r"\b(?:headaches?|migraines?)\b", re.IGNORECASE)),
    ("cough", re.compile(r"\bcough\w*", re.IGNORECASE)),
    ("rash", re.compile(r"\b(?:rash|spots|blisters|hives|weals|wheals)\b", re.IGNORECASE)),
    ("swelling", re.compile(r"\b(?:swelling|swollen|lump)\b", re.IGNORECASE)),
    ("shortness of breath", re.compile(r"\b(?:breathless\w*|short(?:ness)? of breath)\b", re.IGNORECASE)),
    ("palpitations", re.compile(r"\b(?:palpitations|heart (?:races|racing|pounding))\b", re.IGNORECASE)),
)


@dataclass(frozen=True)
class Unit:
    """A text to match for a clause.

    Attributes:
        members: the clauses that it is made of.
        weight: what a match of it is worth against a match of the clause alone, 0..1.
        denied: its clause denies what it says.
        negated: it is a denied clause with its negation, to be matched with negative wordings only (``no energy``);
            bare: the same without its negation.
        negative: it holds a negating word, so that negative wordings may match it.
        sites: the sites that its topic adds. topical: words of an earlier clause stand in it.
        distant: it is a part alone, with the topic of an earlier sentence: counted, and not shown.
    """

    clause: int
    text: str
    members: tuple[int, ...] = ()
    weight: float = 1.0
    denied: bool = False
    negated: bool = False
    negative: bool = False
    sites: frozenset[str] = frozenset()
    topical: bool = False
    distant: bool = False
    bare: str = ""


def units_of(clauses: Sequence[Clause]) -> list[Unit]:
    """The units of every clause, in order of clauses."""
    out: list[Unit] = []
    topic, where, told_in, spread_in = "", frozenset[str](), -1, -1
    for i, clause in enumerate(clauses):
        part = clause.present and clause.sites and _PART.fullmatch(clause.plain)
        if part and where and spread_in == clause.sentence:
            out.append(Unit(i, f"{topic}{SPREADS}{part['part']}", (i,), JOINED))
            continue
        spread_in = clause.sentence if clause.present and tells_of_spreading(clause.plain) else -1
        if clause.heading or only_age(clause.plain) or tells_of_none(clause.text) or BARE_TEST.fullmatch(clause.plain):
            continue
        if clause.normal and clause.plain == clause.told:  # "nothing abnormal", of what is not said
            continue
        denied = clause.present is False
        vague = topic != "" and _CHANGES.match(clause.plain) is not None
        shared = _shared(clauses, i)
        said = after_subject(_of_part(clauses, i) or shared or clause.plain)
        weight = ALONE if vague else 1.0
        if shared or not only_examined(clause):
            out.append(Unit(i, said, (i,), weight, negative=_negative(clause), denied=denied, distant=vague))
        lacks_none = is_deficit(" ".join(clause.plain.split()[:2]))  # "no loss of consciousness" tells of no lack
        if denied and clause.told != clause.plain and not (lacks_none or UNCHANGED.match(clause.told)):
            out.append(Unit(i, clause.told, (i,), negated=True, negative=True, bare=clause.plain))
        out += _joined(clauses, i)
        named = _topic(clause)
        if topic and not clause.reading:
            out += _with_topic(clause, i, topic, where, nearby=told_in == clause.sentence)
        if named:
            topic, where, told_in = named, clause.sites, clause.sentence
    return out


def _shared(clauses: Sequence[Clause], i: int) -> str:
    """A part with the quality that it shares with the part before it; "" where it shares none."""
    before, here = clauses[i - 1] if i else None, clauses[i]
    if before is None or not (before.present and here.present and here.sites) or before.sentence != here.sentence:
        return ""
    how, part = _QUALITY.search(before.plain), _SHARES.match(here.plain)
    return f"{how['how']} {part['part']}" if how and part else ""


def _of_part(clauses: Sequence[Clause], i: int) -> str:
    """What else a part is, with the part: "My toe is red", "hot"; "" where no part was named."""
    here, sentence = clauses[i], [c for c in clauses[:i] if c.sentence == clauses[i].sentence]
    if not (here.present and here.sites and _LOCAL.match(here.plain)):
        return ""
    parts = [found[0] for c in sentence if c.present and c.sites == here.sites and (found := _PART_IS.match(c.plain))]
    return f"{parts[-1]} {here.plain}" if parts else ""


def _negative(clause: Clause) -> bool:
    """Whether a negating word is left in what a clause says (in what it denies, for a denied one)."""
    if clause.present is False:
        return is_negative_phrase(clause.plain) or is_deficit(clause.plain)
    return is_negative_phrase(clause.told)


def _with_topic(clause: Clause, i: int, topic: str, where: frozenset[str], *, nearby: bool) -> Iterator[Unit]:
    """The clause read with what was told of before it: ``worse when I breathe in`` after chest pain.

    ``nearby``: the topic was told in the same sentence.
    """
    negative, head = _negative(clause), topic.split()[-1]
    denied = clause.present is False
    if _GOES_ON.match(clause.plain) or _NAMES_TOPIC.match(f"{clause.plain.lower()} {head}"):
        told = f"{topic} {clause.plain}"
        yield Unit(i, told, (i,), JOINED, negative=negative, sites=clause.sites or where, topical=True, denied=denied)
    elif clause.present and clause.sites and _ONLY_WHERE.match(clause.plain):
        yield Unit(i, f"{clause.plain} {head}", (i,), JOINED, negative=negative, topical=True, distant=not nearby)


def _topic(clause: Clause) -> str:
    """What a clause is about, in two or three words: ``chest pain``."""
    if clause.present is False or clause.other:
        return ""
    for name, pattern in _TOPICS:
        if pattern.search(clause.plain):
            site = next(iter(sorted(clause.sites)), "") if name in ("pain", "swelling", "rash") else ""
            return f"{site.replace('-', ' ')} {name}".strip()
    return ""


def _joined(clauses: Sequence[Clause], i: int) -> Iterator[Unit]:
    """The clause read with the next one of its sentence, when both are told in the same way."""
    if i + 1 >= len(clauses) or _manner(clauses[i]) != _manner(clauses[i + 1]):
        return
    here, following = clauses[i], clauses[i + 1]
    first = _of_part(clauses, i) or here.plain
    text = f"{first}{'' if language_of(first) == 'zh' else ' '}{following.plain}"
    if not here.reading and len(text.split()) <= LONGEST:
        denied = here.present is False
        negative = is_negative_phrase(text) or (denied and is_deficit(text))
        yield Unit(i, text, (i, i + 1), JOINED, negative=negative, denied=denied)


def _manner(clause: Clause) -> tuple[int, bool | None, bool, bool, bool]:
    return clause.sentence, clause.present, clause.other, clause.reading, clause.allergy

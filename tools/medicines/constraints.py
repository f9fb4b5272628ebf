"""A stated allergy or current medicine is a constraint: what must not be chosen, read from an English or Chinese case.

An allergy excludes the medicine and its class; so does a medicine that is taken, but only as a *new* treatment: it may
be continued, stopped or asked about. Names and classes are the project's own (``names.yaml``, ``names_zh.yaml``).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.contract import unique
from tools.medicines.names import Medicine, medicines_in
from tools.medicines.records import starter_records
from tools.medicines.taken import taken_in
from tools.text.clauses import Clause, clauses
from tools.text.questions import CLOSED_ZH, told_beside
from tools.text.sentences import sentences
from tools.yaml_files import read_yaml

CHINESE = Path(__file__).with_name("names_zh.yaml")
BROAD = frozenset(
    {"antibiotic", "antiviral", "antifungal", "anticoagulant", "antiplatelet", "antiseptic", "vaccine", "live vaccine"}
    | {"vitamin", "antimalarial", "antidote", "monoclonal antibody", "anthelmintic", "antiprotozoal", "trace element"}
    | {"mineral supplement", "biologic medicine", "cytotoxic medicine", "immunoglobulin", "alkali", "prostaglandin"}
)
"""Ours: groups so wide that an allergy to one member says nothing of another."""
TOGETHER = frozenset(
    {"diuretic", "diabetes medicine", "insulin", "antiepileptic", "antiretroviral", "antituberculous drug", "nitrate"}
    | {"disease-modifying drug", "anti-sickness drug", "opioid", "emollient", "bronchodilator", "Parkinson's medicine"}
)
"""Ours: classes of which two are commonly given together: one that is taken does not bar another."""
_ALLERGY = re.compile(
    r"\b(?:allerg\w+|anaphyla\w+|hypersensitiv\w+|intoleran\w+|"
    r"(?:angio-?o?edema|rash(?:es)?|hives|urticaria|wheals|swelling|swelled up|react(?:s|ed|ions?)?|collapsed|dress|"
    r"throat clos\w+(?: up)?|sjs|stevens-johnson(?: syndrome)?) "
    r"(?:after|from|with|to|on)|(?:ma[dk]es?|g[ai]ves?|brings?|brought|sen[dt]s?) "
    r"(?:me|him|her|them|my \w+|the patient)[^.?!]{0,20}"
    r"\b(?:anaphyla\w+|angio-?o?edema|rash(?:es)?|hives|urticaria|wheals|swell\w*|swollen(?: \w+)?|wheez\w*|"
    r"itch\w*|collapse|breathless))\b|过敏",
    re.IGNORECASE,
)
# In a question an allergy is told as a fact after these words and asked about after those; ours.
_TOLD = re.compile(
    r"\b(?:if|as|since|because|when|with|for|who|whose|given|having|though|although|despite|in|my|"
    r"I(?:['’]m|['’]ve| am| have| had)|(?:he|she|they|patient|child|son|daughter|wife|husband|mother|father|baby)"
    r"(?:['’]s| is| has| was| had| are| have))\b[^,;?]{0,40}$|[\u4e00-\u9fff]$",
    re.IGNORECASE,
)
_WONDERED = re.compile(
    r"\b(?:is|am|are|was|were) (?:I|you|he|she|they|it|(?:the|an?|my|this|our) \w+) (?:really |still )?$"
    r"|\b(?:be|become|becoming|get|develop\w*|cause\w*|tested?|test) (?:an? )?$|是否|有没有|会[^，,。]{0,12}$",
    re.IGNORECASE,
)
# What an allergy is to stands behind the word, in a row of names, or right before it.
_BEHIND = re.compile(
    r"(?:allerg\w+|anaphyla\w+|hypersensitiv\w+|intoleran\w+|reactions?|"
    r"react(?:s|ed)?|dress|rash(?:es)?|hives|urticaria|wheals|swelling|swelled up|"
    r"throat clos\w+(?: up)?|sjs|stevens-johnson(?: syndrome)?|collapsed)"
    r"(?: (?:to|against|with|from|of|after|except|on)|:) (?:(?:the|all|any|both) )?"
    r"(?:[^.;?!]{0,60}(?:, ?(?:and |or )?| and | or |/))?$",
    re.IGNORECASE,
)
_CUT_OFF = re.compile(  # what is left of "who is allergic to trimethoprim" without the medicine
    r",? ?\b(?:who|if|but|and|because|as|since|when|with|given|having|despite)\b[^,.;?]{0,40}?\ballerg\w+"
    r"(?: (?:to|against))?(?: the| an?)?\s*(?=[.,;?]|$)",
    re.IGNORECASE,
)
_BEFORE = re.compile(  # what treats an allergic disease is no allergen
    r"^s?[ -](?:allerg|hypersensitiv|intoleran|anaphyla)|^(?:(?!治疗|用于|预防|缓解|抢救)[^，,。；？]){0,12}过敏",
    re.IGNORECASE,
)
_ADDS = re.compile(
    r"\b(?:add\w*|start\w*|initiat\w*|as well|also|too|together|combin\w*|on top|both)\b|加用|同时|一起", re.IGNORECASE
)
_RELATIVE = re.compile(
    r"\b(?:mother|mum|mom|father|dad|sister|brother|aunt|uncle|wife|husband|partner|cousin|grand\w+|family|friend|neighbou?r|"
    r"colleague|(?:flat|house|room|work)?mate)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"[;；]|(?<!nothing )\bbut\b|\band (?=(?:is |he |she |I )?(?:tak|on |us|has |had |allerg))|但", re.IGNORECASE
)
_PEN = re.compile(r"\bpen(?=[ -]?(?:allerg|anaphyl))", re.IGNORECASE)  # "pen allergic"
_AGAINST = re.compile(
    r"\b(?:avoid\w*|contra-?indicat\w*|withh[eo]ld|should not|must not|unsafe|inappropriate|harm\w*|caus\w*|"
    r"responsible|culprit|explains?|reaction|danger\w*|EXCEPT|NOT|LEAST)\b|禁用|禁忌|避免|不应|不宜|引起|导致|除了|不属于|错误",
)
_INSTEAD = re.compile(r"\b(?:in|for|with|of) (?:[\w-]+ ){0,3}allerg(?:y|ies|ic)\b|过敏(?:者|时|的?患者)", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:risk\w*|stop\w*|cannot|can['’]?t|not)\b|不能|不可|风险|反应|停", re.IGNORECASE)
_TREATS = re.compile(
    r"\b(?:treat\w*|therap\w*|manag\w*|prescri\w*|give[ns]?|start\w*|add(?:ed)?|initiat\w*|antibiotic|drug|medicine|"
    r"medication|prophyla\w*|next step)\b|治疗|用药|选用|首选|加用|给予|处方|药物",
    re.IGNORECASE,
)
_WARNS = re.compile(
    r"\b(?:stop\w*|discontinu\w*|switch\w*|withdraw\w*|withh[eo]ld\w*|paus(?:e|ed|ing)|omit\w*|without|avoid\w*|revers\w*"
    r"|leav(?:e|ing) (?:\w+ ){0,3}out|instead of|side effects?|adverse|damag\w*|mask\w*|worsen\w*|hides?|toxic\w*"
    r"|interact\w*"
    r"|(?:not|never) (?:give|take|use|start|prescribe|have)|[a-z]+n['’]t (?:give|take|use|start|prescribe|have)"
    r"|(?:not|never) (?:\w+ )?(?:recommended|advised|suitable|used|given|taken|prescribed|an option))\b"
    r"|停|换|避免|不良反应|不推荐|不建议|不适合",
    re.IGNORECASE,
)
# What tells of taking something, or of what it did, and is by itself no advice to give it.
_TELLS = re.compile(
    r"\b(?:rais(?:es?|ed)|triggers?|to detect|due to|(?:after|before|when|while|on) (?:starting|raising|taking)"
    r"|(?:who|people) (?:takes?|taking))\b",
    re.IGNORECASE,
)
# Words by which a statement may be read as advice to give or go on with what a case takes already.
_GIVES = re.compile(
    r"\b(?:giv(?:e|en|es|ing)|restart\w*|continu\w*|prescri\w*|us(?:e|ed|es|ing)|tak(?:e|es|en|ing)|treat\w*|eases?|helps?"
    r"|offer\w*|add(?:ed|ing)?|choices?|recommend\w*|increas\w*|safe(?:ly)?|keep)\b|给予|使用|服用|首选|加用|继续",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:continu\w*|stop\w*|discontinu\w*|switch\w*|increas\w*|reduc\w*|decreas\w*|withdraw\w*|titrat\w*|dose|without|"
    r"avoid\w*|revers\w*|instead of|side effects?|adverse|interact\w*|monitor\w*)\b"
    r"|继续|停|减量|加量|换|避免|剂量|不良反应",
    re.IGNORECASE,
)


class Constraint(NamedTuple):
    """A medicine or class that the case bars.

    Attributes:
        why: ``allergy``, ``current``, or ``given`` for a dose that was taken lately.
        named: as the case names it. names: all names under which it is barred.
    """

    why: str
    named: str
    names: frozenset[str]


def constraints_in(case: str) -> list[Constraint]:
    """What a case bars, each once, allergies first."""
    told = clauses(case)
    found = [c for span in sentences(case) for c in _of_sentence(span.of(case), span.start, told)]
    kept: dict[tuple[str, frozenset[str]], Constraint] = {}
    for constraint in found:
        kept.setdefault((constraint.why, constraint.names), constraint)
    return sorted(kept.values(), key=lambda c: c.why != "allergy")


def broken_by(text: str, constraints: list[Constraint]) -> tuple[Medicine, Constraint] | None:
    """What a text names that a constraint bars, and the constraint; None where it names nothing barred."""
    return _broken(named_in(text), constraints)


def barred_options(question: str, options: dict[str, str], case: str = "") -> dict[str, Constraint]:
    """The options, by label, that allergies and current medicines bar; none where what is harmful is asked.

    A current medicine bars an option only where a treatment is chosen and neither question nor option speaks of going
    on with it, stopping it, or its dose. ``case`` tells of the patient beside the question.
    """
    asked = asked_of(question)
    if not options or _AGAINST.search(asked):
        return {}
    told = constraints_in(f"{case}\n{question}")
    constraints = [c for c in told if c.why == "allergy" or (c.why == "current" and _starts_anew(asked))]
    found = {label: broken_by(text, constraints) for label, text in options.items() if not _GOES_ON.search(text)}
    return {label: broken[1] for label, broken in found.items() if broken is not None}


def barred_question(question: str, case: str = "") -> tuple[Medicine, Constraint] | None:
    """The medicine that a question asks about although an allergy bars it, or a medicine that is taken already where
    it asks about adding one; None where it asks about none. ``case`` tells of the patient beside the question."""
    asked = asked_of(question)
    constraints = constraints_in(f"{case}\n{question}")
    if not (_ADDS.search(asked) and not _GOES_ON.search(asked)):
        constraints = [c for c in constraints if c.why == "allergy"]
    taken = {c.named.lower() for c in constraints if c.why != "allergy"}
    named = [m for m in named_in(asked) if m.written.lower() not in taken and not is_allergen(asked, m)]
    return _broken(named, constraints)


def warns(question: str) -> bool:
    """Whether a question asks about harm, so that "no" would be the advice to give."""
    return _AGAINST.search(asked_of(question)) is not None or _DENIES.search(question) is not None


def recommended(statement: str, constraints: list[Constraint]) -> tuple[Medicine, Constraint] | None:
    """What a statement names that a constraint bars, where it may be read as advice to give it: it warns of nothing.
    What is given instead in an allergy warns of nothing either."""
    said = _INSTEAD.sub(" ", statement)
    return None if warns_of(said) else broken_by(said, constraints)


def warns_of(statement: str) -> bool:
    """Whether a statement warns of what it names: it is no advice to give it."""
    return any(pattern.search(statement) for pattern in (_ALLERGY, _AGAINST, _WARNS))


def only_tells(statement: str) -> bool:
    """Whether a statement tells of taking something, or of what it did, and advises to give nothing."""
    return _TELLS.search(statement) is not None and not gives(_TELLS.sub(" ", statement))


def gives(statement: str) -> bool:
    """Whether a statement may be read as advice to give something."""
    return _GIVES.search(statement) is not None


def advises_only(statement: str, constraints: list[Constraint]) -> bool:
    """Whether a statement may be read as advice to give what is barred, and names no other medicine."""
    others = [m for m in named_in(statement) if not _broken([m], constraints)]
    return not others and recommended(statement, constraints) is not None


def without_allergens(question: str) -> str:
    """A question without the medicines that it tells an allergy to, so that nothing is found on them: classes stay,
    because pages say what is given instead of one. As it is where such a medicine is asked about."""
    told = [m for m in named_in(question) if m.generic and is_allergen(question, m)]
    if not told or barred_question(question) is not None:
        return question
    for medicine in sorted(told, key=lambda m: -m.start):
        question = question[: medicine.start] + question[medicine.start + len(medicine.written) :]
    return _CUT_OFF.sub("", " ".join(question.split()))


def _starts_anew(asked: str) -> bool:
    return bool(_TREATS.search(asked)) and not _GOES_ON.search(asked)


def asked_of(case: str) -> str:
    """The question at the end of a case: its last sentence, and the sentences that end in a question mark."""
    told = [s.of(case) for s in sentences(case)]
    return " ".join(unique([*(s for s in told if s.rstrip().endswith(("?", "？"))), *told[-1:]]))


def _broken(named: Iterable[Medicine], constraints: list[Constraint]) -> tuple[Medicine, Constraint] | None:
    found = ((m, c) for c in constraints for m in named if _names_of(m, c.why) & c.names)
    return next(found, None)


def is_allergen(text: str, medicine: Medicine) -> bool:
    """Whether a text names a medicine as what an allergy is to."""
    before, after = text[: medicine.start], text[medicine.start + len(medicine.written) :]
    return _BEFORE.search(after) is not None or _BEHIND.search(before) is not None


def _of_sentence(sentence: str, start: int, told: Sequence[Clause]) -> Iterator[Constraint]:
    """``start``: where it stands in the case, whose clauses are ``told``."""
    own = [c for c in told if start <= c.start < start + len(sentence)]
    left = [(c.start - start, c.end - start) for c in own if is_relatives(c) or (c.present is False and not c.normal)]
    named = [m for m in named_in(sentence) if not any(a <= m.start < b for a, b in left)]
    past = {m.start for m in named for c in own if c.past and c.start <= start + m.start < c.end}
    if not (sentence.rstrip().endswith(("?", "？")) or CLOSED_ZH.search(sentence)):  # Chinese asks without a mark, too
        yield from _of_statement(sentence, named, past)
        return
    allergies = [a for a in _ALLERGY.finditer(sentence) if _TOLD.search(sentence[: a.start()])]
    if any(not _WONDERED.search(sentence[: a.start()]) for a in allergies):
        yield from _barred([m for m in named if is_allergen(sentence, m)], "allergy")
    end = max((b for _, b in told_beside(sentence)), default=0)
    yield from (c for c in _of_statement(sentence[:end], named, past) if c.why != "allergy")
    asked = [m for m in named if m.start >= end and not is_allergen(sentence, m)]
    yield from (c for m, why in taken_in(sentence, asked, asks=True) for c in _barred([m], why))


def is_relatives(clause: Clause) -> bool:
    """Whether a clause tells of a relative."""
    return clause.other and _RELATIVE.search(clause.text) is not None


def _of_statement(text: str, named: Sequence[Medicine], past: Container[int]) -> Iterator[Constraint]:
    """What a text that asks nothing tells; ``past``: where medicines stand that it tells of the past."""
    ends = [(m.start(), m.end()) for m in _PARTS.finditer(text)]
    for start, end in zip((0, *(e for _, e in ends)), (*(s for s, _ in ends), len(text)), strict=True):
        part = text[start:end]
        here = [m._replace(start=m.start - start) for m in named if start <= m.start < end]
        if _ALLERGY.search(part):
            yield from _barred([m for m in here if is_allergen(part, m)] or here, "allergy")
            continue
        for medicine, why in taken_in(part, here):
            if why == "current" or start + medicine.start not in past:
                yield from _barred([medicine], why)


def _barred(named: list[Medicine], why: str) -> Iterator[Constraint]:
    for medicine in named:
        names = _names_of(medicine, why)
        if names:
            yield Constraint(why, medicine.written, names)


def _names_of(medicine: Medicine, why: str) -> frozenset[str]:
    """The names by which a medicine is barred: itself and its class, unless that is wide; none for a wide class."""
    wide = {name.lower() for name in (BROAD if why == "allergy" else BROAD | TOGETHER)}
    if medicine.written.lower().removesuffix("s") in wide:
        return frozenset()
    names = {medicine.generic, medicine.family} if medicine.generic else medicine.names
    return frozenset(n.lower() for n in names if n) - wide


def named_in(text: str) -> list[Medicine]:
    """The medicines that a text names, Chinese names as the English ones that they stand for."""
    table, pattern = _chinese()
    out = list(medicines_in(text))
    out += [m._replace(written=p[0], start=p.start()) for p in _PEN.finditer(text) for m in medicines_in("penicillin")]
    for match in pattern.finditer(text):
        out += [m._replace(written=match[0], start=match.start()) for m in medicines_in(table[match[0]])[:1]]
    return out


@lru_cache(maxsize=1)
def _chinese() -> tuple[dict[str, str], re.Pattern[str]]:
    rows = read_yaml(CHINESE)
    table = {name: record.name for record in starter_records() for name in record.chinese}
    table |= {name: english for english, names in rows.items() for name in names}
    longest = sorted(table, key=lambda name: (-len(name), name))
    return table, re.compile("|".join(map(re.escape, longest)))

"""A stated allergy or current medicine is a constraint: what must not be chosen, read from an English or Chinese case.

An allergy excludes the medicine and its class; a medicine that is taken excludes only itself, and only as a *new*
treatment: it may be continued, stopped or asked about. Names and classes are the project's own (``names.yaml``,
``names_zh.yaml``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.contract import unique
from tools.medicines.names import Medicine, medicines_in
from tools.text.clauses import clauses
from tools.text.sentences import sentences
from tools.yaml_files import read_yaml

CHINESE = Path(__file__).with_name("names_zh.yaml")
BROAD = frozenset({"antibiotic", "antiviral", "antifungal", "anticoagulant", "antiplatelet", "antiseptic"})
"""Ours: groups so wide that an allergy to one member says nothing of another."""
_ALLERGY = re.compile(
    r"\b(?:allerg\w+|anaphyla\w+|hypersensitiv\w+|angio-?o?edema (?:after|from|with|to)|intoleran\w+)\b|过敏",
    re.IGNORECASE,
)
_TAKES = re.compile(
    r"\b(?:takes|taking|(?:is|am|are|was|been|already|currently|also|patient) on|on (?:long[- ]term|regular|daily)|"
    r"(?:I|he|she|they) take|treated with|maintained on|uses|using|prescribed|medications?(?: include|s are|:)|"
    r"medicines?(?: include|:)|"
    r"anticoagulated with)\b|服用|在吃|正在用|长期用|口服|目前用",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[;；]|\bbut\b|\band (?=(?:is |he |she |I )?(?:tak|on |us|has |had )|allerg)|但", re.IGNORECASE)
_ON = re.compile(r"\bon\b(?: (?:long-term|regular|daily|low-dose|oral|the))? ?$", re.IGNORECASE)
_STOPPED = re.compile(r"\b(?:stopped|no longer|used to|previously)\b|停用|停了|曾", re.IGNORECASE)
_AGAINST = re.compile(
    r"\b(?:avoid\w*|contra-?indicat\w*|withh[eo]ld|should not|must not|unsafe|inappropriate|harm\w*|caus\w*|"
    r"responsible|culprit|explains?|reaction|EXCEPT|NOT|LEAST)\b|禁用|禁忌|避免|不应|不宜|引起|导致|除了|不属于|错误",
)
_TREATS = re.compile(
    r"\b(?:treat\w*|therap\w*|manag\w*|prescri\w*|give[ns]?|start\w*|add(?:ed)?|initiat\w*|antibiotic|drug|medicine|"
    r"medication|prophyla\w*|next step)\b|治疗|用药|选用|首选|加用|给予|处方|药物",
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
        why: ``allergy`` or ``current``. named: as the case names it. names: all names under which it is barred.
    """

    why: str
    named: str
    names: frozenset[str]


def constraints_in(case: str) -> list[Constraint]:
    """What a case bars, each once, allergies first."""
    found = [c for span in sentences(case) for c in _of_sentence(span.of(case))]
    kept: dict[tuple[str, frozenset[str]], Constraint] = {}
    for constraint in found:
        kept.setdefault((constraint.why, constraint.names), constraint)
    return sorted(kept.values(), key=lambda c: c.why != "allergy")


def broken_by(text: str, constraints: list[Constraint]) -> tuple[str, Constraint] | None:
    """What a text names that a constraint bars, and the constraint; None where it names nothing barred."""
    for constraint in constraints:
        for medicine in _named(text):
            if _names_of(medicine, constraint.why) & constraint.names:
                return medicine.written, constraint
    return None


def barred_options(case: str, options: dict[str, str]) -> dict[str, Constraint]:
    """The options, by label, that a case's allergies and current medicines bar; none where what is harmful is asked.

    A current medicine bars an option only where a treatment is chosen and neither question nor option speaks of going
    on with it, stopping it, or its dose.
    """
    asked = _asked(case)
    if not options or _AGAINST.search(asked):
        return {}
    constraints = [c for c in constraints_in(case) if c.why == "allergy" or _starts_anew(asked)]
    found = {label: broken_by(text, constraints) for label, text in options.items() if not _GOES_ON.search(text)}
    barred = {label: broken[1] for label, broken in found.items() if broken is not None}
    return barred if len(barred) < len(options) else {}


def recommends(statement: str) -> bool:
    """Whether a statement that names a medicine may be read as advice to give it: it warns of nothing."""
    return not (_ALLERGY.search(statement) or _AGAINST.search(statement) or _GOES_ON.search(statement))


def _starts_anew(asked: str) -> bool:
    return bool(_TREATS.search(asked)) and not _GOES_ON.search(asked)


def _asked(case: str) -> str:
    """The question at the end of a case: its last sentence, and the sentences that end in a question mark."""
    told = [s.of(case) for s in sentences(case)]
    return " ".join(unique([*(s for s in told if s.rstrip().endswith(("?", "？"))), *told[-1:]]))


def _of_sentence(sentence: str) -> Iterator[Constraint]:
    if sentence.rstrip().endswith(("?", "？")):
        return
    for part in _PARTS.split(sentence):
        denied = [(c.start, c.end) for c in clauses(part) if c.present is False]
        named = [m for m in _named(part) if not any(start <= m.start < end for start, end in denied)]
        if _ALLERGY.search(part):
            yield from _barred(named, "allergy")
        elif not _STOPPED.search(part):
            yield from _barred([m for m in named if _taken(part, m)], "current")


def _taken(part: str, medicine: Medicine) -> bool:
    """Whether a medicine is told as taken: after a verb that says so, or after a bare "on" (a man on warfarin)."""
    before = part[: medicine.start]
    return _TAKES.search(before) is not None or _ON.search(before) is not None


def _barred(named: list[Medicine], why: str) -> Iterator[Constraint]:
    for medicine in named:
        names = _names_of(medicine, why)
        if names:
            yield Constraint(why, medicine.written, names)


def _names_of(medicine: Medicine, why: str) -> frozenset[str]:
    """The names by which a medicine is barred: of an allergy also its class, unless the class is wide."""
    if why == "current":
        return frozenset({medicine.generic.lower()} if medicine.generic else ())
    names = {n.lower() for n in medicine.names} if not medicine.generic else {medicine.generic.lower(), medicine.family}
    return frozenset(n.lower() for n in names if n) - BROAD


def _named(text: str) -> list[Medicine]:
    """The medicines that a text names, Chinese names as the English ones that they stand for."""
    table, pattern = _chinese()
    out = list(medicines_in(text))
    for match in pattern.finditer(text):
        out += [m._replace(written=match[0], start=match.start()) for m in medicines_in(table[match[0]])[:1]]
    return out


@lru_cache(maxsize=1)
def _chinese() -> tuple[dict[str, str], re.Pattern[str]]:
    rows = read_yaml(CHINESE)
    table = {name: english for english, names in rows.items() for name in names}
    longest = sorted(table, key=lambda name: (-len(name), name))
    return table, re.compile("|".join(map(re.escape, longest)))

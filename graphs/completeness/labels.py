"""Importance of units: A names what decides, B helps the search, C is not medical (labels: paper; rules: ours)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from graphs.completeness.contract import Label, Unit
from tools.contract import Differential, Finding
from tools.text.demographics import Person, read_person
from tools.text.language import language_of
from tools.text.sentences import Span, sentences
from tools.yaml_files import read_patterns, read_yaml

PATTERNS = read_patterns(Path(__file__).with_name("information.yaml"))


# The kinds of information that a case should state, how each is recognised, and how much it weighs. All ours.
class Kind(NamedTuple):
    """A kind of information: its name for programs, its weight, in words, what asks for it, how a text states it."""

    name: str
    weight: float
    en: str
    zh: str
    ask_en: str
    ask_zh: str
    pattern: re.Pattern[str] | None = None


def _kinds() -> tuple[Kind, ...]:
    rows = read_yaml(Path(__file__).with_name("kinds.yaml"))
    return tuple(Kind(**row | {"pattern": PATTERNS.get(row.get("pattern", ""))}) for row in rows)


KINDS = _kinds()
SEVERAL = 3  # distinct complaints or findings from which accompanying symptoms count in full; ours
DENIALS = 2  # denied clauses from which negatives count in full; ours


class Coverage(NamedTuple):
    """How far each kind of information is stated (0..1), and the weighted sum."""

    stated: dict[str, float]
    total: float


def coverage(text: str, present: int, denied: int) -> Coverage:
    """What a case states.

    Args:
        text: the case.
        present: distinct findings stated present, as far as anyone counted them.
        denied: distinct findings or clauses stated absent.
    """
    stated = {kind.name: float(kind.pattern is not None and kind.pattern.search(text) is not None) for kind in KINDS}
    complaints = len({m[0].lower() for m in PATTERNS["complaint"].finditer(text)})
    stated["associated"] = _share(max(complaints, present) - 1, SEVERAL - 1)
    stated["negatives"] = _share(denied, DENIALS)
    stated["person"] = _person(read_person(text))
    return Coverage(stated, sum(kind.weight * stated[kind.name] for kind in KINDS))


def _share(count: int, full: int) -> float:
    return min(1.0, max(0, count) / full)


def _person(person: Person) -> float:
    return ((person.age is not None) + (person.sex is not None)) / 2


def missing(stated: dict[str, float], text: str) -> tuple[str, ...]:
    """What the case does not state, in words, most useful first."""
    chinese = language_of(text) == "zh"
    return tuple(kind.zh if chinese else kind.en for kind in KINDS if stated[kind.name] == 0)


# what makes a sentence helpful, by the word that its reason has and the pattern
HELPFUL = (
    ("site", "site"), ("time", "duration"), ("course", "time_course"), ("history", "history"), ("person", "person"),
)  # fmt: skip
WORDS = {
    "en": {
        "states": "states ",
        "denies": "denies ",
        "may_mean": "may mean ",
        "test": "a test or sign: ",
        "complaint": "a complaint: ",
        "site": "a site: ",
        "time": "a time: ",
        "course": "the course: ",
        "history": "history or context: ",
        "person": "age or sex: ",
        "nothing": "nothing medical",
    },
    "zh": {
        "states": "提到",
        "denies": "否认",
        "may_mean": "可能指",
        "test": "检查或体征：",
        "complaint": "症状：",
        "site": "部位：",
        "time": "时间：",
        "course": "病程：",
        "history": "病史或背景：",
        "person": "年龄或性别：",
        "nothing": "与诊断无关",
    },
}
SURE = 0.6  # ours: confidence of a match from which a finding decides


def units(text: str, first_look: Differential | None) -> tuple[Unit, ...]:
    """The sentences of a text with their labels and why."""
    findings = () if first_look is None else first_look.findings
    leading = _leading(first_look)
    words = WORDS[language_of(text)]
    return tuple(_unit(text, span, findings, leading, words) for span in sentences(text))


def _leading(first_look: Differential | None) -> frozenset[str]:
    """The findings that speak for or against the leading diseases."""
    ranking = () if first_look is None else first_look.ranking[:2]
    return frozenset(name for d in ranking for name in (*d.findings_for, *d.findings_against))


def names_of(finding: Finding) -> tuple[str, ...]:
    """How a line of the ranking may name a finding: by name or id, and a denied one with a "no" before it."""
    if finding.present is False:
        return f"no {finding.name}", f"无{finding.name}", finding.name, finding.id
    return finding.name, finding.id


def _unit(
    text: str, span: Span, findings: Sequence[Finding], leading: frozenset[str], words: Mapping[str, str]
) -> Unit:
    sentence = span.of(text)
    label, reason = _label(sentence, [f for f in findings if span.start <= f.start < span.end], leading, words)
    return Unit(text=sentence, start=span.start, end=span.end, label=label, reason=reason)


def _label(
    sentence: str, found: Sequence[Finding], leading: frozenset[str], words: Mapping[str, str]
) -> tuple[Label, str]:
    deciding = next((f for f in found if not leading.isdisjoint(names_of(f))), None)
    deciding = deciding or next((f for f in found if f.id and f.score >= SURE), None)
    if deciding is not None:
        return Label.A, f"{words['denies' if deciding.present is False else 'states']}{deciding.name}"
    for name, pattern in (("test", "tests"), ("complaint", "complaint")):
        match = PATTERNS[pattern].search(sentence)
        if match:
            return Label.A, f"{words[name]}{match[0]}"
    if found:
        return Label.B, f"{words['denies' if found[0].present is False else 'may_mean']}{found[0].name}"
    for name, pattern in HELPFUL:
        match = PATTERNS[pattern].search(sentence)
        if match:
            return Label.B, f"{words[name]}{match[0].strip()}"
    return Label.C, words["nothing"]

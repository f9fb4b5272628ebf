"""Importance of units: A names what decides, B helps the search, C is not medical (labels: paper; rules: ours)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graphs.completeness.contract import Label, Unit
from graphs.completeness.information import COMPLAINT, COURSE, DURATION, HISTORY, ONSET, SITE, TESTS
from tools.contract import Differential, Finding
from tools.text.language import language_of
from tools.text.sentences import Span, sentences

HELPFUL = (
    ("site", re.compile(SITE, re.IGNORECASE)),
    ("time", re.compile(DURATION, re.IGNORECASE)),
    ("course", re.compile(f"{ONSET}|{COURSE}", re.IGNORECASE)),
    ("history", re.compile(HISTORY, re.IGNORECASE)),
    (
        "person",
        re.compile(
            r"\b\d{1,3} ?[MF]\b|\b(?:years?|months?|weeks?)[- ]old\b|\b(?:wo)?man\b|\b(?:fe)?male\b|岁|[男女]", re.I
        ),
    ),
)
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
TEST = re.compile(TESTS, re.IGNORECASE)
FINDING = re.compile(COMPLAINT, re.IGNORECASE)
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
    for name, pattern in (("test", TEST), ("complaint", FINDING)):
        match = pattern.search(sentence)
        if match:
            return Label.A, f"{words[name]}{match[0]}"
    if found:
        return Label.B, f"{words['denies' if found[0].present is False else 'may_mean']}{found[0].name}"
    for name, pattern in HELPFUL:
        match = pattern.search(sentence)
        if match:
            return Label.B, f"{words[name]}{match[0].strip()}"
    return Label.C, words["nothing"]

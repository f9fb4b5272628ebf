"""A verdict in words, once for every view of an answer."""

from __future__ import annotations

from graphs.verdicts.contract import Certainty, Verdict, VerdictValue

VALUES = {
    VerdictValue.YES: {"en": "yes", "zh": "是"},
    VerdictValue.NO: {"en": "no", "zh": "否"},
    VerdictValue.DEPENDS: {"en": "it depends", "zh": "视情况而定"},
    VerdictValue.NO_DIFFERENCE: {"en": "no difference", "zh": "没有差别"},
    VerdictValue.CONFLICTING: {"en": "sources conflict", "zh": "证据相互矛盾"},
    VerdictValue.INSUFFICIENT: {"en": "not settled", "zh": "证据不足"},
}
CERTAINTIES = {
    Certainty.HIGH: {"en": "high", "zh": "高"},
    Certainty.MODERATE: {"en": "moderate", "zh": "中"},
    Certainty.LOW: {"en": "low", "zh": "低"},
    Certainty.VERY_LOW: {"en": "very low", "zh": "极低"},
    Certainty.NOT_ASSESSED: {"en": "not assessed", "zh": "未评估"},
}
FACTS = {
    "en": {
        "verdict": "Verdict",
        "effect": "Effect",
        "population": "Studied",
        "certainty": "Certainty",
        "reason": "From",
    },
    "zh": {"verdict": "结论", "effect": "效应", "population": "研究对象", "certainty": "确定性", "reason": "依据"},
}


def headed(verdict: Verdict, language: str) -> str:
    """The verdict in one line: "Verdict: yes"."""
    tongue = _tongue(language)
    return f"{FACTS[tongue]['verdict']}: {VALUES[verdict.value][tongue]}"


def facts(verdict: Verdict, language: str) -> list[str]:
    """What stands below it, a line each: size of effect, who was studied, certainty, sources; only what is known."""
    tongue = _tongue(language)
    words = FACTS[tongue]
    told = {
        "effect": verdict.effect,
        "population": verdict.population,
        "certainty": CERTAINTIES[verdict.certainty][tongue],
        "reason": verdict.reason,
    }
    return [f"{words[key]}: {text}" for key, text in told.items() if text]


def _tongue(language: str) -> str:
    return "zh" if language == "zh" else "en"

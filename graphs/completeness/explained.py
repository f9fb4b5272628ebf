"""A gate's decision in words, English or Chinese: whole for who wants to check it, brief beside every answer."""

from __future__ import annotations

from collections.abc import Mapping

from graphs.completeness.contract import Decision, GateDecision, Label
from graphs.completeness.labels import KINDS
from graphs.completeness.score import decide
from prompts.shown import one_line
from tools.evidence import Frozen

# The words in which a gate's decision is told, English and Chinese.
VERDICTS = {
    "en": {
        Decision.DIRECT: "enough was told to answer directly",
        Decision.RETRIEVE: "more is needed, so evidence is retrieved",
        Decision.RETRIEVE_WITH_WARNING: "critical information is sparse, so evidence is retrieved with a warning",
    },
    "zh": {
        Decision.DIRECT: "信息足够，直接回答",
        Decision.RETRIEVE: "信息还不够，先检索证据",
        Decision.RETRIEVE_WITH_WARNING: "关键信息不足，检索证据并提示风险",
    },
}
SHORT = {
    "en": {
        Decision.DIRECT: "answer directly",
        Decision.RETRIEVE: "retrieve",
        Decision.RETRIEVE_WITH_WARNING: "retrieve with a warning",
    },
    "zh": {
        Decision.DIRECT: "直接回答",
        Decision.RETRIEVE: "检索",
        Decision.RETRIEVE_WITH_WARNING: "检索并提示风险",
    },
}
SCORES = {
    "en": {
        Decision.DIRECT: "score {score} is above theta1 {theta1}; theta2 {theta2}",
        Decision.RETRIEVE: "score {score} lies between theta2 {theta2} and theta1 {theta1}, both included",
        Decision.RETRIEVE_WITH_WARNING: "score {score} is below theta2 {theta2}; theta1 {theta1}",
    },
    "zh": {
        Decision.DIRECT: "得分 {score} 高于 theta1 {theta1}；theta2 为 {theta2}",
        Decision.RETRIEVE: "得分 {score} 在 theta2 {theta2} 与 theta1 {theta1} 之间，含两端",
        Decision.RETRIEVE_WITH_WARNING: "得分 {score} 低于 theta2 {theta2}；theta1 为 {theta1}",
    },
}
WORDS = {
    "en": {
        "gate": "gate",
        "verdict": "{verdict} ({score}).",
        "turning": "Without sentence {number} (“{text}”) it would {decision} (score {score:.2f}).",
        "counts": "{n} sentences: {a} A, {b} B, {c} C",
        "parts": "Measures: {parts}.",
        "stated": "Stated: {kinds}.",
        "missing": "Missing: {missing}.",
        "question": "What would supply it: {question}",
        "sparse": "Critical information is sparse: a wrong diagnosis is possible. Missing: {missing}.",
        "comma": ", ",
        "colon": ": ",
        "stop": ".",
    },
    "zh": {
        "gate": "完整性判断",
        "verdict": "{verdict}（{score}）。",
        "turning": "如果没有第{number}句（“{text}”），就会{decision}（得分 {score:.2f}）。",
        "counts": "共{n}句：A {a}，B {b}，C {c}",
        "parts": "各项指标：{parts}。",
        "stated": "已说明：{kinds}。",
        "missing": "缺少：{missing}。",
        "question": "可以这样问：{question}",
        "sparse": "关键信息不足，可能误诊。缺少：{missing}。",
        "comma": "、",
        "colon": "：",
        "stop": "。",
    },
}
PARTS = {
    "i_norm": {"en": "I_norm of the labels", "zh": "标签的 I_norm"},
    "coverage": {"en": "what such a case should state", "zh": "应说明内容的比例"},
    "margin": {"en": "lead of the first diagnosis", "zh": "第一诊断的领先程度"},
    "entropy": {"en": "how concentrated the ranking is", "zh": "排序的集中程度"},
    "explained": {"en": "how well a known disease explains it", "zh": "已知疾病能解释病情的程度"},
    "verdict": {"en": "the model's verdict", "zh": "模型的判断"},
}
REASONS = {  # reasons of decisions that no score made
    "a question about no particular patient is answered from evidence": "问题不涉及具体患者，依据证据回答",
    "no disease that the graph holds explains these findings well, so evidence is retrieved": (
        "图谱中没有一种疾病能很好地解释这些表现，先检索证据"
    ),
    "it is not likely enough that a disease that the graph holds explains these findings, so evidence is retrieved": (
        "图谱中的疾病能否解释这些表现尚不确定，先检索证据"
    ),
    "too much of the case was not understood, so evidence is retrieved": "病例中未能读懂的内容过多，先检索证据",
    "the gate is switched off: every question is retrieved for": "判断已关闭：所有问题都检索",
    "the gate is switched off: nothing is retrieved": "判断已关闭：不检索",
}


NAMED = 60  # ours: characters of a sentence by which the brief form names it
JUDGED = "verdict"  # the part that a model's own verdict has
STATED = "states_"  # what parts begin with that tell how far a kind of information is stated


class ExplainedUnit(Frozen):
    """A unit as it is shown: its number from 1, its label, its words, why it has the label, whether all turns on it."""

    number: int
    label: Label
    text: str
    reason: str
    turning: bool = False


class Explanation(Frozen):
    """A decision in words; every field but ``verdict`` may be empty.

    Attributes:
        verdict: what was decided, and the score against both thresholds or what decided without it.
        counts: how many units have which label. turning: the unit whose removal flips the decision.
        parts, stated: the measures beside the score; how far each kind of information is stated.
        missing: kinds of information that are missing, unless the warning tells them. question: what would supply them.
        warning: below theta2, that critical information is sparse. reason: a model's own, where it judged.
    """

    verdict: str
    counts: str = ""
    units: tuple[ExplainedUnit, ...] = ()
    turning: str = ""
    parts: str = ""
    stated: str = ""
    missing: str = ""
    question: str = ""
    warning: str = ""
    reason: str = ""

    @property
    def after(self) -> tuple[str, ...]:
        """What stands below the units of the whole explanation, the warning left out."""
        return tuple(t for t in (self.reason, self.turning, self.parts, self.stated, self.missing, self.question) if t)

    @property
    def text(self) -> str:
        """The whole as plain text, a line each."""
        units = [f"  {u.number}. {u.label}{'*' if u.turning else ' '} {u.text}  ({u.reason})" for u in self.units]
        lines = [self.verdict, *([self.warning] if self.warning else []), *([self.counts] if self.counts else [])]
        return "\n".join([*lines, *units, *self.after])

    def _repr_html_(self) -> str:
        """The whole as a notebook shows it."""
        from graphs.completeness.html import gate_html

        return gate_html(self)


def explained(decision: GateDecision, language: str) -> Explanation:
    """A decision in words; ``language`` is ``en`` or ``zh``."""
    words = WORDS[_tongue(language)]
    warned = decision.decision is Decision.RETRIEVE_WITH_WARNING
    missing = () if warned else decision.missing
    return Explanation(
        verdict=_verdict(decision, language),
        counts=_counts(decision, words),
        units=_units(decision),
        turning=_turning(decision, language),
        **_parts(decision.parts, language),
        missing=words["missing"].format(missing=words["comma"].join(missing)) if missing else "",
        question=words["question"].format(question=decision.question) if decision.question else "",
        warning=sparse_warning(decision, language) if warned else "",
        reason=decision.reason if JUDGED in decision.parts else "",
    )


def brief(decision: GateDecision, language: str) -> tuple[str, ...]:
    """A decision in one or two lines: the verdict, then what it hangs on (direct) or what is missing (else).

    What a warning beside the answer says is not said again.
    """
    whole, words = explained(decision, language), WORDS[_tongue(language)]
    counts = whole.counts + words["stop"] if whole.counts and _by_score(decision) else ""
    first = f"{words['gate']}{words['colon']}{whole.verdict} {counts}".rstrip()
    direct = decision.decision is Decision.DIRECT
    second = [whole.turning] if direct else [whole.missing, whole.question]
    line = " ".join(t for t in second if t)
    return (first, line) if line else (first,)


def sparse_warning(decision: GateDecision, language: str) -> str:
    """What must be said below theta2: critical information is sparse, and misdiagnosis possible (paper)."""
    words = WORDS[_tongue(language)]
    return words["sparse"].format(missing=words["comma"].join(decision.missing) or "-")


def _tongue(language: str) -> str:
    return "zh" if language == "zh" else "en"


def _by_score(decision: GateDecision) -> bool:
    """Whether the score against the thresholds made the decision."""
    same = decide(decision.score, decision.theta1, decision.theta2) is decision.decision
    return same and decision.reason not in REASONS


def _verdict(decision: GateDecision, language: str) -> str:
    tongue = _tongue(language)
    if not _by_score(decision):
        reason = REASONS.get(decision.reason, decision.reason) if tongue == "zh" else decision.reason
        return WORDS[tongue]["verdict"].format(verdict=SHORT[tongue][decision.decision], score=reason)
    score = SCORES[tongue][decision.decision].format(**_figures(decision))
    return WORDS[tongue]["verdict"].format(verdict=VERDICTS[tongue][decision.decision], score=score)


def _figures(decision: GateDecision) -> dict[str, str]:
    """Score and thresholds with as many digits as tell them apart, two at least and four at most."""
    values = {"score": decision.score, "theta1": decision.theta1, "theta2": decision.theta2}
    told = {name: f"{value:.2f}" for name, value in values.items()}
    for digits in (3, 4):
        if len(set(told.values())) == len(set(values.values())):
            break
        told = {name: f"{value:.{digits}f}" for name, value in values.items()}
    return told


def _units(decision: GateDecision) -> tuple[ExplainedUnit, ...]:
    turning = decision.turning.unit if decision.turning is not None else None
    return tuple(
        ExplainedUnit(
            number=n + 1, label=u.label, text=one_line(u.text, len(u.text)), reason=u.reason, turning=n == turning
        )
        for n, u in enumerate(decision.units)
    )


def _counts(decision: GateDecision, words: Mapping[str, str]) -> str:
    labels = [u.label for u in decision.units]
    if not labels:
        return ""
    return words["counts"].format(
        n=len(labels), a=labels.count(Label.A), b=labels.count(Label.B), c=labels.count(Label.C)
    )


def _turning(decision: GateDecision, language: str) -> str:
    turning = decision.turning
    if turning is None or not 0 <= turning.unit < len(decision.units):
        return ""
    tongue = _tongue(language)
    return WORDS[tongue]["turning"].format(
        number=turning.unit + 1,
        text=one_line(decision.units[turning.unit].text, NAMED),
        decision=SHORT[tongue][turning.decision],
        score=turning.score,
    )


def _parts(parts: Mapping[str, float], language: str) -> dict[str, str]:
    """The fields ``parts`` and ``stated``."""
    tongue = _tongue(language)
    words = WORDS[tongue]
    kinds = {f"{STATED}{k.name}": k.zh if tongue == "zh" else k.en for k in KINDS}
    told = [f"{PARTS[n][tongue] if n in PARTS else n} {v:.2f}" for n, v in parts.items() if n not in kinds]
    stated = [f"{kinds[n]} {v:.0%}" for n, v in parts.items() if n in kinds]
    return {
        "parts": words["parts"].format(parts=words["comma"].join(told)) if told else "",
        "stated": words["stated"].format(kinds=words["comma"].join(stated)) if stated else "",
    }

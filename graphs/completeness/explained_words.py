"""The words in which a gate's decision is told, English and Chinese."""

from __future__ import annotations

from graphs.completeness.contract import Decision

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

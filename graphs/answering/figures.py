"""Questions that ask for a figure, and sentences that give one."""

from __future__ import annotations

import re

ASKS = re.compile(
    r"\b(?:what|which|how (?:much|many|high|often)|maximum|usual|recommended)\b[^?]{0,60}"
    r"\b(?:dos(?:e|es|age)|mg|number needed|sensitivity|specificity|accura(?:cy|te)|predictive value|percentage"
    r"|proportion|rate|risk|incidence|prevalence)\b|\bNNT\b|剂量|多少(?:毫克|克|次|人)|灵敏度|特异度|准确率|发生率|患病率",
    re.IGNORECASE,
)  # ours
GIVES = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten) (?:in|of|out of|per)\b"
    r"|\b(?:half|a (?:third|quarter|fifth))\b",
    re.IGNORECASE,
)  # ours


def asks_figure(question: str) -> bool:
    """Whether a question asks for a dose, a number needed to treat, an accuracy, a rate."""
    return ASKS.search(question) is not None


def gives_figure(sentence: str) -> bool:
    """Whether a sentence gives a number."""
    return GIVES.search(sentence) is not None

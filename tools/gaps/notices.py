"""What the gap tool tells the user beside its findings, in the language of the turn."""

from __future__ import annotations

from collections.abc import Sequence

from prompts.errors import ServiceError
from tools.contract import Gap, Notice, Severity, unique
from tools.evidence import Evidence

TEXTS = {
    "refused": {
        "en": "Gaps can only be seen in what was retrieved: call search_literature or retrieve_passages first.",
        "zh": "须先检索才能判断缺口：请先调用 search_literature 或 retrieve_passages。",
    },
    "failed": {"en": "The search for a gap failed: {}", "zh": "缺口检索失败：{}"},
    "open": {"en": "Not covered by the evidence found: {}.", "zh": "现有证据未涵盖：{}。"},
    "useless": {
        "en": "Nothing useful was retrieved for this question.",
        "zh": "未检索到对该问题有用的内容。",
    },
    "useless_at_first": {
        "en": "Nothing useful was retrieved at first; a search for what was missing found more.",
        "zh": "最初未检索到有用的内容；针对缺口的检索找到了更多。",
    },
    "generated": {
        "en": "A language model wrote background on: {}. It was not retrieved, and nothing cites it.",
        "zh": "语言模型就以下内容撰写了背景：{}。该内容并非检索所得，不作引用。",
    },
    "question": {"en": "the question", "zh": "该问题"},
}


def refusal(language: str) -> Notice:
    """The tool was called before anything was retrieved."""
    return _notice("gaps_before_retrieval", "refused", language, severity=Severity.WARNING)


def gap_notices(
    gaps: Sequence[Gap], errors: Sequence[ServiceError], background: Sequence[Evidence], language: str
) -> list[Notice]:
    """Searches that failed, gaps that are left open, and what background was written."""
    notices = [
        _notice("gap_search_failed", "failed", language, what, Severity.WARNING)
        for what in unique([error.what for error in errors])
    ]
    missing = [gap.requirement for gap in gaps if not gap.covered_by]
    if missing:
        notices.append(_notice("gaps_left_open", "open", language, "; ".join(missing)))
    if background:
        on = unique([item.title or _text("question", language) for item in background])
        notices.append(_notice("background_generated", "generated", language, "; ".join(on)))
    return notices


def nothing_useful(found_later: bool, language: str) -> Notice:
    """No document that was retrieved says anything useful; ``found_later`` when a search for a gap brought some."""
    if found_later:
        return _notice("nothing_useful_retrieved", "useless_at_first", language)
    return _notice("nothing_useful_retrieved", "useless", language, severity=Severity.WARNING)


def _text(text: str, language: str) -> str:
    return TEXTS[text]["zh" if language == "zh" else "en"]


def _notice(code: str, text: str, language: str, what: str = "", severity: Severity = Severity.INFO) -> Notice:
    return Notice(code=code, text=_text(text, language).format(what), severity=severity)

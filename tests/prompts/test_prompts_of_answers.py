"""What the prompts of answers must contain: the labels that are cited, what may be left, and one sentence on data."""

from __future__ import annotations

import pytest

from prompts.answer import AnswerReply, CaseReply, ChoiceReply, MendReply
from prompts.direct import DirectReply
from prompts.report import ReportReply
from prompts.templates import load_prompt

MUST = {
    "answer": ("nothing else", "`cites`", '["3.2", "3.4"]', "limits the answer", "`unanswered`", "`abstain`"),
    "answer_case": ("your own differential", "likeliest first", "that the list lacks", "`cites`", "`emergency`"),
    "choice": ("nothing else", "`cites`", "letter or word", "support none"),
    "answer_mend": ("what is wrong", "`number`", "`cites`", "doubted"),
    "direct": ("own knowledge", "study, trial, author, journal or year", "unsure", "`emergency`"),
    "report": ("nothing else", "`discipline`", "`cites`"),
}
SCHEMAS = {
    "answer": AnswerReply, "answer_case": CaseReply, "choice": ChoiceReply, "answer_mend": MendReply,
    "direct": DirectReply, "report": ReportReply,
}  # fmt: skip


@pytest.mark.parametrize("name", MUST)
def test_a_prompt_says_what_its_reply_is_held_to(name: str) -> None:
    prompt = load_prompt(name)
    system = " ".join(prompt.system.split())
    assert [part for part in MUST[name] if part not in system] == []
    assert [field for field in SCHEMAS[name].model_fields if f"`{field}`" not in system] == []
    assert system.count("instructions") == 1, "what is data is said once"
    assert "copied exactly" not in system, "no quote is asked for"
    assert len(system) < 1800
    assert prompt.version > 1

"""Both catalogues say the same things: the same names, the same gaps, and every name that the program asks for."""

from __future__ import annotations

from string import Formatter

from graphs.answering.notices import DANGER, INFO
from graphs.completeness.contract import Decision
from graphs.reporting.contract import PARTS
from graphs.verdicts.contract import Certainty, VerdictValue
from prompts.report import DISCIPLINES
from tools.contract import Severity
from tools.evidence import Origin
from tools.messages import LANGUAGES, messages


def gaps(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_the_languages_have_the_same_messages_with_the_same_gaps() -> None:
    english, chinese = (messages(language) for language in LANGUAGES)
    assert list(english) == list(chinese)
    assert {n for n in english if gaps(english[n]) != gaps(chinese[n])} == set()
    assert {n for n in english if english[n] == chinese[n]} <= {"answer.icd10", "explain.now", "report.general"}


def test_every_value_of_the_contracts_has_its_words() -> None:
    words = messages("zh")
    named = [f"origin.{o.value}" for o in Origin] + [f"severity.{s.value}" for s in Severity]
    named += [f"verdict.values.{v.value}" for v in VerdictValue] + [f"verdict.certainties.{c.value}" for c in Certainty]
    named += [f"gate.{kind}.{d.value}" for d in Decision for kind in ("verdicts", "short", "scores")]
    named += [f"report.{name}" for name in (*PARTS, *DISCIPLINES)] + [f"notice.{code}" for code in INFO | DANGER]
    assert [name for name in named if not words.get(name)] == []


def test_a_language_without_a_catalogue_is_spoken_to_in_english() -> None:
    assert messages("fr")["answer.none"] == messages("en")["answer.none"]
    assert messages("zh").say("answer.session", session="s") == "会话 s：下一条消息将接着进行。"

"""Both catalogues say the same things: the same names, the same gaps, and every name that the program asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from graphs.answering.notices import DANGER, INFO
from graphs.completeness.contract import Decision
from graphs.reporting.contract import PARTS
from graphs.verdicts.contract import Certainty, VerdictValue
from prompts.answer import DISCIPLINES
from tools.contract import Severity
from tools.evidence import Origin
from tools.messages import LANGUAGES, messages
from tools.text.language import HAN

ROOT = Path(__file__).resolve().parents[2]


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


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """File, name and call of every function that is called by its name in the product."""
    for file in (f for room in ("prompts", "tools", "graphs", "agent") for f in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield file.relative_to(ROOT).as_posix(), node.func.id, node


def test_every_notice_is_worded_by_the_catalogues_in_both_languages() -> None:
    worded = [file for file, name, call in calls() if name == "Notice" and any(k.arg for k in call.keywords)]
    assert worded == ["tools/notices.py"], "a notice with words of its own has them in one language"
    given = {a.value for _, name, c in calls() if name in ("noted", "notice", "warn") for a in c.args[:1]
             if isinstance(a, ast.Constant) and isinstance(a.value, str)}  # fmt: skip
    assert len(given) > 70
    assert [code for code in given - {"published_configuration"} if f"notice.{code}" not in messages("zh")] == []
    assert [name for name, text in messages("zh").group("notice").items() if not HAN.search(text)] == []


def test_a_language_without_a_catalogue_is_spoken_to_in_english() -> None:
    assert messages("fr")["answer.none"] == messages("en")["answer.none"]
    assert messages("zh").say("answer.session", session="s") == "会话 s：下一条消息将接着进行。"

"""A verdict in words, once for every view of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.verdicts.contract import Verdict, VerdictValue
from tools.messages import messages
from tools.text.questions import WHICH_WAY

FACTS = ("effect", "population", "certainty", "reason")


def value_in_words(verdict: Verdict, question: str, language: str) -> str:
    """What it answers: "yes"; "higher" for the same value where the question asks which way."""
    words, value = messages(language), verdict.value
    asked = "which_way" if value in (VerdictValue.YES, VerdictValue.NO) and WHICH_WAY.search(question) else "values"
    return words[f"verdict.{asked}.{value.value}"]


def headed(verdict: Verdict, language: str, question: str = "") -> str:
    """The verdict in one line: "Verdict: yes"."""
    words = messages(language)
    return f"{words['verdict.title']}{words['list.colon']}{value_in_words(verdict, question, language)}"


def facts(verdict: Verdict, language: str, names: Sequence[str] = FACTS) -> list[str]:
    """What stands below it, a line each: size of effect, who was studied, certainty, sources; only what is known."""
    words = messages(language)
    told = {
        "effect": verdict.effect,
        "population": verdict.population,
        "certainty": words[f"verdict.certainties.{verdict.certainty.value}"],
        "reason": verdict.reason,
    }
    return [
        f"{words[f'verdict.{name}']}{words['list.colon']}{text}"
        for name, text in told.items()
        if text and name in names
    ]

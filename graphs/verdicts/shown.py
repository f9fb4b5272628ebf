"""A verdict in words, once for every view of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.verdicts.contract import Verdict
from tools.messages import messages

FACTS = ("effect", "population", "certainty", "reason")


def headed(verdict: Verdict, language: str) -> str:
    """The verdict in one line: "Verdict: yes"."""
    words = messages(language)
    return f"{words['verdict.title']}: {words[f'verdict.values.{verdict.value.value}']}"


def facts(verdict: Verdict, language: str, names: Sequence[str] = FACTS) -> list[str]:
    """What stands below it, a line each: size of effect, who was studied, certainty, sources; only what is known."""
    words = messages(language)
    told = {
        "effect": verdict.effect,
        "population": verdict.population,
        "certainty": words[f"verdict.certainties.{verdict.certainty.value}"],
        "reason": verdict.reason,
    }
    return [f"{words[f'verdict.{name}']}: {text}" for name, text in told.items() if text and name in names]

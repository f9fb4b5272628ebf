"""Questions told as narratives, and what makes a narrative lose the answer of its question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from graphs.verification.support import numbers
from prompts.language_model import LanguageModel
from prompts.narrative import NarrativeCheckReply, NarrativeReply
from prompts.templates import load_prompt
from tools.text.tokens import tokens

LEAST = 0.6  # ours: share of the question's words that a narrative keeps; a story rewords the rest
TEMPLATE = "template"
NOTHING, NO_QUESTION, NUMBERS, WORDS, GIVEN_AWAY, OTHER_ANSWER = (
    "the model wrote no narrative",
    "the narrative asks nothing",
    "a figure of the question is missing",
    "words of the question are missing",
    "the narrative names the right option, the question does not",
    "the model finds that the right option is no longer the answer",
)


@dataclass(frozen=True)
class SourceQuestion:
    """A question of a collection. ``answer`` is a letter of ``options``; both are empty for an open one."""

    id: str
    source: str
    question: str
    options: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    headings: tuple[str, ...] = ()

    @property
    def listed(self) -> str:
        """The options, a line each."""
        return "\n".join(f"{label}. {text}" for label, text in self.options.items()) or "none"


class Rewritten(Protocol):
    """Tells questions as narratives. ``name`` says who, for the rows."""

    name: str

    async def write(self, question: SourceQuestion) -> str:
        """The narrative; "" for none. Raises ServiceError when who writes fails."""

    async def same(self, question: SourceQuestion, narrative: str) -> bool:
        """Whether the narrative of a multiple-choice question still has its answer."""


class ByTemplate:
    """A frame around the question as it stands: no narrative of anybody, and told as such by its name."""

    name = TEMPLATE

    async def write(self, question: SourceQuestion) -> str:
        """The question in the frame."""
        about = question.headings[0].lower() if question.headings else "cancer"
        return (
            f"Somebody in my family has been worried about {about} for some weeks, and we have talked about it a lot "
            f"at home. I should like to understand it better before the next appointment. {question.question}"
        )

    async def same(self, question: SourceQuestion, narrative: str) -> bool:
        """Whether the question stands in it."""
        return question.question in narrative


class ByModel:
    """Written and judged by a language model in the role ``questions``."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = f"{model.name} {load_prompt('narrative').id} {load_prompt('narrative_check').id}"

    async def write(self, question: SourceQuestion) -> str:
        """The model's narrative."""
        reply, _ = await self._model.structured(
            "narrative", NarrativeReply, question=question.question, options=question.listed
        )
        return " ".join(reply.narrative.split())

    async def same(self, question: SourceQuestion, narrative: str) -> bool:
        """The model's judgement."""
        reply, _ = await self._model.structured(
            "narrative_check",
            NarrativeCheckReply,
            question=question.question,
            narrative=narrative,
            options=question.listed,
            right=f"{question.answer}. {question.options[question.answer]}",
        )
        return reply.same


async def told(question: SourceQuestion, writer: Rewritten) -> tuple[str, str]:
    """The narrative, and why it loses the answer; "" where it does not."""
    narrative = await writer.write(question)
    wrong = lost(question, narrative)
    if not wrong and question.options and not await writer.same(question, narrative):
        wrong = OTHER_ANSWER
    return narrative, wrong


def lost(question: SourceQuestion, narrative: str) -> str:
    """What a narrative loses, as far as its words tell; "" for nothing."""
    if not narrative:
        return NOTHING
    if "?" in question.question and not {"?", "？"} & set(narrative):
        return NO_QUESTION
    if numbers(question.question) - numbers(narrative):
        return NUMBERS
    wanted = set(tokens(question.question))
    if len(wanted & set(tokens(narrative))) < LEAST * len(wanted):
        return WORDS
    right = _plain(question.options.get(question.answer, ""))
    if right and right in _plain(narrative) and right not in _plain(question.question):
        return GIVEN_AWAY
    return ""


def _plain(text: str) -> str:
    """Words alone, with a space around each, so that no word is found inside another."""
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return f" {' '.join(words)} " if words else ""

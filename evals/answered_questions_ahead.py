"""Comparators of QB-RAG that search for a text which a language model writes first: HyDE and QA-RAG."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from prompts.questions import AheadReply
from prompts.shown import one_line
from tools.questions.by_model import SHOWN_QUESTION, TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prompts.language_model import LanguageModel

Writes = Literal["document", "answer"]
AHEAD: dict[str, Writes] = {"hyde": "document", "qa_rag": "answer"}
NO_MODEL = {
    "hyde": "a language model writes the hypothetical document; set ANAMNESIS_MODEL",
    "qa_rag": "a language model writes the pseudo-answer; set ANAMNESIS_MODEL",
}


def write_ahead(model: LanguageModel, system: str, asked: Sequence[str]) -> list[str]:
    """A text for each question; where the model writes none, the question stands for it, as in the product.

    Raises:
        ServiceError: the model failed. No figure then rests on part of the questions.
    """
    return asyncio.run(_written(model, TEMPLATES[AHEAD[system]], asked))


async def _written(model: LanguageModel, template: str, asked: Sequence[str]) -> list[str]:
    async def one(question: str) -> str:
        reply, _ = await model.structured(template, AheadReply, question=one_line(question, SHOWN_QUESTION))
        return reply.text.strip() or question

    return list(await asyncio.gather(*(one(question) for question in asked)))

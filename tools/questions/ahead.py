"""Searching for a text that a language model wrote for the question: the comparators of QB-RAG."""

from __future__ import annotations

from typing import Literal

from prompts import tool_arguments
from prompts.language_model import LanguageModel
from prompts.questions import AheadReply
from prompts.shown import one_line
from prompts.tool_arguments import MAX_QUERY
from tools.contract import ToolArtifact, ToolContext
from tools.literature.tool import SearchLiterature

TEMPLATES = {"document": "hypothetical_document", "answer": "pseudo_answer"}
ASKED = 4000  # ours: characters of the question that a model is shown


class SearchedAhead:
    """``search_literature`` with a hypothetical document (HyDE) or a pseudo-answer (QA-RAG) in the question's place.

    What was written is a query and nothing else: it becomes no evidence, and the trace names it.

    Args:
        model: in the role ``background``.

    `run` raises ServiceError when the model fails: the question is not searched for in its place.
    """

    name = "search_literature"
    arguments = tool_arguments.SearchLiterature

    def __init__(self, search: SearchLiterature, model: LanguageModel, writes: Literal["document", "answer"]) -> None:
        self.description = search.description
        self._search, self._model, self._template = search, model, TEMPLATES[writes]

    async def run(self, arguments: tool_arguments.SearchLiterature, context: ToolContext) -> ToolArtifact:
        """Search for what the model writes."""
        reply, _ = await self._model.structured(self._template, AheadReply, question=one_line(arguments.query, ASKED))
        written = one_line(reply.text, MAX_QUERY) or arguments.query
        context.recorder.event("searched_ahead", template=self._template, text=written)
        return await self._search.run(arguments.model_copy(update={"query": written}), context)

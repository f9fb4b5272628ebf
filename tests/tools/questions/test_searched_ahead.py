"""HyDE and QA-RAG: what a model writes is searched for in the question's place, and is nothing but a query."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from prompts.errors import ServiceError
from prompts.language_model import Usage
from prompts.tool_arguments import SearchLiterature as Arguments
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.questions.by_model import SearchedAhead


class Search:
    """Remembers what it was asked."""

    description = "searches"

    def __init__(self) -> None:
        self.asked: list[Arguments] = []

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolArtifact:
        self.asked.append(arguments)
        return ToolArtifact(tool="search_literature", outcome=Outcome.NOTHING_FOUND)


class Model:
    def __init__(self, reply: str | ServiceError) -> None:
        self.reply, self.templates = reply, []  # type: ignore[var-annotated]

    async def structured(self, template: str, schema: type[BaseModel], **values: str) -> tuple[BaseModel, Usage]:
        self.templates.append((template, values))
        if isinstance(self.reply, ServiceError):
            raise self.reply
        return schema.model_validate({"text": self.reply}), Usage()


def searched(reply: str | ServiceError, writes: Literal["document", "answer"] = "document") -> tuple[Search, Model]:
    search, model = Search(), Model(reply)
    tool: Any = SearchedAhead(search, model, writes)  # type: ignore[arg-type]
    asyncio.run(tool.run(Arguments(query="What helps in gout?", limit=4), ToolContext(question="What helps in gout?")))
    return search, model


@pytest.mark.parametrize(("writes", "template"), [("document", "hypothetical_document"), ("answer", "pseudo_answer")])
def test_the_text_stands_in_the_questions_place(writes: Literal["document", "answer"], template: str) -> None:
    search, model = searched("Colchicine\neases attacks of gout.", writes)
    assert model.templates == [(template, {"question": "What helps in gout?"})]
    assert [(a.query, a.limit) for a in search.asked] == [("Colchicine eases attacks of gout.", 4)]


def test_a_model_that_knows_nothing_leaves_the_question_and_a_failing_one_is_told() -> None:
    assert searched(" ")[0].asked[0].query == "What helps in gout?"
    with pytest.raises(ServiceError):
        searched(ServiceError("down"))

"""The arguments of `ask`, and the tools as a client sees them before anything is opened."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, Field

from prompts import tool_arguments
from prompts.tool_arguments import MAX_QUERY, Arguments


class Ask(Arguments):
    """Arguments of ``ask``."""

    message: str = Field(
        min_length=1,
        max_length=MAX_QUERY,
        description="A case, a question, or the reply to the follow-up question that ended the last call.",
    )
    session: str | None = Field(
        default=None, description="The session to go on in, as an earlier answer names it; leave it out for a new one."
    )
    options: dict[str, str] | None = Field(default=None, description="For a multiple-choice question: letter to text.")
    given: list[str] = Field(
        default_factory=list, description="Texts to answer from in this turn, for example an abstract or a letter."
    )
    report: bool = Field(default=False, description="For a case: write a report beside the answer.")


class Offer(NamedTuple):
    """A tool as it is listed. ``open_world``: it may ask PubMed or a language model."""

    name: str
    title: str
    arguments: type[BaseModel]
    open_world: bool


FIVE = (
    Offer("search_literature", "Search medical literature", tool_arguments.SearchLiterature, True),
    Offer("retrieve_passages", "Read documents closely", tool_arguments.RetrievePassages, False),
    Offer("lookup_differential", "Rank diagnoses of a case", tool_arguments.LookupDifferential, False),
    Offer("fill_knowledge_gaps", "Find and fill gaps in the evidence", tool_arguments.FillKnowledgeGaps, True),
    Offer("find_answered_question", "Find a question already answered", tool_arguments.FindAnsweredQuestion, False),
)
ASK = Offer("ask", "Ask Anamnesis", Ask, True)

"""The arguments of the five tools, as a planner (a language model or the local one) fills them in."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

DESCRIPTIONS = Path(__file__).parent / "descriptions"
MAX_QUERY = 20_000  # characters; ours: a whole case fits, a whole book does not


class Arguments(BaseModel):
    """Base of the argument schemas: unknown fields are refused, so that a slip is noticed."""

    model_config = ConfigDict(extra="forbid")


class SearchLiterature(Arguments):
    """Arguments of ``search_literature``."""

    query: str = Field(
        min_length=2,
        max_length=MAX_QUERY,
        description=(
            "What is looked for, in one English sentence; for a patient's case its leading findings. A query in "
            "PubMed's own language, a DOI, `PMID 123` or a trial's number is run as it stands."
        ),
    )
    terms: list[str] = Field(
        default_factory=list,
        description=(
            "Two to six medical terms in English, in the singular, the most telling first, each of at most four words, "
            "everyday words turned into medical ones; other names behind a bar: acid reflux | gastro-oesophageal "
            "reflux. Nothing about persons: names, ages, places, dates."
        ),
    )
    limit: int = Field(default=8, ge=1, le=50, description="How many documents to return.")


class RetrievePassages(Arguments):
    """Arguments of ``retrieve_passages``."""

    query: str = Field(min_length=2, max_length=MAX_QUERY, description="What the passages should answer.")
    documents: list[str] = Field(
        default_factory=list,
        description=(
            "Ids of documents to read, as tools returned them (library:gerd, pubmed:12345678, pmc:PMC123). "
            "Empty: the best documents of the library for the query."
        ),
    )
    limit: int = Field(default=6, ge=1, le=30, description="How many passages to return.")


class LookupDifferential(Arguments):
    """Arguments of ``lookup_differential``: a case, findings, or both."""

    case: str = Field(default="", max_length=MAX_QUERY, description="The patient's case, as told.")
    findings: list[str] = Field(
        default_factory=list,
        max_length=30,
        description="The case's findings in medical terms, absent ones with `no`: retrosternal burning, no dysphagia.",
    )
    hypotheses: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="Diagnoses that you consider, by name: each is compared with the case, wherever it ranks.",
    )
    limit: int = Field(default=10, ge=1, le=50, description="How many diseases to rank.")


class FillKnowledgeGaps(Arguments):
    """Arguments of ``fill_knowledge_gaps``."""

    question: str = Field(min_length=2, max_length=MAX_QUERY, description="The question that must be answered.")
    requirements: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="What one must know to answer it. Empty: the tool works them out.",
    )


class FindAnsweredQuestion(Arguments):
    """Arguments of ``find_answered_question``."""

    question: str = Field(min_length=2, max_length=MAX_QUERY, description="The question, standing alone.")
    limit: int = Field(default=3, ge=1, le=20, description="How many answered questions to return.")


def description(tool: str) -> str:
    """The text that tells a planner what a tool does, when to call it and when not."""
    return (DESCRIPTIONS / f"{tool}.md").read_text(encoding="utf-8").strip()

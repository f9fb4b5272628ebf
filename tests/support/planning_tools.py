"""The five tools as a planner knows them, with results that a test can read, and a machine around a planner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, SecretStr

from prompts import tool_arguments
from prompts.errors import ToolError
from prompts.language_model import LanguageModel, ModelSettings
from prompts.model_settings import Role
from support.ranked import ranked
from tools.contract import Differential, Gap, Outcome, ToolArtifact, ToolContext
from tools.evidence import Evidence, Origin

SCHEMAS: dict[str, type[BaseModel]] = {
    "search_literature": tool_arguments.SearchLiterature,
    "retrieve_passages": tool_arguments.RetrievePassages,
    "lookup_differential": tool_arguments.LookupDifferential,
    "fill_knowledge_gaps": tool_arguments.FillKnowledgeGaps,
    "find_answered_question": tool_arguments.FindAnsweredQuestion,
}
TEXT = "Dexamethasone relieves croup within 6 hours."
GERD = ranked("gerd", 0.7, name="Acid reflux", icd10="K21.9", findings_for=("heartburn",))


@dataclass
class PlainTool:
    """A tool that finds one text, ranks one disease, or covers one requirement, and remembers its calls."""

    name: str
    called: list[dict[str, Any]] = field(default_factory=list)
    unknown: str = "library:invented"
    text: str = TEXT

    @property
    def description(self) -> str:
        return tool_arguments.description(self.name)

    @property
    def arguments(self) -> type[BaseModel]:
        return SCHEMAS[self.name]

    async def run(self, arguments: BaseModel, context: ToolContext) -> ToolArtifact:
        self.called.append(arguments.model_dump())
        if self.name == "fill_knowledge_gaps" and not context.retrieved:
            return ToolArtifact(tool=self.name, outcome=Outcome.REFUSED)
        if self.unknown in getattr(arguments, "documents", ()):
            raise ToolError(f"These documents are not known: {self.unknown}.")
        if self.name == "lookup_differential":
            return ToolArtifact(tool=self.name, differential=Differential(ranking=(GERD,)))
        if self.name == "fill_knowledge_gaps":
            return ToolArtifact(tool=self.name, gaps=[Gap(requirement="dose", query="dose", covered_by=("x",))])
        span = f"library:croup@0-{len(self.text)}"
        item = Evidence(id=span, text=self.text, title="Croup", kind="monograph", origin=Origin.RETRIEVED)
        return ToolArtifact(tool=self.name, evidence=[item])


def five_tools(text: str = TEXT) -> list[PlainTool]:
    """One of each."""
    return [PlainTool(name, text=text) for name in SCHEMAS]


def model_at(url: str, role: Role, **settings: Any) -> LanguageModel:
    """A language model at an address, quick to give up."""
    values = {"timeout": 3.0, "max_retries": 0} | settings
    return LanguageModel(ModelSettings(name="m", base_url=url, api_key=SecretStr("k"), **values), role)

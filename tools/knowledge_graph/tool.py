"""The tool ``lookup_differential``: a researched case in the knowledge graph, ranked with what similar records say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from prompts.tool_arguments import LookupDifferential as Arguments
from prompts.tool_arguments import description
from tools.contract import Notice, Outcome, RankedDisease, ToolArtifact, ToolContext
from tools.evidence import Found
from tools.knowledge_graph.lookup import KnowledgeGraph

CITED = 5  # ours: diseases whose entries come with a look-up as evidence
CITED_SHARE = 0.01  # ours: less belief than this is no reason to cite an entry
RECORDS_SPOKE = {
    "en": "Records of the collection spoke for: {named}.",
    "zh": "病历库中的记录支持：{named}。",
}


class LookupDifferential:
    """The tool ``lookup_differential``."""

    name = "lookup_differential"
    arguments = Arguments

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self.description = description(self.name)

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        """Look the case up; the work is done in a thread, so that the event loop stays free."""
        asked = Arguments.model_validate(arguments, from_attributes=True)
        found = await asyncio.to_thread(
            self._graph.look_up, asked.case, context.language, asked.limit, tuple(context.findings), learn=True
        )
        context.recorder.event(
            "differential",
            findings=[f.id for f in found.findings],
            ranking=[(r.disease, round(r.score, 4)) for r in found.ranking],
            winners=list(found.winners),
        )
        if not found.ranking:
            text = (
                "图谱未能识别病例中的任何表现。"
                if context.language == "zh"
                else "The graph knows none of the case's findings."
            )
            notices = [Notice(code="no_known_finding", text=text)]
            return ToolArtifact(tool=self.name, outcome=Outcome.NOTHING_FOUND, differential=found, notices=notices)
        cited = [r for r in found.ranking[:CITED] if r.score >= CITED_SHARE]
        evidence = [
            self._graph.evidence_for(r.disease, context.language, r.evidence_id).model_copy(
                update={"found": (Found(tool=self.name, stream=_stream(r), rank=n, score=r.score),)}
            )
            for n, r in enumerate(cited, start=1)
        ]
        notices = _records_spoke(cited, context.language)
        return ToolArtifact(tool=self.name, evidence=evidence, differential=found, notices=notices)


def _stream(line: RankedDisease) -> str:
    """Where a line comes from: a diagnosis that the graph lacks has no category."""
    return "graph" if line.l2 else "records"


def _records_spoke(cited: Sequence[RankedDisease], language: str) -> list[Notice]:
    """How many records spoke for each disease that is cited; nothing where none did."""
    chinese = language == "zh"
    named = [f"{d.name_zh if chinese and d.name_zh else d.name} ({len(d.records)})" for d in cited if d.records]
    if not named:
        return []
    text = RECORDS_SPOKE["zh" if chinese else "en"].format(named=("、" if chinese else ", ").join(named))
    return [Notice(code="records_spoke", text=text)]

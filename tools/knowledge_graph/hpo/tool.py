"""`lookup_differential` with rare diseases beside the common ones: where the settings or the case ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from prompts.tool_arguments import LookupDifferential as Arguments
from tools.contract import Differential, Notice, Outcome, Tool, ToolArtifact, ToolContext
from tools.evidence import Evidence, Found
from tools.knowledge_graph.hpo.asking import asks_for_rare
from tools.knowledge_graph.hpo.lookup import RareRanking
from tools.rare_diseases import RareDisease

TOLD = 3  # ours: present phenotypes that a ranking needs; the evaluation's own least number
SHOWN = 5  # ours: diseases shown
CITED = 3  # ours: diseases whose entries come as evidence
ENGLISH_ONLY = "罕见病排序目前只能读取英文病例。"


class Ranks(Protocol):
    """What the tool needs of `tools.knowledge_graph.hpo.lookup.RareDiseases`."""

    def rank_text(self, text: str, limit: int = 10) -> RareRanking:
        """The ranking for a case told in English."""

    def evidence_for(self, disease: str) -> Evidence:
        """The entry of a disease."""


def present_terms(found: RareRanking) -> int:
    """How many different phenotypes a ranking rests on."""
    return len({t.id for t in found.terms if t.present})


class WithRareDiseases:
    """The tool ``lookup_differential`` of a common graph, with a section of rare diseases over HPO.

    Args:
        common: the tool for the common graph.
        rare: opened at the first call that needs it, because most need none.
        always: rank rare diseases for every case; else only for those that ask.
    """

    def __init__(self, common: Tool, rare: Callable[[], Ranks], *, always: bool) -> None:
        self._common, self._open, self._always = common, rare, always
        self.name, self.arguments, self.description = common.name, common.arguments, common.description

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        """The common differential, and beside it what the ontology ranks."""
        asked = Arguments.model_validate(arguments, from_attributes=True)
        artifact = await self._common.run(arguments, context)
        if not (self._always or asks_for_rare(asked.case)):
            return artifact
        if context.language == "zh":
            notice = Notice(code="rare_diseases_english_only", text=ENGLISH_ONLY)
            return artifact.model_copy(update={"notices": [*artifact.notices, notice]})
        return await asyncio.to_thread(self._added, asked.case, artifact, context)

    def _added(self, case: str, artifact: ToolArtifact, context: ToolContext) -> ToolArtifact:
        ranks = self._open()
        found = ranks.rank_text(case, SHOWN)
        context.recorder.event(
            "rare_diseases",
            terms=[(t.id, t.present) for t in found.terms],
            ranking=[(r.disease, round(r.score, 4)) for r in found.ranking],
        )
        present = present_terms(found)
        if present < TOLD:
            text = f"Rare diseases were not ranked: {present} phenotype(s) were recognised, {TOLD} are needed."
            notice = Notice(code="too_few_phenotypes", text=text)
            return artifact.model_copy(update={"notices": [*artifact.notices, notice]})
        differential = artifact.differential or Differential()
        return artifact.model_copy(
            update={
                "outcome": Outcome.OK,
                "differential": differential.model_copy(update={"rare": found.ranking}),
                "evidence": [*artifact.evidence, *self._entries(ranks, found)],
            }
        )

    def _entries(self, ranks: Ranks, found: RareRanking) -> list[Evidence]:
        def entry(number: int, line: RareDisease) -> Evidence:
            way = Found(tool=self.name, stream="hpo", rank=number, score=line.score)
            return ranks.evidence_for(line.disease).model_copy(update={"found": (way,)})

        return [entry(n, line) for n, line in enumerate(found.ranking[:CITED], start=1)]

"""K, similar records and what a planner added reach the answerer and the answer whole, whatever is selected or kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agent.agent import Agent
from agent.settings import Settings
from graphs.differential_filter.contract import Stance, Verdict
from graphs.kads.contract import Dropped, Selection, SelectionContext
from support.machine_parts import Query, Scripted, parts
from support.ranked import ranked
from tools.contract import Differential, Finding, Hypothesis, SimilarRecord, ToolArtifact, ToolContext
from tools.evidence import Evidence

DISEASE = ranked("d", 1, name="D")
FOUND = Differential(
    findings=(Finding(id="cough", name="cough", clause="cough"),),
    added=(Finding(id="fever", name="fever", clause="no fever", present=False),),
    hypotheses=(Hypothesis(name="D", disease=DISEASE, place=3), Hypothesis(name="unheard of")),
    ranking=(DISEASE,),
    contrasts=tuple(f"D | symptomatology | feature {i}" for i in range(60)),
    similar=tuple(SimilarRecord(id=f"record:{i}", diagnosis="D", text="t" * 3000, similarity=0.5) for i in range(5)),
)


@dataclass
class LookUpTool:
    name: str = "search_literature"
    description: str = "Look up."
    arguments: type[BaseModel] = Query

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        return ToolArtifact(tool=self.name, differential=FOUND)


class Strict(Scripted):
    """Keeps no document."""

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        dropped = tuple(Dropped(evidence_id=e.id, reason="strict") for e in candidates)
        return Selection(requirements=tuple(requirements), kept=(), dropped=dropped, generated_share=0)

    async def judge(
        self, question: str, kind: str, findings: Any, differential: Any, documents: Sequence[Evidence]
    ) -> list[Verdict]:
        return [
            Verdict(evidence_id=d.id, keep=False, stance=Stance.RELEVANT, support=0, reason="strict") for d in documents
        ]


@pytest.mark.parametrize("message", ["case: this is enough", "case: more is needed"])
def test_neither_the_selector_nor_the_filter_touches_them(message: str, tmp_path: Path) -> None:
    script = Strict()
    made = replace(parts(script), tools=[LookUpTool()], look_up=lambda *_: FOUND)
    with Agent(Settings(home=tmp_path / "home"), parts=made) as agent:
        answer = agent.ask(message)
    assert script.views[-1].differential == FOUND
    assert tuple(answer.contrasts) == FOUND.contrasts
    assert tuple(answer.similar_records) == FOUND.similar
    assert (tuple(answer.added), tuple(answer.hypotheses)) == (FOUND.added, FOUND.hypotheses)

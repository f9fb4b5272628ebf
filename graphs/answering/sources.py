"""What a model is shown to answer from: numbered documents and background, the case's differential; one line each.

A model sees numbers, never ids: they cost less, and none that it invents can become a real id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphs.answering.contract import AnswerView
from prompts.answer import BACKGROUND_RULES
from prompts.shown import one_line
from tools.contract import Differential, Finding, RankedDisease
from tools.evidence import Evidence, Origin
from tools.messages import messages

Generated = Literal["off", "context", "allowed"]

ROOM = 36_000  # ours: characters of all documents together, about 9,000 tokens; each may have an equal share
MOST = 24  # ours: documents that one call shows; given texts come first, and there are at most 20
BACKGROUND = 2_000  # ours: characters of one background; it is asked for in 256 tokens (MedRGAG, paper)
QUESTION = 20_000  # ours: characters of the question, the longest message that is taken by default
RECORD = 2_000  # ours: characters of a similar record; the answer shows it whole
DISEASES = 10  # ours: diseases of the ranking that the model is shown
NOTHING = "(none)"


@dataclass(frozen=True)
class Sources:
    """Numbered texts. ``documents`` may be cited; ``background`` is generated text, shown by the policy."""

    documents: tuple[Evidence, ...]
    background: tuple[Evidence, ...] = ()
    policy: Generated = "context"

    def document(self, label: str) -> Evidence | None:
        """The document of a number, None for one that was not given."""
        at = int(label) - 1 if label.isascii() and label.isdigit() else -1
        return self.documents[at] if 0 <= at < len(self.documents) else None

    def generated(self, label: str) -> Evidence | None:
        """The background of a label (``B1``), None for one that was not given."""
        at = int(label[1:]) - 1 if label[:1] == "B" and label[1:].isdigit() else -1
        return self.background[at] if 0 <= at < len(self.background) else None

    @property
    def rule(self) -> str:
        """What the model is told about background."""
        return BACKGROUND_RULES[self.policy if self.background else ""]

    @property
    def shown(self) -> str:
        """The documents, one a line: number, origin, title and section, text; then the background."""
        room = ROOM // max(len(self.documents), 1)
        lines = [f"[{n}] {_named(e)} | {one_line(e.text, room)}" for n, e in enumerate(self.documents, start=1)]
        if self.background:
            lines.append("\nBackground, not evidence:")
            lines += [f"[B{n}] {one_line(e.text, BACKGROUND)}" for n, e in enumerate(self.background, start=1)]
        return "\n".join(lines) or NOTHING


def sources_of(view: AnswerView, entries: Sequence[Evidence] = (), policy: Generated = "context") -> Sources:
    """The sources of a turn: the graph's entries, what was kept, the documents of answered questions; background.

    On the direct path nothing was retrieved: the graph's entries alone.
    """
    kept = [*entries, *view.evidence, *(a.evidence for a in view.answered)]
    origins = (Origin.KNOWLEDGE_GRAPH,) if view.path == "direct" else (*Origin,)
    citable = {e.id: e for e in kept if e.citable and e.origin in origins}
    background = [e for e in view.evidence if e.origin is Origin.GENERATED and policy != "off"]
    first = sorted(citable.values(), key=lambda e: e.origin is not Origin.CASE)  # given texts first; stable
    return Sources(tuple(first[:MOST]), tuple(background[:MOST]), policy)


def case_values(view: AnswerView) -> dict[str, str]:
    """What a template on a case asks for beside the documents: findings, diagnoses, K and similar records, whole."""
    differential = view.differential or Differential()
    ranked = [_ranked(n, d, view.language) for n, d in enumerate(differential.ranking[:DISEASES], start=1)]
    records = [f"{r.diagnosis} | {one_line(r.text, RECORD)}" for r in differential.similar]
    return {
        "findings": "; ".join(_finding(f) for f in view.findings if f.present is not None) or NOTHING,
        "diseases": "\n".join(ranked) or NOTHING,
        "contrasts": "\n".join(one_line(line, RECORD) for line in differential.contrasts) or NOTHING,
        "records": "\n".join(records) or NOTHING,
    }


def remarks_of(view: AnswerView) -> str:
    """What the research left open, as a line of the prompt; "" when nothing."""
    openly = [one_line(g.requirement, 200) for g in view.gaps if not g.covered_by]
    return f"\nNothing was found on: {'; '.join(openly)}\n" if openly else ""


def question_of(view: AnswerView) -> str:
    """The question on one line."""
    return one_line(view.question, QUESTION)


def _named(item: Evidence) -> str:
    origin = {Origin.KNOWLEDGE_GRAPH: "knowledge graph", Origin.CASE: "given with the question"}.get(
        item.origin, "retrieved"
    )
    details = [origin, *(d for d in (item.level, item.date, item.title, item.section) if d)]
    return one_line(", ".join(details), 300)


def _finding(finding: Finding) -> str:
    side = f" ({finding.side})" if finding.side else ""
    return one_line(f"{'' if finding.present else 'no '}{finding.name}{side}", 200)


def _ranked(place: int, disease: RankedDisease, language: str) -> str:
    name = messages(language).name_of(disease)
    code = f" ({disease.icd10})" if disease.icd10 else ""
    parts = [("fits", disease.findings_for), ("against", disease.findings_against), ("not told", disease.missing)]
    told = "; ".join(f"{label}: {', '.join(found)}" for label, found in parts if found)
    return one_line(f"{place}. {name}{code} | {told}", RECORD)

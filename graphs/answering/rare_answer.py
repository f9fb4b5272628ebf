"""Rare diseases beside a differential: one line a disease, quoted from its entry of the phenotype ontology."""

from __future__ import annotations

from graphs.answering.contract import AnswerView
from graphs.answering.ports import GraphEntries
from tools.evidence import Evidence, Statement, cite
from tools.knowledge_graph.hpo.lookup import sentence_of
from tools.rare_diseases import RareDisease

LINES = 3  # ours: rare diseases told; the answer's own field holds more
QUOTES = 3  # ours: quotes a line
LEAD = "Rare disease to consider: "


class RareWriter:
    """Writes the lines on rare diseases.

    Args:
        graph: entries that the view does not hold.
    """

    def __init__(self, graph: GraphEntries | None = None) -> None:
        self._graph = graph

    def lines(self, view: AnswerView) -> tuple[list[Statement], list[Evidence]]:
        """One statement a rare disease, best first, and the entries that they cite; none where none was asked for."""
        ranking = view.differential.rare if view.differential is not None else ()
        statements: list[Statement] = []
        entries: list[Evidence] = []
        for disease in ranking[:LINES]:
            entry = self._entry(disease, view)
            statement = _line(disease, entry) if entry is not None else None
            if entry is not None and statement is not None:
                statements.append(statement)
                entries.append(entry)
        return statements, entries

    def _entry(self, disease: RareDisease, view: AnswerView) -> Evidence | None:
        held = next((e for e in view.evidence if e.id == disease.evidence_id), None)
        if held is not None or self._graph is None:
            return held
        return self._graph.entry(disease.disease, view.language)


def _line(disease: RareDisease, entry: Evidence) -> Statement | None:
    """The line of a disease; None when its entry has no sentence on a finding that fits."""
    spans = [s for f in disease.findings_for if (s := sentence_of(entry, f)) is not None][:QUOTES]
    if not spans:
        return None
    citations = tuple(cite(entry, start, end) for start, end in spans)
    text = f"{disease.name}. {LEAD}" + " ".join(c.quote for c in citations)
    return Statement(text=text, origin=entry.origin, citations=citations)

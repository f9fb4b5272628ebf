"""What tells a known disease apart, from texts that people wrote: the starter graph and the library's monographs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.knowledge_graph.building.contract import Distinction, Merge
from tools.knowledge_graph.schema import Graph
from tools.library.document import Document
from tools.text.sentences import split_sentences

SECTION = "Confused with"  # docs/knowledge-format.md: what a monograph tells of a disease's neighbours


class AugmentationLocal:
    """For a disease that the starter graph knows: its edges of role a, and the sentences of its monograph.

    Args:
        graph: the starter graph.
        monographs: the library's monographs by the graph's id of their disease.
    """

    def __init__(self, graph: Graph, monographs: Mapping[str, Document]) -> None:
        self._graph, self._monographs = graph, monographs

    async def augment(self, disease: Merge, neighbours: Sequence[str]) -> list[Distinction]:
        """See `Augmentation`; nothing for a disease that the starter graph does not know."""
        del neighbours
        known = self._graph.disease.get(disease.known)
        if known is None:
            return []
        out = [
            Distinction(
                text=self._graph.finding[e.finding].name,
                relation=self._graph.finding[e.finding].relation,
                source=self._graph.about.name,
                finding=e.finding,
                against=e.how_often == "absent",
            )
            for e in known.manifestations
            if "a" in e.roles
        ]
        text = self._monographs.get(known.id)
        return out + (_sentences(text) if text is not None else [])


def _sentences(monograph: Document) -> list[Distinction]:
    """The sentences of the section on what the disease is confused with, each with its span."""
    return [
        Distinction(
            text=monograph.text[section.start + span.start : section.start + span.end],
            source=monograph.span_id(section.start + span.start, section.start + span.end),
        )
        for section in monograph.sections
        if section.title == SECTION
        for span in split_sentences(monograph.text[section.start : section.end])
    ]

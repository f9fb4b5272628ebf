"""Aggregation to L2 and L1 by the blocks and chapters of ICD-10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tools.icd10 import ICD10
from tools.knowledge_graph.building.codes import topic_name
from tools.knowledge_graph.building.contract import UNCLASSIFIED, Named, Topic


class TopicsLocal:
    """L2 is the block of a disease's code, L1 the chapter of the block; without a code both are unclassified."""

    def __init__(self, table: ICD10) -> None:
        self._table = table
        self._chapter = {row.block: row.chapter for row in table.codes()}

    async def group(self, nodes: Sequence[Named], level: Literal["l2", "l1"]) -> list[Topic]:
        """See `Topics`."""
        members: dict[str, list[int]] = {}
        for at, node in enumerate(nodes):
            members.setdefault(
                self._block(node.code) if level == "l2" else self._chapter.get(node.code, ""), []
            ).append(at)
        return [
            Topic(name=(topic_name(code) if code else "") or UNCLASSIFIED, members=tuple(positions), code=code)
            for code, positions in members.items()
        ]

    def _block(self, code: str) -> str:
        found = self._table.nearest(code) if code else None
        return found.block if found is not None else ""

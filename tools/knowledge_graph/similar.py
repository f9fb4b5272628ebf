"""Similar records (d_tau of MedRAG, arXiv 2502.04413): the top k of a collection of records by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tools.contract import SimilarRecord
from tools.encoders import Encoder
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.building.records import read_records

TOP_K = 3  # ours: the source leaves k open; three records can be read beside an answer


class RecordCollection:
    """Records in memory with their vectors.

    Args:
        records: the records. encoder: of records and cases; its own cache keeps the vectors of the records.
    """

    def __init__(self, records: Sequence[Record], encoder: Encoder) -> None:
        self.records, self._encoder = tuple(records), encoder
        self._vectors = encoder.encode_documents([r.text for r in records])

    @classmethod
    def open(cls, path: Path, encoder: Encoder) -> RecordCollection:
        """The collection of a file that `kg build` reads too; raises InputError or DataError as that does."""
        return cls(read_records(path), encoder)

    def __len__(self) -> int:
        """Number of records."""
        return len(self.records)

    def similar(self, case: str, k: int = TOP_K) -> tuple[SimilarRecord, ...]:
        """The k records nearest to a case, nearest first; texts beyond the encoder's limit are read to the limit."""
        cosines = self._vectors @ self._encoder.encode_queries([case])[0]
        return tuple(
            SimilarRecord(
                id=f"record:{self.records[i].id}",
                diagnosis=self.records[i].diagnosis,
                text=self.records[i].text,
                similarity=round(float(cosines[i]), 4),
            )
            for i in np.argsort(-cosines, kind="stable")[:k]
        )

"""Where the indexes of built collections lie."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from prompts.model_settings import Address


class IndexSettings(BaseModel):
    """Indexes of collections, as ``ANAMNESIS_INDEX__...``.

    Attributes:
        backend: ``local`` files of the data folder; ``milvus`` a Milvus.
        address: of a Milvus server or cluster; "" runs the embedded Milvus Lite in the data folder, for one process.
        token: of that server. database: of that server; "" its default one.
        timeout: seconds that a request may take (ours). longest: seconds that writing a built collection to disk and
            loading it may take (ours: a cluster builds its indexes meanwhile).
        vectors: ``exact`` compares every vector; ``approximate`` by a graph (HNSW), for millions. Of Milvus.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    backend: Literal["local", "milvus"] = "local"
    address: Address = ""
    token: SecretStr | None = None
    database: str = ""
    timeout: float = Field(default=30.0, gt=0)
    longest: float = Field(default=3600.0, gt=0)
    vectors: Literal["exact", "approximate"] = "exact"

"""How collections are built on several machines."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RaySettings(BaseModel):
    """The engine ``ray``, as ``ANAMNESIS_RAY__...``.

    Attributes:
        address: of a running cluster (``auto``, ``HOST:6379``), all of whose machines must reach the folder of the
            collection and the source by the same paths; "" starts one on this machine, for the build alone.
        object_store: megabytes of shared memory of a cluster on this machine (ours: publications on their way to an
            embedder; Ray's own default is a third of the memory).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str = ""
    object_store: int = Field(default=256, ge=80)

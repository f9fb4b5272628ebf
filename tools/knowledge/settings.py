"""How open sources are had and searched."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class KnowledgeSettings(BaseModel):
    """Open sources, as ``ANAMNESIS_KNOWLEDGE__...``.

    Attributes:
        live: whether `anamnesis knowledge` may download what the catalogue names.
        search: the imported sources that the agent searches: ``all``, ``none``, or names parted by commas.
        timeout: seconds of silence after which a download is given up; what came is kept (ours).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    live: Literal["on", "off"] = "off"
    search: str = Field(default="all", pattern=r"^[a-z0-9_, -]*$")
    timeout: float = Field(default=60.0, gt=0)

    def searches(self, name: str) -> bool:
        """Whether an imported source is searched."""
        return self.search == "all" or name in {part.strip() for part in self.search.split(",")}

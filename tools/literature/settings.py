"""Settings of the literature tool."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"


class LiteratureSettings(BaseModel):
    """How PubMed is asked.

    Attributes:
        live: ``off`` sends nothing; ``auto`` asks when PubMed can be reached; ``on`` also warns when it cannot.
        email: who asks, as NCBI wishes to know.
        api_key: raises NCBI's limit from 3 to 10 requests a second.
        base_url: NCBI's E-utilities, or a mirror that speaks the same.
        timeout: seconds a request may take. probe_timeout: seconds to find out whether PubMed can be reached.
        enough: documents after which the ladder stops (ours: CoMeta does not publish its number).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    live: Literal["auto", "on", "off"] = "auto"
    email: str = ""
    api_key: SecretStr | None = None
    base_url: str = Field(default=NCBI, pattern=r"^https?://")
    timeout: float = Field(default=10.0, gt=0)
    probe_timeout: float = Field(default=3.0, gt=0)
    enough: int = Field(default=20, ge=1, le=200)

    @property
    def key(self) -> str:
        """The key in clear, "" when there is none."""
        return "" if self.api_key is None else self.api_key.get_secret_value()

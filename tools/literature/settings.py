"""Settings of the literature tool."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from tools.fusion import RRF_K
from tools.literature.adapt_e.contract import Rungs

NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
CEILING = 9_999  # PubMed lists the first 9,999 records of a search (E-utilities manual, ESearch, retstart)


class LiteratureSettings(BaseModel):
    """How PubMed is asked.

    Attributes:
        live: ``off`` sends nothing; ``auto`` asks when PubMed can be reached; ``on`` also warns when it cannot.
        email: who asks, as NCBI wishes to know.
        api_key: raises NCBI's limit from 3 to 10 requests a second.
        base_url: NCBI's E-utilities, or a mirror that speaks the same.
        mirror: folder of a local mirror, searched in this process instead, whatever ``live`` says.
        timeout: seconds of silence after which a request is given up. longest: seconds one may take in all (ours: a
            batch of full texts is some 10 MB). probe_timeout: seconds to find out whether PubMed can be reached.
        attempts: how often a request is sent at most (ours). longest_wait: seconds of Retry-After that are waited
            for (ours: who must wait longer is told).
        concurrency: requests at once (ours; NCBI limits starts only).
        batch: records an efetch (NCBI recommends POST from 200 ids on).
        cache: keep answers on disk. cache_folder: where; None keeps them in memory while the process lives.
        search_days, record_days: days that a kept search, or record, may be used (ours: PubMed grows daily, a record
            rarely changes). cache_mb: the most the kept answers may take (ours).
        workers: processes that may ask at once, when they cannot count together: each then starts at its own of so many
            places of the clock (ours).
        database: where all workers of a site count their requests and keep answers; the agent sets it
            (``ANAMNESIS_DATABASE``). shared_folder: where the processes of a machine count without one; the agent sets
            it; None counts in this process alone.
        depth: 1 abstracts; 2 also the full text of reviews; 3 also that of other articles (CoMeta, D1 to D3).
        full_texts: full texts read a search at most (ours). full_text_seconds: that fetching them may take (ours:
            an answer should not wait longer for them; the abstracts stay).
        enough: documents after which the ladder stops, and that a rung lists (ours: as many as are read; CoMeta does
            not publish its number).
        full_text_folder: JATS files of PubMed Central (its open-access subset), read before anything else is asked.
        reading: ``closely``: of a full text the pieces that say most are handed on; ``whole``: all of it, for
            `retrieve_passages` to cut (CoMeta).
        library: ``beside``: it is always searched too; ``instead``: only where PubMed was not, or could not be, asked
            (CoMeta searches PubMed alone).
        method: ``hybrid``: the ladder, words and meaning together; ``per_source``: documents of each source by BM25,
            the best of them by a cross-encoder (MedRGAG).
        rungs: ``terms``: the abstraction drops the least telling term, then takes classes; ``pico``: it asks for the
            question's population, intervention, comparison and outcome (CoMeta).
        spelling: ``terms``: misspelt terms are put right; ``text``: every word of the question is, before it is planned
            (CoMeta's error correction).
        rrf_k: constant of the reciprocal rank fusion of PubMed's order with that by meaning.
        fusion: how the records that were read are put in order: ``weighted`` by meaning, the question's words and the
            plan's terms (`tools.literature.hybrid`); ``rrf`` by ranks, as CoMeta publishes; ``ladder`` by the rungs
            alone, without meaning (Adapt-E by itself).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    live: Literal["auto", "on", "off"] = "auto"
    email: str = ""
    api_key: SecretStr | None = None
    base_url: str = Field(default=NCBI, pattern=r"^https?://")
    mirror: Path | None = None
    timeout: float = Field(default=10.0, gt=0)
    longest: float = Field(default=60.0, gt=0)
    probe_timeout: float = Field(default=3.0, gt=0)
    attempts: int = Field(default=3, ge=1, le=10)
    longest_wait: float = Field(default=20.0, ge=0)
    concurrency: int = Field(default=3, ge=1, le=10)
    batch: int = Field(default=200, ge=1, le=9_999)
    cache: bool = True
    cache_folder: Path | None = None
    search_days: float = Field(default=7.0, ge=0)
    record_days: float = Field(default=90.0, ge=0)
    cache_mb: int = Field(default=256, ge=1)
    workers: int = Field(default=4, ge=1, le=1000)
    database: SecretStr | None = None
    shared_folder: Path | None = None
    depth: Literal[1, 2, 3] = 2
    full_texts: int = Field(default=8, ge=0, le=200)
    full_text_seconds: float = Field(default=20.0, gt=0)
    enough: int = Field(default=60, ge=1, le=CEILING)
    full_text_folder: Path | None = None
    reading: Literal["closely", "whole"] = "closely"
    library: Literal["beside", "instead"] = "beside"
    method: Literal["hybrid", "per_source"] = "hybrid"
    rungs: Rungs = "terms"
    spelling: Literal["terms", "text"] = "terms"
    rrf_k: int = Field(default=RRF_K, ge=0)
    fusion: Literal["weighted", "rrf", "ladder"] = "weighted"

    @field_validator("depth", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        """The environment gives text."""
        return int(value) if isinstance(value, str) and value.strip().isdigit() else value

    @field_validator("mirror", "full_text_folder", "cache_folder", "shared_folder", "database", mode="before")
    @classmethod
    def _set(cls, value: object) -> object:
        """An empty variable of the environment is none."""
        return None if value == "" else value

    @field_validator("base_url")
    @classmethod
    def _without_login(cls, value: str) -> str:
        """An address is shown to the user, so it may hold no secret and nothing that follows its path."""
        parts = urlsplit(value)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("an address without login, query and fragment is needed")
        return value

    @property
    def key(self) -> str:
        """The key in clear, "" when there is none."""
        return "" if self.api_key is None else self.api_key.get_secret_value()

    @property
    def shared_database(self) -> str:
        """The database's address in clear, "" when there is none."""
        return "" if self.database is None else self.database.get_secret_value()

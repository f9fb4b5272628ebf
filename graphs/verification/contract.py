"""Verification: every cited statement against its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from graphs.answering.contract import Draft
from tools.evidence import Evidence


class Verifier(Protocol):
    """Checks a draft."""

    async def verify(self, draft: Draft, evidence: Mapping[str, Evidence]) -> Draft:
        """The draft with every unsupported statement mended once or dropped with a notice.

        Afterwards each citation is the exact slice of citable evidence in ``evidence`` or ``draft.evidence``.
        """

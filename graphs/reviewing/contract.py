"""Why an answer asks for a clinician's review."""

from __future__ import annotations

from enum import StrEnum

from tools.evidence import Frozen


class Risk(StrEnum):
    """What makes an answer one to review. Each is stable, for programs."""

    EMERGENCY = "emergency"
    MEDICINE = "medicine"
    UNSUPPORTED = "unsupported"
    CONCERN = "concern"
    PREGNANCY = "pregnancy"
    CHILD = "child"


class ReviewReason(Frozen):
    """One reason, in words, in the answer's language."""

    code: Risk
    text: str

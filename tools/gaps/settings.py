"""Settings of the gap tool: ours, and the published ones of MedRGAG."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.evidence import Frozen

Policy = Literal["off", "context", "allowed"]


class GapSettings(Frozen):
    """How gaps are found and filled.

    How the roles are called is a matter of the model's settings. The authors call explorer and generator at a
    temperature of 1.2 (paper and code). Ours calls them with the common one, 0 by default, because background is read
    once and is better steady than various. The authors limit background to 256 tokens (paper). Ours asks for 150 words
    and cuts the text, because a model that thinks would spend a limit of the request on its thinking.

    Attributes:
        together: one call reads all documents and names what is missing, and one writes background on all points
            (ours; off, published: a call a document, one for what is missing, and one a point).
        unretrieved: the tool is used before anything was retrieved too, and the explorer then names what is missing of
            all that the question needs (MedRGAG's ablation; off: a model would only guess, ours).
        documents: retrieved documents that are read, those that cover most first (ours; MedRGAG keeps five: paper).
        beside: further pieces of their pages that are read, each of which covers a need best (ours; none: published).
        points: gaps that are filled (three: code, the authors' explorer names three).
        results: pieces of evidence asked for a gap (ours).
        generated: ``off`` writes no background; how far an answer may rest on it otherwise is the answerer's matter.
        search_first: search for each gap, and write background only for what that left open (ours; off: published).
        conditioned: documents of background that are written for a gap each, at most.
        question_only: documents of background that are written for the question alone (two: paper; none: ours, since
            nothing says what they add that is missing).
        own_requirements: what the planner named, and when no summary is useful what the question itself asks, stay
            requirements whatever the explorer says (ours; off: published).
    """

    together: bool = True
    unretrieved: bool = False
    documents: int = Field(default=8, ge=1, le=50)
    beside: int = Field(default=2, ge=0, le=10)
    points: int = Field(default=3, ge=0, le=10)
    results: int = Field(default=3, ge=1, le=20)
    generated: Policy = "context"
    search_first: bool = True
    conditioned: int = Field(default=3, ge=0, le=10)
    question_only: int = Field(default=0, ge=0, le=10)
    own_requirements: bool = True


PUBLISHED = GapSettings(
    together=False,
    documents=5,
    beside=0,
    generated="allowed",
    search_first=False,
    question_only=2,
    own_requirements=False,
)  # paper and code: three gaps, three documents for them, two for the question alone

"""Settings of the gap tool: ours, the published ones of MedRGAG, and the arms of its ablations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from prompts.model_settings import Role, RoleSettings
from tools.evidence import Frozen

Policy = Literal["off", "context", "allowed"]


class GapSettings(Frozen):
    """How gaps are found and filled.

    Attributes:
        documents: retrieved documents that are summarised, those that cover most first (ours: as many requests as a
            server is sent at once; MedRGAG keeps five: paper).
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

    documents: int = Field(default=8, ge=1, le=50)
    points: int = Field(default=3, ge=0, le=10)
    results: int = Field(default=3, ge=1, le=20)
    generated: Policy = "context"
    search_first: bool = True
    conditioned: int = Field(default=3, ge=0, le=10)
    question_only: int = Field(default=0, ge=0, le=10)
    own_requirements: bool = True


PUBLISHED = GapSettings(
    documents=5, generated="allowed", search_first=False, question_only=2, own_requirements=False
)  # paper and code: three gaps, three documents for them, two for the question alone

# Arms of the paper's ablation that concern this tool. The one without KGCC and the one of MedGENIE's kind are alike
# here: five documents from the question alone. The number is ours: the total of the published setting.
ARMS: Mapping[str, GapSettings] = {
    "published": PUBLISHED,
    "without_generation": PUBLISHED.model_copy(update={"generated": "off"}),
    "question_only": PUBLISHED.model_copy(update={"points": 0, "conditioned": 0, "question_only": 5}),
}

FRAME = 64  # ours: tokens of the JSON around a published document of 256 tokens (paper)

# How the roles are called in the published configuration (paper and code): 1.2 for explorer and generator, 0.2 for the
# reader. Ours calls all with the common temperature, 0 by default: background is read once and is better steady than
# various. Ours sets no limit of tokens for the request either, because a model that thinks would spend it on thinking;
# the prompt asks for 150 words and the text is cut by us.
PUBLISHED_ROLES: Mapping[Role, RoleSettings] = {
    "gaps": RoleSettings(temperature=1.2),
    "background": RoleSettings(temperature=1.2, max_tokens=256 + FRAME),
    "answer": RoleSettings(temperature=0.2),
}

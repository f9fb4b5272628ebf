"""What the publication types and corrections of a record say of it: level of evidence, editorial status, depth."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.evidence import Status

# Level of evidence by PubMed's publication types, the first that fits; names of the levels are ours.
LEVELS = (
    ("guideline", {"Guideline", "Practice Guideline", "Consensus Development Conference"}),
    ("systematic review", {"Systematic Review"}),
    ("meta-analysis", {"Meta-Analysis", "Network Meta-Analysis"}),
    (
        "randomised trial",
        {"Randomized Controlled Trial", "Pragmatic Clinical Trial", "Equivalence Trial", "Adaptive Clinical Trial"},
    ),
    (
        "clinical trial",  # of any design: a phase alone does not tell that a trial was randomised
        {"Clinical Trial", "Controlled Clinical Trial"}
        | {f"Clinical Trial, Phase {phase}" for phase in ("I", "II", "III", "IV")},
    ),
    ("review", {"Review", "Scoping Review"}),
    ("observational study", {"Observational Study", "Twin Study"}),
    ("case report", {"Case Reports"}),
)
OTHER_LEVEL = "other"

# CoMeta reads the full text of type Review at depth 2; that these count as reviews too is ours.
REVIEWS = frozenset(
    {"Review", "Scoping Review", "Systematic Review", "Meta-Analysis", "Network Meta-Analysis"}
    | {"Guideline", "Practice Guideline", "Consensus Development Conference"}
)

NOTICES = frozenset({"Retraction of Publication", "Retraction Notice"})  # the type's older and newer name
# RefType of CommentsCorrections that say something about the record itself, the gravest first
STATUS_BY_REFERENCE = (
    (Status.RETRACTED, {"RetractionIn", "RetractedandRepublishedIn", "RetractedAndRepublishedIn"}),
    (Status.RETRACTION_NOTICE, {"RetractionOf", "PartialRetractionOf"}),
    (Status.CONCERN, {"ExpressionOfConcernIn", "ExpressionOfConcernFor", "PartialRetractionIn"}),
    (Status.CORRECTED, {"ErratumIn", "CorrectedandRepublishedIn", "CorrectedAndRepublishedIn", "UpdateIn"}),
)
# ours: publishers rename a title before PubMed sets the type, so the name alone is enough to be left out
RENAMED = re.compile(r"^\W*(?:retracted|withdrawn)(?:\s+(?:article|paper))?\s*[:.\]-]", re.IGNORECASE)


def level_of(publication_types: Sequence[str]) -> str:
    """The level of evidence that publication types stand for."""
    types = set(publication_types)
    return next((level for level, names in LEVELS if types & names), OTHER_LEVEL)


def is_review(publication_types: Sequence[str]) -> bool:
    """Whether the full text is read at depth 2."""
    return not REVIEWS.isdisjoint(publication_types)


def status_of(publication_types: Sequence[str], references: Sequence[str], title: str = "") -> Status:
    """The editorial status, the gravest that holds.

    Args:
        publication_types: as PubMed names them.
        references: RefType of every CommentsCorrections of the record.
        title: one that begins with RETRACTED or WITHDRAWN is believed.
    """
    types = set(publication_types)
    if "Retracted Publication" in types or RENAMED.match(title):
        return Status.RETRACTED
    preprint = "Preprint" in types
    for status, names in STATUS_BY_REFERENCE:
        if names & set(references) and not (preprint and status is Status.CORRECTED):
            return status
        if status is Status.RETRACTION_NOTICE and types & NOTICES:
            return status
    if "Expression of Concern" in types:
        return Status.CONCERN
    return Status.PREPRINT if preprint else Status.OK

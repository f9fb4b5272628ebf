"""The shapes of a model's replies when a graph is built from records, as the ``graph_*.md`` files ask for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from prompts.shown import Strict

Relation = Literal["symptomatology", "lifestyle", "anamnesis", "therapy", "exposure", "immunology", "psychopathology"]


class GroupReply(Strict):
    """Numbers of the list that belong together, and the name of all."""

    name: str = Field(min_length=1, max_length=120)
    members: list[int] = Field(min_length=1)


class GroupsReply(Strict):
    """Every number of the list, each in one group."""

    groups: list[GroupReply] = Field(min_length=1)


class ManifestationReply(Strict):
    """One manifestation, and the words of the record that tell it."""

    finding: str = Field(min_length=2, max_length=200)
    quote: str = Field(min_length=2)
    present: Literal["yes", "no", "maybe"] = "yes"
    relation: Relation = "symptomatology"
    side: Literal["left", "right", "both", "none"] = "none"
    value: str = Field(default="", max_length=40)
    relative: bool = False


class ManifestationsReply(Strict):
    """The manifestations of a record; none is a sound reply."""

    manifestations: list[ManifestationReply] = Field(max_length=200)


class DistinctionReply(Strict):
    """One feature that tells a disease apart."""

    text: str = Field(min_length=2, max_length=240)
    relation: Relation = "symptomatology"


class DistinctionsReply(Strict):
    """What tells a disease from its neighbours; none is a sound reply."""

    distinctions: list[DistinctionReply] = Field(max_length=30)

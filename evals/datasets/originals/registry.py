"""Every original format by its name."""

from __future__ import annotations

from evals.datasets.originals import (
    bioasq,
    clinicalbench,
    cmb_clin,
    cmemr,
    ddxplus,
    healthsearchqa,
    liveqa,
    medbrowsecomp,
    medquad,
    mirage,
    phenopackets,
    pubmedqa,
)
from evals.datasets.originals.contract import Original
from prompts.errors import InputError

ORIGINALS: dict[str, Original] = {
    original.name: original
    for original in (
        mirage.ORIGINAL,
        pubmedqa.ORIGINAL,
        bioasq.ORIGINAL,
        medquad.ORIGINAL,
        liveqa.ORIGINAL,
        ddxplus.ORIGINAL,
        cmb_clin.ORIGINAL,
        cmemr.ORIGINAL,
        clinicalbench.ORIGINAL,
        phenopackets.ORIGINAL,
        healthsearchqa.ORIGINAL,
        medbrowsecomp.ORIGINAL,
    )
}


def find_original(name: str) -> Original:
    """The format of this name; raises InputError that names the others."""
    original = ORIGINALS.get(name)
    if original is None:
        raise InputError(f"There is no original format {name!r}.", f"These can be read: {', '.join(ORIGINALS)}.")
    return original

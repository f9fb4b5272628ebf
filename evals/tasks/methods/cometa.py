"""CoMeta: PubMed by a Boolean ladder and by meaning, read at the depth of its type, cut by SEOS."""

from __future__ import annotations

from collections.abc import Sequence

from evals.datasets.literature import read_bioasq, read_collection
from evals.tasks.methods.check import Bench, Check, Places, Row, Seen, documents

NAME = "cometa"
PUBLISHED = ("pubmed:", "pmc:")  # what is of PubMed, and of PubMed Central


def questions(places: Places) -> Sequence[Row]:
    """BioASQ's questions whose gold documents the mirror holds."""
    held = frozenset(d.pmid for d in read_collection(places.data))
    return [Row(q.id, q.text, q.gold) for q in read_bioasq(places.data, held)]


def published(ids: Sequence[str]) -> list[str]:
    """The documents of PubMed and PubMed Central among some evidence."""
    return [d for d in documents(ids) if d.startswith(PUBLISHED)]


def cited(bench: Bench, row: Row) -> Seen:
    """Whether documents of PubMed are selected and cited, and nothing else."""
    turn = bench.turn(NAME, row)
    selected, cites = published(turn.selected), published(turn.cited)
    others = set(documents([*turn.selected, *turn.cited])) - {*selected, *cites}
    why = f"selected {len(selected)}, cited {len(cites)}, of other sources {len(others)}"
    return Seen(bool(selected and cites) and not others, why)


CHECKS = (Check("cometa.pubmed_cited", "documents of PubMed are selected and cited, and no others", questions, cited),)

"""What a planner reads of a tool's result: what it needs to decide what to do next, never whole documents."""

from __future__ import annotations

from collections.abc import Sequence

from tools.contract import Gap, RankedDisease, ToolArtifact
from tools.evidence import Evidence, Status

LINES = 12  # ours: documents, diseases, answered questions or gaps of a result that are shown
FIRST_WORDS = 160  # ours: characters of a document's first piece, a sentence or two
TITLE = 120  # ours: characters of a title
FINDINGS = 5  # ours: findings for and against a disease


def summarise(artifact: ToolArtifact, limit: int = LINES) -> str:
    """The short text of a result, one line a document, disease, answered question or gap.

    A document gives its id, title, kind of publication and year, how many pieces of it were found, and its first
    words. Entries of the graph, and documents that answer a question, are told in their own lines.
    """
    told = {a.evidence.document_id for a in artifact.answered}
    shown = [e for e in artifact.evidence if artifact.differential is None and e.document_id not in told]
    documents = _by_document(shown)
    pieces = f", {len(shown)} pieces of evidence of {len(documents)} documents" if documents else ""
    lines = [f"{artifact.tool}: {artifact.outcome.value}{pieces}"]
    lines += [_document_line(name, items) for name, items in list(documents.items())[:limit]]
    lines += [_left_out(len(documents) - limit, "documents")] if len(documents) > limit else []
    if artifact.differential is not None:
        ranking = artifact.differential.ranking
        lines += [_disease_line(place, d) for place, d in enumerate(ranking[:limit], start=1)]
        lines += [] if ranking else ["no disease of the graph explains the case"]
    lines += [
        f"answered: {a.question} (similarity {a.similarity:.2f}) -> {a.evidence.document_id} | "
        f"{_short(a.evidence.text[a.start : a.end] or a.evidence.text, FIRST_WORDS)}"
        for a in artifact.answered[:limit]
    ]
    lines += [_gap_line(gap) for gap in artifact.gaps[:limit]]
    lines += [f"notice: {_short(n.text, 2 * FIRST_WORDS)}" for n in artifact.notices[:limit]]
    return "\n".join(lines)


def _by_document(evidence: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    documents: dict[str, list[Evidence]] = {}
    for item in evidence:
        documents.setdefault(item.document_id, []).append(item)
    return documents


def _document_line(name: str, items: Sequence[Evidence]) -> str:
    first = items[0]
    facts = [
        first.level or (first.publication_types[0] if first.publication_types else first.kind),
        (first.date or "")[:4],
        first.status.value if first.status is not Status.OK else "",
        f"{len(items)} pieces" if len(items) > 1 else "",
    ]
    told = ", ".join(f for f in facts if f)
    return f"{name} | {_short(first.title, TITLE)} ({told}) | {_short(first.text, FIRST_WORDS)}"


def _disease_line(place: int, item: RankedDisease) -> str:
    against = f"; against: {', '.join(item.findings_against[:FINDINGS])}" if item.findings_against else ""
    return (
        f"{place}. {item.name} ({item.icd10}) {item.score:.2f}; for: {', '.join(item.findings_for[:FINDINGS])}{against}"
    )


def _gap_line(gap: Gap) -> str:
    return f"requirement: {gap.requirement}: {', '.join(gap.covered_by) or 'still a gap'}"


def _left_out(count: int, what: str) -> str:
    return f"({count} further {what} are not shown)"


def _short(text: str, limit: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[:limit].rsplit(" ", 1)[0] + " ..."

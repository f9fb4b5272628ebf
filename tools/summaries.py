"""What a planner reads of a tool's result: what it needs to decide what to do next, never whole documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from tools.contract import Differential, Finding, Gap, Hypothesis, Outcome, RankedDisease, ToolArtifact, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Status
from tools.passages.quotes import Quote, rank_sentences
from tools.reading.contract import Pair, Reader

LINES = 8  # ours: documents, diseases, answered questions or gaps of a result that are shown
TITLE = 120  # ours: characters of a title
FINDINGS = 5  # ours: findings for and against a disease
RARE = 3  # ours: rare diseases
SENTENCES = 3  # ours: sentences of a document that are shown
ROOM = 380  # ours: characters of all of them, some 95 tokens; the first is shown whole, up to `LONGEST`
LONGEST = 600  # ours: characters of one sentence
CANDIDATES = 6  # ours: nearest sentences of a document that are read for what they tell
TELLS = 0.5  # ours: probability of a result or a conclusion from which a third sentence is shown
TELLING = 0.5  # ours: what a sentence that states a result or a conclusion has over one that does not
Said = Callable[[str, Sequence[Evidence]], Mapping[str, str]]  # question, evidence: what each document says to it


def first_words(question: str, evidence: Sequence[Evidence]) -> dict[str, str]:
    """The beginning of each document, by its id."""
    del question
    firsts: dict[str, str] = {}
    for item in evidence:
        firsts.setdefault(item.document_id, _short(item.text, ROOM))
    return firsts


class TellingSentences:
    """The sentences of each document that say most to a question: near to it, and results or conclusions.

    Args:
        encoder: ranks sentences by meaning and words. reader: tells results and conclusions from aims and methods.
    """

    def __init__(self, encoder: Encoder, reader: Reader) -> None:
        self._encoder, self._reader = encoder, reader

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> dict[str, str]:
        """By the document's id two or three sentences, in the document's order."""
        nearest: dict[str, list[Quote]] = defaultdict(list)
        for quote in rank_sentences(question, [e.text for e in evidence], self._encoder):
            of_document = nearest[evidence[quote.text_index].document_id]
            known = {_text(q, evidence) for q in of_document}  # pieces of a document overlap
            if len(of_document) < CANDIDATES and _text(quote, evidence) not in known:
                of_document.append(quote)
        quotes = [q for of_document in nearest.values() for q in of_document]
        pairs = [Pair(question, _text(q, evidence), evidence[q.text_index].title) for q in quotes]
        telling = {q: r.telling for q, r in zip(quotes, self._reader.read(pairs), strict=True)}
        return {name: self._said(found, telling, evidence) for name, found in nearest.items()}

    def _said(self, found: Sequence[Quote], telling: Mapping[Quote, float], evidence: Sequence[Evidence]) -> str:
        shown: dict[Quote, str] = {}
        for quote in sorted(found, key=lambda q: -q.score - TELLING * telling[q]):
            text = _short(_text(quote, evidence), LONGEST)
            most = SENTENCES if telling[quote] >= TELLS else SENTENCES - 1
            if not shown or (len(shown) < most and sum(map(len, shown.values())) + len(text) <= ROOM):
                shown[quote] = text
        return " ... ".join(shown[q] for q in sorted(shown, key=lambda q: _place(q, evidence)))


def summarise(artifact: ToolArtifact, question: str = "", said: Said = first_words) -> str:
    """The short text of a result, one line a document, disease, answered question or gap.

    A document gives its id, title, kind of publication and year, and what it says to the question. Entries of the
    graph, and documents that answer a question, are told in their own lines.

    Args:
        question: what the call is about. said: what each document says to it.
    """
    told = {a.evidence.document_id for a in artifact.answered}
    shown = [e for e in artifact.evidence if artifact.differential is None and e.document_id not in told]
    documents: dict[str, list[Evidence]] = defaultdict(list)
    for item in shown:
        documents[item.document_id].append(item)
    names = list(documents)[:LINES]
    sentences = said(question, [e for name in names for e in documents[name]]) if names else {}
    lines = [f"{artifact.tool}: {_outcome(artifact)}"]
    lines += [_document_line(name, documents[name][0], sentences.get(name, "")) for name in names]
    lines += [f"({len(documents) - LINES} further documents are not shown)"] if len(documents) > LINES else []
    lines += _differential_lines(artifact.differential) if artifact.differential is not None else []
    lines += [
        f"answered: {a.question} (similarity {a.similarity:.2f}) -> {a.evidence.document_id} | "
        f"{_short(a.evidence.text[a.start : a.end] or a.evidence.text, ROOM)}"
        for a in artifact.answered[:LINES]
    ]
    lines += [_gap_line(gap) for gap in artifact.gaps[:LINES]]
    lines += [f"notice: {_short(n.text, ROOM)}" for n in artifact.notices[:LINES]]
    lines += [f"note: {_short(remark, ROOM)}" for remark in artifact.remarks]
    return "\n".join(lines)


def _outcome(artifact: ToolArtifact) -> str:
    """How the call ended; a failure is no empty result."""
    if artifact.outcome is Outcome.UNAVAILABLE:
        return "unavailable (a source failed; this does not mean that nothing exists)"
    return artifact.outcome.value


def _document_line(name: str, first: Evidence, says: str) -> str:
    facts = [
        first.level or (first.publication_types[0] if first.publication_types else first.kind),
        (first.date or "")[:4],
        first.status.value if first.status is not Status.OK else "",
    ]
    return f"{name} | {_short(first.title, TITLE)} ({', '.join(f for f in facts if f)}) | {says}"


def _differential_lines(found: Differential) -> list[str]:
    lines = [f"read from the case: {_findings(found.findings)}"] if found.findings else []
    lines += [f"counted beside it: {_findings(found.added)}"] if found.added else []
    lines += [_disease_line(f"{place}. ", d) for place, d in enumerate(found.ranking[:LINES], start=1)]
    lines += [] if found.ranking else ["no disease of the graph explains the case"]
    lines += ["none of these explains the case well"] if found.outside and found.ranking else []
    lines += [f"left unexplained: {', '.join(found.unexplained)}"] if found.unexplained else []
    lines += [_hypothesis_line(h) for h in found.hypotheses]
    lines += [
        f"rare disease: {r.name} ({r.disease}) {r.score:.2f}{_sides(r.findings_for, r.findings_against)}"
        for r in found.rare[:RARE]
    ]
    return lines


def _findings(findings: Sequence[Finding]) -> str:
    return ", ".join(unique([f"{'' if f.present is not False else 'no '}{f.name}" for f in findings]))


def _hypothesis_line(asked: Hypothesis) -> str:
    if asked.disease is None:
        return f"hypothesis {asked.name}: not in the knowledge graph"
    place = "not ranked: " if asked.place is None else f"{asked.place}. "
    return _disease_line(f"hypothesis {asked.name}: {place}", asked.disease)


def _disease_line(start: str, item: RankedDisease) -> str:
    return f"{start}{item.name} {item.score:.2f}{_sides(item.findings_for, item.findings_against)}"


def _sides(supporting: Sequence[str], against: Sequence[str]) -> str:
    sides = {"for": supporting[:FINDINGS], "against": against[:FINDINGS]}
    return "".join(f"; {name}: {', '.join(items)}" for name, items in sides.items() if items)


def _gap_line(gap: Gap) -> str:
    return f"requirement: {gap.requirement}: {', '.join(gap.covered_by) or 'still a gap'}"


def _text(quote: Quote, evidence: Sequence[Evidence]) -> str:
    return evidence[quote.text_index].text[quote.start : quote.end]


def _place(quote: Quote, evidence: Sequence[Evidence]) -> int:
    """Where a sentence begins in its document."""
    return (EvidenceId.parse(evidence[quote.text_index].id).start or 0) + quote.start


def _short(text: str, limit: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[:limit].rsplit(" ", 1)[0] + " ..."

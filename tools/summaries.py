"""What a planner reads of a tool's result: what it needs to decide what to do next, never whole documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tools.contract import (
    AnsweredQuestion,
    Differential,
    Finding,
    Gap,
    Hypothesis,
    Outcome,
    RankedDisease,
    ToolArtifact,
    unique,
)
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Status
from tools.passages.search import rank_sentences
from tools.reading.contract import TELLING, Role, role_of

LINES = 8  # ours: documents, answered questions or gaps of a result that are shown
DISEASES = 6  # ours: diseases of a ranking
TITLE = 120  # ours: characters of a title
FINDINGS = 5  # ours: findings for and against a disease
RARE = 3  # ours: rare diseases
SENTENCES = 3  # ours: sentences of a document that are shown
ROOM = 380  # ours: characters of all of them, some 95 tokens; the first is shown whole, up to `LONGEST`
LONGEST = 600  # ours: characters of one sentence
NEAR = 0.5  # ours: weight of nearness to the question against whether a sentence tells what was found
LEAST = 0.3  # ours: nearness below which a sentence that states no result says nothing to the question
UNKNOWN = 0.5  # ours: how far a sentence tells what was found where neither heading nor place says it
ABSTRACT, PASSAGE = "abstract", "passage"  # kinds of evidence
HEADING = re.compile(r"(?:^|(?<=\s))([A-Z][A-Z &/,-]{3,60}):\s")  # of a structured abstract, as PubMed writes them
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

    What a sentence is, its heading says, and in an abstract without headings its place: they end in what was found. The
    trained reader tells it better and takes a tenth of a second a sentence, which is too much before an answer.

    Args:
        encoder: ranks sentences by meaning and words.
        whole: the text of a document that is held whole, by its id; "" for one that is not. What was found is a piece
            that names the subject, and what its document says to the question may stand beside it.
    """

    def __init__(self, encoder: Encoder, whole: Callable[[str], str] = lambda _: "") -> None:
        self._encoder, self._whole = encoder, whole

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> dict[str, str]:
        """By the document's id one to three sentences, in the document's order; "" where none is near."""
        found: dict[str, list[_Sentence]] = {e.document_id: [] for e in evidence}
        read = {e.document_id for e in evidence if e.kind == PASSAGE}  # closely: what was found of it is what it says
        held = {name: "" if name in read else self._whole(name) for name in found}
        texts = [(name, 0, held[name], False) for name in found if held[name]]
        texts += [
            (e.document_id, EvidenceId.parse(e.id).start or 0, e.text, e.kind == ABSTRACT)
            for e in evidence
            if not held[e.document_id]
        ]
        headings = [[(m.start(), role_of(m[1])) for m in HEADING.finditer(text)] for _, _, text, _ in texts]
        for quote in rank_sentences(question, [text for _, _, text, _ in texts], self._encoder):
            name, start, text, abstract = texts[quote.text_index]
            said = " ".join(text[quote.start : quote.end].split())
            if any(said == known.text for known in found[name]):  # pieces of a document overlap
                continue
            place = quote.start / len(text) if abstract else UNKNOWN
            tells = 0.0 if said.endswith(("?", "？")) else _tells(quote.start, headings[quote.text_index], place)
            found[name].append(_Sentence(said, start + quote.start, quote.score, tells))
        return {name: _shown(of_document, name in read) for name, of_document in found.items()}


class _Sentence(NamedTuple):
    """A sentence, where it begins in its document, how near it is to the question, and how far it tells what was found
    (0..1)."""

    text: str
    place: int
    near: float
    tells: float

    @property
    def score(self) -> float:
        """What it is worth to a planner."""
        return NEAR * self.near + self.tells


def _tells(at: int, headings: Sequence[tuple[int, Role | None]], place: float) -> float:
    """By the heading that a sentence stands under, where that says what it is; else by its place."""
    above = [role for start, role in headings if start <= at]
    return place if not above or above[-1] is None else float(above[-1] in TELLING)


def _shown(sentences: Sequence[_Sentence], closely: bool) -> str:
    """The best sentences of a document that has any near the question, in its order; a result need not be near.

    Where neither heading nor place tells a result the best one is enough, but of a document that was read ``closely``.
    """
    chosen: list[_Sentence] = []
    near = any(s.near >= LEAST for s in sentences)
    for sentence in sorted(sentences, key=lambda s: -s.score) if near else ():
        says = sentence.tells > UNKNOWN or (closely and sentence.tells == UNKNOWN and sentence.near >= LEAST)
        fits = len(chosen) < SENTENCES and sum(len(c.text) for c in chosen) + len(sentence.text) <= ROOM
        if not chosen or (says and fits):
            chosen.append(sentence)
    return " ... ".join(_short(s.text, LONGEST) for s in sorted(chosen, key=lambda s: s.place))


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
    lines += [_answered_line(a) for a in artifact.answered[:LINES]]
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
        (first.level or (first.publication_types[0] if first.publication_types else first.kind)).partition(" (")[0],
        (first.date or "")[:4],
        first.status.value if first.status is not Status.OK else "",
    ]
    line = f"{name} | {_short(first.title, TITLE)} ({', '.join(f for f in facts if f)})"
    return f"{line} | {says}" if says else line


def _differential_lines(found: Differential) -> list[str]:
    lines = [f"read from the case: {_findings(found.findings)}"] if found.findings else []
    lines += [f"counted beside it: {_findings(found.added)}"] if found.added else []
    lines += [_disease_line(f"{place}. ", d) for place, d in enumerate(found.ranking[:DISEASES], start=1)]
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


def _answered_line(found: AnsweredQuestion) -> str:
    """A stored question with how near it is; a sentence that was found for the question asked is no such question."""
    of = "may answer" if found.direct else f"answered: {found.question} (similarity {found.similarity:.2f})"
    said = _short(found.evidence.text[found.start : found.end] or found.evidence.text, ROOM)
    return f"{of} -> {found.evidence.document_id} | {_short(found.evidence.title, TITLE)} | {said}"


def _gap_line(gap: Gap) -> str:
    return f"requirement: {gap.requirement}: {', '.join(gap.covered_by) or 'still a gap'}"


def _short(text: str, limit: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[:limit].rsplit(" ", 1)[0] + " ..."

"""What a model is shown to answer from: numbered documents and sentences, background, the case's differential.

A model sees numbers, never ids: they cost less, and none that it invents can become a real id. It cites a sentence by
its document and number (``3.2``), and code puts the exact quote in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, zip_longest
from typing import Literal

from graphs.answering.constrained import SEVERE
from graphs.answering.contract import AnswerView
from prompts.answer import BACKGROUND_RULES
from prompts.shown import CUT, one_line
from tools.contract import Differential, DocumentReading, Finding, Gap, RankedDisease
from tools.evidence import Citation, Evidence, EvidenceId, Origin, cite
from tools.messages import messages
from tools.text.numbered import each_once
from tools.text.sentences import Span, sentences

Generated = Literal["off", "context", "allowed"]

ROOM = 24_000  # ours: characters of all documents together, about 6,000 tokens; what one leaves, others may have
MOST = 24  # ours: documents that one call shows; given texts come first, and there are at most 20
SHORT = 1_200  # ours: characters of a document, a section of a page, whose heading says what a sentence is about
SENTENCE = 1_200  # ours: characters of a sentence that are shown; it is cited whole
LAST = 2  # ours: last sentences of a text without labels, which conclude it
BACKGROUND = 2_000  # ours: characters of one background; it is asked for in 256 tokens (MedRGAG, paper)
QUESTION = 20_000  # ours: characters of the question, the longest message that is taken by default
RECORD = 2_000  # ours: characters of a similar record; the answer shows it whole
DISEASES = 6  # ours: diseases of the ranking that the model is shown, as the planner is; what it proposed stands beside
LEADERS = 5  # ours: of the first diseases those that must not be missed have their entries shown
APART = 12  # ours: lines of what tells the diseases apart
NEED = 200  # ours: characters of an open point
NOTHING = "(none)"
CONCLUDES = re.compile(
    r"\W*(?:conclusions?|interpretation|authors' conclusions|key (?:points|messages)|short answer|结论)\b\W",
    re.IGNORECASE,
)
OPENING = 2  # of an entry of the graph: its group, how common it is and at what age
# of an entry of the graph: what is usual, what speaks against it, its treatment and red flags
TYPICAL = re.compile(
    r"\b(?:almost always|usually|made less likely|red flags?)\b|几乎总是|通常|不支持|警示征象", re.IGNORECASE
)
TREATED = re.compile(r"\bis (?:[\w-]+ ){0,3}treated with\b|用以下方法治疗")  # what treats it, of an entry of the graph
# a sentence that begins so speaks of what the one before it tells
REFERS = re.compile(
    r"(?:it|its|they|their|this|that|these|those|such|both|he|she|however|but|otherwise|instead|then|therefore|thus)\b"
    r"|[它其这该此但]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sources:
    """Numbered texts.

    Attributes:
        documents: may be cited. numbers: of each, from 1, the sentences of it that are shown.
        background: generated text, shown by the policy.
        brief: of a document title and section alone are told, for who has read the rest.
    """

    documents: tuple[Evidence, ...]
    numbers: tuple[tuple[int, ...], ...] = ()
    background: tuple[Evidence, ...] = ()
    policy: Generated = "context"
    brief: bool = False

    def document(self, label: str) -> Evidence | None:
        """The document of a label (``3``, ``3.2``), None for one that was not given."""
        at = _whole(label.partition(".")[0]) - 1
        return self.documents[at] if 0 <= at < len(self.documents) else None

    def citation(self, label: str) -> Citation | None:
        """The sentence of a label, whole; of a document alone (``3``) where it shows one. None for one not shown."""
        document, (first, _, number) = self.document(label), label.partition(".")
        if document is None:
            return None
        shown = self.numbers[_whole(first) - 1]
        at = _whole(number) if number else shown[0] if len(shown) == 1 else 0
        if at not in shown:
            return None
        span = sentences(document.text)[at - 1]
        return cite(document, span.start, span.end)

    def label(self, citation: Citation) -> str:
        """The label of a citation's first sentence."""
        at = next(n for n, d in enumerate(self.documents) if d.id == citation.evidence_id)
        spans = sentences(self.documents[at].text)
        return f"{at + 1}.{next(n for n, s in enumerate(spans, start=1) if s.end > citation.start)}"

    def generated(self, label: str) -> Evidence | None:
        """The background of a label (``B1``), None for one that was not given."""
        at = _whole(label[1:]) - 1 if label[:1] == "B" else -1
        return self.background[at] if 0 <= at < len(self.background) else None

    @property
    def citations(self) -> list[Citation]:
        """Every sentence that is shown."""
        pairs = zip(self.documents, self.numbers, strict=True)
        spans = [(d, sentences(d.text)[n - 1]) for d, numbers in pairs for n in numbers]
        return [cite(document, span.start, span.end) for document, span in spans]

    def around(self, labels: Iterable[str], alone: Iterable[str] = ()) -> Sources:
        """The same documents under the same numbers, with the sentences of some labels and their neighbours, and those
        of others ``alone``; briefly, and no background."""
        wanted, others = ([label.partition(".")[::2] for label in some] for some in (labels, alone))
        kept: list[tuple[int, ...]] = []
        for at, shown in enumerate(self.numbers, start=1):
            own, single = ({_whole(n) for d, n in some if d == str(at) and n} for some in (wanted, others))
            near = _with_neighbours(own, shown)
            kept.append(tuple(n for n in shown if n in near or n in single))
        return replace(self, numbers=tuple(kept), background=(), brief=True)

    @property
    def rule(self) -> str:
        """What the model is told about background."""
        return BACKGROUND_RULES[self.policy if self.background else ""]

    @property
    def shown(self) -> str:
        """The documents: a line with number, origin and title, then one for each sentence; then the background."""
        lines: list[str] = []
        for at, (document, numbers) in enumerate(zip(self.documents, self.numbers, strict=True), start=1):
            lines += _lines(at, document, numbers, brief=self.brief) if numbers else []
        if self.background:
            lines.append("\nBackground, not evidence:")
            lines += [f"[B{n}] {one_line(e.text, BACKGROUND)}" for n, e in enumerate(self.background, start=1)]
        return "\n".join(lines) or NOTHING


def sources_of(view: AnswerView, entries: Sequence[Evidence] = (), policy: Generated = "context") -> Sources:
    """The sources of a turn: the graph's entries, what was kept, the documents of answered questions; background.

    Of a document that a model has read only what it named is shown, with a neighbour each side, of a short one with
    what it refers to; and nothing of one that says nothing to the question while others do. Of pieces that overlap each
    sentence is shown once. On the direct path nothing was retrieved: the graph's entries alone. Of these, those that
    are `wanted` of a case, of a long one what is typical or told, and what treats it of what leads alone: of the others
    it tells nothing apart.
    """
    kept = [*entries, *view.evidence, *(a.evidence for a in view.answered)]
    graph = wanted(view)
    kept = [e for e in kept if e.origin is not Origin.KNOWLEDGE_GRAPH or graph is None or _disease_of(e.id) in graph]
    origins = (Origin.KNOWLEDGE_GRAPH,) if view.path == "direct" else (*Origin,)
    citable = {e.id: e for e in kept if e.citable and e.origin in origins}
    read = {r.evidence_id: r for r in view.readings}
    speaking = [e for e in citable.values() if not _silent(e, read)] or list(citable.values())
    first = sorted(speaking, key=lambda e: e.origin is not Origin.CASE)[:MOST]  # given texts first; stable
    background = [e for e in view.evidence if e.origin is Origin.GENERATED and policy != "off"]
    told = [f.name.casefold() for f in view.findings if f.present is not None]
    numbers = each_once(first, _numbers(first, read, told, _untreated(view)))
    return Sources(tuple(first), tuple(numbers), tuple(background[:MOST]), policy)


def wanted(view: AnswerView) -> frozenset[str] | None:
    """The diseases of a case whose entries a model is shown: those that it proposed and that something speaks for, that
    it read about and kept, and of the leaders those that must not be missed. All (None) where it proposed none, or
    nothing was looked up; rare diseases are always shown."""
    found = view.differential
    proposed = [h.disease for h in found.hypotheses if h.disease is not None] if found is not None else []
    if found is None or not proposed:
        return None
    read = {_disease_of(e.id) for e in view.evidence if e.origin is Origin.RETRIEVED}
    grave = {d.disease for d in found.ranking[:LEADERS] if d.severity in SEVERE and d.findings_for}
    lines = [*proposed, *found.ranking]
    chosen = {d.disease for d in lines if d.disease in read} | {d.disease for d in proposed if d.findings_for}
    return frozenset(chosen | grave | {_disease_of(r.evidence_id) for r in found.rare})


def _disease_of(evidence_id: str) -> str:
    """The disease that an entry or a page is about, by its id."""
    return EvidenceId.parse(evidence_id).name.split("/")[-1]


def _untreated(view: AnswerView) -> frozenset[str]:
    """The diseases of a case but for the first that the model proposed, or that leads where it proposed none."""
    found = view.differential
    if found is None:
        return frozenset()
    lines = [*(h.disease for h in found.hypotheses if h.disease is not None), *found.ranking]
    others = {d.disease for d in lines} | {_disease_of(r.evidence_id) for r in found.rare}
    return frozenset(others - {d.disease for d in lines[:1]})


def _silent(item: Evidence, read: Mapping[str, DocumentReading]) -> bool:
    return item.origin is not Origin.CASE and item.id in read and not read[item.id].sentences


def _numbers(
    documents: Sequence[Evidence],
    read: Mapping[str, DocumentReading],
    told: Sequence[str],
    untreated: Collection[str] = (),
) -> tuple[tuple[int, ...], ...]:
    """Of each document the sentences that are shown: those that a reading named with their neighbours, of an entry what
    is typical or names what is told, else all that the room has place for. The shortest document is served first, and
    each may have an equal share of what is left."""
    named = [_named(e, read.get(e.id), told) for e in documents]
    named = [
        tuple(n for n in numbers if not TREATED.search(sentences(e.text)[n - 1].of(e.text)))
        if e.origin is Origin.KNOWLEDGE_GRAPH and _disease_of(e.id) in untreated
        else numbers
        for e, numbers in zip(documents, named, strict=True)
    ]
    sizes = [
        sum(len(sentences(e.text)[n - 1].of(e.text)) for n in numbers)
        for e, numbers in zip(documents, named, strict=True)
    ]
    out: dict[int, tuple[int, ...]] = {}
    room = ROOM
    for left, at in enumerate(sorted(range(len(documents)), key=lambda n: sizes[n])):
        share = room // (len(documents) - left)
        out[at] = _within(documents[at].text, named[at], share)
        room -= min(sizes[at], share)
    return tuple(out[n] for n in range(len(documents)))


def _named(item: Evidence, reading: DocumentReading | None, told: Sequence[str]) -> tuple[int, ...]:
    spans = sentences(item.text)
    everything = tuple(range(1, len(spans) + 1))
    if told and item.origin is Origin.KNOWLEDGE_GRAPH and len(item.text) > SHORT:
        texts = [s.of(item.text).casefold() for s in spans]
        kept = (n <= OPENING or TYPICAL.search(t) or any(f in t for f in told) for n, t in enumerate(texts, start=1))
        return tuple(compress(everything, kept))
    said = {n for n in reading.sentences if n in everything} if reading is not None else set()
    if not said:
        return everything
    if len(item.text) > SHORT:
        return _with_neighbours(said, everything)
    before = {n - 1 for n in said if n > 1 and REFERS.match(spans[n - 1].of(item.text))}
    return tuple(sorted(said | before))


def _with_neighbours(wanted: Collection[int], numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for n in numbers if any(abs(n - w) <= 1 for w in wanted))


def _within(text: str, numbers: Sequence[int], room: int) -> tuple[int, ...]:
    """The sentences that have place: what concludes the text always, then the others in their order."""
    spans = sentences(text)
    last = {n for n in numbers if n in _concluding(text, spans)} or set(numbers[:1])
    left = room - sum(len(spans[n - 1].of(text)) for n in last)
    kept = set(last)
    for n in numbers:
        if n not in last:
            left -= len(spans[n - 1].of(text))
            if left < 0:
                break
            kept.add(n)
    return tuple(n for n in numbers if n in kept)


def _concluding(text: str, spans: Sequence[Span]) -> Collection[int]:
    """Numbers of the sentences that conclude a text: from its label on, else the last ones."""
    labelled = next((n for n, s in enumerate(spans, start=1) if CONCLUDES.match(s.of(text))), None)
    first = labelled if labelled is not None else max(len(spans) - LAST + 1, 1)
    return range(first, min(first + 2 * LAST, len(spans) + 1))


def _lines(at: int, document: Evidence, numbers: Sequence[int], *, brief: bool) -> list[str]:
    spans = sentences(document.text)
    lines = [f"[{at}] {_heading(document, brief=brief)}"]
    before = 0
    for n in numbers:
        lines += [CUT] if n > before + 1 else []
        lines.append(f"[{at}.{n}] {one_line(spans[n - 1].of(document.text), SENTENCE)}")
        before = n
    return [*lines, *([CUT] if before < len(spans) else [])]


def case_values(view: AnswerView) -> dict[str, str]:
    """What a template on a case asks for beside the documents: findings, diagnoses with those that were proposed, what
    of K tells these apart, and similar records, whole."""
    differential = view.differential or Differential()
    shown = differential.ranking[:DISEASES]
    proposed = {h.disease.disease: h.disease for h in differential.hypotheses if h.disease is not None}
    beside = [d for d in proposed.values() if d not in shown and d.disease not in {r.disease for r in shown}]
    ranked = [f"{n}. {_ranked(d, view.language)}" for n, d in enumerate(shown, start=1)]
    ranked += [f"- {_ranked(d, view.language)}" for d in beside]
    records = [f"{r.diagnosis} | {one_line(r.text, RECORD)}" for r in differential.similar]
    kept = wanted(view)
    names = {n for d in (*shown, *beside) if kept is None or d.disease in kept for n in (d.name, d.name_zh)}
    return {
        "findings": "; ".join(_finding(f) for f in view.findings if f.present is not None) or NOTHING,
        "diseases": "\n".join(ranked) or NOTHING,
        "contrasts": "\n".join(one_line(line, RECORD) for line in _apart(differential, names)) or NOTHING,
        "records": "\n".join(records) or NOTHING,
    }


def _apart(differential: Differential, names: Collection[str]) -> list[str]:
    """What of K tells the diseases of these names apart, in turn; what treats them does not."""
    of: dict[str, list[str]] = {}
    for line in differential.contrasts:
        name, relation, _ = (*line.split(" | ", 2), "", "")[:3]
        if name in names and relation != "therapy":
            of.setdefault(name, []).append(line)
    turns = zip_longest(*of.values()) if len(of) > 1 else ()
    kept = set([line for turn in turns for line in turn if line][:APART])
    return [line for line in differential.contrasts if line in kept]


def open_points(view: AnswerView) -> list[Gap]:
    """What is open after the choice: no evidence was found for it, and nothing that was kept since covers it."""
    written = {e.id for e in view.evidence if e.origin is Origin.GENERATED}
    held = {e.id for e in view.evidence} - written
    chosen = view.selection.kept if view.selection is not None else ()
    covered = {need for kept in chosen if kept.evidence_id in held for need in kept.covers}
    return [g for g in view.gaps if written.issuperset(g.covered_by) and g.requirement not in covered]


def remarks_of(view: AnswerView, missing: Sequence[str] = ()) -> str:
    """What a model is told beside the question: words of it that no document holds, the open points, numbered; "" when
    there is neither."""
    points = [f"{n}. {one_line(g.requirement, NEED)}" for n, g in enumerate(open_points(view), start=1)]
    absent = f"\nNo document has these words of the question: {'; '.join(missing)}.\n" if missing else ""
    return absent + ("\nOpen points:\n" + "\n".join(points) + "\n" if points else "")


def question_of(view: AnswerView) -> str:
    """The question on one line."""
    return one_line(view.question, QUESTION)


def told_by_asker(view: AnswerView) -> str:
    """The question and the case as told, whose figures a statement may repeat."""
    return f"{view.case}\n{view.question}".strip()


def _heading(item: Evidence, *, brief: bool) -> str:
    origin = {Origin.KNOWLEDGE_GRAPH: "knowledge graph", Origin.CASE: "given with the question"}.get(
        item.origin, "retrieved"
    )
    level = "" if item.level is None else item.level.removeprefix(origin).lstrip(", ")  # a level may begin with it
    told = () if brief else (origin, level, item.date)
    details = [d for d in (*told, item.title, item.section) if d] or [origin]
    return one_line(", ".join(details), 300)


def _finding(finding: Finding) -> str:
    side = f" ({finding.side})" if finding.side else ""
    return one_line(f"{'' if finding.present else 'no '}{finding.name}{side}", 200)


def _ranked(disease: RankedDisease, language: str) -> str:
    name = messages(language).name_of(disease)
    code = f" ({disease.icd10})" if disease.icd10 else ""
    parts = [("fits", disease.findings_for), ("against", disease.findings_against), ("not told", disease.missing)]
    told = "; ".join(f"{label}: {', '.join(found)}" for label, found in parts if found)
    return one_line(f"{name}{code} | {told}", RECORD)


def _whole(number: str) -> int:
    """A number from 1, 0 for what is none."""
    return int(number) if number.isascii() and number.isdigit() else 0

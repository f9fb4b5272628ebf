"""Answers to cases: the graph's differential, cited from its own entries, then what to check next from passages.

Every line quotes the entry of its disease (MedRAG: the differential reaches the answer whole).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphs.answering.constrained import SEVERE
from graphs.answering.contract import AnswerView
from graphs.answering.extractive import Extractor, by_score
from graphs.answering.ports import GraphEntries, NoPages, Pages
from graphs.differential_filter.mentions import about
from graphs.verdicts.contract import Sentence
from tools.contract import Finding, RankedDisease, RareDisease
from tools.evidence import Citation, Evidence, EvidenceId, Frozen, Origin, Statement, cite
from tools.knowledge_graph.hpo.lookup import sentence_of
from tools.library.monograph import COLLECTION, sections
from tools.messages import messages
from tools.text.sentences import Span, sentences
from tools.text.tokens import tokens


class DifferentialSettings(Frozen):
    """Settings of the answer to a case. All ours.

    Attributes:
        lines: diseases at most. least: share of the leader's score that a further disease needs.
        quotes_for, quotes_against: quotes a line, for and against.
        explained_for, explained_usual: quotes for, and of what is usual beside, when a line is asked to be explained.
        next_steps: sentences a topic (tests, treatment, urgent help) about the leading disease.
        floor: relevance that such a sentence needs.
    """

    lines: int = 5
    least: float = 0.1
    quotes_for: int = 3
    quotes_against: int = 2
    explained_for: int = 6
    explained_usual: int = 2
    next_steps: int = 1
    floor: float = 0.35


@dataclass(frozen=True)
class Topic:
    """A topic of what to check next: the sections that treat it, and its question."""

    section: re.Pattern[str]
    question: str


HELP = re.compile(r"seek help|red flag|emergency|urgent|就医|警示", re.IGNORECASE)
TOPICS = (
    Topic(
        re.compile(r"diagnos|test|investigat|诊断|检查", re.IGNORECASE),
        "How is {name} diagnosed and which tests are needed?",
    ),
    Topic(re.compile(r"treat|manag|therap|practice|治疗|处理", re.IGNORECASE), "How is {name} treated?"),
    Topic(HELP, "Which warning signs of {name} need urgent help?"),
)
LABELS = ("fits", "against", "watch", "usual")  # of a line's quotes, in the catalogues
USUAL = re.compile(r"\b(?:almost always|usually) (?:presents|shows|goes)|(?:几乎总是|通常)(?:表现为|可见|伴有)")
WARNS = re.compile(r"\bred flags?\b|警示征象", re.IGNORECASE)  # the entry's own sentence of its red flags
LIKELY_NOT = re.compile(r"is made less likely by|时不支持")
SHARED = 0.6  # ours: share of a finding's words that a sentence of the entry must hold


class DifferentialWriter:
    """Writes the statements about a case.

    Args:
        extractor: finds sentences in passages.
        graph: entries of the graph that the view does not hold.
        pages: those of the diseases, ``library:<disease>``.
    """

    def __init__(
        self,
        extractor: Extractor,
        graph: GraphEntries | None = None,
        settings: DifferentialSettings | None = None,
        pages: Pages | None = None,
    ) -> None:
        self._extractor = extractor
        self._graph = graph
        self._pages = pages or NoPages()
        self._settings = settings or DifferentialSettings()

    def lines(self, view: AnswerView) -> tuple[list[Statement], list[Evidence]]:
        """One statement a ranked disease, best first, and the entries that they cite."""
        ranking = view.differential.ranking if view.differential is not None else ()
        statements: list[Statement] = []
        entries: list[Evidence] = []
        for disease in ranking[: self._settings.lines]:
            entry = self.entry(disease, view)
            if entry is None or disease.score < self._settings.least * ranking[0].score:
                continue
            statements.append(self._line(disease, entry, view, first=not statements))
            entries.append(entry)
        return statements, entries

    def entry(self, disease: RankedDisease, view: AnswerView) -> Evidence | None:
        """The graph's entry of a disease: the view's own where it holds one."""
        held = (e for e in view.evidence if e.origin is Origin.KNOWLEDGE_GRAPH)
        for item in held:
            if item.id == disease.evidence_id or EvidenceId.parse(item.id).name.split("/")[-1] == disease.disease:
                return item
        return self._graph.entry(disease.disease, view.language) if self._graph is not None else None

    def next_steps(self, view: AnswerView) -> list[Sentence]:
        """What to do about the leading disease: when to seek help, where the disease is severe or was read about, then
        its tests and treatment, where it was. Beside a banner, which says what to do now, nothing of when."""
        ranking = view.differential.ranking if view.differential is not None else ()
        read = [e for e in view.evidence if e.origin is Origin.RETRIEVED and e.citable and about(e, ranking[:1])]
        read = read if view.path != "direct" else []
        if not ranking or not (read or ranking[0].severity in SEVERE):
            return []
        page = f"{COLLECTION}:{ranking[0].disease}"
        chosen = self._seek_help(page, view.case or view.question) if not view.red_flags else []
        name = re.sub(r"\s*\([^)]*\)", "", ranking[0].name)
        for topic in (t for t in TOPICS if read and not (chosen and t.section is HELP)):
            question = topic.question.format(name=name)
            answers = self._prepared(page, question) if topic.section is not HELP else []
            pool = [] if answers else self._pool(topic, question, read)
            chosen += self._best(answers or self._extractor.rescored([question], pool)[0], chosen)
        return chosen

    def _seek_help(self, page: str, case: str) -> list[Sentence]:
        """The sentence of a page on when to seek help that is nearest to the case."""
        text = self._pages.whole(page)
        parts = [text[s.start : s.end] for s in sections(text) if HELP.search(s.title)]
        told = [span.of(part) for part in parts for span in sentences(part)]
        if not told:
            return []
        nearest = told[int(self._extractor.relevance.score([case], told).dense[0].argmax())]
        said = self._pages.said(page, nearest)
        return [_sentence(said, 1.0)] if said is not None else []

    def _prepared(self, page: str, question: str) -> list[Sentence]:
        """The answer that a page was written to give to a question."""
        held = self._pages.prepared(page)
        if not held:
            return []
        near = self._extractor.relevance.score([question], [asked for asked, _ in held]).dense[0]
        (_, answer), score = held[int(near.argmax())], float(near.max())
        return [_sentence(answer, score)] if score >= self._extractor.settings.answered else []

    def _pool(self, topic: Topic, question: str, documents: Sequence[Evidence]) -> list[Sentence]:
        treating = [d for d in documents if topic.section.search(d.section or "")]
        unlabelled = [d for d in documents if not d.section]
        return self._extractor.proposed(question, treating or unlabelled)

    def _best(self, sentences_: Sequence[Sentence], chosen: Sequence[Sentence]) -> list[Sentence]:
        out: list[Sentence] = []
        for sentence in by_score(sentences_):
            if len(out) == self._settings.next_steps or sentence.score < self._settings.floor:
                break
            if not any(self._extractor.same(sentence, c) for c in (*chosen, *out)):
                out.append(sentence)
        return out

    def explained(self, disease: RankedDisease, view: AnswerView) -> tuple[Statement, Evidence] | None:
        """A disease's line in full: all that fits and speaks against, and what else is usual; None without an entry."""
        entry = self.entry(disease, view)
        if entry is None:
            return None
        limit = self._settings.explained_for
        fits, against = self._fits(disease, entry, view, limit), self._against(disease, entry, view, limit)
        usual = self._spans(disease, entry, disease.missing)
        return _written(
            named(disease, view), entry, view, (fits, _but(against, fits), [], self._usual(usual, fits))
        ), entry

    def unranked(
        self, disease: str, view: AnswerView, findings: Sequence[Finding]
    ) -> tuple[Statement, Evidence] | None:
        """The line of a disease that the differential does not rank, by what its entry says of the case's findings."""
        entry = self._graph.entry(disease, view.language) if self._graph is not None else None
        if entry is None or self._graph is None:
            return None
        fits: list[Span] = []
        against: list[Span] = []
        for finding in findings:
            given = self._graph.sentence_for(disease, finding.id, entry.language) if finding.id else None
            if given is None or finding.present is None:
                continue
            span = Span(*given)
            holds = bool(finding.present) != bool(LIKELY_NOT.search(span.of(entry.text)))
            (fits if holds else against).append(span)
        usual = [s for s in sentences(entry.text) if USUAL.search(s.of(entry.text))]
        limit = self._settings.explained_for
        fits, against = list(dict.fromkeys(fits))[:limit], list(dict.fromkeys(against))[:limit]
        spans: list[list[Span]] = [fits, _but(against, fits), [], self._usual(usual, [*fits, *against])]
        return _written(f"{entry.title}.", entry, view, spans), entry

    def _usual(self, spans: Sequence[Span], told: Sequence[Span]) -> list[Span]:
        return _but(spans, told)[: self._settings.explained_usual]

    def _fits(self, disease: RankedDisease, entry: Evidence, view: AnswerView, limit: int) -> list[Span]:
        ids = _finding_ids(view)
        return self._spans(disease, entry, [ids.get(f, f) for f in disease.findings_for])[:limit]

    def _against(self, disease: RankedDisease, entry: Evidence, view: AnswerView, limit: int) -> list[Span]:
        ids = _finding_ids(view)
        return self._spans(disease, entry, [ids.get(f, f) for f in disease.findings_against])[:limit]

    def _line(self, disease: RankedDisease, entry: Evidence, view: AnswerView, *, first: bool) -> Statement:
        fits = self._fits(disease, entry, view, self._settings.quotes_for)
        against = _but(self._against(disease, entry, view, self._settings.quotes_against), fits)
        watch = [s for s in self._spans(disease, entry, disease.red_flags) if WARNS.search(s.of(entry.text))][:1]
        watch = _but(watch if first else [], [*fits, *against])
        return _written(named(disease, view), entry, view, (fits, against, watch, []))

    def _spans(self, disease: RankedDisease, entry: Evidence, findings: Sequence[str]) -> list[Span]:
        found = [self._span(disease, entry, f) for f in findings]
        return list(dict.fromkeys(s for s in found if s is not None))

    def _span(self, disease: RankedDisease, entry: Evidence, finding: str) -> Span | None:
        if self._graph is not None:
            given = self._graph.sentence_for(disease.disease, finding, entry.language)
            if given is not None and 0 <= given[0] < given[1] <= len(entry.text):
                return Span(*given)
        return find_sentence(entry.text, finding)


def _sentence(whole: Evidence, score: float) -> Sentence:
    return Sentence(whole, 0, len(whole.text), score)


def _but(spans: Sequence[Span], told: Sequence[Span]) -> list[Span]:
    return [s for s in spans if s not in told]


def named(disease: RankedDisease, view: AnswerView) -> str:
    """The head of a disease's line: its name in the answer's language, its ICD-10 code where it has one."""
    name = messages(view.language).name_of(disease)
    return f"{name} ({disease.icd10})." if disease.icd10 else f"{name}."


def _written(name: str, entry: Evidence, view: AnswerView, spans: Sequence[Sequence[Span]]) -> Statement:
    """A line: the name, then the quotes under their labels; without any, the first sentence of the entry."""
    labels = [messages(view.language)[f"disease.{label}"] for label in LABELS]
    if not any(spans):
        first = list(sentences(entry.text)[:1]) or [Span(0, len(entry.text))]
        labels, spans = [""], [first]
    parts = [name]
    citations: list[Citation] = []
    for label, told in zip(labels, spans, strict=True):
        cited = [cite(entry, s.start, s.end) for s in told]
        citations += cited
        if cited:
            parts.append(label + " ".join(_closed(c.quote) for c in cited))
    return Statement(text=" ".join(parts), origin=entry.origin, citations=tuple(citations))


def _finding_ids(view: AnswerView) -> dict[str, str]:
    """Ids of the case's findings by their names."""
    stated = view.differential.findings if view.differential is not None else ()
    return {f.name: f.id for f in (*stated, *view.findings) if f.id}


def find_sentence(text: str, finding: str) -> Span | None:
    """The sentence of a text that holds most of a finding's words, None when none holds enough."""
    wanted = set(tokens(finding))
    best: tuple[float, int] = (0.0, 0)
    spans = sentences(text)
    for index, span in enumerate(spans):
        share = len(wanted & set(tokens(span.of(text)))) / len(wanted) if wanted else 0.0
        best = max(best, (share, -index))
    return spans[-best[1]] if best[0] >= SHARED else None


def _closed(quote: str) -> str:
    return quote if quote[-1] in ".!?。！？;；" else quote + ";"


# Rare diseases beside a differential: one line a disease, quoted from its entry of the phenotype ontology.

LINES = 3  # ours: rare diseases told; the answer's own field holds more
QUOTES = 3  # ours: quotes a line
LEAD = "Rare disease to consider: "


class RareWriter:
    """Writes the lines on rare diseases.

    Args:
        graph: entries that the view does not hold.
    """

    def __init__(self, graph: GraphEntries | None = None) -> None:
        self._graph = graph

    def lines(self, view: AnswerView) -> tuple[list[Statement], list[Evidence]]:
        """One statement a rare disease, best first, and the entries that they cite; none where none was asked for."""
        ranking = view.differential.rare if view.differential is not None else ()
        statements: list[Statement] = []
        entries: list[Evidence] = []
        for disease in ranking[:LINES]:
            entry = self._entry(disease, view)
            statement = _line(disease, entry) if entry is not None else None
            if entry is not None and statement is not None:
                statements.append(statement)
                entries.append(entry)
        return statements, entries

    def _entry(self, disease: RareDisease, view: AnswerView) -> Evidence | None:
        held = next((e for e in view.evidence if e.id == disease.evidence_id), None)
        if held is not None or self._graph is None:
            return held
        return self._graph.entry(disease.disease, view.language)


def _line(disease: RareDisease, entry: Evidence) -> Statement | None:
    """The line of a disease; None when its entry has no sentence on a finding that fits."""
    spans = [s for f in disease.findings_for if (s := sentence_of(entry, f)) is not None][:QUOTES]
    if not spans:
        return None
    citations = tuple(cite(entry, start, end) for start, end in spans)
    text = f"{disease.name}. {LEAD}" + " ".join(c.quote for c in citations)
    return Statement(text=text, origin=entry.origin, citations=citations)

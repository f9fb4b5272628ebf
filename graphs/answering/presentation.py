"""An answer as it is shown: what stands in it, in which order and in which words, once for every way of showing it.

The terminal, Markdown, HTML, the export of a session and the trace page render a `Presentation`, and add no words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphs.answering.contract import Answer
from graphs.completeness.explained import Explanation, brief, explained
from graphs.reporting.contract import PARTS
from graphs.verdicts.shown import facts, headed
from prompts.report import DISCIPLINES
from tools.contract import Differential, FollowUpQuestion, Notice, RankedDisease, Severity
from tools.evidence import Evidence, Origin, Statement, Status
from tools.messages import Messages, messages
from tools.notebook.ranking import shown_diseases

NAME = 60  # ours: characters of a given text that name it


class Source(NamedTuple):
    """A piece of evidence. ``number``: 0 for one that no statement cites; ``spans``: what is quoted, each once in order
    of the text; ``facts``: level, section, date, status, where there are any."""

    number: int
    item: Evidence
    name: str
    facts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def quotes(self) -> list[str]:
        """What is quoted of it."""
        return [self.item.text[start:end] for start, end in self.spans]


class Fold(NamedTuple):
    """What a statement cites of one source: the source, None where it is not among the evidence, and the quotes."""

    id: str
    source: Source | None
    quotes: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Line(NamedTuple):
    """A statement. ``marks``: the numbers of its sources, "" for none; ``mark``: these, or that there are none."""

    text: str
    origin: Origin
    numbers: tuple[int, ...]
    marks: str
    mark: str
    folds: tuple[Fold, ...]


class Part(NamedTuple):
    """A part of a report: its title, or that nothing was found on it; its lines by discipline ("" for none)."""

    title: str
    unknown: str
    groups: tuple[tuple[str, tuple[Line, ...]], ...]

    @property
    def lines(self) -> list[Line]:
        """All its lines."""
        return [line for _, lines in self.groups for line in lines]


class Row(NamedTuple):
    """A ranked disease."""

    rank: int
    name: str
    code: str
    share: str
    findings_for: tuple[str, ...]
    findings_against: tuple[str, ...]


class Told(NamedTuple):
    """A notice: its severity in a word, and itself."""

    word: str
    notice: Notice


class Ranking(NamedTuple):
    """A differential.

    ``first``: what heads an answer, mostly nothing: what must not be given, that no known disease explains the case.
    ``left``: what the leading disease does not account for, what was not read and what was not counted, a line each.
    """

    first: tuple[str, ...]
    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    left: tuple[str, ...]


class Presentation(NamedTuple):
    """An answer as it is shown. Every text is in the answer's language; "" and empty stand for what is not there."""

    words: Messages
    alerts: tuple[tuple[str, str], ...]  # what to do, and what was seen
    verdict: str
    verdict_facts: tuple[str, ...]
    choice: str
    choice_reason: str
    choice_unverified: bool
    lines: tuple[Line, ...]
    nothing: str
    ranking: Ranking
    rare: tuple[Row, ...]
    records: tuple[str, ...]
    report: tuple[Part, ...]
    report_questions: tuple[str, ...]
    next: tuple[FollowUpQuestion, ...]
    notices: tuple[Told, ...]
    sources: tuple[Source, ...]
    beside: tuple[Source, ...]
    gate: Explanation | None
    gate_brief: tuple[str, ...]
    run: str

    def by_origin(self) -> list[tuple[Origin, str, list[Source]]]:
        """The sources that are cited by where they come from: origin, its words, the sources."""
        found = [(o, self.words[f"origin.{o.value}"], [s for s in self.sources if s.item.origin is o]) for o in Origin]
        return [group for group in found if group[2]]


def present(answer: Answer, *, whole: bool = False) -> Presentation:
    """The answer as it is shown; ``whole``: with every ranked disease, not only those that are worth a row."""
    words, numbers = messages(answer.language), numbers_of(answer)
    told = statements_of(answer)
    sources = {e.id: _source(e, numbers, told) for e in answer.evidence}
    choice, verdict, report = answer.choice, answer.verdict, answer.report
    rare = enumerate(answer.rare_diseases, start=1)
    return Presentation(
        words=words,
        alerts=tuple((flag.advice, flag.seen) for flag in answer.emergency),
        verdict=headed(verdict, answer.language) if verdict is not None else "",
        verdict_facts=tuple(facts(verdict, answer.language)) if verdict is not None else (),
        choice=": ".join(dict.fromkeys((choice.label, choice.text))) if choice is not None else "",
        choice_reason=choice.reason if choice is not None else "",
        choice_unverified=choice is not None and choice.parametric,
        lines=tuple(_line(s, sources, words) for s in answer.statements),
        nothing=words["answer.none"] if answer.abstained and not answer.statements else "",
        ranking=ranked(answer, answer.differential, answer.language, whole=whole),
        rare=tuple(Row(n, r.name, r.disease, f"{r.score:.0%}", tuple(r.findings_for), ()) for n, r in rare),
        records=tuple(f"{r.id} ({r.similarity:.2f}) {r.diagnosis}: {r.text}" for r in answer.similar_records),
        report=tuple(_parts(answer, sources, words)),
        report_questions=tuple(q.text for q in report.questions) if report is not None else (),
        next=tuple(answer.follow_up_questions),
        notices=tuple(Told(words[f"severity.{n.severity.value}"], n) for n in answer.notices),
        sources=tuple(s for s in sources.values() if s.number),
        beside=tuple(s for s in sources.values() if not s.number),
        gate=explained(answer.gate, answer.language) if answer.gate is not None else None,
        gate_brief=brief(answer.gate, answer.language) if answer.gate is not None else (),
        run=answer.run,
    )


def ranked(
    found: Answer | Differential, diseases: Sequence[RankedDisease], language: str, *, whole: bool = False
) -> Ranking:
    """Ranked diseases of an answer or a look-up as they are shown."""
    words = messages(language)
    asides = [a if isinstance(a, str) else a.clause for a in found.asides]
    left = {"unexplained": found.unexplained, "unread": found.unread, "asides": tuple(dict.fromkeys(asides))}
    colon = words["list.colon"]
    dangers = [n.text for n in found.notices if n.severity is Severity.DANGER] if isinstance(found, Answer) else []
    rows = enumerate(diseases if whole else shown_diseases(diseases), start=1)
    return Ranking(
        first=(*dangers, *([words["answer.outside"]] if found.outside else [])),
        title=words["answer.closest" if found.outside else "answer.differential"],
        heads=("", *(words[f"answer.{name}"] for name in ("disease", "icd10", "share", "for", "against"))),
        rows=tuple(_row(rank, disease, words) for rank, disease in rows),
        left=tuple(f"{words[f'answer.{name}']}{colon}{words.joined(said)}" for name, said in left.items() if said),
    )


def statements_of(answer: Answer) -> list[Statement]:
    """The statements of the answer and of its report."""
    return [*answer.statements, *(s.statement for s in (answer.report.statements if answer.report else ()))]


def numbers_of(answer: Answer) -> dict[str, int]:
    """Id of each cited piece of evidence -> its number, from 1, in the order of the answer's evidence."""
    cited = {c.evidence_id for s in statements_of(answer) for c in s.citations}
    return {e.id: n for n, e in enumerate((e for e in answer.evidence if e.id in cited), start=1)}


def source_name(item: Evidence) -> str:
    """The title of a source; of a given text, which has none, its first words."""
    if item.title or item.origin is not Origin.CASE:
        return item.title or item.id
    return item.text if len(item.text) <= NAME else item.text[:NAME].rsplit(" ", 1)[0] + " …"


def source_facts(item: Evidence) -> tuple[str, ...]:
    """Level of evidence, section, date, of imported text its source and licence, and status where it is not plain."""
    status = "" if item.status is Status.OK else item.status.value.upper()
    return tuple(fact for fact in (item.level, item.section, item.date, item.source, item.licence, status) if fact)


def _source(item: Evidence, numbers: dict[str, int], told: Iterable[Statement]) -> Source:
    spans = {(c.start, c.end) for s in told for c in s.citations if c.evidence_id == item.id}
    return Source(numbers.get(item.id, 0), item, source_name(item), source_facts(item), tuple(sorted(spans)))


def _line(statement: Statement, sources: dict[str, Source], words: Messages) -> Line:
    folds = []
    for cited in dict.fromkeys(c.evidence_id for c in statement.citations):
        own = [c for c in statement.citations if c.evidence_id == cited]
        spans = tuple(sorted({(c.start, c.end) for c in own}))
        folds.append(Fold(cited, sources.get(cited), tuple(c.quote for c in own), spans))
    numbers = tuple(f.source.number for f in folds if f.source is not None)
    marks = "".join(f"[{n}]" for n in numbers)
    mark = marks or f"({words['answer.unverified']})"
    return Line(statement.text, statement.origin, numbers, marks, mark, tuple(folds))


def _row(rank: int, d: RankedDisease, words: Messages) -> Row:
    return Row(rank, words.name_of(d), d.icd10, f"{d.score:.0%}", tuple(d.findings_for), tuple(d.findings_against))


def _parts(answer: Answer, sources: dict[str, Source], words: Messages) -> Iterable[Part]:
    for part in PARTS if answer.report is not None else ():
        told = answer.report.of(part) if answer.report is not None else ()
        groups: list[tuple[str, tuple[Line, ...]]] = []
        for discipline in (*DISCIPLINES, None):
            lines = tuple(_line(s.statement, sources, words) for s in told if s.discipline == discipline)
            groups += [(words[f"report.{discipline}"] if discipline else "", lines)] if lines else []
        yield Part(words[f"report.{part}"], "" if told else words["report.unknown"], tuple(groups))

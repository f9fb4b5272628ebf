"""An answer as HTML for a notebook: self-contained, without script, and without a request to anywhere.

Every text is put in as text, so that no markup of a source or a message becomes markup of the page. Origins are told in
words and in colour; each statement's citations fold out to the quote inside its passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphs.answering.contract import Answer
from graphs.answering.shown import (
    ORIGINS,
    WORDS,
    edge_lines,
    left_lines,
    marks_of,
    numbers_of,
    ranking_title,
    source_facts,
    source_name,
    tongue_of,
)
from graphs.completeness.explained import explained
from graphs.completeness.html import gate_of
from graphs.reporting.contract import PARTS
from graphs.verdicts.shown import facts, headed
from tools.contract import Severity
from tools.evidence import Evidence, Origin, Statement
from tools.notebook.markup import element, listed, rendered, table
from tools.notebook.ranking import ranking_table
from tools.notebook.style import DANGER, GROUNDS, INFO, WARNING, mark, page, section

SEVERITIES = {Severity.INFO: INFO, Severity.WARNING: WARNING, Severity.DANGER: DANGER}


def html_of(answer: Answer) -> str:
    """The whole answer: emergencies first, then statements, differential, questions, notices and sources."""
    return _Shown(answer).html


class _Shown:
    """One answer on its way to HTML."""

    def __init__(self, answer: Answer) -> None:
        self._answer, self._numbers = answer, numbers_of(answer)
        self._tongue = tongue_of(answer.language)
        self._words = WORDS[self._tongue]
        self._evidence = {e.id: e for e in answer.evidence}

    @property
    def html(self) -> str:
        parts = (
            self._emergency(),
            self._verdict(),
            (element("p", element("strong", line)) for line in edge_lines(self._answer, self._tongue)),
            self._choice(),
            self._statements(self._answer.statements),
            self._nothing(),
            self._differential(),
            self._report(),
            self._questions(),
            self._notices(),
            self._sources(),
            self._gate(),
        )
        run = element("p", f"{self._words['run']} {self._answer.run}", class_="dim") if self._answer.run else None
        return rendered(page(self._tongue, *(item for part in parts for item in part), run))

    def _emergency(self) -> Iterator[Any]:
        for flag in self._answer.emergency:
            loud = element("strong", f"{self._words['emergency']}: {flag.advice}")
            yield element("div", loud, f" ({flag.seen})", class_="alert", role="alert")

    def _verdict(self) -> Iterator[Any]:
        verdict, language = self._answer.verdict, self._answer.language
        if verdict is not None:
            yield element("p", element("strong", headed(verdict, language)))
            yield from (element("p", line, class_="dim") for line in facts(verdict, language))

    def _choice(self) -> Iterator[Any]:
        choice = self._answer.choice
        if choice is not None:
            told = choice.label if choice.text == choice.label else f"{choice.label}: {choice.text}"
            unverified = self._origin(Origin.PARAMETRIC) if choice.parametric else None
            yield element("p", element("strong", f"{self._words['choice']}: {told} "), unverified, f" {choice.reason}")

    def _statements(self, statements: Sequence[Statement]) -> Iterator[Any]:
        for statement in statements:
            numbers = " ".join(f"[{n}]" for n in marks_of(statement, self._numbers))
            yield element("p", f"{statement.text} ", element("b", numbers), " ", self._origin(statement.origin))
            yield from self._citations(statement)

    def _citations(self, statement: Statement) -> Iterator[Any]:
        """One fold a source, with every quote of it that the statement has."""
        for source in dict.fromkeys(c.evidence_id for c in statement.citations):
            cited = [c for c in statement.citations if c.evidence_id == source]
            item = self._evidence.get(source)
            if item is None:
                yield element("details", element("summary", source), *(_quote(c.quote) for c in cited))
            else:
                spans = sorted({(c.start, c.end) for c in cited})
                name = element("summary", f"[{self._numbers[source]}] {source_name(item)}")
                yield element("details", name, element("blockquote", *_marked(item.text, spans)))

    def _nothing(self) -> Iterator[Any]:
        if self._answer.abstained and not self._answer.statements:
            yield element("p", element("strong", self._words["none"]))

    def _differential(self) -> Iterator[Any]:
        answer, words = self._answer, self._words
        if answer.differential:
            yield section(ranking_title(answer, self._tongue), ranking_table(answer.differential, answer.language))
        yield from (element("p", line) for line in left_lines(answer, self._tongue))
        if answer.rare_diseases:
            rows = ((r.name, r.disease, f"{r.score:.0%}", listed(r.findings_for)) for r in answer.rare_diseases)
            heads = (words["disease"], "ID", words["share"], words["for"])
            yield section(words["rare"], table(heads, rows))
        if answer.similar_records:
            records = (f"{r.id} ({r.similarity:.2f}) {r.diagnosis}: {r.text}" for r in answer.similar_records)
            yield section(words["records"], listed(records))

    def _report(self) -> Iterator[Any]:
        if self._answer.report is None:
            return
        yield element("h4", self._words["report"])
        for part in PARTS:
            told = [s.statement for s in self._answer.report.of(part)]
            unknown = None if told else element("span", f": {self._words['unknown']}", class_="dim")
            yield element("p", element("em", self._words[part]), unknown)
            yield from self._statements(told)

    def _questions(self) -> Iterator[Any]:
        found = self._answer.follow_up_questions
        if found:
            told = element("ol", *(element("li", q.text, title=q.why) for q in found))
            yield section(self._words["ask"], told)

    def _notices(self) -> Iterator[Any]:
        for notice in self._answer.notices:
            word = mark(self._words[notice.severity.value], SEVERITIES[notice.severity])
            yield element("p", word, f" {notice.text}")

    def _sources(self) -> Iterator[Any]:
        cited = [e for e in self._answer.evidence if e.id in self._numbers]
        if cited:
            yield section(self._words["sources"], element("ul", *(self._source(e) for e in cited)))
        beside = [e for e in self._answer.evidence if e.id not in self._numbers]
        if beside:
            told = element("ul", *(self._source(e, whole=True) for e in beside))
            yield element("details", element("summary", f"{self._words['beside']} ({len(beside)})"), told)

    def _source(self, item: Evidence, *, whole: bool = False) -> Any:
        number = f"[{self._numbers[item.id]}] " if item.id in self._numbers else ""
        facts = "".join(f", {fact}" for fact in source_facts(item))
        about = element("span", f" {item.id}{facts}", class_="dim")
        text = element("blockquote", item.text) if whole else None
        return element("li", f"{number}{source_name(item)} ", self._origin(item.origin), about, text)

    def _gate(self) -> Iterator[Any]:
        if self._answer.gate is not None:
            whole = gate_of(explained(self._answer.gate, self._answer.language), self._answer.language)
            yield element("details", element("summary", self._words["gate"]), whole)

    def _origin(self, origin: Origin) -> Any:
        return mark(ORIGINS[self._tongue][origin], GROUNDS[origin])


def _quote(text: str) -> Any:
    return element("blockquote", element("mark", text))


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Any]:
    """A passage with its quotes marked; ``spans`` in order, where two overlap the second begins after the first."""
    at = 0
    for start, end in spans:
        yield text[at : max(at, start)]
        if end > max(at, start):
            yield element("mark", text[max(at, start) : end])
        at = max(at, end)
    yield text[at:]

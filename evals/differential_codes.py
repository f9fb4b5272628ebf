"""Codes as findings of a graph, and texts as codes: both by our own matcher over the statements of the evidences."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from evals.datasets.ddxplus import AT, EVIDENCES, VALUE, TextPatient, read_templates, statement_of
from evals.datasets.rows import read_object
from tools.contract import Finding
from tools.knowledge_graph.formats import slug
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.observations import surest
from tools.text.clauses import clauses
from tools.text.sentences import sentences

_NUMBER = re.compile(r"\b(\d{1,2}) out of 10\b")


class CodeReader:
    """The evidences of a row as findings: each one's plain statement is read by itself, once a graph."""

    def __init__(self, data: Path, graph: KnowledgeGraph) -> None:
        self._templates = read_templates(data)
        self._graph = graph
        self._known: dict[str, tuple[Finding, ...]] = {}

    def findings(self, evidences: Sequence[str]) -> list[Finding]:
        """What the statements tell: all readings of one clause are one group, of which the best counts."""
        return [finding for code in evidences for finding in self._read(code)]

    def person(self, row: TextPatient) -> str:
        """The text's first sentence, which says age and sex."""
        return sentences(row.text)[0].of(row.text)

    def _read(self, code: str) -> tuple[Finding, ...]:
        known = self._known.get(code)
        if known is None:
            statement = statement_of(self._templates, code)
            known = tuple(self._of(code, statement)) if statement else ()
            self._known[code] = known
        return known

    def _of(self, code: str, statement: str) -> list[Finding]:
        graph = self._graph.graph
        return [
            Finding(
                id=graph.findings[o.finding].id,
                name=graph.findings[o.finding].name,
                clause=f"{code} {o.clause}",
                present=o.present,
                side=o.side,
                score=o.score,
                start=0,
                end=len(statement),
            )
            for o in self._graph.read(statement).standing.seen
        ]


class TextCodes:
    """The codes that a text tells: for each clause its surest findings of the graph of evidences, read back as codes.

    Of an evidence on a scale the number that the clause names is its value.
    """

    def __init__(self, data: Path, graph: KnowledgeGraph) -> None:
        self._graph = graph
        release = read_object(data / EVIDENCES)
        templates = read_templates(data)
        self._code = {slug(code): code for code in release}
        self._code |= {slug(f"{c}{AT}{v}"): f"{c}{AT}{v}" for c, e in release.items() for v in e["value_meaning"]}
        self._valued = {code for code in release if VALUE in str(templates[code])}

    def codes(self, text: str) -> Collection[str]:
        """The codes, with values."""
        read = self._graph.read(text)
        told = clauses(text)
        found: set[str] = set()
        for finding, match in surest(read.matches, assured=False).items():
            code = self._code[self._graph.graph.findings[finding].id]
            number = _NUMBER.search(told[match.clause].text)
            if match.present is False:
                continue
            if code in self._valued:
                found |= {f"{code}{AT}{number[1]}"} if number is not None else set()
            else:
                found.add(code)
        return found

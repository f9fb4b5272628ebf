"""A model's statements held to what was given: numbers known, quotes where they stand, the text supported by them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphs.answering.orders import is_order
from graphs.answering.quoting import locate
from graphs.answering.sources import Sources
from graphs.judging.key_terms import KeyTerms, mentions
from graphs.verification.quoted import QuoteCheck, best_citations
from prompts.answer import FAULTS, QuoteReply, StatementReply
from prompts.shown import one_line
from tools.evidence import Citation, Evidence, Origin, Statement, cite
from tools.medicines.names import other_names
from tools.text.sentences import sentences

LONGEST = 700  # ours: characters of a statement; what goes beyond its last whole sentence is cut off
QUOTES = 6  # ours: quotes a statement
# A reference in a model's own words: it cites what it was given, and code writes the rest.
REFERENCE = re.compile(r"\bPMID\b|\bPMC ?\d+|\bdoi\b|\b10\.\d{4,}/\S+|https?://\S+|\bwww\.\S+", re.IGNORECASE)
LABELS = re.compile(
    r"\s*[\[(](?:documents?\s*)?B?\d{1,3}(?:\s*[,;]\s*B?\d{1,3})*[\])](?=\s*(?:[.;,。；，]|$))", re.IGNORECASE
)


class Fault(ValueError):  # noqa: N818  it never leaves the room
    """Why a statement cannot stand: a code of `prompts.answer.FAULTS`, and its detail."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(FAULTS[code].format(detail=detail))
        self.code = code


@dataclass(frozen=True)
class Stated:
    """A statement that stands, and the generated background that it rests on where it is parametric."""

    statement: Statement
    generated: tuple[str, ...] = ()


class ProseReader:
    """Reads the statements of a reply.

    Args:
        check: whether quotes support a statement. terms: the names in a text.
    """

    def __init__(self, check: QuoteCheck, terms: KeyTerms) -> None:
        self._check, self._terms = check, terms

    def read(self, said: StatementReply, sources: Sources) -> Stated:
        """The statement with exact citations of the documents; raises Fault with what is wrong with it."""
        text = plain_text(said.text)
        if not text or is_order(text):
            raise Fault("order" if text else "uncited")
        citations, wrong = self._citations(text, said.quotes, sources)
        if not citations:
            return self._parametric(text, said.quotes, sources, wrong)
        known = {e.id: e for e in sources.documents}
        cited = [known[c.evidence_id] for c in citations]
        self._check_words(text, cited, citations)
        statement = Statement(text=text, origin=cited[0].origin, citations=citations)
        kept = self._check.kept(statement, known)
        if kept is None:
            raise Fault(self._check.fault(statement, known) or "words")
        return Stated(kept)

    def _citations(
        self, text: str, quotes: Sequence[QuoteReply], sources: Sources
    ) -> tuple[tuple[Citation, ...], Fault | None]:
        """Exact citations of what is quoted; a quote that does not stand there gives way to the best sentence there."""
        out: list[Citation] = []
        wrong: Fault | None = None
        for quote in quotes[:QUOTES]:
            document = sources.document(quote.document)
            if document is None:
                wrong = wrong or (None if sources.generated(quote.document) else Fault("unknown", quote.document))
                continue
            found = _cited(quote.quote, text, document)
            out += [c for c in found if c not in out]
            wrong = wrong or (None if found else Fault("quote", quote.document))
        return tuple(out), wrong

    def _parametric(self, text: str, quotes: Sequence[QuoteReply], sources: Sources, wrong: Fault | None) -> Stated:
        """A statement on background alone, where the policy allows it; else the fault."""
        background = [e for e in (sources.generated(q.document) for q in quotes) if e is not None]
        if background and sources.policy == "allowed":
            self._check_words(text, background, ())
            ids = tuple(dict.fromkeys(e.id for e in background))
            return Stated(Statement(text=text, origin=Origin.PARAMETRIC), ids)
        raise Fault("background") if background else wrong or Fault("uncited")

    def _check_words(self, text: str, cited: Sequence[Evidence], citations: Sequence[Citation]) -> None:
        """No reference, and no name, that what is cited does not hold."""
        body = " ".join([*(f"{e.title}. {e.text}" for e in cited), *(c.quote for c in citations)])
        if any(m[0].lower() not in body.lower() for m in REFERENCE.finditer(text)):
            raise Fault("reference")
        named = [(m, *names) for m, names in other_names(text).items()] + self._terms.subjects(text)
        missing = [group[0] for group in named if not any(mentions(body, name) for name in group)]
        missing = missing or self._terms.uncovered(text, [body])
        if missing:
            raise Fault("names", ", ".join(dict.fromkeys(missing)))


def plain_text(text: str) -> str:
    """A statement on one line, without numbers of documents behind its words, cut at a whole sentence."""
    line = LABELS.sub("", one_line(text, len(text) + 1)).strip()
    if len(line) <= LONGEST:
        return line
    ends = [s.end for s in sentences(line) if s.end <= LONGEST]
    return line[: ends[-1]] if ends else ""


def _cited(quote: str, text: str, document: Evidence) -> list[Citation]:
    """The quote as citations of whole sentences; where it does not stand there, the sentences nearest to the text."""
    found = [cite(document, s.start, s.end) for s in locate(quote, document.text)]
    return [c for c in found or best_citations(text, [document]) if not is_order(c.quote)]

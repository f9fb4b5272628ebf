"""A model's statements held to what was given: numbers known, quotes where they stand, the text supported by them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphs.answering.orders import is_order
from graphs.answering.quoting import locate
from graphs.answering.sources import Sources
from graphs.judging.key_terms import KeyTerms, Synonyms, mentions
from graphs.verification.quoted import QuoteCheck, best_citations
from graphs.verification.support import frame_words
from prompts.answer import FAULTS, QuoteReply, StatementReply
from prompts.shown import one_line
from tools.evidence import Citation, Evidence, Origin, Statement, cite
from tools.medicines.names import other_names
from tools.text.sentences import sentences
from tools.text.tokens import tokens

LONGEST = 700  # ours: characters of a statement, of which whole sentences are taken
QUOTES = 6  # ours: quotes a statement
# A reference in a model's own words: it cites what it was given, and code writes the rest.
REFERENCE = re.compile(r"\bPMID\b|\bPMC ?\d+|\bdoi\b|\b10\.\d{4,}/\S+|https?://\S+|\bwww\.\S+", re.IGNORECASE)
# Numbers of documents behind a model's words, as it was shown them or with their name; a bare (12) may be a figure.
NUMBERS = r"B?\d{1,3}(?:\s*[,;]\s*B?\d{1,3})*"
LABELS = re.compile(
    rf"\s*(?:\[(?:documents?\s*)?{NUMBERS}\]|\((?:documents?|background)\s*{NUMBERS}\))(?=\s*(?:[.;,。；，]|$))",
    re.IGNORECASE,
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
        check: whether quotes support a statement.
        terms, diseases: the names in a text, and those of diseases with their other names.
    """

    def __init__(self, check: QuoteCheck, terms: KeyTerms, diseases: Synonyms = lambda _text: {}) -> None:
        self._check, self._terms, self._diseases = check, terms, diseases

    def read(self, said: StatementReply, sources: Sources) -> Stated:
        """The statement with exact citations of the documents; raises Fault with what is wrong with it."""
        text = plain_text(said.text)
        if not text or is_order(text):
            raise Fault("order" if text else "empty")
        named = [(q, d) for q in said.quotes[:QUOTES] if (d := sources.document(q.document)) is not None]
        found = [c for q, d in named for c in _quoted(q.quote, d)]
        if found:
            return self._stated(text, found, sources, guessed=False)
        nearest = [c for c in best_citations(text, [d for _, d in named])[:1] if not is_order(c.quote)]
        if nearest:
            return self._stated(text, nearest, sources, guessed=True)
        return self._parametric(text, said.quotes, sources)

    def _stated(self, text: str, found: Sequence[Citation], sources: Sources, *, guessed: bool) -> Stated:
        """The statement on these quotes, when they bear it out. ``guessed``: the model's own do not stand anywhere."""
        known = {e.id: e for e in sources.documents}
        citations = tuple(dict.fromkeys(found))
        cited = [known[i] for i in dict.fromkeys(c.evidence_id for c in citations)]
        self._check_words(text, cited, [c.quote for c in citations])
        statement = Statement(text=text, origin=cited[0].origin, citations=citations)
        fault = self._check.fault(statement, known, guessed=guessed)
        if fault:
            raise Fault("quote" if guessed else fault)
        return Stated(statement)

    def _parametric(self, text: str, quotes: Sequence[QuoteReply], sources: Sources) -> Stated:
        """A statement on background alone, where the policy allows it; else the fault."""
        background = [e for e in (sources.generated(q.document) for q in quotes) if e is not None]
        if background and sources.policy == "allowed":
            self._check_words(text, background, [e.text for e in background])
            ids = tuple(dict.fromkeys(e.id for e in background))
            return Stated(Statement(text=text, origin=Origin.PARAMETRIC), ids)
        if background:
            raise Fault("background")
        strange = [q.document for q in quotes if sources.document(q.document) is None]
        if strange:
            raise Fault("unknown", strange[0])
        raise Fault("quote" if quotes else "uncited")

    def _check_words(self, text: str, cited: Sequence[Evidence], quotes: Sequence[str]) -> None:
        """No reference, no medicine and no disease that what is cited does not name; no finding outside the quotes."""
        body = " ".join(f"{e.title}. {e.text}" for e in cited)
        if any(m[0].lower() not in body.lower() for m in REFERENCE.finditer(text)):
            raise Fault("reference")
        diseases = self._diseases(text)
        named = [(m, *names) for m, names in [*other_names(text).items(), *diseases.items()]]
        missing = [group[0] for group in named if not any(mentions(body, name) for name in group)]
        missing += self._terms.uncovered(text, [body])
        missing += self._unquoted(text, diseases, " ".join([*(e.title for e in cited), *quotes]))
        if missing:
            raise Fault("names", ", ".join(dict.fromkeys(missing)))

    def _unquoted(self, text: str, diseases: Collection[str], body: str) -> list[str]:
        """Findings that a statement names and its quotes do not: by no name, and by no word of it."""
        held = set(tokens(body)) | frame_words(text)
        findings = [s for s in self._terms.subjects(text) if s[0] not in diseases]
        return [s[0] for s in findings if not set(tokens(s[0])) & held and not any(mentions(body, n) for n in s)]


def plain_text(text: str) -> str:
    """A statement on one line, without numbers of documents behind its words, cut at a whole sentence."""
    line = LABELS.sub("", one_line(text, len(text) + 1)).strip()
    if len(line) <= LONGEST:
        return line
    ends = [s.end for s in sentences(line) if s.end <= LONGEST]
    return line[: ends[-1]] if ends else ""


def _quoted(quote: str, document: Evidence) -> list[Citation]:
    """The quote as citations of whole sentences; none where it does not stand in the document, or is an order."""
    found = [cite(document, s.start, s.end) for s in locate(quote, document.text)]
    return [c for c in found if not is_order(c.quote)]

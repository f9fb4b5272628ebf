"""Which questions an answer suggests: those written with the documents that it cites, as far as it leaves them open."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tools.evidence import Citation, EvidenceId, Statement
from tools.library.contract import QuestionHit
from tools.text.language import HAN

SUGGESTED = 2  # ours: questions of documents; messages that go on from any answer stand behind them


def cited_documents(statements: Sequence[Statement]) -> list[str]:
    """Ids of the documents that statements cite, in order of first citation."""
    return list(dict.fromkeys(EvidenceId.parse(c.evidence_id).document_id for s in statements for c in s.citations))


def suggestions(
    known: Sequence[QuestionHit], statements: Sequence[Statement], said: Collection[str], language: str
) -> list[str]:
    """The first few known questions in a language that nobody asked and that no quote answers.

    Args:
        known: questions of the cited documents, those to suggest first before others.
        statements: of the answer; a quote of theirs answers a question when it overlaps its answering span.
        said: the messages of the session, and what the last one was read as.
        language: of the answer.
    """
    asked = {_plain(text) for text in said}
    quotes = [c for s in statements for c in s.citations]
    left = [
        hit.question.text
        for hit in known
        if bool(HAN.search(hit.question.text)) == (language == "zh")
        and _plain(hit.question.text) not in asked
        and not any(_answers(quote, hit) for quote in quotes)
    ]
    return list(dict.fromkeys(left))[:SUGGESTED]


def _answers(quote: Citation, hit: QuestionHit) -> bool:
    """Whether a quote overlaps the span that answers a question."""
    source = EvidenceId.parse(quote.evidence_id)
    start, end = ((source.start or 0) + place for place in (quote.start, quote.end))
    return source.document_id == hit.document.id and start < hit.question.end and hit.question.start < end


def _plain(text: str) -> str:
    return " ".join(text.casefold().rstrip(" ?？.。!！").split())

"""The passages of full texts that answer a question: by words first, then by meaning and words (two stages, CoMeta).

A review has some hundred passages. Embedding all of them costs half a minute of a processor a search, so the words of
the question and of the plan choose a few of each text (ours); the second stage of `tools.passages` orders those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tools.contract import unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Found
from tools.indexes.lexical import Lexicon
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.depth import LONGEST, BestDocument, TextSpan, passage, spans
from tools.literature.hybrid import best, share_of, weights_of
from tools.passages.contract import Passage, StoredDocument, context_of
from tools.passages.pool import Cut
from tools.passages.search import rank
from tools.readers.contract import Record
from tools.readers.jats import ABSTRACT
from tools.text.abbreviations import expand
from tools.text.tokens import tokens

WINDOW = 900  # ours: characters, some 220 tokens: the embedded encoder reads it whole, mostly
WINDOWS = 6  # ours: windows of a full text that are embedded; with 8 texts about as much as the abstracts of a search
PIECES = 3  # ours: passages of one article at most, so that a long text does not fill an answer
STREAM = "full_text"


class _Text(NamedTuple):
    """A full text with its windows, and the places of those that the first stage chose."""

    document: BestDocument
    record: Record
    windows: list[TextSpan]
    chosen: list[int]


class _Piece(NamedTuple):
    """A piece of evidence: characters of the full text, None for the abstract, and its score."""

    span: TextSpan | None
    score: float


def read_closely(
    question: str,
    plan: SearchPlan,
    documents: Sequence[BestDocument],
    found: Mapping[str, Sequence[Found]],
    encoder: Encoder,
    tool: str,
) -> dict[str, list[Evidence]]:
    """The evidence of each article by PMID, its best first: passages of the full text, and the whole abstract.

    Args:
        found: how each article was found, by PMID; its evidence says so.

    The abstract is ranked with the passages, so a full text comes first only where it says more to the question.
    """
    ranked = _ranked(question, _texts(question, plan, documents), encoder)
    evidence = {}
    for document in documents:
        pmid = document.article.pmid
        abstract = document.article.evidence(found[pmid])
        pieces: list[Evidence] = []
        for place, item in enumerate(ranked.get(pmid, []), 1):
            if item.span is None:
                pieces.append(abstract)
            elif document.record is not None:
                way = Found(tool=tool, stream=STREAM, query=question, rank=place, score=item.score)
                pieces.append(passage(document, document.record, item.span, (*found[pmid], way)))
        evidence[pmid] = pieces if abstract in pieces else [*pieces, abstract]
    return evidence


def grown(windows: Sequence[TextSpan], place: int, longest: int = LONGEST) -> TextSpan:
    """A window with its neighbours of the same section, after it and before it in turn, as far as they fit."""
    first = last = place
    while True:
        before = first
        after = last
        if _fits(windows, first, last + 1, longest):
            last += 1
        if _fits(windows, first - 1, last, longest):
            first -= 1
        if (before, after) == (first, last):
            return TextSpan(windows[place].title, windows[first].start, windows[last].end)


def _fits(windows: Sequence[TextSpan], first: int, last: int, longest: int) -> bool:
    if first < 0 or last >= len(windows) or windows[first].title != windows[last].title:
        return False
    return windows[last].end - windows[first].start <= longest


def _texts(question: str, plan: SearchPlan, documents: Sequence[BestDocument]) -> list[_Text]:
    """The full texts, and of each the windows that hold most of the question's words and the plan's terms."""
    read = [(d, d.record, _body(d.record)) for d in documents if d.record is not None]
    if not read:
        return []
    lexicon = Lexicon([record.text[w.start : w.end] for _, record, windows in read for w in windows])
    words = " ".join(unique([question, expand(question)]))
    scores = share_of(lexicon.scores(words)) + share_of(lexicon.weighted(weights_of(plan)))
    texts = []
    at = 0
    for document, record, windows in read:
        own = scores[at : at + len(windows)]
        at += len(windows)
        texts.append(_Text(document, record, windows, sorted(best(own, WINDOWS)) if windows else []))
    return texts


def _body(record: Record) -> list[TextSpan]:
    """The windows of a full text without its abstract, which PubMed's record gives."""
    return [w for w in spans(record, WINDOW) if not w.title.startswith(ABSTRACT)]


def _ranked(question: str, texts: Sequence[_Text], encoder: Encoder) -> dict[str, list[_Piece]]:
    """The second stage, over the chosen windows and the abstracts of the articles that have a full text."""
    if not texts:
        return {}
    stored, cuts = [], []
    for document, record, windows, chosen in texts:
        abstract = document.article.abstract
        stored.append(StoredDocument(id=record.id, text=record.text))
        cuts.append(_cut([_passage(windows[n]) for n in chosen], record.text, encoder))
        stored.append(StoredDocument(id=f"pubmed:{document.article.pmid}", text=abstract))
        cuts.append(_cut([_passage(TextSpan("", 0, len(abstract)))], abstract, encoder))
    owners = {t.record.id: t for t in texts} | {f"pubmed:{t.document.article.pmid}": t for t in texts}
    ranked: dict[str, list[_Piece]] = {}
    for item in rank(question, stored, cuts, encoder):
        text = owners[item.row.document.id]
        pieces = ranked.setdefault(text.document.article.pmid, [])
        if item.row.document.id != text.record.id:
            pieces.append(_Piece(None, round(item.score, 6)))
            continue
        span = grown(text.windows, text.chosen[item.row.place])
        taken = [p.span for p in pieces if p.span is not None]
        if len(taken) < PIECES and not any(span.start < t.end and t.start < span.end for t in taken):
            pieces.append(_Piece(span, round(item.score, 6)))
    return ranked


def _cut(kept: Sequence[Passage], text: str, encoder: Encoder) -> Cut:
    written = [p.embedded_text(text) for p in kept]
    vectors = encoder.encode_documents(written) if written else np.empty((0, encoder.dimension), dtype=np.float32)
    return Cut(tuple(kept), tuple(tuple(tokens(t)) for t in written), vectors)


def _passage(window: TextSpan) -> Passage:
    """A window as the second stage reads it: under its heading, without the title, which all of them share."""
    return Passage(
        start=window.start,
        end=window.end,
        core_start=window.start,
        core_end=window.end,
        section=window.title or None,
        context=context_of("", window.title),
    )

"""How deep the literature is read (CoMeta, D1 to D3): abstracts, full texts of reviews, full texts of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from prompts.errors import DataError, ServiceError
from tools.contract import Tell, unique, untold
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Found, Frozen, Origin, Status
from tools.indexes.lexical import Lexicon
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.article import Article, Exclusion, is_review
from tools.literature.full_text import FullText, FullTextSource, FullTextState
from tools.literature.hybrid import best, share_of, weights_of
from tools.passages.contract import Passage, StoredDocument, context_of
from tools.passages.pool import Cut
from tools.passages.search import rank
from tools.readers.contract import Record
from tools.readers.jats import ABSTRACT
from tools.text.abbreviations import expand
from tools.text.tokens import tokens

ABSTRACTS, REVIEWS, ALL = 1, 2, 3  # CoMeta's D1, D1+D2 and D1+D2+D3
LONGEST = 2_000  # characters of a passage; ours: some 400 tokens, a paragraph or a few
TOP = 5  # CoMeta gives the share of types among the first five pieces of evidence
FULL_TEXT = "full_text"  # `Evidence.kind` of a passage of a full text
GRAVITY = (Status.RETRACTED, Status.RETRACTION_NOTICE, Status.CONCERN, Status.CORRECTED, Status.PREPRINT, Status.OK)


class BestDocument(Frozen):
    """The best text there is of an article: its full text, else its abstract, else nothing to quote.

    Attributes:
        record: the full text, None when the abstract stands for the article.
        depth: 1 when the abstract is used, 2 for the full text of a review, 3 for that of another article.
        state, why: whether the full text was read, and if not, why.
    """

    article: Article
    record: Record | None
    depth: int
    state: FullTextState
    why: str = ""

    @property
    def status(self) -> Status:
        """The graver of what PubMed and the full text say."""
        said = {self.article.status, Status.OK if self.record is None else self.record.status}
        return next(s for s in GRAVITY if s in said)


class Deepened(Frozen):
    """Articles at their depth, in the order given, and those that may not be used. ``failure`` is that of the source:
    the abstracts then stand for the full texts."""

    documents: tuple[BestDocument, ...]
    excluded: tuple[Exclusion, ...] = ()
    failure: str = ""


class TextSpan(NamedTuple):
    """Characters of a full text under one heading ("" where there is none)."""

    title: str
    start: int
    end: int


class TypeShare(Frozen):
    """Of the first ``n`` pieces of evidence, the share of reviews and of others, and the share of each depth."""

    n: int
    reviews: float
    others: float
    depths: dict[int, float]


async def deepen(
    articles: Sequence[Article],
    source: FullTextSource | None,
    depth: int = REVIEWS,
    full_texts: int = 8,
    seconds: float | None = None,
    tell: Tell = untold,
) -> Deepened:
    """For each ranked article the best available document (CoMeta, depth by publication type).

    Args:
        articles: best first.
        source: of full texts; None reads abstracts only.
        depth: 1, 2 or 3.
        full_texts: read at most, for the best articles that the depth allows (ours: one batch of bounded size).
        seconds: that the source may take; None waits for it.

    A source that fails or is late costs the full texts, never the abstracts; every document says why it has none.
    """
    excluded = [a.exclusion for a in articles if a.exclusion]
    usable = [a for a in articles if not a.exclusion]
    wanted = [a for a in usable if depth >= ALL or (depth >= REVIEWS and is_review(a.publication_types))]
    texts: Mapping[str, FullText] = {}
    failure = ""
    if source is not None and wanted[:full_texts]:
        tell("full_texts", n=len(wanted[:full_texts]))
        try:
            texts = await _in_time(source, wanted[:full_texts], seconds)
        except (ServiceError, DataError) as error:
            failure = str(error)
            texts = {a.pmid: FullText(FullTextState.FAILED, why=error.what) for a in wanted[:full_texts]}
    documents = [_document(a, texts.get(a.pmid, FullText(FullTextState.NOT_ASKED))) for a in usable]
    excluded += [_exclusion(d) for d in documents if not d.status.usable]
    return Deepened(documents=tuple(d for d in documents if d.status.usable), excluded=tuple(excluded), failure=failure)


async def in_full(
    articles: Mapping[str, Article], source: FullTextSource, full_texts: int, seconds: float, tell: Tell
) -> dict[str, list[Evidence] | str]:
    """The full texts of articles of any type by the names given here, in windows; or what went wrong (`FullTexts`)."""
    wanted = dict(islice(articles.items(), full_texts))
    if not wanted:
        return {}
    tell("full_texts", n=len(wanted))
    try:
        texts = await _in_time(source, list(wanted.values()), seconds)
    except (ServiceError, DataError) as error:
        return dict.fromkeys(wanted, error.what)
    given: dict[str, list[Evidence] | str] = {}
    for name, document in {n: _document(a, texts[a.pmid]) for n, a in wanted.items()}.items():
        if document.record is not None:
            given[name] = [passage(document, document.record, w) for w in spans(document.record, WINDOW)]
        elif document.state in (FullTextState.FAILED, FullTextState.UNREADABLE):
            given[name] = document.why
    return given


async def _in_time(
    source: FullTextSource, articles: Sequence[Article], seconds: float | None
) -> Mapping[str, FullText]:
    try:
        async with asyncio.timeout(seconds):
            return await source.read(articles)
    except TimeoutError:
        advice = "Try again, or raise ANAMNESIS_LITERATURE__FULL_TEXT_SECONDS."
        raise ServiceError(f"The full texts did not come within {seconds:g} seconds.", advice) from None


def _document(article: Article, text: FullText) -> BestDocument:
    full = REVIEWS if is_review(article.publication_types) else ALL
    depth = ABSTRACTS if text.record is None else full
    return BestDocument(article=article, record=text.record, depth=depth, state=text.state, why=text.why)


def _exclusion(document: BestDocument) -> Exclusion:
    """Of an article of which only the full text says that it may not be used."""
    return Exclusion(pmid=document.article.pmid, title=document.article.title, status=document.status)


def passage(document: BestDocument, record: Record, span: TextSpan, found: Sequence[Found] = ()) -> Evidence:
    """A slice of a full text as evidence, with what PubMed says of the article."""
    article = document.article
    return Evidence(
        id=f"{record.id}@{span.start}-{span.end}",
        text=record.text[span.start : span.end],
        title=article.title or record.title,
        kind=FULL_TEXT,
        origin=Origin.RETRIEVED,
        publication_types=article.publication_types or record.publication_types,
        level=article.level,
        status=document.status,
        section=span.title or None,
        date=article.date or record.date or None,
        language=record.language,
        reference=article.reference,
        found=tuple(found),
    )


def spans(record: Record, longest: int) -> Iterator[TextSpan]:
    """The sections of a full text, cut between paragraphs, each at most ``longest`` characters."""
    for section in record.sections:
        start = end = -1
        for first, last in _pieces(record.text, section.start, section.end, longest):
            if start >= 0 and last - start > longest:
                yield TextSpan(section.title, start, end)
                start = -1
            start, end = (first if start < 0 else start), last
        if start >= 0:
            yield TextSpan(section.title, start, end)


def _pieces(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """The paragraphs of a section; those that are too long in several pieces."""
    for first, last in _paragraphs(text, start, end):
        while last - first > longest:
            window = text[first : first + longest]
            cut = max(window.rfind(". ") + 1, 0) or max(window.rfind(" "), 0) or longest
            yield first, first + cut
            first += cut
            first += len(text[first:last]) - len(text[first:last].lstrip())
        yield first, last


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of a section that are not empty, without the white space around them."""
    at = start
    for line in text[start:end].splitlines(keepends=True):
        words = line.strip()
        if words:
            first = at + line.index(words)
            yield first, first + len(words)
        at += len(line)


def type_share(evidence: Sequence[Evidence]) -> TypeShare:
    """What kinds of publication the first pieces of evidence are (CoMeta's share among the top five)."""
    first = list(evidence[:TOP])
    reviews = [is_review(e.publication_types) for e in first]
    depths = [_depth(e, review) for e, review in zip(first, reviews, strict=True)]
    whole = max(1, len(first))
    return TypeShare(
        n=len(first),
        reviews=sum(reviews) / whole,
        others=(len(first) - sum(reviews)) / whole,
        depths={d: depths.count(d) / whole for d in (ABSTRACTS, REVIEWS, ALL)},
    )


def _depth(item: Evidence, review: bool) -> int:
    if item.kind != FULL_TEXT and EvidenceId.parse(item.id).collection != "pmc":
        return ABSTRACTS
    return REVIEWS if review else ALL


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


def whole(document: BestDocument, found: Sequence[Found]) -> list[Evidence]:
    """An article as it is handed on to be cut elsewhere: its full text whole, where it was read, and its abstract."""
    abstract, record = document.article.evidence(found), document.record
    if record is None:
        return [abstract]
    return [passage(document, record, TextSpan("", 0, len(record.text)), found), abstract]


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

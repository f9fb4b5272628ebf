"""`segmentation`: SEOS beside nine other ways to cut a text (CoMeta, passages).

(a) `retrieval`: passages over MedQuAD's pages, (b) boundaries of articles' sections, without their headings, (c)
`qualifiers`: conditions that stay with the statement that they govern. docs/evaluations.md tells how each is counted.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import Field

from evals.contract import Figure, Task, TaskContext
from evals.datasets.literature import ABSTRACTS
from evals.datasets.medquad import PAGES, Answer, Page, read_pages
from evals.datasets.rows import RESOURCES, Row, read_jsonl
from evals.sessions import EvalEncoder, encoders
from evals.statistics import mean, paired_difference, points, share
from evals.tasks.literature import vectors_of
from evals.tasks.segmentation.segmenters import BASELINES, FIXED, SEGMENTERS, SPECIAL, Ruler, Segmenter, pieces
from prompts.errors import DataError, InputError
from tools.encoders import Encoder
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.lexical import Lexicon
from tools.literature.hybrid import best
from tools.text.sentences import Span

# Articles of PubMed Central to cut: sentences in top-level sections, headings left out.

ARTICLES = "segmentation/pmc_articles_dev.jsonl"


class Article(Row):
    """An article as a line a sentence, without headings.

    Attributes:
        starts: character at which each sentence begins.
        sections: number of sentences in each top-level section that has any.
    """

    id: str
    text: str
    starts: tuple[int, ...]
    sections: tuple[int, ...]


class _Section(Row):
    sentences: tuple[str, ...]


class _Article(Row):
    id: str
    segments: tuple[_Section, ...] = Field(min_length=1)


def read_articles(data: Path) -> list[Article]:
    """The articles with two sections or more; raises DataError for a damaged row."""
    articles = [_article(row) for row in read_jsonl(data / ARTICLES, _Article)]
    return [article for article in articles if len(article.sections) > 1]


def _article(row: _Article) -> Article:
    sections = [[" ".join(s.split()) for s in section.sentences] for section in row.segments]
    sections = [kept for kept in ([s for s in section if s] for section in sections) if kept]
    lines = [sentence for section in sections for sentence in section]
    starts = tuple(accumulate((len(line) + 1 for line in lines[:-1]), initial=0)) if lines else ()
    return Article(id=row.id, text="\n".join(lines), starts=starts, sections=tuple(map(len, sections)))


WITHOUT = ("paragraph",)  # the articles come as sentences: they have no paragraphs
NEAR = 1  # code: segeval's default (n_t = 2): a boundary one unit off is a near miss


def run(context: TaskContext) -> list[Figure]:
    """Measure all three; what is quick comes first."""
    with encoders(context.settings, context.home) as (plain, cached):
        return [
            *qualifier_figures(context, plain),
            *boundary_figures(context, plain),
            *retrieval_figures(context, plain, cached),
        ]


class Agreement(NamedTuple):
    """Pk and WindowDiff (lower is better) and boundary similarity (higher), each 0..1."""

    pk: float
    windowdiff: float
    similarity: float


def boundary_figures(context: TaskContext, encoder: Encoder) -> list[Figure]:
    """Cut every article into its true number of sections, and again at each segmenter's own size (``_own``)."""
    articles = context.sample(read_articles(context.data))
    out: list[Figure] = []
    for counted, suffix in ((True, ""), (False, "_own")):
        found = {
            name: [agreement(a, segmenter, encoder, counted=counted) for a in context.each(articles, f"{name}{suffix}")]
            for name, segmenter in SEGMENTERS.items()
            if name not in WITHOUT
        }
        out += agreement_figures(found, suffix, context.seed)
    return out


def agreement_figures(found: Mapping[str, Sequence[Agreement]], suffix: str, seed: int) -> list[Figure]:
    """Means over articles, and for Pk the paired difference of SEOS and every baseline (below 0 is better)."""
    out: list[Figure] = []
    for name, values in found.items():
        for metric in Agreement._fields:
            out += mean(f"{name}.boundaries.{metric}{suffix}", [getattr(a, metric) for a in values], seed)
    for name in BASELINES:
        if name in found:
            first, second = ([a.pk for a in found[which]] for which in ("seos", name))
            out += paired_difference(f"seos_over_{name}.boundaries.pk{suffix}", first, second, seed)
    return out


def agreement(article: Article, segmenter: Segmenter, encoder: Encoder, *, counted: bool) -> Agreement:
    """How well the cuts of an article agree with its sections.

    Args:
        counted: the segmenter is told the true number of sections; else it takes its own size.
    """
    gold = frozenset(list(accumulate(article.sections))[:-1])
    spans = segmenter(article.text, "", encoder, len(article.sections) if counted else None)
    found, n = cuts(spans, article.starts), len(article.starts)
    return Agreement(pk(n, gold, found), window_diff(n, gold, found), boundary_similarity(gold, found))


def cuts(spans: Sequence[Span], starts: Sequence[int]) -> frozenset[int]:
    """The sentence boundaries nearest to the cuts between spans.

    A cut lies where a span ends; the next may begin before that by its overlap. Cuts that fall on one boundary are
    one; those at the ends of the text are none.
    """

    def nearest(end: int) -> int:  # a span that ends with its sentence is followed by the next
        after = bisect_right(starts, end)
        if after == len(starts):
            return after
        return after if starts[after] - end <= end - starts[after - 1] else after - 1

    return frozenset(nearest(span.end) for span in spans[:-1]) - {0, len(starts)}


# Agreement of two segmentations of the same units. A segmentation is the set of its boundaries: b in 1..n - 1 is the
# first unit of a segment.


def window(n: int, reference: AbstractSet[int]) -> int:
    """Half the mean length of the reference's segments, rounded, at least 1 (Beeferman et al. 1999)."""
    return max(1, round(n / (len(reference) + 1) / 2))


def _windows(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> tuple[np.ndarray, np.ndarray]:
    """The boundaries in each window of `window` units, of what was found and of the reference."""
    size = window(n, reference)
    if n <= size:
        raise InputError(f"{n} units are too few to compare.", "Give texts of two sentences or more.")
    seen = (np.cumsum([unit in boundaries for unit in range(n)]) for boundaries in (found, reference))
    ours, gold = (counts[size:] - counts[:-size] for counts in seen)
    return ours, gold


def pk(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """Pk, 0..1, lower is better (Beeferman, Berger and Lafferty 1999).

    The share of windows of `window` units whose two ends are held to be in one segment by one segmentation and in
    two by the other.
    """
    ours, gold = _windows(n, reference, found)
    return float(np.mean((ours == 0) != (gold == 0)))


def window_diff(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """WindowDiff, 0..1, lower is better (Pevzner and Hearst 2002): the windows whose numbers of boundaries differ."""
    ours, gold = _windows(n, reference, found)
    return float(np.mean(ours != gold))


def boundary_similarity(reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """Boundary similarity B, 0..1, higher is better (Fournier 2013).

    A boundary one unit off counts half; a boundary of one segmentation alone counts nothing. Two segmentations
    without any boundary agree wholly.
    """
    matches = reference & found
    missed, extra = sorted(reference - found), sorted(found - reference)
    near = 0
    for boundary in missed:
        close = next((other for other in extra if abs(other - boundary) <= NEAR), None)
        if close is not None:
            extra.remove(close)
            near += 1
    pairs = len(matches) + len(missed) + len(extra)
    return (len(matches) + near / 2) / pairs if pairs else 1.0


# Pairs of a condition and the statement that it governs: places in documents, found in the data and read one by
# one.
# Five patterns proposed them and a reader decided. No text is kept: a row has a document's id, four offsets and a
# checksum of the two sentences, so that a changed document is noticed.

FULL_TEXTS = "fulltext/nxml/*"
PAIRS = RESOURCES / "qualifier_pairs.jsonl"
CHECK = 12  # ours: hexadecimal digits of a pair's checksum


class Text(Row):
    """A document with its id, title and text as the readers give them."""

    id: str
    title: str
    text: str


class Pair(Row):
    """A condition and its statement, as characters of a document."""

    document: str
    qualifier: tuple[int, int]
    statement: tuple[int, int]
    check: str

    @classmethod
    def of(cls, document: str, text: str, qualifier: Span, statement: Span) -> Pair:
        """The pair of two sentences of a document."""
        check = _check(text, qualifier, statement)
        places = {"qualifier": (qualifier.start, qualifier.end), "statement": (statement.start, statement.end)}
        return cls(document=document, check=check, **places)

    def stands_in(self, text: str) -> bool:
        """Whether the document still has these two sentences at these places."""
        return _check(text, Span(*self.qualifier), Span(*self.statement)) == self.check


class _Abstract(Row):
    pmid: str
    title: str | None
    abstract: str


def read_texts(data: Path) -> list[Text]:
    """Articles as their reader gives them, and abstracts, by id; what no reader can read is left out."""
    from tools.readers.contract import Record
    from tools.readers.reading import read

    texts: dict[str, Text] = {}
    for path in sorted(data.glob(FULL_TEXTS)):
        for record in read(path):
            if isinstance(record, Record):
                texts.setdefault(record.id, Text(id=record.id, title=record.title, text=record.text))
    for row in read_jsonl(data / ABSTRACTS, _Abstract):
        key = f"pubmed:{row.pmid}"
        texts.setdefault(key, Text(id=key, title=row.title or "", text=row.abstract))
    return list(texts.values())


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """The pairs that the project keeps."""
    return read_jsonl(path, Pair)


def _check(text: str, qualifier: Span, statement: Span) -> str:
    digest = hashlib.sha256(f"{qualifier.of(text)}\n{statement.of(text)}".encode())
    return digest.hexdigest()[:CHECK]


TASK = Task(
    name="segmentation",
    what="passages: SEOS beside nine baselines: answers found, section boundaries, severed conditions",
    inputs=(PAGES, ARTICLES, FULL_TEXTS, ABSTRACTS),
    expected="30 minutes; hours the first time, which embeds the passages of eleven segmenters",
    limit=600,
    run=run,
)


# Part (c) of `segmentation`: conditions that stay with their statements, against the size of the index.
# A passage keeps a pair when both sentences stand in it whole; what the encoder does not read of a passage is not
# in the index, so a pair there is not kept.

ROUNDS = 30  # ours: halvings of the overlap while an index of a given size is looked for


def qualifier_figures(context: TaskContext, encoder: Encoder) -> list[Figure]:
    """Cut every document with a pair; then give each baseline SEOS's index size.

    Raises DataError when no pair stands in the data any more.
    """
    documents = Documents(read_texts(context.data), context.sample(read_pairs()), encoder)
    if not documents.pairs:
        raise DataError(
            "None of the pairs stands in these documents.", "Give the folder of the data that the pairs were found in."
        )
    cut = {name: documents.cut(segmenter, context, name) for name, segmenter in SEGMENTERS.items()}
    kept = {name: documents.kept(spans, leads) for name, (spans, leads) in cut.items()}
    out: list[Figure] = []
    for name, one in kept.items():
        out += share(f"{name}.qualifiers.kept", one.pairs)
        out += share(f"{name}.qualifiers.stored", one.stored)
        out.append(Figure(name=f"{name}.qualifiers.index_tokens", value=one.tokens, n=len(documents.texts)))
        out += share(f"{name}.qualifiers.cut", one.cut)
    seos = kept["seos"]
    for name in BASELINES:
        same = documents.kept(documents.widened(cut[name][0], seos.tokens))
        out += share(f"{name}.qualifiers.kept_at_size", same.pairs)
        out += points(f"seos_over_{name}.qualifiers.kept", seos.pairs, same.pairs, context.seed)
    return out


class Kept(NamedTuple):
    """What a segmentation keeps.

    Attributes:
        pairs: for each pair, whether one passage has it whole, as far as the encoder reads that passage.
        stored: the same when all that is stored of the passage counts.
        tokens: of all passages of all documents, as stored, with the sentences that are read before them.
        cut: for each passage, whether the encoder reads less than is stored.
    """

    pairs: list[bool]
    stored: list[bool]
    tokens: int
    cut: list[bool]


Cut = Mapping[str, Sequence[Span]]  # the spans of each document
Leads = Mapping[str, Sequence[int]]  # for each span, the tokens of the sentence that is read before it


class Documents:
    """The documents that hold pairs, measured in the encoder's tokens."""

    def __init__(self, texts: Sequence[Text], pairs: Sequence[Pair], encoder: Encoder) -> None:
        held = {pair.document for pair in pairs}
        self.texts = {text.id: text for text in texts if text.id in held}
        there = [pair for pair in pairs if pair.document in self.texts]
        self.pairs = [pair for pair in there if pair.stands_in(self.texts[pair.document].text)]
        self._encoder, ruler = encoder, Ruler(encoder)
        self.measured = {key: ruler.measure(text.text) for key, text in self.texts.items()}
        self._room = {key: encoder.limit - SPECIAL - ruler.count(text.title) for key, text in self.texts.items()}

    def cut(self, segmenter: Segmenter, context: TaskContext, label: str) -> tuple[Cut, Leads]:
        """Cut every document."""
        cut: dict[str, list[Span]] = {}
        leads: dict[str, list[int]] = {}
        for text in context.each(list(self.texts.values()), label):
            found = pieces(segmenter, text.text, text.title, self._encoder)
            cut[text.id] = [span for span, _ in found]
            leads[text.id] = [self.measured[text.id].tokens(*lead) if lead else 0 for _, lead in found]
        return cut, leads

    def kept(self, cut: Cut, leads: Leads | None = None) -> Kept:
        """What passages keep."""
        read: dict[str, list[Span]] = {}
        sizes: dict[str, list[int]] = {}
        for key, spans in cut.items():
            measured, room, before = self.measured[key], self._room[key], leads[key] if leads else [0] * len(spans)
            both = list(zip(spans, before, strict=True))
            read[key] = [Span(s.start, measured.cut(s.start, s.end, room - lead)[0]) for s, lead in both]
            sizes[key] = [measured.tokens(*span) + lead for span, lead in both]
        return Kept(
            [_whole(pair, read[pair.document]) for pair in self.pairs],
            [_whole(pair, cut[pair.document]) for pair in self.pairs],
            sum(map(sum, sizes.values())),
            [size > self._room[key] for key, found in sizes.items() for size in found],
        )

    def widened(self, cut: Cut, tokens: int) -> Cut:
        """The same passages with the uniform overlap at which the index has about ``tokens`` tokens.

        Each passage but the first begins so many tokens earlier, in whole words. An overlap that the passages have
        already is taken off first. Without room for a larger index the passages stay as they are.
        """
        bare: Cut = {
            key: [*spans[:1], *(Span(max(before.end, span.start), span.end) for before, span in pairwise(spans))]
            for key, spans in cut.items()
        }
        low, high = 0, max((int(m.totals[-1]) for m in self.measured.values()), default=0)
        for _ in range(ROUNDS):
            if low >= high:
                break
            middle = (low + high + 1) // 2
            wide = self._overlapping(bare, middle)
            size = sum(self.measured[key].tokens(*span) for key, spans in wide.items() for span in spans)
            low, high = (middle, high) if size <= tokens else (low, middle - 1)
        return self._overlapping(bare, low)

    def _overlapping(self, bare: Cut, overlap: int) -> Cut:
        def before(key: str, start: int) -> int:
            """The start of the word ``overlap`` tokens before a place."""
            measured = self.measured[key]
            at = int(np.searchsorted(measured.starts, start))
            back = int(np.searchsorted(measured.totals, measured.totals[at] - overlap, side="left"))
            return min(start, int(measured.starts[back])) if back < len(measured.starts) else start

        return {
            key: [*spans[:1], *(Span(before(key, span.start), span.end) for span in spans[1:])]
            for key, spans in bare.items()
        }


def _whole(pair: Pair, spans: Sequence[Span]) -> bool:
    start, end = min(pair.qualifier[0], pair.statement[0]), max(pair.qualifier[1], pair.statement[1])
    return any(span.start <= start and end <= span.end for span in spans)


# Part (a) of `segmentation`: the share of an answer that the best passages of all pages hold, within a fixed number
# of tokens handed on.

RETRIEVERS = ("bm25", "dense", "hybrid")
PAGES_A_QUESTION = 10  # ours: pages indexed for each question at most, so that a small run is small; 600 take all
HALF = 0.5  # of an answer: the second figure of the issue
HANDED = 512  # paper: the tokens of CoMeta's fixed passages, so that a passage of theirs is handed on whole
DEPTH = 200  # ours: passages ranked; the shortest, sentences, fill the handed tokens well before
Shares = dict[str, dict[str, list[float]]]  # retriever -> segmenter -> a share of the answer, 0..1, a question


def retrieval_figures(context: TaskContext, plain: Encoder, cached: EvalEncoder) -> list[Figure]:
    """Cut and search every page in every way; what is quick comes first, the embedding of passages last.

    Args:
        plain: keeps its document vectors; cached: keeps the vectors of questions too.
    """
    pages = context.sample_of(read_pages(context.data), PAGES_A_QUESTION * context.limit)
    library = Library(pages, plain)
    questions = draw_questions(pages, context.limit, context.seed)
    cut = {name: library.cut(segmenter, context, name) for name, segmenter in SEGMENTERS.items()}
    texts = [q.answer.question for q in questions]
    asked = cached.encode_queries(texts)
    shares: Shares = {retriever: {} for retriever in RETRIEVERS}
    words: dict[str, list[list[int]]] = {}

    def covered(name: str, ranked: Sequence[Sequence[int]]) -> list[float]:
        return [library.covered(q, found, cut[name]) for q, found in zip(questions, ranked, strict=True)]

    for name in context.each(list(cut), "bm25"):
        lexicon = Lexicon(library.texts(cut[name]))
        scored = [lexicon.scores(text) for text in texts]
        words[name] = [[i for i in best(scores, DEPTH) if scores[i] > 0] for scores in scored]  # that share a word
        shares["bm25"][name] = covered(name, words[name])
    for name in cut:
        vectors = vectors_of(library.texts(cut[name]), plain, context, f"vectors of {name}")
        dense = [best(np.asarray(vectors @ vector), DEPTH) for vector in asked]
        shares["dense"][name] = covered(name, dense)
        shares["hybrid"][name] = covered(name, [by_both(w, d) for w, d in zip(words[name], dense, strict=True)])
    out: list[Figure] = []
    for name, passages in cut.items():
        out.append(Figure(name=f"{name}.bm25.index_tokens", value=sum(passages.read), n=len(passages.spans)))
        out += share(f"{name}.dense.cut", passages.cut)  # the encoder does not read them whole
    return out + coverage_figures(shares, context.seed)


def coverage_figures(shares: Shares, seed: int) -> list[Figure]:
    """Coverage in percent, the share of questions with at least half, and SEOS against every baseline in points."""
    out: list[Figure] = []
    for retriever, by_name in shares.items():
        percent = {name: [100 * value for value in values] for name, values in by_name.items()}
        for name, values in by_name.items():
            out += mean(f"{name}.{retriever}.coverage", percent[name], seed)
            out += share(f"{name}.{retriever}.half", [value >= HALF for value in values])
        others = {name: name for name in BASELINES}
        others["best_fixed"] = max(FIXED, key=lambda name: float(np.mean(percent[name])))
        for name, other in others.items():
            figure = f"seos_over_{name}.{retriever}.coverage"
            out += paired_difference(figure, percent["seos"], percent[other], seed)
    return out


class Question(NamedTuple):
    """A question, the place of its page among the pages, and what answers it there."""

    page: int
    answer: Answer


class Passages(NamedTuple):
    """Every passage of all pages, in order.

    Attributes:
        pages: the place of each passage's page.
        spans: its characters there.
        leads: the sentence of the page that is searched before it, or None.
        tokens: its own tokens, the subject and the sentence before it left out.
        read: its tokens with the sentence before it.
        cut: whether the encoder reads less of it than there is, what stands before it counted.
    """

    pages: list[int]
    spans: list[Span]
    leads: list[Span | None]
    tokens: list[int]
    read: list[int]
    cut: list[bool]


class Library:
    """The pages with the places of their tokens."""

    def __init__(self, pages: Sequence[Page], encoder: Encoder) -> None:
        self.pages, self._encoder = pages, encoder
        ruler = Ruler(encoder)
        self.measured = [ruler.measure(page.text) for page in pages]
        self._subjects = [ruler.count(page.focus) for page in pages]

    def cut(self, segmenter: Segmenter, context: TaskContext, label: str) -> Passages:
        """Cut every page."""
        made = Passages([], [], [], [], [], [])
        room = self._encoder.limit - SPECIAL
        for place, page in enumerate(context.each(self.pages, label)):
            measured = self.measured[place]
            for span, lead in pieces(segmenter, page.text, page.focus, self._encoder):
                tokens = measured.tokens(span.start, span.end)
                read = tokens + (measured.tokens(lead.start, lead.end) if lead else 0)
                made.pages.append(place)
                made.spans.append(span)
                made.leads.append(lead)
                made.tokens.append(tokens)
                made.read.append(read)
                made.cut.append(read + self._subjects[place] > room)
        return made

    def texts(self, passages: Passages) -> list[str]:
        """What is searched: the page's subject, which every segmenter gets, the sentence before it, the passage."""
        out = []
        for place, span, lead in zip(passages.pages, passages.spans, passages.leads, strict=True):
            page = self.pages[place]
            out.append("\n".join([page.focus, *([lead.of(page.text)] if lead else []), span.of(page.text)]))
        return out

    def covered(self, question: Question, ranked: Sequence[int], passages: Passages) -> float:
        """The share, 0..1, of the answer's characters inside the handed tokens; white space does not count.

        The best passages are handed on in order and the last is cut; a token that comes twice is handed on twice,
        a character counts once.
        """
        page, answer = self.pages[question.page], question.answer
        inside = np.zeros(answer.end - answer.start, dtype=np.bool_)
        left = HANDED
        for place in ranked:
            of, span = passages.pages[place], passages.spans[place]
            end, tokens = self.measured[of].cut(span.start, span.end, left)
            if of == question.page:
                inside[max(0, span.start - answer.start) : max(0, end - answer.start)] = True
            left -= tokens
            if end < span.end or left <= 0:
                break
        written = np.array([not c.isspace() for c in page.text[answer.start : answer.end]], dtype=np.bool_)
        return float((inside & written).sum() / max(1, written.sum()))


def draw_questions(pages: Sequence[Page], count: int, seed: int) -> list[Question]:
    """Questions, at most one a page: the pages and their questions are drawn by the seed."""
    rng = random.Random(seed)  # noqa: S311
    places = sorted(rng.sample(range(len(pages)), min(count, len(pages))))
    return [Question(place, rng.choice(pages[place].answers)) for place in places]


def by_both(words: Sequence[int], meaning: Sequence[int]) -> list[int]:
    """The two rankings fused by reciprocal rank, as the passage tool fuses them."""
    streams = {"bm25": [str(i) for i in words], "dense": [str(i) for i in meaning]}
    return [int(fused.id) for fused in reciprocal_rank_fusion(streams)]

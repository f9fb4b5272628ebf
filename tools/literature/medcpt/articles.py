"""Articles longer than the article encoder reads: windows of whole sentences, each with the title."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.encoders import Vectors
from tools.encoders_on_disk import PAIR_TOKENS, MedCPTEncoder
from tools.evidence import Frozen
from tools.text.sentences import Span
from tools.text.within_tokens import within_tokens

TITLE_SHARE = 0.5  # ours: at most half of the tokens for the title, so that every window has room for its text


class Windowed(Frozen):
    """The windows of several articles, in order.

    Attributes:
        article: for each window the place of its article. spans: its characters in the abstract.
        long: places of the articles that needed more than one window: what must be told.
    """

    article: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    long: tuple[int, ...]


def article_windows(encoder: MedCPTEncoder, title: str, abstract: str) -> list[Span]:
    """Spans of the abstract which, each with the title, the encoder reads whole; one span when all of it fits."""
    if not encoder.beyond_limit([(title, abstract)]):
        return [Span(0, len(abstract))]
    room = encoder.limit - PAIR_TOKENS
    title_tokens = min(encoder.count_tokens([title])[0], int(room * TITLE_SHARE))
    return within_tokens(abstract, room - title_tokens, encoder.count_tokens)


def encode_windows(encoder: MedCPTEncoder, articles: Sequence[tuple[str, str]]) -> tuple[Vectors, Windowed]:
    """Vectors (windows, dimension) of (title, abstract) pairs, and what each is a window of."""
    cut = [article_windows(encoder, *article) for article in articles]
    places = [n for n, spans in enumerate(cut) for _ in spans]
    flat = [span for spans in cut for span in spans]
    pairs = [(articles[n][0], span.of(articles[n][1])) for n, span in zip(places, flat, strict=True)]
    vectors = encoder.encode_articles(pairs) if pairs else np.empty((0, encoder.dimension), dtype=np.float32)
    long = tuple(n for n, spans in enumerate(cut) if len(spans) > 1)
    return vectors, Windowed(article=tuple(places), spans=tuple((s.start, s.end) for s in flat), long=long)

"""Full texts of the user's own library, and several sources of full texts asked in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from prompts.errors import DataError, InputError, ServiceError
from tools.library.contract import SearchableLibrary
from tools.literature.article import Article
from tools.literature.client import EUtilities, PubMed
from tools.literature.full_text import FullText, FullTextSource, FullTextState, PmcLive
from tools.readers.contract import Record, Section


class LibraryTexts:
    """The copies of PubMed Central that the library holds (``pmc:PMC123``), joined by the record's PMCID."""

    def __init__(self, library: SearchableLibrary) -> None:
        self._library = library

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        """The full text of every article that the library holds; raises DataError when the library is damaged."""
        return await asyncio.to_thread(lambda: {a.pmid: self._text(a) for a in articles})

    def _text(self, article: Article) -> FullText:
        if not article.pmcid:
            return FullText(FullTextState.NO_COPY)
        try:
            held = self._library.document(f"pmc:{article.pmcid}")
        except InputError:  # the library has none
            return FullText(FullTextState.NO_COPY)
        record = Record(
            id=held.id,
            title=held.title,
            text=held.text,
            kind=held.kind,
            sections=tuple(Section(title=s.title, start=s.start, end=s.end) for s in held.sections)
            or (Section(title="", start=0, end=len(held.text)),),
            language=held.language,
            date=held.date,
            publication_types=held.publication_types,
            status=held.status,
            level=held.level,
        )
        return FullText(FullTextState.READ, record)


class JoinedTexts:
    """Sources in turn: each is asked for what those before it have no copy of."""

    def __init__(self, *sources: FullTextSource) -> None:
        self._sources = sources

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        """The full text, or why there is none, for every article. What an earlier source gave outlives a later one's
        failure; raises ServiceError or DataError only when there is nothing to keep."""
        found: dict[str, FullText] = {a.pmid: FullText(FullTextState.NO_COPY) for a in articles}
        for source in self._sources:
            open_ = [a for a in articles if found[a.pmid].state is FullTextState.NO_COPY]
            try:
                found |= await source.read(open_) if open_ else {}
            except (ServiceError, DataError) as error:
                if len(open_) == len(articles):
                    raise
                found |= {a.pmid: FullText(FullTextState.FAILED, why=error.what) for a in open_}
        return found


def full_text_sources(library: SearchableLibrary, pubmed: PubMed) -> FullTextSource:
    """The library, then PubMed Central where the E-utilities are asked. Beside a mirror nothing leaves the machine."""
    own = LibraryTexts(library)
    return JoinedTexts(own, PmcLive(pubmed)) if isinstance(pubmed, EUtilities) else own

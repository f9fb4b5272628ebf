"""Full texts of PubMed Central, joined to their PubMed records by PMID: live through efetch, or out of a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from prompts.errors import DataError, InputError, ServiceError
from tools.library.contract import SearchableLibrary
from tools.literature.article import Article
from tools.literature.client import EUtilities, PubMed
from tools.literature.settings import LiteratureSettings
from tools.readers.contract import Problem, Record, Section

SUFFIXES = (".nxml", ".xml")


class FullTextState(StrEnum):
    """Whether an article's full text was read, and if not, why."""

    READ = "read"
    NO_COPY = "no_copy"  # PubMed Central has none that the source can give
    RESTRICTED = "restricted"  # there, but its publisher allows no more than the abstract as XML
    UNREADABLE = "unreadable"  # it came and cannot be read, or belongs to another record
    FAILED = "failed"  # the source failed
    NOT_ASKED = "not_asked"  # the depth or the bound leaves it out


class FullText(NamedTuple):
    """What a source gave for an article: the record when it was read, else the reason in words."""

    state: FullTextState
    record: Record | None = None
    why: str = ""


class FullTextSource(Protocol):
    """Where full texts come from."""

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        """The full text, or why there is none, for every article, by PMID. Raises ServiceError or DataError."""


class PmcLive:
    """PubMed Central through efetch. A record that names no PMCID is looked up by elink."""

    def __init__(self, client: EUtilities) -> None:
        self._client = client

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        """One batch of full texts for all articles; raises EUtilitiesError."""
        pmcids = {a.pmid: a.pmcid for a in articles if a.pmcid}
        unknown = [a.pmid for a in articles if not a.pmcid]
        if unknown:
            pmcids |= await self._client.pmcids(unknown)
        if not pmcids:
            return {a.pmid: FullText(FullTextState.NO_COPY) for a in articles}
        sent = await self._client.full_texts(list(pmcids.values()))
        return await asyncio.to_thread(_read_all, articles, pmcids, sent)


class PmcFolder:
    """JATS files (``.nxml``, ``.xml``) of a folder; which is whose is read from the files once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Path] | None = None

    async def read(self, articles: Sequence[Article]) -> Mapping[str, FullText]:
        """The files that name an article's PMID or PMCID; raises DataError when the folder cannot be read."""
        return await asyncio.to_thread(self._read, articles)

    def _read(self, articles: Sequence[Article]) -> dict[str, FullText]:
        if self._files is None:
            self._files = _index(self._folder)
        files = {a.pmid: self._files.get(a.pmid) or self._files.get(a.pmcid) for a in articles}
        names = {pmid: path.name for pmid, path in files.items() if path is not None}
        try:
            sent = {path.name: path.read_bytes() for path in files.values() if path is not None}
        except OSError as error:
            raise _unreadable(self._folder, error) from error
        return _read_all(articles, names, sent)


def _read_all(articles: Sequence[Article], names: Mapping[str, str], sent: Mapping[str, bytes]) -> dict[str, FullText]:
    found = {}
    for article in articles:
        body = sent.get(names.get(article.pmid, ""))
        found[article.pmid] = FullText(FullTextState.NO_COPY) if body is None else read_full_text(body, article)
    return found


def read_full_text(body: bytes, article: Article) -> FullText:
    """The full text in a JATS ``article``, if it is that of the record and has a body."""
    from tools.readers.jats import parse_jats, read_article

    try:
        root = parse_jats(body)
    except DataError as error:
        return FullText(FullTextState.UNREADABLE, why=error.what)
    root = root if root.tag == "article" else root.find("article")
    if root is None:
        return FullText(FullTextState.UNREADABLE, why="The XML holds no article.")
    pmid, pmcid = ids_of(root)
    if (pmid and article.pmid not in (pmid, article.pmcid)) or (pmcid and article.pmcid and pmcid != article.pmcid):
        return FullText(FullTextState.UNREADABLE, why=f"The text belongs to another record ({pmid or pmcid}).")
    if root.find("body") is None:
        return FullText(FullTextState.RESTRICTED, why="The publisher does not give the full text as XML.")
    record = read_article(root, pmcid or f"pubmed-{article.pmid}")
    if isinstance(record, Problem):
        return FullText(FullTextState.UNREADABLE, why=record.what)
    return FullText(FullTextState.READ, record)


def ids_of(article: Any) -> tuple[str, str]:
    """PMID and PMCID of a JATS ``article`` element, "" where it names none."""
    pmid = pmcid = ""
    for element in article.iterfind("front/article-meta/article-id"):
        text = "".join(element.itertext()).strip()
        kind = element.get("pub-id-type")
        if kind == "pmid" and text.isdigit():
            pmid = text
        elif kind in ("pmc", "pmcid") and text.upper().removeprefix("PMC").split(".")[0].isdigit():
            pmcid = "PMC" + text.upper().removeprefix("PMC").split(".")[0]
    return pmid, pmcid


def _index(folder: Path) -> dict[str, Path]:
    from tools.readers.jats import parse_jats

    files: dict[str, Path] = {}
    try:
        for path in sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES):
            try:
                root = parse_jats(path.read_bytes())
            except DataError:  # named when an article asks for it by its file's name
                files.setdefault(path.stem.upper(), path)
                continue
            article = root if root.tag == "article" else root.find("article")
            for name in filter(None, ids_of(article) if article is not None else ()):
                files.setdefault(name, path)
    except OSError as error:
        raise _unreadable(folder, error) from error
    return files


def _unreadable(folder: Path, error: OSError) -> DataError:
    return DataError(
        f"The full texts in {folder} cannot be read: {error.strerror}.", "Check the folder's path and rights."
    )


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


def full_text_sources(
    library: SearchableLibrary, pubmed: PubMed, settings: LiteratureSettings | None = None
) -> FullTextSource:
    """The library, the folder of the settings, then PubMed Central where the E-utilities are asked. Beside a mirror
    nothing leaves the machine."""
    folder = settings.full_text_folder if settings is not None else None
    own: list[FullTextSource] = [LibraryTexts(library), *([PmcFolder(folder)] if folder is not None else [])]
    sources = [*own, PmcLive(pubmed)] if isinstance(pubmed, EUtilities) else own
    return JoinedTexts(*sources) if len(sources) > 1 else sources[0]

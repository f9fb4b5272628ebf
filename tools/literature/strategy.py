"""The search strategy: what was asked, what came back and why it went on, in a form that can be kept and repeated.

A saved strategy carries the question's hash, not its words, unless the user wants them in: a case is about a patient.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, Field, ValidationError

from prompts.errors import DataError, InputError
from tools.evidence import Frozen, SameWork, Status
from tools.files import write_atomic
from tools.fusion import RRF_K
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.article import Article, Exclusion
from tools.literature.by_meaning import Vectored
from tools.literature.depth import TypeShare
from tools.literature.full_text import FullTextState
from tools.literature.ladder import Climb, Step

FORMAT = 1  # raised when the saved file changes its shape
PACKAGES = ("anamnesis", "biopython", "search-query")  # whose versions shape a search


class Source(Frozen):
    """Where was searched: ``pubmed`` by its base URL, ``mirror`` by its name.

    Attributes:
        date: of the mirror's newest record, as precise as that record is.
        records: that the mirror held. imports: from how many files they came. newest_import: the name of the last one.
        imported: the day on which it was taken in.
    """

    kind: Literal["pubmed", "mirror"]
    name: str
    date: str = ""
    records: int = 0
    imports: int = 0
    newest_import: str = ""
    imported: str = ""


class Hit(Frozen):
    """One way in which a document was found: the stream, the rung's place in the ladder from 1, and the rank there."""

    stream: str
    rung: str = ""
    step: int = Field(default=0, ge=0)
    rank: int = Field(ge=1)


class FoundDocument(Frozen):
    """A document of the result, by its rank there, with every way in which it was found.

    Attributes:
        score: of the weighted sum that ordered the records; None where ranks did.
        types, year, status, level: as PubMed's record has them.
        depth: 1 the abstract was read, 2 the full text of a review, 3 that of another article.
        text: id of the document that was read. full_text, why: whether the full text was, and if not, why.
    """

    id: str
    title: str = ""
    rank: int = Field(ge=1)
    hits: tuple[Hit, ...]
    score: float | None = None
    types: tuple[str, ...] = ()
    year: int | None = None
    status: Status = Status.OK
    level: str = ""
    depth: int = Field(default=1, ge=1, le=3)
    text: str = ""
    full_text: FullTextState = FullTextState.NOT_ASKED
    why: str = ""


class Excluded(Frozen):
    """A document that was found and left out, and why. ``notices`` are the PMIDs of what retracted it, or its source
    in words."""

    id: str
    reason: str
    title: str = ""
    notices: tuple[str, ...] = ()


def retracted(exclusions: Iterable[Exclusion]) -> list[Excluded]:
    """Those whose status forbids their use, each with the PMIDs of its notices."""
    return [
        Excluded(id=f"pubmed:{e.pmid}", reason=e.status.value, title=e.title, notices=e.notices) for e in exclusions
    ]


# Records of one work: a preprint and its article, an article that was published again, the same record twice.

# RefType of CommentsCorrections by which PubMed joins versions of one work: preprint and article, or a new edition
JOINED = frozenset(
    {"UpdateIn", "UpdateOf", "RepublishedIn", "RepublishedFrom"}
    | {f"{name}{way}" for name in ("CorrectedandRepublished", "CorrectedAndRepublished") for way in ("In", "From")}
)
LONG = 30  # ours: letters from which a title tells a work; "Editorial" or "Acute bronchitis" is of many


def same_works(articles: Sequence[Article]) -> tuple[SameWork, ...]:
    """The groups of records that are of one work: joined by PubMed, of one DOI, or of the same title.

    Titles are compared without case, punctuation and space, from `LONG` letters on. A group of equal titles may hold
    editions of a review of several years: it is told as what it is.
    """
    leader: dict[str, str] = {}
    reasons: dict[str, dict[str, None]] = {}
    first: dict[str, Article] = {}

    def top(pmid: str) -> str:
        while leader[pmid] != pmid:
            pmid = leader[pmid]
        return pmid

    for article in articles:
        leader.setdefault(article.pmid, article.pmid)
    for article in articles:
        for why, key in _keys(article):
            other = first.setdefault(key, article)
            one, two = top(other.pmid), top(article.pmid)
            if other.pmid != article.pmid:
                joined = {**reasons.pop(one, {}), **reasons.pop(two, {}), why: None}
                leader[two] = one
                reasons[one] = joined
    return tuple(_group([a for a in articles if top(a.pmid) == one], why) for one, why in reasons.items())


def _keys(article: Article) -> Iterator[tuple[str, str]]:
    """What joins a record to others, with the reason in words."""
    if article.doi:
        yield "same DOI", f"doi {article.doi.casefold()}"
    for note in article.corrections:
        if note.type in JOINED and note.pmid:
            yield "joined by PubMed", "pair " + " ".join(sorted((article.pmid, note.pmid)))
    title = "".join(c for c in article.title.casefold() if c.isalnum())
    if len(title) >= LONG:
        yield "same title", f"title {title}"


def _group(members: Sequence[Article], why: Iterable[str]) -> SameWork:
    preprints = tuple(f"pubmed:{a.pmid}" for a in members if _preprint(a))
    ids = tuple(dict.fromkeys(f"pubmed:{a.pmid}" for a in members))
    return SameWork(ids=ids, why=", ".join(why), preprints=preprints)


def _preprint(article: Article) -> bool:
    return article.status is Status.PREPRINT or "Preprint" in article.publication_types


class SearchStrategy(Frozen):
    """A search as it was done. ``question`` is "" unless the user asked to keep the words.

    Attributes:
        first: when the search was done first, where this is a repetition of it.
        most: records that a query listed at most; None for ``enough``.
        held: how many words of the question were held back; the words themselves only where ``question`` is kept.
        fusion: how the records that were read were put in order (see the setting).
        encoder: the embedding model that compared the records with the question, "" where none did.
        ranked: how many of the documents were put in order, best first; the rest stand as the queries listed them. None
            for all.
        vectors: the imported vectors that the question was searched in too, None where there are none.
        same_work: documents of the result that are of one work: a preprint and its article, one record twice.
        depth: the depth asked for. type_share: what the first five documents are (CoMeta), None without documents.
    """

    format: Literal[1] = 1
    question_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    question: str = ""
    at: AwareDatetime
    first: AwareDatetime | None = None
    source: Source
    enough: int = Field(ge=1)
    most: int | None = Field(default=None, ge=1)
    held: int = Field(default=0, ge=0)
    rrf_k: int = RRF_K
    fusion: Literal["weighted", "rrf", "ladder"] = "rrf"
    encoder: str = ""
    ranked: int | None = Field(default=None, ge=0)
    vectors: Vectored | None = None
    depth: int = Field(default=1, ge=1, le=3)
    type_share: TypeShare | None = None
    plan: SearchPlan
    rungs: tuple[Step, ...]
    documents: tuple[FoundDocument, ...] = ()
    same_work: tuple[SameWork, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    failure: str = ""
    versions: dict[str, str] = Field(default_factory=dict)


def question_hash(question: str) -> str:
    """The sha256 of a question's words, spaces evened out."""
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()


def make_strategy(
    question: str,
    plan: SearchPlan,
    climbed: Climb,
    source: Source,
    enough: int,
    *,
    documents: Sequence[FoundDocument] | None = None,
    excluded: Sequence[Excluded] = (),
    at: datetime | None = None,
) -> SearchStrategy:
    """The strategy of a finished search. ``documents`` are its result; None where no record was read: the ladder's."""
    if documents is None:
        documents = [
            FoundDocument(id=f"pubmed:{pmid}", rank=n, hits=hits_of(climbed, pmid))
            for n, pmid in enumerate(climbed.ids, 1)
        ]
    return SearchStrategy(
        question_sha256=question_hash(question),
        at=at or datetime.now(UTC).replace(microsecond=0),
        source=source,
        enough=enough,
        held=len(plan.held),
        plan=plan.model_copy(update={"held": ()}),  # words of a person are not kept
        rungs=climbed.steps,
        documents=tuple(documents),
        excluded=tuple(excluded),
        failure=climbed.failure,
        versions=versions(),
    )


def as_listed(article: Article, rank: int, hits: Sequence[Hit]) -> FoundDocument:
    """A record that was put in no order: as a query listed it."""
    return FoundDocument(
        id=f"pubmed:{article.pmid}",
        title=article.title,
        rank=rank,
        hits=tuple(hits),
        types=article.publication_types,
        year=article.year,
        status=article.status,
        level=article.level,
        text=f"pubmed:{article.pmid}",
    )


def hits_of(climbed: Climb, pmid: str, more: Mapping[str, int] | None = None) -> tuple[Hit, ...]:
    """Each place of a PMID in the ladder, then its rank in further streams."""
    ladder = [Hit(stream="pubmed", rung=p.rung, step=p.step + 1, rank=p.rank) for p in climbed.places.get(pmid, ())]
    return (*ladder, *(Hit(stream=stream, rank=rank) for stream, rank in (more or {}).items()))


def as_steps(strategy: SearchStrategy) -> list[dict[str, Any]]:
    """The strategy as the steps of a tool's artefact: the plan, each rung, then what became of the records."""
    whole = strategy.model_dump(mode="json")
    plan = {k: v for k, v in whole["plan"].items() if k not in ("expressions", "notices")}
    not_here = ("format", "question", "plan", "rungs")
    kept = [name for name in whole if name not in not_here]
    return [
        {"step": "plan", **plan},
        *({"step": "rung", **rung} for rung in whole["rungs"]),
        {"step": "records", **{k: whole[k] for k in kept}},
    ]


def strategies_of(steps: Sequence[Mapping[str, Any]]) -> tuple[list[SearchStrategy], list[dict[str, Any]]]:
    """The strategies that `as_steps` took apart, without question and expressions; and the steps of other sources."""
    strategies: list[SearchStrategy] = []
    others: list[dict[str, Any]] = []
    plan: dict[str, Any] = {}
    rungs: list[dict[str, Any]] = []
    for step in steps:
        rest = {name: value for name, value in step.items() if name != "step"}
        match step.get("step"):
            case "plan":
                plan, rungs = rest, []
            case "rung":
                rungs.append(rest)
            case "records":
                strategies.append(SearchStrategy.model_validate({**rest, "plan": plan, "rungs": rungs}))
            case _:
                others.append(dict(step))
    return strategies, others


def works_among(shown: Collection[str], steps: Sequence[Mapping[str, Any]]) -> list[SameWork]:
    """The works of all searches in some steps of which a document is shown; groups that share one are one work.

    ``shown``: ids of documents; an article of which the full text is shown goes by the id of that.
    """
    works: list[SameWork] = []
    for step in steps:
        found = [SameWork.model_validate(group) for group in step.get("same_work", ())]
        texts = [(d["id"], d.get("text", "")) for d in step["documents"]] if found else []
        names = {i: [n for n in dict.fromkeys((i, text)) if n in shown] or [i] for i, text in texts}
        for group in (_renamed(one, names) for one in found):
            met = [work for work in works if not set(work.ids).isdisjoint(group.ids)]
            works = [*(work for work in works if work not in met), _one_work([*met, group])]
    return [work for work in works if not set(work.ids).isdisjoint(shown)]


def _renamed(group: SameWork, names: Mapping[str, Sequence[str]]) -> SameWork:
    ids, preprints = (tuple(name for i in some for name in names[i]) for some in (group.ids, group.preprints))
    return SameWork(ids=ids, why=group.why, preprints=preprints)


def _one_work(groups: Sequence[SameWork]) -> SameWork:
    return SameWork(
        ids=tuple(dict.fromkeys(i for g in groups for i in g.ids)),
        why=", ".join(dict.fromkeys(why for g in groups for why in g.why.split(", "))),
        preprints=tuple(dict.fromkeys(i for g in groups for i in g.preprints)),
    )


def save_strategy(strategy: SearchStrategy, path: Path) -> None:
    """Write a strategy as JSON, atomically; raises InputError when the place cannot be written."""
    try:
        write_atomic(path, (strategy.model_dump_json(indent=2) + "\n").encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from error


def load_strategy(path: Path) -> SearchStrategy:
    """Read a saved strategy. Raises InputError when there is none, DataError when it is damaged or another format."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Give a file that --strategy wrote.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no search strategy.", "Give a file that --strategy wrote.") from error
    try:
        return SearchStrategy.model_validate_json(text)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the file"
        raise DataError(f"{path} is no search strategy of format {FORMAT} ({where}).", "Search again.") from None


def versions() -> dict[str, str]:
    """The versions of the `PACKAGES`."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found

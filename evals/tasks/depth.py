"""`depth`: what the first five pieces of evidence are when the literature is read at CoMeta's D1, D1+D2 and D1+D2+D3.

Searched is a mirror of the abstracts of the data with the full texts that go with them. Asked are claims: of each full
text the first sentence of its own conclusions that can be asked. Their article and their place in it are the gold.
``d1``, ``d1_d2``, ``all``: the depths. ``claims``: all of them; ``claims_of_reviews`` and ``claims_of_others`` by the
article's kind. ``reviews`` and ``others`` are shares of the first five pieces by publication type, ``full_text``,
``full_text_of_reviews`` and ``full_text_of_others`` those that are passages of full texts. ``article@5``: the gold
article is among them; ``passage@5``: one holds the sentence whole; ``words@5``: the mean share of the claim's words in
the piece that holds most of them. A claim stands in the full text word for word, so that depth is flattered here; no
question of BioASQ or PubMedQA has one of these articles as gold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agent.assembly import open_search
from agent.cli.console import say
from evals.contract import Figure, Task, TaskContext
from evals.datasets.literature import ABSTRACTS, read_abstracts
from evals.runner import data_sha256
from evals.sessions import encoders
from evals.statistics import mean, points, share
from evals.tasks.literature import build_once, mirror_record
from prompts.errors import DataError
from tools.evidence import Evidence, EvidenceId
from tools.literature.article import is_review
from tools.literature.depth import TOP, type_share
from tools.literature.full_text import PmcFolder, ids_of
from tools.literature.live import LiveSearch
from tools.literature.strategy import Source
from tools.mirror.engine import Mirror
from tools.mirror.load import load_records
from tools.readers.contract import Record
from tools.readers.jats import parse_jats, read_article
from tools.text.sentences import sentences
from tools.text.tokens import tokens

DEPTHS = {"d1": 1, "d1_d2": 2, "all": 3}
COMPARED = (("d1_d2", "d1"), ("all", "d1_d2"))
FULLTEXT = "fulltext/nxml"
LEAST, MOST = 12, 45  # ours: words of a claim; shorter ones name no subject, longer ones are lists


class FullArticle(NamedTuple):
    """A JATS article with a body, and its PMID."""

    pmid: str
    record: Record


@dataclass(frozen=True)
class Claim:
    """A sentence of an article's own conclusions, asked as it stands.

    Attributes:
        start, end: its characters in the full text ``document``. review: whether the article is one.
    """

    text: str
    pmid: str
    document: str
    start: int
    end: int
    review: bool


Searched = tuple[Evidence, ...]  # the first pieces of evidence for a claim
Rows = Sequence[tuple[Claim, Sequence[Searched]]]  # a claim, and what each depth found, in the order of `DEPTHS`


def run(context: TaskContext) -> list[Figure]:
    """Search every claim at every depth and count."""
    documents = read_abstracts(context.data)
    held = {d.pmid for d in documents}
    articles = [a for a in read_articles(context.data / FULLTEXT) if a.pmid in held]
    every = [claim for claim in map(claim_of, articles) if claim is not None]
    if not every:
        raise DataError("No full text has conclusions that can be asked.", "Give the folder of the data with --data.")
    # all claims of reviews that fit into half of the limit, and others to fill it
    claims = context.sample_of([c for c in every if c.review], max(1, context.limit // 2))
    claims += context.sample_of([c for c in every if not c.review], max(1, context.limit - len(claims)))
    folder = context.home.cache / "evaluations" / f"depth-{data_sha256(context.data, TASK.inputs)[:16]}"

    def build() -> None:  # the abstracts of the articles have the articles' publication types
        types = {a.pmid: a.record.publication_types for a in articles}
        rows = (
            mirror_record(d.model_copy(update={"publication_types": types.get(d.pmid) or d.publication_types}))
            for d in context.each(documents, "mirror")
        )
        load_records(folder / "mirror", rows, source="depth evaluation")

    build_once(folder, build)
    own = context.settings.literature
    # a full text of a folder needs no time limit
    at = [own.model_copy(update={"depth": depth, "full_text_seconds": 600.0}) for depth in DEPTHS.values()]
    planner = open_search(context.settings, context.home, folder / "mirror", say).planner
    mirror, texts = Mirror.open(folder / "mirror"), PmcFolder(context.data / FULLTEXT)
    source = Source(kind="mirror", name="depth evaluation")
    with encoders(context.settings, context.home) as (_, cached):
        searches = [LiveSearch(mirror, cached, source, settings, texts) for settings in at]

        async def search(claim: Claim) -> list[Searched]:
            plan = await planner.plan(claim.text, case=False)
            found = [await live.search(plan, claim.text, limit=TOP, tool="search") for live in searches]
            return [tuple(d.evidence[0] for d in one.documents if d.evidence)[:TOP] for one in found]

        asyncio.run(search(claims[0]))  # warms up: the folder is read, and the encoder runs
        rows = [(claim, asyncio.run(search(claim))) for claim in context.each(claims, "claims")]
    searched = {"abstracts": len(documents), "full_texts": len(articles)}
    held_figures = [Figure(name=f"searched.claims.{what}", value=n, n=n) for what, n in searched.items()]
    return held_figures + figures_of(rows, context.seed)


def figures_of(rows: Rows, seed: int) -> list[Figure]:
    """Every figure, over all claims and by the kind of their article."""
    kinds = {
        "claims": list(rows),
        "claims_of_reviews": [r for r in rows if r[0].review],
        "claims_of_others": [r for r in rows if not r[0].review],
    }
    out: list[Figure] = []
    for kind, own in kinds.items():
        held: dict[str, list[bool]] = {}
        for at, name in enumerate(DEPTHS):
            found = [(claim, searched[at]) for claim, searched in own]
            held[name] = [any(holds(e, c) for e in s) for c, s in found]
            out += _depth(f"{name}.{kind}", found, held[name], seed)
        for first, second in COMPARED:
            out += points(f"{first}_over_{second}.{kind}.passage@5", held[first], held[second], seed)
    return out


def _depth(name: str, found: Sequence[tuple[Claim, Searched]], held: Sequence[bool], seed: int) -> list[Figure]:
    shares = [type_share(s) for _, s in found]
    means = {
        "pieces": [float(s.n) for s in shares],
        "reviews": [100 * s.reviews for s in shares],
        "others": [100 * s.others for s in shares],
        "full_text": [100 * (s.depths[2] + s.depths[3]) for s in shares],
        "full_text_of_reviews": [100 * s.depths[2] for s in shares],
        "full_text_of_others": [100 * s.depths[3] for s in shares],
    }
    return [
        *(f for metric, values in means.items() for f in mean(f"{name}.{metric}", values, seed)),
        *share(f"{name}.article@{TOP}", [any(of_article(e, c) for e in s) for c, s in found]),
        *share(f"{name}.passage@{TOP}", held),
        *mean(f"{name}.words@{TOP}", [words_held(s, c) for c, s in found], seed),
    ]


def read_articles(folder: Path) -> list[FullArticle]:
    """The articles of a folder that name a PMID and have a body; others and what cannot be read are passed over."""
    out: dict[str, FullArticle] = {}
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        try:
            root = parse_jats(path.read_bytes())
        except DataError:
            continue
        article = root if root.tag == "article" else root.find("article")
        if article is None or article.find("body") is None:
            continue
        pmid, pmcid = ids_of(article)
        record = read_article(article, pmcid or f"pubmed-{pmid}")
        if pmid and isinstance(record, Record):
            out.setdefault(pmid, FullArticle(pmid, record))
    return list(out.values())


def claim_of(article: FullArticle) -> Claim | None:
    """The first sentence of the conclusions that can be asked, outside the abstract; None where there is none."""
    text = article.record.text
    for section in article.record.sections:
        title = section.title.casefold()
        if "conclusion" not in title or title.startswith("abstract"):
            continue
        for span in sentences(text[section.start : section.end]):
            start, end = section.start + span.start, section.start + span.end
            if LEAST <= len(text[start:end].split()) <= MOST:
                review = is_review(article.record.publication_types)
                return Claim(text[start:end], article.pmid, article.record.id, start, end, review)
    return None


def of_article(item: Evidence, claim: Claim) -> bool:
    """Whether a piece of evidence is of the claim's article."""
    return EvidenceId.parse(item.id).document_id in (f"pubmed:{claim.pmid}", claim.document)


def holds(item: Evidence, claim: Claim) -> bool:
    """Whether a piece of evidence holds the claim's sentence whole: at its place, or word for word elsewhere."""
    at = EvidenceId.parse(item.id)
    if at.document_id == claim.document and at.start is not None and at.end is not None:
        return at.start <= claim.start and claim.end <= at.end
    return " ".join(claim.text.split()) in " ".join(item.text.split())


def words_held(evidence: Sequence[Evidence], claim: Claim) -> float:
    """Percent of the claim's words in the piece of evidence that has most of them."""
    wanted = set(tokens(claim.text))
    return max((100 * len(wanted & set(tokens(e.text))) / max(1, len(wanted)) for e in evidence), default=0.0)


TASK = Task(
    name="depth",
    what="CoMeta's depths: what the first five pieces of evidence are, and whether they hold the gold passage",
    inputs=(ABSTRACTS, f"{FULLTEXT}/*"),
    expected="10 minutes",
    limit=80,
    run=run,
)

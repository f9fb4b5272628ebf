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

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evals.contract import Figure, Task, TaskContext
from evals.datasets.literature import ABSTRACTS, read_abstracts
from evals.depth_runs import (
    FULLTEXT,
    Claim,
    DepthSearch,
    Searched,
    claim_of,
    holds,
    of_article,
    prepare_mirror,
    read_articles,
    words_held,
)
from evals.statistics import mean, paired_difference, share
from prompts.errors import DataError
from tools.literature.depth import TOP, type_share

if TYPE_CHECKING:
    from tools.literature.settings import LiteratureSettings

DEPTHS = {"d1": 1, "d1_d2": 2, "all": 3}
COMPARED = (("d1_d2", "d1"), ("all", "d1_d2"))
Rows = Sequence[tuple[Claim, Sequence[Searched]]]  # a claim, and what each depth found, in the order of `DEPTHS`


def run(context: TaskContext) -> list[Figure]:
    """Search every claim at every depth and count."""
    from agent.assembly import open_search
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders
    from evals.runner import data_sha256
    from tools.literature.full_text import PmcFolder
    from tools.mirror.engine import Mirror

    documents = read_abstracts(context.data)
    held = {d.pmid for d in documents}
    articles = [a for a in read_articles(context.data / FULLTEXT) if a.pmid in held]
    claims = _drawn(context, [claim for claim in map(claim_of, articles) if claim is not None])
    home = Home(context.settings.home).prepare()
    digest = data_sha256(context.data, TASK.inputs)[:16]
    folder = prepare_mirror(home.cache / "evaluations" / f"depth-{digest}", documents, articles, context)
    plain, cached = evaluation_encoders(context.settings, home)
    planner = open_search(context.settings, home, folder).planner
    search = DepthSearch(Mirror.open(folder), planner, cached, PmcFolder(context.data / FULLTEXT))
    settings = [_at(context, depth) for depth in DEPTHS.values()]
    search.search(claims[0], settings)  # warms up: the folder is read, and the encoder runs
    rows = [(claim, search.search(claim, settings)) for claim in context.tick(claims, "claims", len(claims))]
    cached.close()
    plain.close()
    return figures_of(rows, context.seed)


def figures_of(rows: Rows, seed: int) -> list[Figure]:
    """Every figure, over all claims and by the kind of their article."""
    kinds = {
        "claims": list(rows),
        "claims_of_reviews": [r for r in rows if r[0].review],
        "claims_of_others": [r for r in rows if not r[0].review],
    }
    return [figure for kind, own in kinds.items() for figure in _kind(kind, own, seed)]


def _kind(kind: str, rows: Rows, seed: int) -> list[Figure]:
    claims = [claim for claim, _ in rows]
    found = {name: [searched[at] for _, searched in rows] for at, name in enumerate(DEPTHS)}
    held = {
        name: [any(holds(e, c) for e in s) for c, s in zip(claims, own, strict=True)] for name, own in found.items()
    }
    out: list[Figure] = []
    for name, own in found.items():
        out += _depth(f"{name}.{kind}", claims, own, held[name], seed)
    for first, second in COMPARED:
        points = [[100.0 * x for x in held[name]] for name in (first, second)]
        out += paired_difference(f"{first}_over_{second}.{kind}.passage@5", points[0], points[1], seed)
    return out


def _depth(
    name: str, claims: Sequence[Claim], found: Sequence[Searched], held: Sequence[bool], seed: int
) -> list[Figure]:
    shares = [type_share(s) for s in found]
    article = [any(of_article(e, c) for e in s) for c, s in zip(claims, found, strict=True)]
    return [
        *mean(f"{name}.pieces", [float(s.n) for s in shares], seed),
        *mean(f"{name}.reviews", [100 * s.reviews for s in shares], seed),
        *mean(f"{name}.others", [100 * s.others for s in shares], seed),
        *mean(f"{name}.full_text", [100 * (s.depths[2] + s.depths[3]) for s in shares], seed),
        *mean(f"{name}.full_text_of_reviews", [100 * s.depths[2] for s in shares], seed),
        *mean(f"{name}.full_text_of_others", [100 * s.depths[3] for s in shares], seed),
        *share(f"{name}.article@{TOP}", article),
        *share(f"{name}.passage@{TOP}", held),
        *mean(f"{name}.words@{TOP}", [words_held(s, c) for c, s in zip(claims, found, strict=True)], seed),
    ]


def _drawn(context: TaskContext, claims: Sequence[Claim]) -> list[Claim]:
    """All claims of reviews that fit into half of the limit, and others to fill it."""
    if not claims:
        raise DataError("No full text has conclusions that can be asked.", "Give the folder of the data with --data.")
    reviews = context.sample_of([c for c in claims if c.review], max(1, context.limit // 2))
    others = context.sample_of([c for c in claims if not c.review], max(1, context.limit - len(reviews)))
    return [*reviews, *others]


def _at(context: TaskContext, depth: int) -> LiteratureSettings:
    """The settings at a depth; a full text of a folder needs no time limit."""
    return context.settings.literature.model_copy(update={"depth": depth, "full_text_seconds": 600.0})


TASK = Task(
    name="depth",
    what="CoMeta's depths: what the first five pieces of evidence are, and whether they hold the gold passage",
    inputs=(ABSTRACTS, f"{FULLTEXT}/*"),
    expected="10 minutes",
    limit=80,
    run=run,
)

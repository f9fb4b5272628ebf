"""CoMeta: PubMed alone, by a Boolean ladder and by meaning, read at the depth of its type, cut by SEOS."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from evals.datasets.literature import read_abstracts, read_bioasq, read_collection
from evals.tasks.depth import FullArticle, claim_of, read_articles
from evals.tasks.methods.check import Bench, Check, Places, Row, Seen, documents
from tools.evidence import EvidenceId
from tools.literature.adapt_e.contract import RungName
from tools.literature.adapt_e.expressions import expressions
from tools.literature.article import is_review
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, examine, segment

NAME, D1, ALL = "cometa", "cometa:d1", "cometa:all"
SEARCH, PASSAGES = "search_literature", "retrieve_passages"
PUBLISHED = ("pubmed:", "pmc:")  # what is of PubMed, and of PubMed Central
FULL = "pmc:"
LONG = 7  # ours: letters of a word in which a slip is made
MISSPELT = {
    "realy": ("Does omeprazole realy cause fractures?", "really"),
    "docter": ("My docter says that statins cause muscle pain. Is that so?", "doctor"),
    "omeprazol": ("Does omeprazol cause osteoporosis?", "omeprazole"),
    "definately": ("Is smoking definately a cause of bladder cancer?", "definitely"),
    "seperate": ("Are gout and pseudogout seperate diseases?", "separate"),
    "recieve": ("Should patients with asplenia recieve pneumococcal vaccine?", "receive"),
    "becuase": ("Is anaemia common becuase of chronic kidney disease?", "because"),
    "diabetis": ("Does metformin prevent diabetis?", "diabetes"),
    "tretment": ("What is the tretment of sarcoidosis?", "treatment"),
    "amoxicilin": ("Does amoxicilin help in sinusitis?", "amoxicillin"),
    "paracetemol": ("Is paracetemol safe in liver disease?", "paracetamol"),
    "simptoms": ("What are the simptoms of hypothyroidism?", "symptoms"),
}  # ours: the paper's kind of errors, as patients make them; the first three are the issue's


@cache
def questions(places: Places) -> Sequence[Row]:
    """BioASQ's questions whose gold documents the mirror holds."""
    held = frozenset(d.pmid for d in read_collection(places.data))
    return [Row(q.id, q.text, q.gold) for q in read_bioasq(places.data, held)]


def misspelt(places: Places) -> Sequence[Row]:
    """Written questions with one misspelt word, and what is meant by it."""
    del places
    return [Row(word, text, (word, meant)) for word, (text, meant) in MISSPELT.items()]


def slips(places: Places) -> Sequence[Row]:
    """BioASQ's questions with one slip in their longest plain word, drawn by the question; and as they are."""
    return [row for row in map(_slipped, questions(places)) if row is not None]


def _slipped(row: Row) -> Row | None:
    words = [w for w in row.text.split() if len(w) >= LONG and w.isalpha() and w.islower()]
    if not words:
        return None
    word, drawn = max(words, key=len), random.Random(row.text)  # noqa: S311  a slip, no secret
    at = drawn.randrange(1, len(word) - 1)
    wrong = drawn.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + drawn.choice(string.ascii_lowercase) + word[at + 1 :],
        ]
    )
    return None if wrong == word else Row(row.id, row.text.replace(word, wrong, 1), row.text)


@cache
def _articles(folder: Path) -> dict[str, FullArticle]:
    return {article.record.id: article for article in read_articles(folder)}


@cache
def _claims(places: Places, *, reviews: bool) -> Sequence[Row]:
    held = {d.pmid for d in read_abstracts(places.data)}
    found = (claim_of(a) for a in _articles(places.full_texts).values() if a.pmid in held)
    return [Row(c.document, c.text, c) for c in found if c is not None and c.review is reviews]


def claims_of_reviews(places: Places) -> Sequence[Row]:
    """The first sentence that can be asked of the conclusions of each full text that is a review."""
    return _claims(places, reviews=True)


def claims_of_others(places: Places) -> Sequence[Row]:
    """The same of the other full texts."""
    return _claims(places, reviews=False)


def texts(places: Places) -> Sequence[Row]:
    """The full texts of reviews."""
    return [
        Row(row.id, _articles(places.full_texts)[row.id].record.text, row.text) for row in claims_of_reviews(places)
    ]


def published(ids: Sequence[str]) -> list[str]:
    """The documents of PubMed and PubMed Central among some evidence."""
    return [d for d in documents(ids) if d.startswith(PUBLISHED)]


def cited(bench: Bench, row: Row) -> Seen:
    """Whether documents of PubMed are selected and cited, and nothing else."""
    turn = bench.turn(NAME, row)
    selected, cites = published(turn.selected), published(turn.cited)
    others = set(documents([*turn.selected, *turn.cited])) - {*selected, *cites}
    why = f"selected {len(selected)}, cited {len(cites)}, of other sources {len(others)}"
    return Seen(bool(selected and cites) and not others, why)


def corrected(bench: Bench, row: Row) -> Seen:
    """Whether the word is put right, and neither it nor what is left of it is searched for."""
    word, meant = row.known
    plan = bench.plan(NAME, row.text)
    right = any((c.written.lower(), c.meant.lower()) == (word, meant) for c in plan.corrections)
    asked = any(f'"{word}"' in e.query for e in plan.expressions)
    return Seen(right and not asked, f"{', '.join(f'{c.written}: {c.meant}' for c in plan.corrections) or 'nothing'}")


def found_again(bench: Bench, row: Row) -> Seen:
    """Whether the question with a slip is searched for as the question without it."""
    wrong, right = bench.plan(NAME, row.text), bench.plan(NAME, row.known)
    asked = [[t.text for t in plan.terms] for plan in (wrong, right)]
    return Seen(asked[0] == asked[1], f"{asked[0]} for {asked[1]}")


def by_pico(bench: Bench, row: Row) -> Seen | None:
    """Whether the abstraction asks otherwise than term by term; None for a question of fewer than two PICO groups."""
    plan = bench.plan(NAME, row.text)
    if sum(map(bool, (getattr(plan.pico, name) for name in type(plan.pico).model_fields))) < 2:
        return None
    by_terms, _ = expressions(plan.terms, plan.dates)
    asked = [
        {e.query for e in rungs if e.rung is RungName.ABSTRACTION} for rungs in (plan.expressions, by_terms)
    ]  # fmt: skip
    return Seen(
        bool(asked[0]) and asked[0] != asked[1], f"{len(asked[0] - asked[1])} queries of {len(asked[0])} differ"
    )


def cut_by_seos(bench: Bench, row: Row) -> Seen | None:
    """Whether every passage of a full text is one into which SEOS cuts the whole of it; None where none was read."""
    turn = bench.turn(NAME, row)
    read = [key for key in turn.brought(PASSAGES) if key.startswith(FULL)]
    if not read:
        return None
    titles = {item["id"].partition("@")[0]: item["title"] for e in turn.of("tool") for item in e["evidence"]}
    spans = {d: _spans(bench, d, titles[d]) for d in documents(read)}
    kept = [at for at in map(EvidenceId.parse, read) if (at.start, at.end) in spans[at.document_id]]
    return Seen(len(kept) == len(read), f"{len(kept)} of {len(read)} passages of full texts")


def _spans(bench: Bench, document: str, title: str) -> set[tuple[int | None, int | None]]:
    text = _articles(bench.places.full_texts)[document].record.text
    method = bench.settings(NAME).passage_method
    cut = segment(StoredDocument(id=document, title=title, text=text), bench.encoder, SeosSettings(method=method))
    return {(p.start, p.end) for p in cut}


def overlaps(bench: Bench, row: Row) -> Seen | None:
    """Whether passages share more where the text goes on, and not always the same; None for fewer than three breaks."""
    method = bench.settings(NAME).passage_method
    cuts = examine(StoredDocument(id=row.id, text=row.text), bench.encoder, SeosSettings(method=method))
    breaks = sorted((b.continuity, b.wanted) for cut in cuts for b in cut.breaks)
    if len(breaks) < 3:
        return None
    grows = all(first <= second for (_, first), (_, second) in pairwise(breaks))
    counts = sorted({shared for _, shared in breaks})
    return Seen(grows and len(counts) > 1, f"{len(breaks)} breaks share {', '.join(map(str, counts))} sentences")


def _full(bench: Bench, config: str, row: Row, *, reviews: bool) -> int:
    """Passages of full texts of reviews, or of other articles, that are selected."""
    kinds = {d: is_review(a.record.publication_types) for d, a in _articles(bench.places.full_texts).items()}
    chosen = [key.partition("@")[0] for key in bench.turn(config, row).selected if key.startswith(FULL)]
    return sum(kinds[document] is reviews for document in chosen)


def _read(bench: Bench, config: str, row: Row, *, reviews: bool) -> bool:
    """Whether the search read a full text of a review, or of another article."""
    kinds = {d: is_review(a.record.publication_types) for d, a in _articles(bench.places.full_texts).items()}
    found = documents(bench.turn(config, row).brought(SEARCH))
    return any(kinds[document] is reviews for document in found if document.startswith(FULL))


def reviews_deeper(bench: Bench, row: Row) -> Seen | None:
    """Whether full texts are selected at D1+D2, and none at D1; None where the search found none to read."""
    if not _read(bench, NAME, row, reviews=True):
        return None
    deep, shallow = (_full(bench, config, row, reviews=True) for config in (NAME, D1))
    return Seen(deep > 0 and shallow == 0, f"{deep} passages of full texts of reviews, {shallow} at D1")


def others_deeper(bench: Bench, row: Row) -> Seen | None:
    """Whether full texts that are no reviews' are selected at D1+D2+D3, and none at D1+D2; None where none is found."""
    if not _read(bench, ALL, row, reviews=False):
        return None
    deep, shallow = (_full(bench, config, row, reviews=False) for config in (ALL, NAME))
    return Seen(deep > 0 and shallow == 0, f"{deep} passages of other full texts, {shallow} at D1+D2")


def differs(arm: str, tool: str = "") -> Check:
    """A check that an arm brings other evidence, or the same in another order."""

    def look(bench: Bench, row: Row) -> Seen:
        own, other = (bench.turn(config, row) for config in (NAME, f"{NAME}:{arm}"))
        pair = [t.brought(tool) if tool else t.selected for t in (own, other)]
        shared = len(set(pair[0]) & set(pair[1]))
        return Seen(pair[0] != pair[1], f"{shared} of {len(pair[0])} in both")

    name = f"cometa.arm_{arm.replace('-', '_')}"
    rows, most = (claims_of_reviews, 20) if arm == "seos" else (questions, 40)
    return Check(name, f"the arm {arm} brings other evidence, or in another order", rows, look, most)


CHECKS = (
    Check("cometa.pubmed_cited", "documents of PubMed are selected and cited, and no others", questions, cited),
    differs("adapt-e", SEARCH),
    Check("cometa.error_corrected", "a misspelt word is put right", misspelt, corrected),
    Check("cometa.slip_corrected", "a slip changes no term of the search", slips, found_again),
    Check("cometa.pico_rungs", "the abstraction is that of PICO, not of single terms", questions, by_pico),
    Check("cometa.seos_full_text", "full texts are read in SEOS's passages", claims_of_reviews, cut_by_seos, 20),
    Check("cometa.arm_d1", "full texts of reviews at D1+D2, none at D1", claims_of_reviews, reviews_deeper, 20),
    differs("seos"),
    Check("cometa.arm_all", "full texts of others at D1+D2+D3, none at D1+D2", claims_of_others, others_deeper, 20),
    Check("cometa.seos_overlap", "the overlap grows with continuity", texts, overlaps, 20),
)

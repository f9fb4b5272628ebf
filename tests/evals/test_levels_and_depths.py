"""Levels of a diagnosis (MedRAG), and what the depths are counted on."""

from __future__ import annotations

import pytest

from agent.knowledge_graph import STARTER_GRAPH
from evals.tasks.depth import Claim, FullArticle, claim_of, holds, of_article, words_held
from evals.tasks.depth import figures_of as depth_figures
from evals.tasks.differential import Ranked, figures_of
from evals.tasks.levels import Diagnosed, disease_of
from evals.tasks.levels import figures_of as level_figures
from graphs.answering.contract import Answer
from tools.evidence import Evidence, Origin
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import Names
from tools.readers.contract import Record, Section


def answer(**more: object) -> Answer:
    return Answer.model_validate({"question": "q", "kind": "case", "language": "en", **more})


def test_levels_are_those_of_the_graphs_path() -> None:
    graph = read_graph(STARTER_GRAPH)
    gerd = graph.disease["gerd"]
    near = next(d for d in graph.diseases if d.l2 == gerd.l2 and d.id != "gerd")
    above = graph.l2[gerd.l2].l1
    cousin = next(d for d in graph.diseases if d.l2 != gerd.l2 and graph.l2[d.l2].l1 == above)
    found = [
        Diagnosed("gerd", "gerd", False),
        Diagnosed("gerd", near.id, False),
        Diagnosed("gerd", cousin.id, True),
        Diagnosed("gerd", "", False),
    ]
    values = {f.name: (round(f.value, 1), f.n) for f in level_figures(found, graph)}
    assert values["levels.text.l1"] == (75, 4)
    assert values["levels.text.l2"] == (50, 4)
    assert values["levels.text.l3"] == (25, 4)
    assert values["levels.text.named"] == (75, 4)
    assert values["levels.text_clean.l1"] == (66.7, 3)


def test_with_a_model_the_disease_is_the_first_that_its_words_name() -> None:
    names = Names(read_graph(STARTER_GRAPH))
    said = [{"text": "This looks like croup, less like pneumonia.", "origin": "parametric"}]
    assert disease_of(answer(statements=said), names, by_model=True) == "croup"
    assert disease_of(answer(statements=said), names, by_model=False) == ""


def test_the_first_level_is_counted_where_there_is_one() -> None:
    rows = [
        Ranked("a", "A", (("b", "B"),), names_gold=False),
        Ranked("a", "A", (("c", "C"),), names_gold=False),
        Ranked("a", "A", (), names_gold=False),
    ]
    above = {"A": "one", "B": "one", "C": "two"}
    values = {f.name: f.value for f in figures_of(rows, frozenset("abc"), 0, more=False, above=above)}
    assert values["starter.text.l1"] == pytest.approx(100 / 3)
    assert values["starter.text.l1_majority"] == 100  # always the commonest node
    assert not any(f.name.endswith(".l1") for f in figures_of(rows, frozenset("abc"), 0, more=False))


TEXT = "Gout hurts. " + "In this trial the daily dose of colchicine halved the number of attacks of gout in men."
START = len("Gout hurts. ")


def article(title: str, types: tuple[str, ...] = ("Review",)) -> FullArticle:
    sections = (Section(title=title, start=0, end=len(TEXT)),)
    return FullArticle("7", Record(id="pmc:PMC1", title="t", text=TEXT, kind="article", sections=sections,
                                   publication_types=types))  # fmt: skip


def piece(id: str, text: str, kind: str = "full_text", types: tuple[str, ...] = ("Review",)) -> Evidence:
    return Evidence(id=id, text=text, kind=kind, origin=Origin.RETRIEVED, publication_types=types)


def test_a_claim_is_a_sentence_of_the_conclusions_outside_the_abstract() -> None:
    claim = claim_of(article("Discussion / Conclusions"))
    assert claim is not None
    assert (TEXT[claim.start : claim.end], claim.review) == (claim.text, True)
    assert claim.text.startswith("In this trial")
    assert claim_of(article("Abstract / Conclusions")) is None
    assert claim_of(article("Results")) is None


def test_depths_are_counted_by_kind_place_and_words() -> None:
    claim = claim_of(article("Conclusion"))
    assert claim is not None
    whole = piece(f"pmc:PMC1@0-{len(TEXT)}", TEXT)
    part = piece(f"pmc:PMC1@{START + 3}-{len(TEXT)}", TEXT[START + 3 :])
    abstract = piece("pubmed:7@0-18", "Attacks were fewer", "abstract", ())
    quoting = piece(f"pubmed:9@0-{len(claim.text)}", claim.text, "abstract", ())
    assert [holds(e, claim) for e in (whole, part, abstract, quoting)] == [True, False, False, True]
    assert [of_article(e, claim) for e in (whole, part, abstract, quoting)] == [True, True, True, False]
    assert words_held([whole], claim) == 100 > words_held([abstract], claim) > words_held([], claim) == 0
    other = Claim("x", "8", "pmc:PMC2", 0, 1, review=False)
    deep: list[tuple[Evidence, ...]] = [(abstract,), (whole, abstract), (whole, abstract)]
    shallow: list[tuple[Evidence, ...]] = [(abstract,)] * 3
    rows = [(claim, deep), (other, shallow)]
    values = {f.name: (f.value, f.n) for f in depth_figures(rows, 0)}
    assert values["d1.claims.full_text"] == (0, 2)
    assert values["d1_d2.claims.full_text_of_reviews"] == (25, 2)
    assert values["d1_d2.claims_of_reviews.passage@5"] == (100, 1)
    assert values["d1_d2_over_d1.claims.passage@5"] == (50, 2)
    assert values["all_over_d1_d2.claims.passage@5"] == (0, 2)
    assert values["d1.claims_of_others.article@5"] == (0, 1)

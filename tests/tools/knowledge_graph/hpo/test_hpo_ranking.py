"""The ranking: better fits rank higher, exclusion costs, a paper left out is gone, ambiguous wordings stay between."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import InputError
from support.small_hpo import LINES, write_small_hpo
from tools.knowledge_graph.hpo.compiled import build
from tools.knowledge_graph.hpo.lookup import RareDiseases
from tools.knowledge_graph.hpo.ontology import Ontology, Papers, rate_of
from tools.knowledge_graph.hpo.ranking import HpoRanker, Observed


def score(ontology: Ontology, disease: str, present: list[str], absent: list[str] | None = None) -> float:
    observed = [Observed((ontology.position[t],)) for t in present]
    excluded = [ontology.position[t] for t in absent or []]
    return float(HpoRanker(ontology).scores(observed, excluded)[ontology.disease_position[disease]])


def test_the_term_itself_beats_its_sibling_which_beats_nothing_shared(small: Ontology) -> None:
    own = score(small, "OMIM:1", ["HP:0000012"])
    sibling = score(small, "OMIM:2", ["HP:0000012"])
    assert own > sibling > score(small, "OMIM:5", ["HP:0000012"])


def test_a_more_frequent_phenotype_counts_more(small: Ontology) -> None:
    assert score(small, "OMIM:3", ["HP:0000021"]) > score(small, "OMIM:1", ["HP:0000021"])


def test_an_excluded_phenotype_costs_those_that_have_it(small: Ontology) -> None:
    lost = score(small, "OMIM:3", ["HP:0000030"]) - score(small, "OMIM:3", ["HP:0000030"], ["HP:0000021"])
    spared = score(small, "OMIM:5", ["HP:0000030"]) - score(small, "OMIM:5", ["HP:0000030"], ["HP:0000021"])
    assert lost > 0 > spared


def test_a_wording_of_two_senses_lies_between_them(small: Ontology) -> None:
    a, b = small.position["HP:0000012"], small.position["HP:0000030"]
    both = HpoRanker(small).scores([Observed((a, b), (0.5, 0.5))], [])
    one, other = (HpoRanker(small).scores([Observed((t,))], []) for t in (a, b))
    assert np.all(both <= np.maximum(one, other) + 1e-6)
    assert np.all(both >= np.minimum(one, other) - 1e-6)


def test_nothing_told_ranks_nothing(small: Ontology) -> None:
    rare = RareDiseases(small)
    assert rare.rank_terms([]).ranking == ()
    assert rare.rank_text("I feel fine.").ranking == ()


def test_an_unknown_term_is_a_users_mistake(small: Ontology) -> None:
    with pytest.raises(InputError, match="HP:1234567"):
        RareDiseases(small).rank_terms(["HP:0000011", "HP:1234567"])


def test_the_ranking_says_why(small: Ontology) -> None:
    found = RareDiseases(small).rank_terms(["HP:0000030"], ["HP:0000021"], limit=3)
    assert found.ranking[0].disease == "OMIM:3"
    assert found.ranking[0].findings_for == ("Absent speech",)
    assert found.ranking[0].findings_against == ("Hearing impairment",)
    assert found.ranking[0].evidence_id == "graph:hpo/OMIM:3"


def test_what_no_patient_had_is_no_reason_for_a_disease(tmp_path: Path) -> None:
    line = ("OMIM:5", "Hair disease", "", "HP:0000021", "PMID:15", "0/4", "P")
    found = RareDiseases(build(write_small_hpo(tmp_path, lines=(*LINES, line))))
    ranked = found.rank_terms(["HP:0000032", "HP:0000021"], limit=100).ranking
    assert next(r for r in ranked if r.disease == "OMIM:5").findings_for == ("Fine hair",)
    assert next(r for r in ranked if r.disease == "OMIM:1").findings_for == ("Hearing impairment",)  # in 1 of 10


def test_an_entry_quotes_each_annotation_with_its_source(small: Ontology) -> None:
    rare = RareDiseases(small)
    text = rare.evidence_for("OMIM:1").text
    at = rare.sentence_for("OMIM:1", "Nuclear cataract")
    assert at is not None
    assert text[slice(*at)] == (
        "Nuclear cataract is reported in 9 of 10 patients with Nuclear lens disease (PMID:11, PMID:12)."
    )
    assert "Hearing impairment is stated to be absent in Cortical lens disease" in rare.evidence_for("OMIM:2").text


@given(st.lists(st.integers(0, 10), min_size=1, max_size=6), st.lists(st.integers(0, 10), max_size=4))
def test_order_does_not_matter_and_shares_sum_to_one(small: Ontology, present: list[int], absent: list[int]) -> None:
    ranker = HpoRanker(small)
    observed = [Observed((t,)) for t in present]
    forward, back = ranker.scores(observed, absent), ranker.scores(observed[::-1], absent[::-1])
    assert np.all(np.isfinite(forward))
    assert np.allclose(forward, back, atol=1e-5)
    assert ranker.shares(forward).sum() == pytest.approx(1)


def test_a_paper_left_out_takes_what_rests_on_it_alone(small: Ontology) -> None:
    position, number = small.position, small.disease_position["OMIM:1"]
    left = Papers(small, whole=False).without("11")
    assert left is not None
    row = left.rates[list(left.diseases).index(number)]
    assert row[position["HP:0000021"]] == 0  # cited by paper 11 alone
    assert row[position["HP:0000012"]] == pytest.approx(10 / 15)  # paper 12 supports it too
    whole = Papers(small, whole=True).without("11")
    assert whole is not None
    assert whole.rates[list(whole.diseases).index(number)][position["HP:0000012"]] == 0
    assert Papers(small, whole=True).without("999") is None


def test_leaving_out_equals_building_without(small: Ontology) -> None:
    """The overlay gives the same evidence as an ontology that never had the annotation."""
    from dataclasses import replace

    from tools.knowledge_graph.hpo.compiled import _tables

    papers = Papers(small, whole=True)
    gone = papers.gone("12")
    keep = np.setdiff1d(np.arange(len(small.annotations.term)), gone)
    rows = small.annotations
    fewer = replace(
        rows,
        **{n: getattr(rows, n)[keep] for n in ("disease", "term", "rate", "negated", "frequency", "named")},
    )
    shape = (len(small.diseases), len(small.terms))
    rates, carriers = _tables(fewer, small.ancestors, small.relatives, small.closeness, shape, small.omim)
    rebuilt = HpoRanker(replace(small, annotations=fewer, rates=rates, carriers=carriers))
    observed = [Observed((small.position[t],)) for t in ("HP:0000012", "HP:0000021")]
    excluded = [small.position["HP:0000013"]]
    assert np.allclose(
        HpoRanker(small).scores(observed, excluded, papers.without("12")), rebuilt.scores(observed, excluded)
    )


@pytest.mark.parametrize(
    ("stated", "rate"), [("HP:0040280", 1.0), ("40%", 0.4), ("1/1", 2 / 6), ("", 0.3), ("0/0", 0.3)]
)
def test_stated_frequencies(stated: str, rate: float) -> None:
    assert rate_of(stated) == pytest.approx(rate)

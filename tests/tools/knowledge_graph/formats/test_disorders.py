"""Monarch's disorder files joined to the graph: what is cited goes in with its citation, and all files or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.knowledge_graph.entries import render
from tools.knowledge_graph.formats import read_any, write_any
from tools.knowledge_graph.loader import read_graph

# the form of a real file (kb/disorders/Influenza.yaml): statements with and without a quotation
FLU = """
name: Influenza
category: Infectious Disease
disease_term: {preferred_term: influenza, term: {id: MONDO:0005812, label: influenza}}
phenotypes:
  - {category: Constitutional, name: Chills, frequency: FREQUENT}
  - name: Cough
    frequency: VERY_FREQUENT
    phenotype_term: {term: {id: HP:0012735, label: Cough}}
    evidence:
      - {reference: PMID:29955068, supports: SUPPORT, snippet: Most patients cough for days.}
      - {reference: PMID:1, supports: REFUTE, snippet: Nobody coughs.}
  - name: Crackling of the little toe
    frequency: OCCASIONAL
    evidence: [{reference: DOI:10.1/x, supports: SUPPORT, snippet: The little toe crackled in one of nine.}]
  - name: Glowing nails
    evidence: [{reference: "a blog", supports: SUPPORT, snippet: Nails glow.}]
"""
OTHER = """
name: Toe crackle disease
category: Rare Disease
phenotypes:
  - name: Crackling of the little toe
    frequency: OBLIGATE
    evidence: [{reference: PMID:2, supports: SUPPORT, snippet: All toes crackle.}]
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "disorders"
    folder.mkdir()
    (folder / "Influenza.yaml").write_text(FLU, encoding="utf-8")
    (folder / "Toe.yaml").write_text(OTHER, encoding="utf-8")
    return folder


def test_edges_go_in_with_what_they_cite(folder: Path) -> None:
    joined, starter = read_any(folder), read_graph()
    edges, before = ({m.finding: m for m in g.disease["influenza"].manifestations} for g in (joined, starter))
    cited = {f: m.source for f, m in edges.items() if m.source}
    assert sorted(cited.values()) == ["DOI:10.1/x", "PMID:29955068"]  # nothing refuted, uncited or from nowhere
    assert len(edges) == len(before) + 1
    assert (
        edges["cough"].how_often
        == {m.finding: m for m in starter.disease["influenza"].manifestations}["cough"].how_often
    )
    assert "“Most patients cough for days.” PMID:29955068" in render(joined, joined.disease["influenza"]).text
    new = joined.disease["monarch-toe-crackle-disease"]
    assert [m.how_often for m in new.manifestations] == ["always"]
    assert new.manifestations[0].finding in edges  # one finding for both diseases
    assert joined.about.note == "3 cited edges; 1 diseases known, 1 added."


def test_a_joined_graph_is_written_and_read_again(folder: Path, tmp_path: Path) -> None:
    joined = read_any(folder)
    for out in (tmp_path / "graph", tmp_path / "graph.json"):
        write_any(joined, out)
        assert read_any(out) == joined


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("name: Gout\nphenotypes: [{name: Pain", "damaged or cut off"),
        ("- a list", "no disorder"),
        ("name: Gout\nphenotypes: {name: Pain}", "phenotypes is no list"),
        (FLU[: FLU.index("snippet: Most")], "damaged or cut off"),
    ],
)
def test_a_broken_file_keeps_all_of_them_out(folder: Path, broken: str, told: str) -> None:
    (folder / "Broken.yaml").write_text(broken, encoding="utf-8")
    with pytest.raises(DataError, match=f"Broken.yaml: .*{told}"):
        read_any(folder)


def test_a_file_without_a_cited_statement_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "Gout.yaml"
    file.write_text("name: Gout\nphenotypes: [{name: Toe pain}]", encoding="utf-8")
    with pytest.raises(DataError, match="no statement with a quotation"):
        read_any(file)

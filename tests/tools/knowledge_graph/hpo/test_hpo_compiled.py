"""The compiled ontology: what is read of the files, what is written, and what happens to damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from support.small_hpo import LINES, TERMS, write_small_hpo
from tools.encoders import Encoder
from tools.knowledge_graph.hpo.compiled import Sources, build, compile_hpo, compile_vectors, load_hpo, load_vectors
from tools.knowledge_graph.hpo.ontology import Ontology


def rate(ontology: Ontology, disease: str, term: str) -> float:
    table = ontology.rates.dense(np.array([ontology.position[term]], dtype=np.int32), len(ontology.diseases))
    return float(table[ontology.disease_position[disease], 0])


def test_only_phenotypes_are_terms_and_old_ids_lead_to_new_ones(small: Ontology) -> None:
    assert "HP:0000005" not in small.position
    assert small.position["HP:0000099"] == small.position["HP:0009911"] == small.position["HP:0000011"]
    above = {small.terms[t] for t in small.ancestors[small.position["HP:0000012"]]}
    assert above == {"HP:0000012", "HP:0000011", "HP:0000010", "HP:0000118"}


def test_rates_climb_to_ancestors_and_counts_are_smoothed(small: Ontology) -> None:
    assert rate(small, "OMIM:1", "HP:0000012") == pytest.approx(10 / 15)
    assert rate(small, "OMIM:1", "HP:0000011") == pytest.approx(10 / 15)
    assert rate(small, "OMIM:1", "HP:0000013") == 0
    assert rate(small, "OMIM:5", "HP:0000032") == pytest.approx(0.5)
    assert rate(small, "OMIM:2", "HP:0000021") == 0  # stated to be absent


def test_a_disease_of_the_same_gene_lends_a_little(small: Ontology) -> None:
    lent = rate(small, "OMIM:1", "HP:0000032")
    assert 0 < lent < 0.1
    assert rate(small, "OMIM:2", "HP:0000032") == 0


def test_the_name_of_a_disease_is_read(tmp_path: Path) -> None:
    line = ("OMIM:6", "Hearing loss with fine hair, congenital", "", "HP:0000030", "PMID:16", "", "P")
    built = build(write_small_hpo(tmp_path, lines=(*LINES, line)))
    rows = built.annotations
    assert {built.terms[t] for t in rows.term[rows.named]} == {"HP:0000021", "HP:0000032"}
    assert {built.diseases[d] for d in rows.disease[rows.named]} == {"OMIM:6"}
    assert rate(built, "OMIM:6", "HP:0000021") == pytest.approx(0.6)


def test_those_of_omim_come_first(small: Ontology) -> None:
    assert all(d.startswith("OMIM:") for d in small.diseases[: small.omim])
    assert small.diseases[small.omim :] == ["ORPHA:1"]


def test_what_is_written_is_what_is_loaded(small_sources: Sources, own_folder: Path) -> None:
    written = compile_hpo(own_folder, small_sources)
    loaded = load_hpo(own_folder, small_sources)
    assert loaded.release == "2001-02-03"
    for name in ("terms", "names", "others", "phrases", "ordered", "unordered", "titles", "frequencies", "references"):
        assert getattr(loaded, name) == getattr(written, name)
    assert np.array_equal(loaded.rates.values, written.rates.values)
    assert np.array_equal(loaded.annotations.references.values, written.annotations.references.values)


def test_other_sources_are_compiled_anew(tmp_path: Path, own_folder: Path) -> None:
    compile_hpo(own_folder, write_small_hpo(tmp_path / "one"))
    other = write_small_hpo(tmp_path / "two", lines=(*LINES, ("OMIM:6", "New", "", "HP:0000032", "PMID:16", "", "P")))
    assert "OMIM:6" in load_hpo(own_folder, other).diseases


@pytest.mark.parametrize("file", ["hpo.json", "hpo.npz"])
def test_a_damaged_file_is_built_again(small_sources: Sources, own_folder: Path, file: str) -> None:
    compile_hpo(own_folder, small_sources)
    whole = (own_folder / file).read_bytes()
    (own_folder / file).write_bytes(whole[: len(whole) // 2])
    assert load_hpo(own_folder, small_sources).omim == 65
    assert len((own_folder / file).read_bytes()) == len(whole)


def test_the_checksum_of_the_sources_is_kept(small_sources: Sources, own_folder: Path) -> None:
    compile_hpo(own_folder, small_sources)
    assert json.loads((own_folder / "hpo.json").read_text())["sha256"] == small_sources.sha256()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("OMIM:9", "Bad", "", "HP:7777777", "PMID:1", "", "P"), "no term HP:7777777"),
        (("OMIM:9", "Bad", "", "HP:0000011", "PMID:1", "often", "P"), "no frequency 'often'"),
        (("OMIM:9", "Bad", "", "cataract", "PMID:1", "", "P"), "line 13: no annotation"),
    ],
)
def test_a_damaged_annotation_is_named(tmp_path: Path, line: tuple[str, ...], said: str) -> None:
    with pytest.raises(DataError, match=said):
        build(write_small_hpo(tmp_path, lines=(*LINES, line)))


def test_a_file_without_the_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="HP:0000118"):
        build(write_small_hpo(tmp_path, terms=TERMS.replace("HP:0000118", "HP:0000119")))


def test_vectors_of_another_encoder_are_refused(small: Ontology, encoder: Encoder, own_folder: Path) -> None:
    own_folder.mkdir()
    with pytest.raises(DataError, match="vectors"):
        load_vectors(small, encoder, own_folder)
    compile_vectors(small, encoder, own_folder)
    assert load_vectors(small, encoder, own_folder).shape == (len(small.phrases), encoder.dimension)
    (own_folder / "hpo-vectors.npy").write_bytes(b"damaged")
    with pytest.raises(DataError, match="vectors"):
        load_vectors(small, encoder, own_folder)

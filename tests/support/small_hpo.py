"""A phenotype ontology of a dozen terms and some diseases, in the formats of the real one. All of it is made up."""

from __future__ import annotations

from pathlib import Path

from tools.knowledge_graph.hpo.compiled import Sources

TERMS = """format-version: 1.2

[Term]
id: HP:0000001
name: All

[Term]
id: HP:0000118
name: Phenotypic abnormality
is_a: HP:0000001 ! All

[Term]
id: HP:0000010
name: Abnormality of the eye
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000011
name: Cataract
alt_id: HP:0009911
synonym: "Clouding of the lens" EXACT layperson []
is_a: HP:0000010 ! Abnormality of the eye

[Term]
id: HP:0000012
name: Nuclear cataract
is_a: HP:0000011 ! Cataract

[Term]
id: HP:0000013
name: Cortical cataract
is_a: HP:0000011 ! Cataract

[Term]
id: HP:0000020
name: Abnormality of the ear
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000021
name: Hearing impairment
synonym: "Hearing loss" EXACT layperson []
is_a: HP:0000020 ! Abnormality of the ear

[Term]
id: HP:0000030
name: Absent speech
synonym: "No speech" EXACT layperson []
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000031
name: Intellectual disability, moderate
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000032
name: Fine hair
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000033
name: Anaemia
synonym: "Low red cells" BROAD layperson []
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000099
name: obsolete Old cataract
is_obsolete: true
replaced_by: HP:0000011

[Term]
id: HP:0000005
name: Mode of inheritance
is_a: HP:0000001 ! All
"""
# disease, title, NOT, term, references, frequency, aspect
LINES = (
    ("OMIM:1", "Nuclear lens disease", "", "HP:0000012", "PMID:11;PMID:12", "9/10", "P"),
    ("OMIM:1", "Nuclear lens disease", "", "HP:0000021", "PMID:11", "1/10", "P"),
    ("OMIM:2", "Cortical lens disease", "", "HP:0000013", "PMID:12", "HP:0040281", "P"),
    ("OMIM:2", "Cortical lens disease", "NOT", "HP:0000021", "PMID:12", "", "P"),
    ("OMIM:3", "Silent syndrome", "", "HP:0000030", "PMID:13", "HP:0040280", "P"),
    ("OMIM:3", "Silent syndrome", "", "HP:0000021", "OMIM:3", "HP:0040281", "P"),
    ("OMIM:3", "Silent syndrome", "", "HP:0000005", "OMIM:3", "", "I"),
    ("OMIM:4", "Deafness, rare", "", "HP:0000021", "PMID:14", "", "P"),
    ("OMIM:5", "Hair disease", "", "HP:0000032", "PMID:15", "50%", "P"),
    ("ORPHA:1", "Lens disease, all kinds", "", "HP:0000032", "ORPHA:1", "HP:0040281", "P"),
)
# diseases that have nothing to do with the others, so that a phenotype of one of five is rare
FILLER = tuple((f"OMIM:{n}", f"Pale disease {n}", "", "HP:0000033", f"PMID:{n}", "", "P") for n in range(100, 160))
GENES = (("LENS", "OMIM:1"), ("LENS", "ORPHA:1"), ("HAIR", "OMIM:5"))


def write_small_hpo(folder: Path, terms: str = TERMS, lines: tuple[tuple[str, ...], ...] = LINES) -> Sources:
    """Write the three files; returns where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    ontology, annotations, genes = folder / "hp.obo", folder / "phenotype.hpoa", folder / "genes_to_phenotype.txt"
    ontology.write_text(terms, encoding="utf-8")
    rows = [
        (d, t, no, term, refs, "PCS", "", freq, "", "", aspect, "x")
        for d, t, no, term, refs, freq, aspect in (*lines, *FILLER)
    ]
    head = "#version: 2001-02-03\ndatabase_id\tdisease_name\n"
    annotations.write_text(head + "".join("\t".join(r) + "\n" for r in rows), encoding="utf-8")
    body = "".join(f"1\t{gene}\tHP:0000012\tx\t-\t{disease}\n" for gene, disease in GENES)
    genes.write_text("ncbi_gene_id\tgene_symbol\n" + body, encoding="utf-8")
    return Sources(ontology, annotations, genes)

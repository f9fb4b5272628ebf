"""Phrases with the ICD-10 categories that are right, and phrases that are no diagnosis."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import AT, EVIDENCES, statements
from evals.datasets.rows import RESOURCES, read_object, read_yaml
from tools.medicines.names import TABLE as MEDICINES

if TYPE_CHECKING:
    from tools.knowledge_graph.schema import Graph

CHINESE = "icd10zh/icd10_beijing_v601.csv"
EXAMPLES, JUDGED = RESOURCES / "icd10_examples.yaml", RESOURCES / "icd10_judged.yaml"
NO_DISEASE = ("symptom", "sign", "test", "treatment", "habit", "exposure")  # kinds of findings; a history may be one


class Judged(NamedTuple):
    """A phrase and the categories that are right for it; none for a phrase that has no code."""

    phrase: str
    right: frozenset[str]


def read_judged(path: Path = JUDGED) -> list[Judged]:
    """The gold diagnoses that were judged by hand."""
    return [Judged(phrase, frozenset(codes)) for phrase, codes in read_yaml(path).items()]


def read_examples(language: str, path: Path = EXAMPLES) -> list[Judged]:
    """The written examples of a language, ``en`` or ``zh``."""
    return [Judged(phrase, frozenset(codes)) for phrase, codes in read_yaml(path)[language].items()]


def gold_diagnoses(data: Path) -> list[str]:
    """The gold diagnoses of the vignettes, one a case."""
    return [row.gold_diagnosis for row in read_clinic(data)]


def disease_names(graph: Graph, *, chinese: bool) -> list[Judged]:
    """Every name of the graph's diseases with the category that the graph states."""
    return [
        Judged(name, frozenset((d.icd10[:3],)))
        for d in graph.diseases
        if d.icd10
        for name in ((d.zh, *d.aliases_zh) if chinese else (d.name, *d.aliases))
    ]


def finding_names(graph: Graph, *, chinese: bool) -> list[str]:
    """Names of findings that are no disease: symptoms, signs, tests, treatments, habits, exposures."""
    return [f.zh if chinese else f.name for f in graph.findings if f.kind in NO_DISEASE]


def medicine_names() -> list[str]:
    """Generic names, brands and classes of medicines, as the project's own table has them."""
    groups = read_yaml(MEDICINES)
    names = [n for g in groups for n in (*g["class"], *(m for k, v in g["members"].items() for m in (k, *v)))]
    return list(dict.fromkeys(map(str, names)))


def patients_words(data: Path) -> list[str]:
    """What patients of DDXPlus say of their complaint now; what they say of earlier diseases is left out."""
    release = read_object(data / EVIDENCES)
    said = {code: text for code, text in statements(data).items() if not release[code.split(AT)[0]]["is_antecedent"]}
    return list(dict.fromkeys(said.values()))


def sentences_of(texts: Iterable[str]) -> list[str]:
    """The sentences of cases, in which people tell what they feel."""
    from tools.text.sentences import split_sentences

    return list(dict.fromkeys(span.of(text) for text in texts for span in split_sentences(text)))

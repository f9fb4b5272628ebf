"""The mirror's records as a file, JSON lines or PubMed XML, packed when its name ends in .gz; it can be imported."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, cast

from prompts.errors import DataError, InputError
from tools.mirror.engine import Mirror
from tools.mirror.stored import Stored

HEAD = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    b'"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
FOOT = b"</PubmedArticleSet>\n"
SUFFIXES = (".jsonl", ".xml")


def export(mirror: Mirror, path: Path, progress: Callable[[int], None] | None = None) -> int:
    """Write every record, by PMID; the file is there when it is whole. Returns how many records it has.

    Raises:
        InputError: a name that ends otherwise than .jsonl or .xml (and .gz), or a place that cannot be written.
        DataError: the mirror is damaged, or empty.
    """
    suffix = next((s for s in path.suffixes[-2:] if s in SUFFIXES), "")
    if not suffix:
        raise InputError(f"The suffix of {path.name} tells no format.", "End it in .jsonl, .xml, or these with .gz.")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as temporary:
            name = Path(temporary.name)
        try:
            with _open(name, packed=path.suffix == ".gz") as file:
                count = _write(file, mirror.every(), suffix, progress)
            if not count:
                raise DataError("The mirror holds no record.", "Import PubMed files first.")
            name.replace(path)
        finally:
            name.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.", "Choose another place.") from error
    return count


def line(stored: Stored) -> bytes:
    """A record as one line of JSON: its fields for a reader, and PubMed's XML when it came as that."""
    row = stored.record().model_dump(mode="json", exclude_defaults=True)
    if stored.original is not None:
        row["xml"] = stored.original.decode()
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _write(file: IO[bytes], records: Iterable[Stored], suffix: str, progress: Callable[[int], None] | None) -> int:
    count = 0
    file.write(HEAD if suffix == ".xml" else b"")
    for stored in records:
        file.write(stored.xml() + b"\n" if suffix == ".xml" else line(stored))
        count += 1
        if progress is not None:
            progress(count)
    file.write(FOOT if suffix == ".xml" else b"")
    return count


def _open(path: Path, *, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "wb", compresslevel=6)) if packed else path.open("wb")

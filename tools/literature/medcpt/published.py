"""NCBI's published MedCPT vectors of PubMed, read chunk by chunk: ``embeds_chunk_N.npy`` beside ``pmids_chunk_N.json``.

``pubmed_chunk_N.json`` (PMID -> d: date, t: title, a: abstract, m: MeSH) is used to check that vectors and encoder
belong together; it may be missing. Texts are not imported: a PMID leads to its record in PubMed or a mirror of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import BATCH, medcpt_paths
from tools.encoders_on_disk import PAIR_TOKENS, MedCPTEncoder, count_with, on_this_machine
from tools.evidence import Frozen
from tools.indexes.large import fingerprint
from tools.indexes.large_building import Block
from tools.text.within_tokens import within_tokens

CHUNK = re.compile(r"embeds_chunk_(\d+)\.npy")
ROWS = 50_000  # ours: rows read at once, 150 MB of float32 at 768 dimensions
CHECKED = 16  # ours: articles encoded again; a wrong encoder is seen with far fewer
SAME_SPACE = 0.95  # ours: rounding to float16 and another processor cost below 0.001
READ = 1 << 20  # ours: characters of a records file read for the check at a time
AGAIN = "Download it again."


class Chunk(Frozen):
    """One chunk on disk: its number, its files, rows and dimension. ``records`` is None where they were not fetched."""

    number: int
    vectors: Path
    pmids: Path
    records: Path | None
    rows: int
    dimension: int


class Published(Frozen):
    """A folder of chunks, in the order of their numbers."""

    chunks: tuple[Chunk, ...]
    dimension: int
    rows: int
    source: str

    def blocks(self) -> Iterator[Block]:
        """The blocks for `tools.indexes.large.LargeIndex.build`."""
        for chunk in self.chunks:
            for start in range(0, chunk.rows, ROWS):
                yield f"chunk {chunk.number} from {start}", partial(_read, chunk, start)


def look(folder: Path) -> Published:
    """The chunks of a folder, their headers read.

    Raises:
        InputError: the folder holds none, or chunks of unlike dimension.
        DataError: a chunk without its list of PMIDs, or one that cannot be read.
    """
    found = sorted((int(m[1]), path) for path in _files(folder) if (m := CHUNK.fullmatch(path.name)))
    if not found:
        raise InputError(f"There is no embeds_chunk_N.npy in {folder}.", "Give the folder with NCBI's files.")
    chunks = tuple(_chunk(folder, number, path) for number, path in found)
    dimensions = {chunk.dimension for chunk in chunks}
    if len(dimensions) > 1:
        raise InputError(f"The chunks have unlike dimensions: {sorted(dimensions)}.", "Keep one kind in a folder.")
    files = [path for chunk in chunks for path in (chunk.vectors, chunk.pmids)]
    source = fingerprint(*(f"{path.name}:{path.stat().st_size}" for path in files))
    return Published(
        chunks=chunks, dimension=chunks[0].dimension, rows=sum(chunk.rows for chunk in chunks), source=source
    )


def check_same_space(published: Published, encoder: MedCPTEncoder) -> float | None:
    """Encode a few published articles again and compare; the median cosine, None where there are no records.

    Raises DataError when the vectors were made with another encoder.
    """
    for chunk in published.chunks:
        if chunk.records is None or not chunk.rows:
            continue
        pmids, matrix = _read(chunk, 0)
        place = {pmid: n for n, pmid in enumerate(pmids)}
        known = [(pmid, text) for pmid, text in _records(chunk.records, 4 * CHECKED) if pmid in place][:CHECKED]
        if not known:
            continue
        ours = encoder.encode_articles([(str(r.get("t") or ""), str(r.get("a") or "")) for _, r in known])
        theirs = matrix[[place[pmid] for pmid, _ in known]].astype(np.float32)
        theirs /= np.maximum(np.linalg.norm(theirs, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        cosine = float(np.median((ours * theirs).sum(axis=1)))
        if cosine < SAME_SPACE:
            raise DataError(
                f"The vectors of {chunk.vectors.name} were not made with {encoder.name} (cosine {cosine:.2f}).",
                "Set ANAMNESIS_ENCODER to the MedCPT models that NCBI released.",
            )
        return cosine
    return None


def _chunk(folder: Path, number: int, vectors: Path) -> Chunk:
    pmids, records = folder / f"pmids_chunk_{number}.json", folder / f"pubmed_chunk_{number}.json"
    if not pmids.is_file():
        raise DataError(f"{pmids.name} is missing beside {vectors.name}.", "Download it too.")
    shape = _mapped(vectors).shape
    return Chunk(
        number=number,
        vectors=vectors,
        pmids=pmids,
        records=records if records.is_file() else None,
        rows=shape[0],
        dimension=shape[1],
    )


def _read(chunk: Chunk, start: int) -> tuple[list[str], Any]:
    """Ids and vectors of up to `ROWS` rows of a chunk."""
    try:
        pmids = json.loads(chunk.pmids.read_bytes())
    except ValueError as error:
        raise DataError(f"{chunk.pmids.name} is damaged.", AGAIN) from error
    if not isinstance(pmids, list) or len(pmids) != chunk.rows:
        raise DataError(f"{chunk.pmids.name} has not one PMID a row of {chunk.vectors.name}.", AGAIN)
    names = [str(pmid) for pmid in pmids[start : start + ROWS]]
    if bad := [name for name in names if not name.isdigit()]:
        raise DataError(f"{chunk.pmids.name} holds {bad[0]!r}, which is no PMID.", AGAIN)
    return names, np.asarray(_mapped(chunk.vectors)[start : start + ROWS])


def _mapped(path: Path) -> Any:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path.name} is damaged or cut off.", AGAIN) from error
    if array.ndim != 2 or array.dtype not in (np.float16, np.float32):
        raise DataError(f"{path.name} holds {array.dtype} of shape {array.shape}, not float rows.", AGAIN)
    return array


def _records(path: Path, most: int) -> list[tuple[str, dict[str, Any]]]:
    """The first records of a file of one large JSON object, without reading the rest of it."""
    with path.open(encoding="utf-8") as file:
        head = file.read(READ)
    decoder = json.JSONDecoder()
    found: list[tuple[str, dict[str, Any]]] = []
    at = head.find("{") + 1
    try:
        while len(found) < most:
            key, at = decoder.raw_decode(head, _next(head, at))
            value, at = decoder.raw_decode(head, _next(head, at))
            found.append((str(key), value if isinstance(value, dict) else {}))
    except ValueError:  # the end of what was read, or of the object
        return found
    return found


def _next(text: str, at: int) -> int:
    """The first place from here on that is no white space, comma or colon."""
    while at < len(text) and text[at] in " \t\r\n,:":
        at += 1
    return at


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", "Give the folder with NCBI's files.")
    return list(folder.iterdir())


# MedCPT's cross-encoder: a score of each article for a query, both read together.

Scores = NDArray[np.float32]
QUERY_TOKENS = 192  # ours: of the 512, so that an average abstract is still read beside a part of a long query


class MedCPTReranker:
    """The cross-encoder from a folder on disk or the hub cache: 512 tokens for query and article together.

    Source: Jin et al. 2023, Bioinformatics 39(11). Nothing is cut silently: a longer article is scored by its best
    window, a query longer than 192 tokens by the mean over its parts.

    Raises DataError when the model is not on this machine.
    """

    name = "MedCPT's cross-encoder"
    limit = 512

    def __init__(self, path: str) -> None:
        from sentence_transformers import CrossEncoder
        from torch.nn import Identity

        with on_this_machine(path):
            self._pair = CrossEncoder(
                path, device="cpu", local_files_only=True, max_length=self.limit, activation_fn=Identity()
            )

    def rerank(self, query: str, articles: Sequence[str]) -> Scores:
        """Array (len(articles),) of logits: higher is more relevant."""
        questions = self._pieces(query, QUERY_TOKENS)
        scores = np.stack([self._scores(question, articles) for question in questions])
        mean: Scores = scores.mean(axis=0, dtype=np.float32)
        return mean

    def _scores(self, question: str, articles: Sequence[str]) -> Scores:
        room = self.limit - PAIR_TOKENS - self._count([question])[0]
        windows = [self._pieces(article, room) for article in articles]
        pairs = [(question, window) for group in windows for window in group]
        logits = np.asarray(self._pair.predict(pairs, batch_size=BATCH, show_progress_bar=False), dtype=np.float32)
        ends = np.cumsum([0, *(len(group) for group in windows)])
        best = [logits[start:end].max() for start, end in pairwise(ends.tolist())]
        return np.array(best, dtype=np.float32)

    def _pieces(self, text: str, limit: int) -> list[str]:
        return [span.of(text) for span in within_tokens(text, limit, self._count)] or [text]

    def _count(self, texts: Sequence[str]) -> list[int]:
        return count_with(self._pair.tokenizer, texts)


def load_reranker(encoder_setting: str) -> MedCPTReranker | None:
    """The cross-encoder that a setting names (``medcpt`` or ``medcpt:QUERY,ARTICLE,CROSS``); None when it names none.

    Raises InputError for a bad setting, DataError when the model is not on this machine.
    """
    if encoder_setting != "medcpt" and not encoder_setting.startswith("medcpt:"):
        return None
    path = medcpt_paths(encoder_setting)[2]
    return MedCPTReranker(path) if path else None

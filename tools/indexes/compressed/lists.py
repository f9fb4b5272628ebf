"""Inverted lists on disk: written block by block, merged into one file, opened by memory-mapping.

The file is FAISS's own layout (`OnDiskInvertedLists`): for each list its codes, then its row numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tools.encoders import Vectors
from tools.files import write_atomic
from tools.indexes.compressed.rows import Rows

LISTS, COUNTS = "lists.ivf", "list-sizes.npy"


def write_shard(path: Path, index: Any, reduced: Vectors, rows: Rows) -> None:
    """Code a block and keep it ordered by list, atomically.

    Args:
        index: trained FAISS index. reduced: (n, kept). rows: (n,) row numbers.
    """
    import faiss

    _, nearest = index.quantizer.search(reduced, 1)
    lists = np.ascontiguousarray(nearest[:, 0], dtype=np.int64)
    codes = np.empty((len(reduced), index.code_size), dtype=np.uint8)
    index.encode_vectors(len(reduced), *(faiss.swig_ptr(array) for array in (reduced, lists, codes)), False)
    order = np.argsort(lists, kind="stable")
    temporary = path.with_name(f".{path.name}")
    with temporary.open("wb") as file:
        for array in (np.bincount(lists, minlength=index.nlist), rows[order], codes[order]):
            np.save(file, array, allow_pickle=False)
    temporary.replace(path)


def merge_shards(shards: list[Path], folder: Path, nlist: int) -> None:
    """One file of lists from the shards, written in one pass; only one list is in memory at a time."""
    parts = [_mapped(path) for path in shards]
    ends = [np.cumsum(counts) for counts, _, _ in parts]
    sizes = np.sum([counts for counts, _, _ in parts], axis=0, dtype=np.uint64) if parts else np.zeros(nlist, "u8")
    temporary = folder / f".{LISTS}"
    with temporary.open("wb") as file:
        for n in range(nlist):
            spans = [slice(int(end[n]) - int(part[0][n]), int(end[n])) for end, part in zip(ends, parts, strict=True)]
            for kind in (2, 1):  # codes, then row numbers
                for part, span in zip(parts, spans, strict=True):
                    file.write(part[kind][span].tobytes())
    np.save(folder / COUNTS, sizes, allow_pickle=False)
    temporary.replace(folder / LISTS)


def write_flat(folder: Path, index: Any) -> None:
    """Keep a flat FAISS index in the place of the lists."""
    import faiss

    write_atomic(folder / LISTS, faiss.serialize_index(index).tobytes())


def open_lists(folder: Path, quantisers: Path) -> Any:
    """The FAISS index over the memory-mapped lists of a folder.

    The sizes of the files were checked before: a map beyond the end of a file would end the process.
    """
    import faiss

    index = faiss.read_index(str(quantisers))
    sizes = np.ascontiguousarray(np.load(folder / COUNTS, allow_pickle=False), dtype=np.uint64)
    lists = faiss.OnDiskInvertedLists()
    lists.nlist, lists.code_size = index.nlist, index.code_size
    lists.filename, lists.read_only = str(folder / LISTS), True
    lists.totsize = int(sizes.sum()) * (index.code_size + 8)
    lists.lists.resize(index.nlist)
    lists.set_all_lists_sizes(faiss.swig_ptr(sizes))
    lists.do_mmap()
    index.replace_invlists(lists, True)
    lists.this.disown()  # the index owns them now
    index.ntotal = int(sizes.sum())
    return index


def open_flat(folder: Path) -> Any:
    """The memory-mapped flat FAISS index of a folder."""
    import faiss

    return faiss.read_index(str(folder / LISTS), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)


def _mapped(path: Path) -> tuple[Any, Any, Any]:
    """Counts, row numbers and codes of a shard; the last two memory-mapped."""
    with path.open("rb") as file:
        counts = np.load(file, allow_pickle=False)
        rows = _map_next(path, file)
        codes = _map_next(path, file)
    return counts, rows, codes


def _map_next(path: Path, file: Any) -> Any:
    """The array that begins here in an open .npy file of several, memory-mapped; the file moves past it."""
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    at = file.tell()
    file.seek(at + int(np.prod(shape)) * dtype.itemsize)
    return np.memmap(path, dtype, "r", at, shape) if 0 not in shape else np.empty(shape, dtype)

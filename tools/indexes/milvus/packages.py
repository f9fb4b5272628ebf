"""The packages of the extra ``milvus``, imported when they are needed, with what they do on import held back."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from prompts.errors import InputError

INSTALL = "Run: pip install 'anamnesis[milvus]'"
NO_DOTENV = {"PYTHON_DOTENV_DISABLED": "1"}  # pymilvus reads any .env file above it into this process's environment
# Milvus Lite weighs words by segment, and begins another when its memory or its log is full. Ours: 1 and 2 GiB, at
# least 190,000 abstracts, of which some 25,000 fit into its own bounds of 128 and 256 MiB.
ONE_SEGMENT = {
    "MILVUS_LITE_MEMTABLE_MEMORY_LIMIT_BYTES": str(2**30),
    "MILVUS_LITE_WAL_SIZE_LIMIT_BYTES": str(2**31),
}

_lock = threading.Lock()


def client_package() -> Any:
    """pymilvus, which writes nothing to the terminal; InputError when it is not installed."""
    with _environment(NO_DOTENV):
        try:
            import pymilvus
        except ImportError as error:
            raise InputError(f"Milvus needs a package that is not installed: {error.name}.", INSTALL) from error
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    return pymilvus


def engine_package() -> Any:
    """milvus_lite, which writes nothing to the terminal; InputError when it is not installed."""
    with _environment(ONE_SEGMENT):
        try:
            import milvus_lite
            import milvus_lite.db  # reads the variables
        except ImportError as error:
            raise InputError("The embedded Milvus is not installed.", f"{INSTALL}, or set an address.") from error
    logging.getLogger("milvus_lite").setLevel(logging.CRITICAL)
    return milvus_lite


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables that are not set already, for the time of an import."""
    with _lock:
        ours = {name: value for name, value in values.items() if name not in os.environ}
        os.environ.update(ours)
        try:
            yield
        finally:
            for name in ours:
                os.environ.pop(name, None)

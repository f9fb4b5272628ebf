"""Which backend holds the indexes of collections, by the settings."""

from __future__ import annotations

from pathlib import Path

from tools.indexes.contract import Backend
from tools.indexes.settings import IndexSettings


def backend_for(settings: IndexSettings, folder: Path) -> Backend:
    """The backend of the settings.

    Args:
        folder: of this machine's indexes; with the address of a Milvus nothing is kept there but locks.

    Nothing is opened yet: a package that is not installed, or a Milvus that does not serve, is told by the first use.
    """
    if settings.backend == "milvus":
        from tools.indexes.milvus.backend import MilvusBackend

        return MilvusBackend(settings, folder / "milvus")
    from tools.indexes.disk.backend import DiskBackend

    return DiskBackend(folder)

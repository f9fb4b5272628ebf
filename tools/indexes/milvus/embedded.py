"""Milvus Lite inside this process: one folder, one process, reached through a socket of this user alone."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from prompts.errors import DataError, ServiceError
from tools.indexes.milvus.packages import engine_package

WORKERS = 8  # ours: requests answered at once; Milvus Lite computes in Python, so more would only wait for each other
GRACE = 2.0  # ours: seconds that requests have to end when the engine stops
OPTIONS = [
    ("grpc.max_receive_message_length", 256 * 2**20),  # code: bytes, as a Milvus server takes
    ("grpc.max_send_message_length", 256 * 2**20),
    # code: while a call lasts, pymilvus asks every ten seconds whether the server is there; one hangs up on who asks
    # more often than each five minutes, unless it is told otherwise
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
]

_engines: dict[Path, Embedded] = {}
_lock = threading.Lock()


class Embedded:
    """A running engine. Those who ask for the same folder share it; it stops when the last one lets go.

    Its protocol knows no login, so it listens on a socket in a folder of mode 0700 and on no port.

    Attributes:
        address: where a client finds it.
        writing: held while rows are written, because Milvus Lite takes one writer at a time.
    """

    def __init__(self, folder: Path) -> None:
        engine_package()
        import grpc
        from milvus_lite.adapter.grpc.servicer import MilvusServicer
        from pymilvus.grpc_gen import milvus_pb2_grpc

        self._folder, self._users = folder, 0
        self.writing = threading.RLock()
        self._database = _opened(folder)
        self._place = Path(tempfile.mkdtemp(prefix="milvus-"))
        self.address = f"unix:{self._place / 'socket'}"
        self._server: Any = grpc.server(ThreadPoolExecutor(WORKERS), options=OPTIONS)
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(self._database), self._server)
        self._server.add_insecure_port(self.address)
        self._server.start()

    @classmethod
    def start(cls, folder: Path) -> Embedded:
        """The engine of a folder, running.

        Raises:
            InputError: it is not installed. ServiceError: another process holds the folder. DataError: the folder
                cannot be used.
        """
        key = folder.absolute()
        with _lock:
            engine = _engines.get(key) or cls(key)
            _engines[key] = engine
            engine._users += 1
            return engine

    def release(self) -> None:
        """Let go; the last one stops the engine."""
        with _lock:
            self._users -= 1
            if self._users == 0:
                _engines.pop(self._folder, None)
                self._stop()

    def _stop(self) -> None:
        self._server.stop(GRACE).wait()
        self._database.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def _abandon(self) -> None:
        """Stop at the end of the process; an unfinished build stays in the engine's log, to become one segment."""
        self._server.stop(GRACE).wait()
        shutil.rmtree(self._place, ignore_errors=True)


def _opened(folder: Path) -> Any:
    from milvus_lite.exceptions import DataDirLockedError, MilvusLiteError

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return engine_package().MilvusLite(str(folder))
    except DataDirLockedError as error:
        raise ServiceError(
            f"The embedded Milvus in {folder} is in use by another process.",
            "It serves one process: wait for the other one, or run a Milvus and set ANAMNESIS_INDEX__ADDRESS.",
        ) from error
    except OSError as error:
        raise DataError(
            f"{folder} cannot be used: {error.strerror}.", "Check who owns it and the room on the disk."
        ) from error
    except (MilvusLiteError, ValueError) as error:
        raise DataError(f"The embedded Milvus in {folder} is damaged.", "Move it away and build again.") from error


@atexit.register
def _abandon_all() -> None:
    with _lock:
        engines = list(_engines.values())
        _engines.clear()
    for engine in engines:
        engine._abandon()

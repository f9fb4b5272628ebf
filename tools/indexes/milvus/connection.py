"""The client of a Milvus, embedded or at an address, with its failures in words of ours."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from prompts.errors import DataError, InputError, ServiceError
from tools.indexes.contract import IndexSettings

# The packages of the extra ``milvus``, imported when they are needed, with what they do on import held back.
INSTALL = "Run: pip install 'anamnesis[milvus]'"
NO_DOTENV = {"PYTHON_DOTENV_DISABLED": "1"}  # pymilvus reads any .env file above it into this process's environment
# Milvus Lite weighs words by segment, and begins another when its memory or its log is full. Ours: 1 and 2 GiB, at
# least 190,000 abstracts, of which some 25,000 fit into its own bounds of 128 and 256 MiB.
ONE_SEGMENT = {
    "MILVUS_LITE_MEMTABLE_MEMORY_LIMIT_BYTES": str(2**30),
    "MILVUS_LITE_WAL_SIZE_LIMIT_BYTES": str(2**31),
}

_importing = threading.Lock()


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
    with _importing:
        ours = {name: value for name, value in values.items() if name not in os.environ}
        os.environ.update(ours)
        try:
            yield
        finally:
            for name in ours:
                os.environ.pop(name, None)


# Milvus Lite inside this process: one folder, one process, reached through a socket of this user alone.
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


MISSING = (100, 1600)  # code: Milvus's errors for a collection and for an alias that is not there
NO_CONNECTION = 2  # code: pymilvus.client.types.Status.CONNECT_FAILED
REFUSED = (1400, 1401, 1800, 1801)  # code: Milvus's errors of privileges and of logging in
PAGE = 1000  # ours: rows a request, where all are wanted
SHOWN = 200  # ours: characters of a server's own reason that are passed on
SILENT = ("search", "hybrid_search")  # what the server says of these may hold words of the question


class NoCollectionError(DataError):
    """A collection or alias that is not in this Milvus, or no longer."""


class Connection:
    """One client, safe to use from threads.

    Args:
        client: a pymilvus.MilvusClient.
        place: what the server is called in errors.
        settings: how long requests may take.
        engine: the embedded engine behind it, None for a server.
    """

    def __init__(self, client: Any, place: str, settings: IndexSettings, engine: Embedded | None = None) -> None:
        self._client, self._place, self._settings, self._engine = client, place, settings, engine
        self._token = _secret(settings)
        self.writing = engine.writing if engine is not None else threading.RLock()

    @classmethod
    def open(cls, settings: IndexSettings, folder: Path) -> Connection:
        """Connect to the address of the settings, or to the embedded engine of a folder.

        Raises:
            InputError: a package is missing. ServiceError: it cannot be reached, or another process has the folder.
        """
        pymilvus = client_package()
        engine = None if settings.address else Embedded.start(folder)
        place = settings.address or str(folder)
        token = _secret(settings)
        try:
            with _typed(place, "connect", token):
                client = pymilvus.MilvusClient(
                    settings.address or (engine.address if engine else ""),
                    token=token,
                    db_name=settings.database,
                    timeout=settings.timeout,
                    dedicated=True,
                )
        except BaseException:
            if engine is not None:
                engine.release()
            raise
        return cls(client, place, settings, engine)

    def call(self, method: str, *arguments: Any, long: bool = False, **named: Any) -> Any:
        """Call a method of the client.

        Args:
            long: it may take as long as writing and loading a whole collection.

        Raises:
            NoCollectionError: what it names is not there. ServiceError: anything else that failed.
        """
        timeout = self._settings.longest if long else self._settings.timeout
        with _typed(self._place, method, self._token):
            return getattr(self._client, method)(*arguments, timeout=timeout, **named)

    def rows(self, collection: str, which: str, fields: list[str]) -> list[dict[str, Any]]:
        """Every row that an expression admits, fetched page by page; errors as of `call`."""
        pages = self.call("query_iterator", collection, batch_size=PAGE, filter=which, output_fields=fields)
        found: list[dict[str, Any]] = []
        with _typed(self._place, "query_iterator", self._token), contextlib.closing(pages):
            while page := pages.next():
                found += page
        return found

    def close(self) -> None:
        """Close the client, and the embedded engine when nobody else uses it."""
        self._client.close()
        if self._engine is not None:
            self._engine.release()
            self._engine = None


def _secret(settings: IndexSettings) -> str:
    return "" if settings.token is None else settings.token.get_secret_value()


@contextlib.contextmanager
def _typed(place: str, method: str, token: str) -> Iterator[None]:
    import grpc
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except MilvusException as error:
        error.__cause__ = None  # pymilvus makes an error its own cause, which is a circle
        raise _told(place, method, error.code, str(error.message), token) from error
    except grpc.RpcError as error:
        error.__cause__ = None
        raise _told(place, method, error.code() if isinstance(error, grpc.Call) else None, "", token) from error


def _told(place: str, method: str, code: Any, reason: str, token: str) -> DataError | ServiceError:
    name = getattr(code, "name", "")  # of gRPC's own codes
    if code in MISSING:
        return NoCollectionError(f"What was asked for is not in the Milvus at {place}.", "Build the collection.")
    if code in REFUSED or name in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        return ServiceError(
            f"The Milvus at {place} refuses the login.", "Check ANAMNESIS_INDEX__TOKEN.", retryable=False
        )
    if code == NO_CONNECTION or name in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
        return ServiceError(
            f"The Milvus at {place} does not answer.", "Check ANAMNESIS_INDEX__ADDRESS and that it runs."
        )
    said = "" if method in SILENT else " ".join(reason.split())[:SHOWN]
    if token:
        said = said.replace(token, "***")
    return ServiceError(f"The Milvus at {place} failed at {method} ({code}): {said}".rstrip(": ") + ".", "See its log.")

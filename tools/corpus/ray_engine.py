"""The engine of many machines: the same tasks as streams of Ray Data.

What is known of a task travels; files and parts do not: workers read the source and write parts themselves. So the
folder of the collection must be storage that all of them share.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pydantic import TypeAdapter

from prompts.errors import InputError, ServiceError
from tools.corpus.contract import Done, MakeEncoder, Publications, RaySettings, SurveyTask, Task
from tools.corpus.pipeline import read_part, write
from tools.corpus.reading import survey

if TYPE_CHECKING:
    from ray.data import Dataset

# ours: shares of a processor; reading and embedding of one worker take one together
READS, EMBEDS = 0.25, 0.75
LOOPBACK = "127.0.0.2"  # ours: Ray takes 127.0.0.1 for a mistake and would listen to the network
FOLDER = "anray-"
PATIENCE = 5.0  # ours: seconds to reach a cluster
TRIES = 3  # ours: how often a block is tried again whose worker was ended
READ = TypeAdapter(Publications)
QUIET = {  # Ray's own switches: no word on standard error; its files of logs have all
    "RAY_DATA_LOG_LEVEL": "ERROR",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
Batch = dict[str, Any]


class RayEngine:
    """Runs tasks on a cluster; a context manager, which starts one on this machine when the settings name none.

    Ray listens to the network whatever it is told; the cluster of a build obeys only who knows its token.

    Args:
        workers: processes that embed.

    Raises:
        InputError: Ray is not installed. ServiceError: the cluster of the settings cannot be reached.
    """

    def __init__(self, settings: RaySettings, workers: int) -> None:
        self._settings, self._workers = settings, workers
        self._folder = ""

    def __enter__(self) -> Self:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        for switch, value in QUIET.items():
            os.environ.setdefault(switch, value)
        if not self._settings.address:  # Ray reads them once, when it is imported; its own token lies in ~/.ray
            os.environ.setdefault("RAY_AUTH_MODE", "token")
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray = _ray()
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "ignore_reinit_error": False}
        try:
            if self._settings.address:
                _probe(self._settings.address)
                ray.init(address=self._settings.address, **quiet)
            else:
                self._folder = _folder()
                ray.init(
                    address="local",
                    num_cpus=self._workers,
                    object_store_memory=self._settings.object_store * 2**20,
                    include_dashboard=False,
                    _node_ip_address=LOOPBACK if sys.platform == "linux" else None,
                    _temp_dir=self._folder,
                    **quiet,
                )
        except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
            self.__exit__(None, None, None)
            raise ServiceError(
                f"Ray cannot be started or reached: {_cause(error)}.",
                "Check ANAMNESIS_RAY__ADDRESS, and that every machine has the same versions of Ray and Python.",
            ) from error
        self._limit(ray)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _ray().shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def survey(self, tasks: Sequence[SurveyTask]) -> Iterator[Done]:
        """Survey files."""
        if tasks:
            yield from _outcomes(self._rows(tasks).map_batches(_survey, batch_size=1, num_cpus=1))

    def make(self, tasks: Sequence[Task], encoder: MakeEncoder) -> Iterator[Done]:
        """Make parts: blocks are read by tasks and embedded by actors, each of which opens the encoder once."""
        if not tasks:
            return
        from ray.data import ActorPoolStrategy

        read = self._rows(tasks).map_batches(_read, batch_size=1, num_cpus=READS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # there is no other way yet to bound the retries
            made = read.map_batches(
                _Maker,
                fn_constructor_args=(encoder,),
                batch_size=1,
                num_cpus=EMBEDS,
                compute=ActorPoolStrategy(size=self._workers),
                max_task_retries=TRIES,  # Ray's default is without end
            )
        yield from _outcomes(made)

    def _rows(self, tasks: Sequence[SurveyTask] | Sequence[Task]) -> Dataset:
        from ray.data import from_items

        rows = [{"task": task.model_dump_json()} for task in tasks]
        return from_items(rows, override_num_blocks=len(rows))

    def _limit(self, ray: Any) -> None:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.max_errored_blocks = -1  # the others go on; the caller counts what never came
        context.execution_options.preserve_order = False
        if not self._settings.address:
            limits = context.execution_options.resource_limits
            context.execution_options.resource_limits = limits.copy(
                object_store_memory=self._settings.object_store * 2**19  # ours: half, so that nothing spills to disk
            )


class _Maker:
    """An actor that embeds."""

    def __init__(self, encoder: MakeEncoder) -> None:
        self._encoder = encoder()

    def __call__(self, batch: Batch) -> Batch:
        done = []
        for text, body, outcome in zip(batch["task"], batch["read"], batch["done"], strict=True):
            task = Task.model_validate_json(str(text))
            done.append(str(outcome) or _dump(write(task, READ.validate_json(bytes(body)), self._encoder)))
        return {"done": np.array(done, dtype=object)}


def _survey(batch: Batch) -> Batch:
    done = [_dump(survey(SurveyTask.model_validate_json(str(text)))) for text in batch["task"]]
    return {"done": np.array(done, dtype=object)}


def _read(batch: Batch) -> Batch:
    bodies, done = [], []
    for text in batch["task"]:
        read = read_part(Task.model_validate_json(str(text)))
        bodies.append(b"" if isinstance(read, Done) else READ.dump_json(read))
        done.append(_dump(read) if isinstance(read, Done) else "")
    return {"task": batch["task"], "read": np.array(bodies, dtype=object), "done": np.array(done, dtype=object)}


def _outcomes(found: Dataset) -> Iterator[Done]:
    """Outcomes as they come. A block that failed again and again has none."""
    from ray.exceptions import RayError

    try:
        for row in found.iter_rows():
            yield Done.model_validate_json(row["done"])
    except RayError as error:
        raise ServiceError(
            f"The cluster failed: {_cause(error)}.", "Mend it and build again: finished parts are kept."
        ) from error


def _probe(address: str) -> None:
    """Raise OSError unless something listens at HOST:PORT; Ray itself tries for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


def _folder() -> str:
    """A folder for the files of a cluster on this machine; those that killed builds left are removed.

    Its path is short, because Ray's sockets lie in it, whose names a system bounds.
    """
    place = Path("/tmp") if Path("/tmp").is_dir() else Path(tempfile.gettempdir())  # noqa: S108
    for left in place.glob(f"{FOLDER}*"):
        owner = left.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdecimal() and not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=place)


def _cause(error: BaseException) -> str:
    """The last line of what Ray says: it ends with the error that was first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1].rstrip(".")[:200]


def _dump(done: Done) -> str:
    return done.model_dump_json()


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise InputError("The package ray is not installed.", "Run: pip install 'anamnesis[ray]'") from error
    return ray

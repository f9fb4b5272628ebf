"""A file read in a process of its own, which may take so much time and memory and no more.

For files of strangers: what a reader does not survive ends that process, and is told as a problem of the file.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from prompts.errors import DataError
from tools.readers.contract import Problem, Record
from tools.readers.files import problem
from tools.readers.reading import read

SECONDS = 60.0  # ours: a book of 1,000 pages takes 20
MEMORY = 2 * 1024**3  # ours: bytes of address space; a PDF of 200 MB, the largest that is read, takes half of it
READ = "from tools.readers.apart import tell; tell()"
SMALLER = "Save it again from its source, split it, or save its text as a file of plain text."


def read_apart(path: Path, *, seconds: float = SECONDS) -> list[Record | Problem]:
    """The records of a file and its problems, in order, at least one of either; blocks as long as reading takes."""
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", READ, str(path)],
            capture_output=True,
            timeout=seconds,
            check=False,
            env=None,
        )
    except subprocess.TimeoutExpired:
        return [problem(DataError(f"Reading it took more than {seconds:.0f} seconds.", SMALLER))]
    if done.returncode != 0:
        return [problem(DataError("Reading it took more memory or time than a document may.", SMALLER))]
    kinds: dict[str, type[Record] | type[Problem]] = {"record": Record, "problem": Problem}
    told = (json.loads(line) for line in done.stdout.decode().splitlines())
    return [kinds[line["is"]].model_validate(line["value"]) for line in told]


def tell() -> None:
    """Read the file that the command line names, and write a line of JSON a record or problem."""
    with contextlib.suppress(ImportError):  # not on Windows: there the time alone is bounded
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    for found in read(Path(sys.argv[1])):
        kind = "record" if isinstance(found, Record) else "problem"
        sys.stdout.write(json.dumps({"is": kind, "value": found.model_dump(mode="json")}) + "\n")

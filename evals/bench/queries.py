"""`anamnesis dev bench queries`: the mirror's query language fuzzed, guided by coverage (atheris, libFuzzer).

Every text must be searched or refused with a `QueryError` that says where and what to do; anything else ends the run.
The fuzzer ends its process when it is done, so it has one of its own.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evals.bench.frame import Figure, figures_of
from prompts.errors import DataError, InputError

if TYPE_CHECKING:
    from tools.mirror.engine import Mirror

LONGEST = 200  # ours: bytes of a query; what goes wrong goes wrong in a short one
RUNS = re.compile(r"Done (\d+) runs in (\d+) second")
# Pieces of the language, so that few runs are spent on finding out that there are brackets
PIECES = (
    "aspirin", "stroke", "heart attack", "card*", "asthma/therapy", "smith j", "2006", "2006:2009", "last 5 years",
    "AND", "OR", "NOT", "(", ")", '"', "[", "]", ":", "*", "/", "#1", ":~3", ":noexp", "[ti]", "[tiab]", "[mh]",
    "[majr]", "[pt]", "[dp]", "[edat]", "[la]", "[au]", "[ta]", "[pmid]", "[sb]", "[tw]", "[MeSH Terms]",
)  # fmt: skip


def measure(minutes: Annotated[float, typer.Option(min=0.05, help="How long.")] = 10.0) -> list[Figure]:
    """Fuzz for so long: how many queries were tried.

    Raises:
        InputError: atheris is not installed.
        DataError: a query ended in another exception, which is shown.
    """
    if importlib.util.find_spec("atheris") is None:
        raise InputError("The fuzzer is not installed.", 'Install it: pip install "anamnesis[fuzz]".')
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as temporary:
        folder = Path(temporary)
        (folder / "pieces").write_text("\n".join(f'"{_escaped(p)}"' for p in PIECES) + "\n", encoding="ascii")
        done = subprocess.run(  # noqa: S603 (this program, with arguments of our own)
            [
                sys.executable, "-m", __spec__.name, str(folder / "mirror"), f"-max_total_time={round(60 * minutes)}",
                f"-max_len={LONGEST}", f"-dict={folder / 'pieces'}", f"-artifact_prefix={folder}/", "-rss_limit_mb=0",
            ],
            capture_output=True, text=True, errors="replace", check=False, cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
    found = RUNS.search(done.stderr)
    if done.returncode or not found:
        raise DataError(f"A query was neither searched nor refused:\n{done.stderr[-1500:]}", "Report it.")
    return figures_of("mirror.", int(found[1]), ("fuzzed", int(found[1]), "queries"))


def _escaped(piece: str) -> str:
    return piece.replace("\\", "\\\\").replace('"', '\\"')


def _run(folder: Path, arguments: list[str]) -> None:
    """Fuzz in this process; does not come back."""
    import atheris

    with atheris.instrument_imports(include=["tools.mirror"]):
        from tools.mirror.engine import Mirror
        from tools.mirror.load import load_records
        from tools.mirror.records import MeshHeading, MirrorRecord

    records = [
        MirrorRecord(
            pmid=str(100 + n), title="Aspirin after stroke", abstract="Cardiac death and heart attack in asthma.",
            date=str(2000 + n), entered=f"{2000 + n}-02-03",
            mesh=(MeshHeading(name="Asthma", subheadings=("therapy",)),), authors=("Smith J",),
            publication_types=("Review",), languages=("eng",), journal="Chest",
        )
        for n in range(10)
    ]  # fmt: skip
    load_records(folder, records, source="fuzz")
    atheris.Setup([sys.argv[0], *arguments], _asked(Mirror.open(folder)))
    atheris.Fuzz()


def _asked(mirror: Mirror) -> Callable[[bytes], None]:
    from tools.mirror.syntax import QueryError

    def ask(data: bytes) -> None:
        query = data.decode(errors="replace")
        try:
            mirror.find(query, 5)
        except QueryError as error:
            if not error.advice or not 0 <= error.at <= len(query):
                raise ValueError(f"refused without advice or place: {query!r}") from error

    return ask


if __name__ == "__main__":
    _run(Path(sys.argv[1]), sys.argv[2:])

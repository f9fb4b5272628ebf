"""`anamnesis bench vectors`: the index of a large collection, built, tuned and asked, on correlated vectors."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from evals.bench.correlated import Correlated
from evals.bench.figures import Figure, print_figures
from evals.bench.serving import memory
from tools.encoders import Vectors, load_encoder
from tools.files import write_atomic
from tools.indexes.large import LargeIndex, exact
from tools.indexes.large_building import ID_BYTES, Block, BuildSettings

DIMENSION = 768  # paper: MedCPT's
DRAWN = 20_000  # ours: vectors drawn at once; part of what the seed gives, so never changed
QUESTIONS = 500  # ours: standard error of the recall about 0.4 points
QUESTION_SEED, FIRST_SEED = 1, 1000  # ours
PUBMED = 38_000_000  # NCBI's published embeddings, about so many
TEXTS = Path(__file__).parents[2] / "tools" / "library" / "starter"
ENCODER = "correlated"


def bench_vectors(count: int, folder: Path | None, json_file: Path | None) -> None:
    """Build an index of ``count`` vectors, measure it, print the figures and write them where asked.

    Args:
        folder: keeps the index (and goes on with an unfinished one); None uses a temporary folder.
    """
    with tempfile.TemporaryDirectory() as temporary:
        figures = measure(count, folder or Path(temporary) / "index")
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def measure(count: int, folder: Path) -> list[Figure]:
    """The figures for this many vectors."""
    model = Correlated.fit(real_vectors(), DIMENSION)
    started = time.perf_counter()
    index = LargeIndex.build(
        folder,
        _blocks(model, count),
        encoder=ENCODER,
        dimension=DIMENSION,
        source=f"{count} correlated vectors",
        settings=BuildSettings(),
        progress=_say,
        total=count,
    )
    seconds = time.perf_counter() - started
    peak = memory("VmHWM")
    questions = model.draw(QUESTIONS, QUESTION_SEED)
    truth = exact(index.rows, questions, 10, BuildSettings().block)
    served = json.loads(_in_new_process(folder, questions))
    shares = [len({index.rows.name(r) for r in t} & set(f)) / 10 for t, f in zip(truth, served["found"], strict=True)]
    manifest = index.manifest
    return [
        Figure(name="vectors.count", value=count, unit="vectors", n=1),
        Figure(name="vectors.recall@10", value=float(np.mean(shares)), unit="", n=QUESTIONS, asked="at least 0.95"),
        Figure(name="vectors.p50", value=served["p50"], unit="ms", n=QUESTIONS, asked="at most 5"),
        Figure(name="vectors.p95", value=served["p95"], unit="ms", n=QUESTIONS),
        Figure(name="vectors.open", value=served["open"], unit="ms", n=1),
        Figure(name="vectors.build", value=seconds, unit="s", n=1),
        Figure(name="vectors.build_peak_memory", value=peak, unit="MB", n=1),
        Figure(name="vectors.serve_memory", value=served["rss"], unit="MB", n=1),
        Figure(name="vectors.serve_memory_own", value=served["anonymous"], unit="MB", n=1),
        Figure(name="vectors.on_disk", value=manifest.bytes_a_vector, unit="bytes a vector", n=count),
        Figure(name="vectors.lists", value=manifest.nlist, unit="lists", n=1),
        Figure(name="vectors.searched", value=manifest.nprobe, unit="lists", n=1),
        Figure(name="vectors.kept_dimensions", value=manifest.kept, unit="of 768", n=1),
        Figure(name="pubmed.on_disk", value=manifest.bytes_a_vector * PUBMED / 1e9, unit="GB, by arithmetic", n=1),
        Figure(
            name="pubmed.codes",
            value=(manifest.code_bytes + ID_BYTES) * PUBMED / 1e9,
            unit="GB, by arithmetic, as coded here",
            n=1,
        ),
    ]


def real_vectors() -> Vectors:
    """Paragraphs of the starter library, as the embedded encoder reads them: (n, 384)."""
    texts = [part for file in sorted(TEXTS.glob("*.md")) for part in file.read_text(encoding="utf-8").split("\n\n")]
    return load_encoder().encode_documents([text for text in texts if len(text) > 40])  # ours: headings left out


def _blocks(model: Correlated, count: int) -> Iterator[Block]:
    for number, at in enumerate(range(0, count, DRAWN)):
        yield f"drawn-{number}", partial(_drawn, model, at, min(DRAWN, count - at), FIRST_SEED + number)


def _drawn(model: Correlated, first: int, n: int, seed: int) -> tuple[list[str], Vectors]:
    return [str(row) for row in range(first, first + n)], model.draw(n, seed)


def _in_new_process(folder: Path, questions: Vectors) -> str:
    code = "import sys, pathlib, evals.bench.serving as s; s.serve(pathlib.Path(sys.argv[1]), *sys.argv[2:])"
    with tempfile.TemporaryDirectory() as temporary:
        np.save(Path(temporary) / "questions.npy", questions, allow_pickle=False)
        command = [sys.executable, "-c", code, str(folder), ENCODER, f"{temporary}/questions.npy"]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603 - our own code


def _say(step: str, done: int, of: int) -> None:
    sys.stderr.write(f"\r{step} {done} of {of}   ")

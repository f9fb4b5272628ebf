"""`anamnesis dev bench vectors`: the collection of `dev bench growth` at one size, in other dimensions."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from evals.bench import growth
from evals.bench.frame import Figure, figures_of

DIMENSION = 768  # paper: MedCPT's
PUBMED = 38_000_000  # NCBI's published embeddings, about so many


def measure(
    count: Annotated[int, typer.Option(min=1000, help="How many vectors.")] = 1_000_000,
    folder: Annotated[Path | None, typer.Option(help="Where the index lies while it is measured.")] = None,
) -> list[Figure]:
    """Build it and ask it by vector."""
    with TemporaryDirectory(prefix="anamnesis-", dir=folder) as temporary:
        found = growth.measure(count, DIMENSION, Path(temporary))
    return [
        *figures_of(
            "vectors.",
            growth.QUESTIONS,
            ("recall@10", found["recall"], "", "at least 0.95"),
            ("p50", found["vector_p50_ms"], "ms", "at most 5"),
            ("p95", found["vector_p95_ms"], "ms"),
        ),
        *figures_of(
            "vectors.",
            1,
            ("count", count, "vectors"),
            ("open", found["open_ms"], "ms"),
            ("build", found["build_s"], "s, texts and words too"),
            ("build_peak_memory", found["build_peak_mb"], "MB"),
            ("serve_memory", found["serve_mb"], "MB"),
            ("serve_memory_own", found["serve_own_mb"], "MB"),
            ("on_disk", found["disk_vectors"], "bytes a vector"),
            ("on_disk_of_pubmed", found["disk_vectors"] * PUBMED / 1e9, "GB, by arithmetic"),
        ),
    ]

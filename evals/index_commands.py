"""The benchmark of the indexes of collections."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(benchmarks: typer.Typer) -> None:
    """Add the commands."""
    benchmarks.command("backends")(backends)
    benchmarks.command("corpus")(corpus)


def backends(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
    sample: Annotated[int, typer.Option(min=0, help="How many abstracts; 0 takes all.")] = 0,
    questions: Annotated[int, typer.Option(min=1, help="How many of BioASQ's questions.")] = 200,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Build one collection in the local index and in Milvus, and compare results and time (10 minutes)."""
    from evals.bench.backends import bench_backends

    bench_backends(data, sample, questions, json_file)


def corpus(
    publications: Annotated[int, typer.Option(min=1000, help="How many made-up publications.")] = 1_000_000,
    workers: Annotated[int, typer.Option(min=1, help="Processes that embed.")] = 2,
    dimension: Annotated[int, typer.Option(min=8, help="Columns of the vectors, which words are hashed into.")] = 64,
    block: Annotated[int, typer.Option(min=10, help="Records a part.")] = 2000,
    folder: Annotated[Path | None, typer.Option(help="Keep files and parts here; it must be new or empty.")] = None,
    indexed: Annotated[bool, typer.Option("--index", help="Make an index of the parts too.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Build a collection by both engines, and kill their drivers (a million: over an hour on two cores, 12 GB)."""
    from evals.bench.corpus.run import bench_corpus

    bench_corpus(publications, workers, dimension, block, folder, json_file, indexed=indexed)

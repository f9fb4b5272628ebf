"""`anamnesis index embeddings`: NCBI's published vectors of PubMed, imported into an index of this machine."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.console import QuietOption, group, open_home, say
from agent.sessions import Home
from agent.settings import Settings, load_settings
from prompts.errors import InputError
from tools.encoders import load_encoder
from tools.encoders_on_disk import MedCPTEncoder
from tools.indexes.generations import MANIFEST
from tools.indexes.large import LargeIndex, read_large_manifest
from tools.indexes.large_building import BuildSettings, work_folder
from tools.literature.by_meaning import FOLDER
from tools.literature.medcpt.published import Published, check_same_space, look

SECONDS_BETWEEN = 2.0  # ours: lines of progress

embeddings = group()


@embeddings.command("import")
def import_(
    folder: Annotated[Path, typer.Argument(help="With embeds_chunk_N.npy and pmids_chunk_N.json.")],
    encoder: Annotated[str, typer.Option(help="Name of the vectors' encoder; else the MedCPT that is set.")] = "",
    afresh: Annotated[bool, typer.Option("--afresh", help="Forget an import that was stopped.")] = False,
    quiet: QuietOption = False,
    memory: Annotated[float, typer.Option(min=0.001, help="Gigabytes that a search may touch.")] = 4.0,
    recall: Annotated[float, typer.Option(min=0.5, max=1.0, help="The recall@10 to tune for.")] = 0.95,
) -> None:
    """Import the vectors into a compressed index; when stopped, run it again to go on."""
    settings, home = open_home()
    target = index_folder(home)
    published = look(folder)
    name = encoder or _checked_encoder(settings, published)
    if afresh:
        shutil.rmtree(work_folder(target), ignore_errors=True)
    index = LargeIndex.build(
        target,
        published.blocks(),
        encoder=name,
        dimension=published.dimension,
        source=published.source,
        settings=BuildSettings(memory_budget=int(memory * 2**30), recall=recall),
        progress=None if quiet else Progress(say),
        total=published.rows,
    )
    sys.stdout.write(_described(index))


@embeddings.command("status")
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Read every byte and compare checksums.")] = False,
) -> None:
    """Show the index of the imported vectors: size, type, measured recall and time."""
    settings = load_settings()
    target = index_folder(Home(settings.home))
    unfinished = work_folder(target).is_dir()
    if not (target / MANIFEST).is_file():
        state = "An import was stopped: run it again to go on." if unfinished else "No vectors were imported."
        sys.stdout.write("{}\n" if as_json else f"{state}\n")
        return
    manifest = read_large_manifest(target, (target / MANIFEST).read_bytes())
    index = LargeIndex.open(target, manifest.encoder, manifest.dimension)
    if verify:
        index.verify()
    if as_json:
        sys.stdout.write(manifest.model_dump_json(indent=2) + "\n")
        return
    sys.stdout.write(_described(index) + ("Every file is as it was built.\n" if verify else ""))
    if unfinished:
        sys.stdout.write("A newer import was stopped: run it again to go on.\n")


def index_folder(home: Home) -> Path:
    """Where the index of PubMed's vectors lies."""
    return home.indexes / FOLDER


class Progress:
    """Prints a step when it begins, and then every few seconds."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._step, self._at = say, "", 0.0

    def __call__(self, step: str, done: int, of: int) -> None:
        """One more piece of a step is done."""
        if step == self._step and done < of and time.monotonic() - self._at < SECONDS_BETWEEN:
            return
        self._step, self._at = step, time.monotonic()
        told = f"{step}: {done:,} of {of:,}" if of > 1 else step
        self._say(told)


def _checked_encoder(settings: Settings, published: Published) -> str:
    encoder = load_encoder(settings.encoder) if settings.encoder.startswith("medcpt") else None
    if not isinstance(encoder, MedCPTEncoder):
        raise InputError(
            "These vectors are MedCPT's, and no MedCPT is set.",
            "Set ANAMNESIS_ENCODER=medcpt:QUERY,ARTICLE to search them, or name their encoder with --encoder.",
        )
    cosine = check_same_space(published, encoder)
    told = "not checked: there is no pubmed_chunk_N.json" if cosine is None else f"checked, cosine {cosine:.3f}"
    say(f"encoder {encoder.name}: {told}")
    return encoder.name


def _described(index: LargeIndex) -> str:
    m, measured = index.manifest, index.manifest.measured
    lines = [
        f"{len(index):,} vectors of {m.dimension} dimensions, {m.encoder}, built {m.built[:10]}",
        f"type {m.kind}: {m.kept} dimensions kept, {m.nprobe} of {m.nlist} lists searched, {m.candidates} scored again",
        f"recall@10 {measured.recall:.3f} (asked {measured.target:.2f}; {measured.queries} {measured.of})",
        f"{measured.p50_ms:.1f} ms a query (p95 {measured.p95_ms:.1f}), {m.bytes_a_vector:.0f} bytes a vector on disk",
    ]
    if measured.recall < measured.target:
        lines.append("The recall asked was not reached: give more memory (--memory), so that the codes are finer.")
    return "\n".join(lines) + "\n"

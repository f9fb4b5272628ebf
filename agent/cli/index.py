"""`anamnesis index`: collections of publications built at scale."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal

import typer

from agent.assembly import open_encoder
from agent.cli.console import JsonOption, QuietOption, console, group, open_home, print_json, say, table, tell
from agent.corpus import backend, build_collection, corpora_folder, delete_collection
from agent.sessions import Home
from agent.settings import Settings, load_settings
from prompts.errors import DataError, InputError
from tools.corpus.collection import Corpus
from tools.corpus.contract import Counts
from tools.corpus.folder import Folder, names
from tools.corpus.parts import finished
from tools.encoders import load_encoder
from tools.encoders_on_disk import MedCPTEncoder
from tools.indexes.contract import Filter
from tools.indexes.generations import MANIFEST
from tools.indexes.large import LargeIndex, read_large_manifest
from tools.indexes.large_building import BuildSettings, work_folder
from tools.library.contract import LibraryHit
from tools.literature.by_meaning import FOLDER
from tools.literature.medcpt.published import Published, check_same_space, look

WIDTH = 110  # ours: characters of a passage that is shown
DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")

index = group()


# `anamnesis index embeddings`: NCBI's published vectors of PubMed, imported into an index of this machine.

SECONDS_BETWEEN = 2.0  # ours: lines of progress

embeddings = group()


@embeddings.command("import")
def import_embeddings(
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
def embeddings_status(
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


index.add_typer(embeddings, name="embeddings", help="NCBI's published vectors of PubMed.")
NameArgument = Annotated[str, typer.Argument(help="The collection.")]


@index.command()
def build(
    source: Annotated[list[Path], typer.Argument(help="Files and folders of PubMed XML or JSON lines; .gz too.")],
    name: Annotated[str, typer.Option(help="The collection: a-z, 0-9, - and _.")],
    engine: Annotated[Literal["local", "ray"], typer.Option(help="On this machine, or on a Ray cluster.")] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that embed (local: 1; ray: one a processor).")
    ] = None,
    passages: Annotated[
        Literal["seos", "seos_paper", "whole"], typer.Option(help="How abstracts are cut; whole: not at all.")
    ] = "seos",
    afresh: Annotated[bool, typer.Option("--afresh", help="From another source or otherwise than before.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Mend damaged parts, and make the index anew.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build a collection; when stopped, run it again to go on: no finished part is made twice."""
    settings, _ = open_home()
    report = build_collection(
        settings,
        name,
        source,
        engine=engine,
        workers=workers,
        method=passages,
        afresh=afresh,
        verify=verify,
        progress=None if quiet else Progress(say),
    )
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        tell(f"{name}: {report.parts} parts, {report.made} of them made now")
        tell(_in_words(report.counts))
        for problem in report.problems:
            tell(f"{problem.where}: {problem.what} {problem.advice}")
        if report.counts.unread > len(report.problems):
            tell(f"... {report.counts.unread:,} records in all could not be read.")
        tell(f"Set ANAMNESIS_CORPUS={name} to search it in answers.")
    raise typer.Exit(int(report.counts.unread > 0))


@index.command()
def status(
    name: Annotated[str, typer.Argument(help="The collection; without it all are shown.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show collections: what they hold, and how far an unfinished build is."""
    root = corpora_folder(open_home()[0])
    held = names(root)
    if name and name not in held:
        raise InputError(f"There is no collection {name}.", "`anamnesis index status` lists them.")
    rows = [_status(Folder(root, one)) for one in ([name] if name else held)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        tell("No collection was built. `anamnesis index build FILES --name NAME` builds one.")
    for row in rows:
        tell(f"{row['name']}: {row['state']}")
        if row["counts"]:
            tell(f"  {_in_words(Counts(**row['counts']))}")
            tell(f"  {row['files']} files, {row['encoder']}, {row['method']}, built {row['built']}")


@index.command()
def search(
    name: NameArgument,
    query: Annotated[str, typer.Argument(help="What to search for.")],
    limit: Annotated[int, typer.Option(min=1, max=200, help="Documents shown.")] = 10,
    since: Annotated[str, typer.Option(help="Published on or after this date (ISO).")] = "",
    until: Annotated[str, typer.Option(help="Published on or before this date (ISO).")] = "",
    as_json: JsonOption = False,
) -> None:
    """Search a finished collection by words and by meaning."""
    settings, home = open_home()
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        corpus = Corpus(corpora_folder(settings), name, encoder, backend(settings))
        where = Filter(since=_date(since), until=_date(until)) if since or until else None
        hits = corpus.search(query, limit, where, tool="index")
    if as_json:
        print_json([_as_data(hit) for hit in hits])
        return
    found = [hit.evidence() for hit in hits]
    rows = [(e.id, e.title, e.date or "", e.level or "", shorten(e.text, WIDTH)) for e in found]
    none = "Nothing in the collection is near enough."
    console().print(table(("Id", "Title", "Date", "Level", "Passage"), rows) if rows else none)


@index.command()
def delete(name: NameArgument) -> None:
    """Delete a collection with its parts and its index."""
    if not delete_collection(open_home()[0], name):
        raise InputError(f"There is no collection {name}.", "`anamnesis index status` lists them.")
    tell(f"{name} is deleted.")


def _status(folder: Folder) -> dict[str, Any]:
    try:
        plan, standing = folder.plan(), folder.standing()
    except DataError as error:
        return {"name": folder.name, "state": str(error), "counts": {}}
    parts = finished(folder.parts)
    unfinished = plan is not None and (
        standing is None or plan.files != standing.files or plan.recipe != standing.recipe
    )
    state = "finished" if standing else "not finished"
    if unfinished:
        state += f"; a build is under way or was stopped, with {parts:,} parts on disk: run again, it goes on"
    return {
        "name": folder.name,
        "state": state,
        "parts": parts,
        "files": len(standing.files) if standing else 0,
        "counts": standing.counts.model_dump() if standing else {},
        "encoder": standing.recipe.encoder if standing else "",
        "method": standing.recipe.method if standing else "",
        "built": standing.built[:10] if standing else "",
    }


def _in_words(counts: Counts) -> str:
    said = [
        f"{counts.publications:,} publications ({counts.retracted:,} retracted, never found)",
        f"{counts.passages:,} passages",
        f"{counts.without_text:,} without an abstract",
        f"{counts.replaced:,} replaced or deleted later",
        f"{counts.unread:,} not read",
    ]
    return ", ".join(said)


def _date(text: str) -> str:
    """A date as it was given; InputError for what would be compared with dates and is none."""
    if text and not DATE.fullmatch(text):
        raise InputError(f"{text!r} is no date.", "Write it as 2026-01-31.")
    return text


def _as_data(hit: LibraryHit) -> dict[str, Any]:
    return {"score": hit.score, **hit.evidence().model_dump(mode="json")}

"""Open sources in a data folder: added from files or downloaded, built as collections, told, removed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from agent.corpus import SOURCES, build_collection, delete_collection, folder_of, imported
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.knowledge.catalogue import Entry, catalogue, entry_of
from tools.knowledge.staging import Progress, StagingReport, download, stage
from tools.mirror.sources import now

DOWNLOADS = "downloads"
ABOUT = "source.json"  # in the folder of a source's collection
BLOCK = 50  # ours: records a part: a label has some forty passages, so that a kill costs minutes of the encoder
LOCK_WAIT = 5.0  # ours: seconds; adding takes long, so a second one is told rather than kept waiting


class Imported(Frozen):
    """A source as it was imported: from where, when, and what was read. ``date`` is that of its latest record."""

    name: str
    title: str
    licence: str
    date: str
    added: str
    paths: tuple[str, ...]
    report: StagingReport

    def in_words(self) -> str:
        """What it holds, in a line."""
        dated = f", up to {self.date}" if self.date else ""
        return f"{self.name}: {self.report.records:,} documents{dated}, {self.licence}, added {self.added[:10]}"


def add(settings: Settings, name: str, paths: Sequence[Path], progress: Progress | None = None) -> StagingReport:
    """Import a source from files, in the place of what it held before; stopped, run it again to go on.

    Where a file cannot be read and the source was imported before, what stands stays and nothing is changed.

    Args:
        paths: files, folders and archives; none downloads what the catalogue names.

    Raises:
        InputError: no such source, or it may not, or cannot, be downloaded. ServiceError: a download failed.
        DataError: another process is adding it, or the disk does not serve.
    """
    entry = entry_of(name)
    work = _work(settings, name)
    _check_had(settings, entry, paths)
    with locked(work / "adding", LOCK_WAIT):
        downloaded = not paths
        paths = paths or download(entry, work / DOWNLOADS, settings.knowledge.timeout, progress)
        report = stage(entry, paths, work / "records", progress)
        before = read_imported(settings, name)
        if report.records and not (before is not None and report.failed):
            build_collection(
                settings,
                SOURCES + name,
                [work / "records"],
                engine="local",
                workers=1,
                method="sections",
                afresh=True,
                verify=False,
                progress=progress,
                block=BLOCK,
                cached=True,
            )
            _put(settings, entry, () if downloaded else paths, report)
        shutil.rmtree(work / "records", ignore_errors=True)  # the parts hold it all
    return report


def remove(settings: Settings, name: str) -> bool:
    """Delete an imported source with what was downloaded of it; whether there was any."""
    entry_of(name)
    there = delete_collection(settings, SOURCES + name) | _work(settings, name).is_dir()
    shutil.rmtree(_work(settings, name), ignore_errors=True)
    return there


def read_imported(settings: Settings, name: str) -> Imported | None:
    """What is known of a source that was imported, None when it was not; raises DataError for a damaged note."""
    folder = folder_of(settings, name)
    if folder.standing() is None:
        return None
    try:
        return Imported.model_validate_json((folder.root / ABOUT).read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(f"The note on the source {name} is damaged.", f"Add it again: {_again(name)}.") from error


def described(settings: Settings) -> str:
    """The imported sources with licence and date, for `doctor`; raises as `read_imported` does."""
    found = [one for name in imported(settings) if (one := read_imported(settings, name)) is not None]
    silent = [f" (not searched: ANAMNESIS_KNOWLEDGE__SEARCH={settings.knowledge.search})", ""]
    return "; ".join(one.in_words() + silent[settings.knowledge.searches(one.name)] for one in found)


def paths_of(settings: Settings, name: str) -> list[Path]:
    """The files that a source was last added from, none for a downloaded one; raises InputError for one not added."""
    found = read_imported(settings, name)
    if found is None:
        raise InputError(f"{name} was not added yet.", f"Add it: {_again(name)}.")
    return [Path(path) for path in found.paths]


def _check_had(settings: Settings, entry: Entry, paths: Sequence[Path]) -> None:
    """Raise InputError where there is nothing to read and nothing may be fetched."""
    if paths:
        return
    had = entry.listing.address if entry.listing else "; ".join(entry.addresses)
    if not had:
        advice = f"Fetch its files ({entry.terms}) and give them: anamnesis knowledge add {entry.name} --from PATH."
        raise InputError(f"{entry.name} cannot be downloaded from here.", advice)
    if settings.knowledge.live == "off":
        advice = f"Set ANAMNESIS_KNOWLEDGE__LIVE=on, or fetch {had} yourself and give --from PATH."
        raise InputError(f"Downloads are off, and no files of {entry.name} were given.", advice)


def _put(settings: Settings, entry: Entry, paths: Sequence[Path], report: StagingReport) -> None:
    about = Imported(
        name=entry.name,
        title=entry.title,
        licence=entry.licence,
        date=report.newest,
        added=now(),
        paths=tuple(str(path.absolute()) for path in paths),
        report=report,
    )
    write_atomic(folder_of(settings, entry.name).root / ABOUT, about.model_dump_json(indent=1).encode())


def _work(settings: Settings, name: str) -> Path:
    return Home(settings.home).root / "knowledge" / name


def _again(name: str) -> str:
    return f"anamnesis knowledge add {name}" + ("" if catalogue()[name].downloadable else " --from PATH")

"""Files of a source fetched, and made records of one form: read, checked, joined, on disk as JSON lines to build from.

A file goes in whole or not at all; a record that is wrong is a row of the report. Of records with one id the latest
stands, of equally late ones the longest: so the labels of many makers of one medicine join.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError, ServiceError
from tools.evidence import Frozen
from tools.files import private_folder, told_when_full, write_atomic
from tools.knowledge.catalogue import READERS, Entry, Listing
from tools.library.files import candidates
from tools.readers.contract import Problem, Record
from tools.readers.files import FREE, MOST_PACKED, PACKED, check, problem
from tools.readers.reading import suffix_of

BUCKET = 200  # ours: records of a staged file, about; a change to one makes the parts of its file anew
TOLD = 50  # ours: rows of a report that are told in words; all are counted
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
Progress = Callable[[str, int, int], None]


class Row(Frozen):
    """What is wrong with a file (``where`` is "") or with a record of it, and what to do."""

    file: str
    where: str
    what: str
    advice: str


class StagingReport(Frozen):
    """What was read.

    Attributes:
        files: that were read whole. failed: that gave nothing, because they could not be. skipped: of other kinds.
        records: that stand. joined: that gave way to another of the same id. wrong: records that are none.
        rows: the first of what is wrong. newest: date of the latest record.
    """

    files: int = 0
    failed: int = 0
    skipped: int = 0
    records: int = 0
    joined: int = 0
    wrong: int = 0
    rows: tuple[Row, ...] = ()
    newest: str = ""


class _Place(NamedTuple):
    """Where a record lies in the working file, and by what it stands against others of its id."""

    date: str
    length: int
    start: int
    size: int


def stage(entry: Entry, paths: Sequence[Path], target: Path, progress: Progress | None = None) -> StagingReport:
    """Read files, folders and archives of a source into JSON lines below ``target``, which is replaced.

    Raises:
        DataError: the folder cannot be written.
    """
    private_folder(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".staging-") as folder:
        staging = _Staging(entry, Path(folder))
        found = candidates(paths)
        with (Path(folder) / "records").open("w+b") as work:
            for number, candidate in enumerate(found):
                if progress is not None:
                    progress("read", number, len(found))
                if candidate.problem is not None:
                    staging.fail(str(candidate.path), problem(candidate.problem))
                else:
                    staging.take(candidate.path, work, named=candidate.named)
            if progress is not None:
                progress("read", len(found), len(found))
            shutil.rmtree(target, ignore_errors=True)
            staging.write(work, target)
    return staging.report()


class _Staging:
    def __init__(self, entry: Entry, folder: Path) -> None:
        self._entry, self._reader, self._folder = entry, READERS[entry.reader], folder
        self._places: dict[str, _Place] = {}
        self._rows: list[Row] = []
        self._counts = dict.fromkeys(("files", "failed", "skipped", "joined", "wrong"), 0)

    def take(self, path: Path, work: IO[bytes], *, named: bool) -> None:
        """Read a file, or each file of an archive; one of another kind is passed over, unless a user named it."""
        try:
            archive = path.name.lower().endswith(ARCHIVES)
            if not (archive or named or suffix_of(path) in self._reader.suffixes):
                self._counts["skipped"] += 1
                return
            check(path)  # before it is opened: a pipe would be read for ever
            if not archive:
                if suffix_of(path) not in self._reader.suffixes:
                    kinds = ", ".join((*self._reader.suffixes, *ARCHIVES))
                    raise DataError("It is no file of this source.", f"These are read: {kinds}.")
                self._file(str(path), path, work)
                return
            for name, file in unpacked(path, self._folder):
                self._file(f"{path}: {name}", file, work)
        except DataError as error:
            self.fail(str(path), problem(error))

    def fail(self, name: str, found: Problem) -> None:
        """A file that gives nothing."""
        self._counts["failed"] += 1
        self._tell(name, found)

    def _file(self, name: str, path: Path, work: IO[bytes]) -> None:
        if suffix_of(path) not in self._reader.suffixes:
            self._counts["skipped"] += 1
            return
        begun, rows = work.tell(), len(self._rows)
        places: dict[str, _Place] = {}
        wrong = joined = 0
        for item in self._reader.read(path):
            if isinstance(item, Problem) and not item.where:
                work.seek(begun)
                work.truncate()
                del self._rows[rows:]
                self.fail(name, item)
                return
            if isinstance(item, Problem):
                wrong += 1
                self._tell(name, item)
                continue
            record = self._own(item)
            line = b'{"record":' + record.model_dump_json(exclude_defaults=True).encode() + b"}\n"
            joined += _better(places, record.id, _Place(record.date, len(record.text), work.tell(), len(line)))
            work.write(line)
        for key, place in places.items():
            joined += _better(self._places, key, place)
        self._counts["files"] += 1
        self._counts["wrong"] += wrong
        self._counts["joined"] += joined

    def write(self, work: IO[bytes], target: Path) -> None:
        """The records that stand, in files by a hash of their ids, so that a change to one leaves other files."""
        buckets = 1 << (len(self._places) // BUCKET).bit_length()
        keys: list[list[str]] = [[] for _ in range(buckets)]
        for key in sorted(self._places):
            keys[int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % buckets].append(key)
        for number, held in enumerate(keys):
            lines = []
            for place in (self._places[key] for key in held):
                work.seek(place.start)
                lines.append(work.read(place.size))
            if lines:
                write_atomic(target / f"records-{number:05}.jsonl", b"".join(lines))

    def report(self) -> StagingReport:
        """What was read."""
        newest = max((p.date for p in self._places.values()), default="")
        return StagingReport(**self._counts, records=len(self._places), rows=tuple(self._rows[:TOLD]), newest=newest)

    def _own(self, record: Record) -> Record:
        """A record with what the catalogue says of its source."""
        entry = self._entry
        return record.model_copy(
            update={
                "id": f"{entry.name}:{record.id.partition(':')[2]}",
                "source": ", ".join(filter(None, (entry.title, record.source))),
                "licence": record.licence or entry.licence,
                "date": record.date or entry.dated,
                "level": record.level or entry.level,
            }
        )

    def _tell(self, name: str, found: Problem) -> None:
        self._rows.append(Row(file=name, where=found.where, what=found.what, advice=found.advice))


def _better(places: dict[str, _Place], key: str, place: _Place) -> bool:
    """Keep the place that stands for an id; whether there were two."""
    before = places.get(key)
    if before is None or place[:2] > before[:2]:
        places[key] = place
    return before is not None


def unpacked(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of an archive, archives in it opened too, each on disk for as long as it is looked at.

    Raises:
        DataError: the archive is damaged or cut off, or holds more than any text unpacks to.
    """
    limit = max(FREE, MOST_PACKED * path.stat().st_size)
    try:
        with contextlib.closing(_members(path)) as members:
            for name, size, file in members:
                limit -= size
                if limit < 0:
                    what = f"It unpacks to more than {MOST_PACKED} times its size, which no text does."
                    raise DataError(what, "Unpack it yourself, look at it, and add what is text.")
                inside = Path(tempfile.mkdtemp(dir=folder)) / Path(name).name
                try:
                    with inside.open("wb") as out:
                        shutil.copyfileobj(file, out)
                    if name.lower().endswith(ARCHIVES):
                        yield from ((f"{name}: {inner}", at) for inner, at in unpacked(inside, folder))
                    else:
                        yield name, inside
                finally:
                    shutil.rmtree(inside.parent, ignore_errors=True)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise DataError(f"The archive is damaged or cut off: {str(error)[:80]}.", PACKED) from error


def _members(path: Path) -> Generator[tuple[str, int, IO[bytes]]]:
    """The files of an archive: name, size unpacked, and content."""
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in sorted(archive.infolist(), key=lambda i: i.filename):
                if not info.is_dir():
                    with archive.open(info) as file:
                        yield info.filename, info.file_size, file
        return
    with tarfile.open(path, "r:*") as packed:
        for member in packed:
            content = packed.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, member.size, content


# Files of a source fetched over HTTP: going on where a fetch stopped, whole or not in place, known by their sha256.

PIECE = 2**18  # ours: bytes read at a time
PAGE = 20_000_000  # ours: bytes of a page that names files; openFDA's is below 2 MB
MB = 1_000_000
NOTES = "files.json"
AGAIN = "Run the same again: it goes on where it stopped."
YOURSELF = "Fetch the files yourself and give them with --from; `anamnesis knowledge show` tells where they are."


class Fetched(Frozen):
    """A file as it was fetched. ``stamp``: the server's ETag or date of it, "" when it gives neither."""

    address: str
    stamp: str
    size: int
    sha256: str


FETCHED = TypeAdapter(dict[str, Fetched])


def download(entry: Entry, folder: Path, timeout: float, progress: Progress | None = None) -> list[Path]:
    """The files of a source in ``folder``: those that are there and still the server's are kept, others fetched.

    Raises:
        ServiceError: an address that does not answer, is gone, or breaks off; what came is kept for the next time.
        DataError: the disk does not serve.
    """
    addresses = [*entry.addresses, *(_listed(entry.listing, timeout) if entry.listing else ())]
    private_folder(folder)
    notes = _noted(folder)
    names = [_name(address) for address in addresses]
    for name, address in zip(names, addresses, strict=True):
        with told_when_full(name):
            notes[name] = _fetch(address, folder / name, notes.get(name), timeout, progress)
        write_atomic(folder / NOTES, FETCHED.dump_json(notes))
    for path in folder.iterdir():
        if path.name not in (*names, NOTES):
            path.unlink()  # of an earlier release
    write_atomic(folder / NOTES, FETCHED.dump_json({name: notes[name] for name in names}))
    return [folder / name for name in names]


def _fetch(address: str, target: Path, known: Fetched | None, timeout: float, progress: Progress | None) -> Fetched:
    """One file, put in its place when it is whole."""
    held = known is not None and known.address == address and _sha256(target) == known.sha256
    if known is not None and held and known.stamp and _stamp_now(address, timeout) == known.stamp:
        return known
    part, stamped = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.stamp")
    begun = part.stat().st_size if part.is_file() and stamped.is_file() else 0
    headers = {"Range": f"bytes={begun}-", "If-Range": stamped.read_text()} if begun else {}
    try:
        with _opened(address, headers, timeout) as response:
            if response.status != 206:
                begun = 0
            stamp = _stamp(response.headers)
            size = begun + response.length if response.length is not None else 0  # 0: not announced
            stamped.write_text(stamp) if stamp else stamped.unlink(missing_ok=True)
            with part.open("ab" if begun else "wb") as file:
                while piece := response.read1(PIECE):
                    file.write(piece)
                    if progress is not None:
                        progress(f"download {target.name}", file.tell() // MB, size // MB)
                done = file.tell()
    except (HTTPException, TimeoutError, ConnectionError) as error:
        raise ServiceError(f"The download of {target.name} broke off.", AGAIN) from error
    if done < size:
        raise ServiceError(f"The download of {target.name} broke off: {done:,} of {size:,} bytes came.", AGAIN)
    part.replace(target)
    stamped.unlink(missing_ok=True)
    return Fetched(address=address, stamp=stamp, size=done, sha256=_sha256(target) or "")


def _stamp_now(address: str, timeout: float) -> str:
    """What the server has of a file now."""
    asked = urllib.request.Request(address, method="HEAD")  # noqa: S310  addresses are the catalogue's
    with _opened(asked, {}, timeout) as response:
        return _stamp(response.headers)


def _listed(listing: Listing, timeout: float) -> list[str]:
    """The addresses of files that a page of the publisher's names."""
    with _opened(listing.address, {}, timeout) as response:
        page = response.read(PAGE).decode("utf-8", errors="replace")
    found = sorted(set(re.findall(listing.pattern, page)))
    if not found:
        raise ServiceError(f"{listing.address} names no file of this source any more.", YOURSELF, retryable=False)
    return found[-1:] if listing.newest else found


def _opened(asked: str | urllib.request.Request, headers: dict[str, str], timeout: float) -> HTTPResponse:
    request = urllib.request.Request(asked, headers=headers) if isinstance(asked, str) else asked  # noqa: S310
    host = urlsplit(request.full_url).netloc
    try:
        opened: HTTPResponse = urllib.request.build_opener(_Secure).open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        raise ServiceError(f"{request.full_url} answered with status {error.code}.", YOURSELF) from None
    except (OSError, HTTPException) as error:
        raise ServiceError(f"{host} cannot be reached.", AGAIN) from error
    return opened


class _Secure(urllib.request.HTTPRedirectHandler):
    """Follows a redirect, but none from https to anything else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if urlsplit(req.full_url).scheme == "https" != urlsplit(newurl).scheme:
            return None  # it is then reported by its status
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _stamp(headers: Any) -> str:
    tag = headers.get("ETag") or ""
    return "" if tag.startswith("W/") else tag or headers.get("Last-Modified") or ""


def _name(address: str) -> str:
    name = Path(urlsplit(address).path).name
    if not name or name.startswith("."):
        raise DataError(f"{address} names no file.", "Report this address.")
    return name


def _noted(folder: Path) -> dict[str, Fetched]:
    try:
        return FETCHED.validate_json((folder / NOTES).read_bytes())
    except (OSError, ValidationError):  # none yet; a damaged note costs a download
        return {}


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None

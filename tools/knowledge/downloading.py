"""Files of a source fetched over HTTP: going on where a fetch stopped, whole or not in place, known by their sha256."""

from __future__ import annotations

import hashlib
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError, ServiceError
from tools.evidence import Frozen
from tools.files import private_folder, told_when_full, write_atomic
from tools.knowledge.catalogue import Entry, Listing

PIECE = 2**18  # ours: bytes read at a time
PAGE = 20_000_000  # ours: bytes of a page that names files; openFDA's is below 2 MB
MB = 1_000_000
NOTES = "files.json"
AGAIN = "Run the same again: it goes on where it stopped."
YOURSELF = "Fetch the files yourself and give them with --from; `anamnesis knowledge show` tells where they are."
Progress = Callable[[str, int, int], None]


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

"""Downloads of a source against a server of this machine: going on, changes, breaks, and pages that name files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from prompts.errors import ServiceError
from tools.knowledge.catalogue import Entry, catalogue
from tools.knowledge.staging import NOTES, download

CONTENT = bytes(range(256)) * 4000


@dataclass
class Site:
    """What the server has: content and ETag by path; ``cut`` sends so many bytes and breaks off."""

    base: str = ""
    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    cut: int | None = None
    ranges: bool = True
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, Range

    @property
    def fetched(self) -> list[str]:
        """The Range of each GET of a file."""
        return [said for method, path, said in self.asked if method == "GET" and path != "/list"]


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = self.headers.get("Range") or ""
            site.asked.append((self.command, self.path, said))
            if self.path not in site.files:
                self.send_error(404)
                return
            content, tag = site.files[self.path]
            begun = int(said[6:-1]) if said and site.ranges and self.headers.get("If-Range") == tag else 0
            self.send_response(206 if begun else 200)
            self.send_header("Content-Length", str(len(content) - begun))
            if tag:
                self.send_header("ETag", tag)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content[begun : None if site.cut is None else begun + site.cut])

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site.base = f"http://127.0.0.1:{server.server_address[1]}"
    yield site
    server.shutdown()
    server.server_close()


def entry(site: Site, *paths: str, newest: bool | None = None) -> Entry:
    row = catalogue()["openfda"].model_dump() | {"addresses": [site.base + p for p in paths], "listing": None}
    if newest is not None:
        pattern = rf"{site.base}/part-[0-9-]+\.zip"
        row |= {"listing": {"address": f"{site.base}/list", "pattern": pattern, "newest": newest}}
    return Entry.model_validate(row)


def test_a_download_goes_on_where_it_broke_off(site: Site, tmp_path: Path) -> None:
    site.files["/a.zip"] = (CONTENT, '"1"')
    site.cut = 300_000
    told: list[tuple[str, int, int]] = []
    with pytest.raises(ServiceError, match="broke off"):
        download(entry(site, "/a.zip"), tmp_path, 5)
    assert not (tmp_path / "a.zip").exists()
    site.cut = None
    (path,) = download(entry(site, "/a.zip"), tmp_path, 5, lambda *step: told.append(step))
    assert path.read_bytes() == CONTENT
    assert site.fetched == ["", "bytes=300000-"]
    assert told[-1] == ("download a.zip", 1, 1)
    assert download(entry(site, "/a.zip"), tmp_path, 5) == [path]
    assert len(site.fetched) == 2  # it is there, and the server's is still the same
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip", NOTES]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_part_of_another_version_is_not_gone_on_with(site: Site, tmp_path: Path, ranges: bool) -> None:
    site.files["/a.zip"], site.cut, site.ranges = (CONTENT, '"1"'), 1000, ranges
    with pytest.raises(ServiceError):
        download(entry(site, "/a.zip"), tmp_path, 5)
    site.files["/a.zip"], site.cut = (CONTENT[::-1], '"2"'), None
    (path,) = download(entry(site, "/a.zip"), tmp_path, 5)
    assert path.read_bytes() == CONTENT[::-1]


def test_a_changed_or_damaged_file_is_fetched_anew(site: Site, tmp_path: Path) -> None:
    site.files["/a.zip"] = (b"old", '"1"')
    (path,) = download(entry(site, "/a.zip"), tmp_path, 5)
    site.files["/a.zip"] = (b"new", '"2"')
    download(entry(site, "/a.zip"), tmp_path, 5)
    assert path.read_bytes() == b"new"
    path.write_bytes(b"hurt")
    download(entry(site, "/a.zip"), tmp_path, 5)
    assert path.read_bytes() == b"new"


def test_a_page_names_the_files_and_those_of_an_earlier_release_go(site: Site, tmp_path: Path) -> None:
    for name in ("/part-1.zip", "/part-2.zip", "/part-3.zip"):
        site.files[name] = (name.encode(), "")
    site.files["/list"] = (f'{{"a": "{site.base}/part-2.zip", "b": "{site.base}/part-1.zip"}}'.encode(), "")
    both = download(entry(site, newest=False), tmp_path, 5)
    assert [p.name for p in both] == ["part-1.zip", "part-2.zip"]
    site.files["/list"] = (f"{site.base}/part-2.zip {site.base}/part-3.zip".encode(), "")
    assert [p.name for p in download(entry(site, newest=True), tmp_path, 5)] == ["part-3.zip"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [NOTES, "part-3.zip"]
    site.files["/list"] = (b"moved", "")
    with pytest.raises(ServiceError, match="names no file"):
        download(entry(site, newest=True), tmp_path, 5)


def test_what_is_gone_or_silent_is_told(site: Site, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="status 404"):
        download(entry(site, "/gone.zip"), tmp_path, 5)
    unreachable = entry(site, "/a.zip").model_copy(update={"addresses": ("http://127.0.0.1:9/a.zip",)})
    with pytest.raises(ServiceError, match="cannot be reached"):
        download(unreachable, tmp_path, 5)

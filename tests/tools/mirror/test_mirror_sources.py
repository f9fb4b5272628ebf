"""Files that a mirror does not take: not what their md5 says, hostile, of no format, or not there."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from prompts.errors import DataError
from support.mirror_xml import EXAMPLE, article, article_set, write
from tools.mirror.importing import import_files


def test_an_md5_beside_a_file_is_checked_before_anything_is_applied(tmp_path: Path) -> None:
    file = write(tmp_path, "pubmed26n0001.xml", article_set(article(1, "one")))
    beside = tmp_path / f"{file.name}.md5"
    beside.write_text("MD5(pubmed26n0001.xml)= 00000000000000000000000000000000\n", encoding="ascii")
    with pytest.raises(DataError, match="is not what"):
        import_files(tmp_path / "m", [file], workers=0)
    beside.write_text(f"MD5({file.name})= {hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()}\n")
    assert import_files(tmp_path / "m", [file], workers=0)[0].sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


BOMB = '<!DOCTYPE PubmedArticleSet [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE PubmedArticleSet [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
PARAMETER = '<!DOCTYPE PubmedArticleSet [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;]>'


@pytest.mark.parametrize("doctype", [BOMB, OUTSIDE, PARAMETER])
def test_xml_that_declares_entities_is_refused_and_nothing_is_fetched(doctype: str, tmp_path: Path) -> None:
    file = write(tmp_path, "x.xml", article_set(article(1, "&a;"), doctype=doctype))
    with pytest.raises(DataError, match=r"entities|damaged"):
        import_files(tmp_path / "m", [file], workers=0)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.xml", b"<html><body>Not here</body></html>", "root html"),
        ("a.xml", article_set(), "no record"),
        ("a.bin", b"\x00\x01", "no format"),
        ("a.xml.gz", b"not packed", "damaged"),
        ("a.jsonl", b"", "empty"),
    ],
)
def test_what_is_no_file_of_records_is_a_typed_error(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("xml.gz") and data[:1] == b"<" else data)
    with pytest.raises(DataError, match=said):
        import_files(tmp_path / "m", [tmp_path / name], workers=0)


def test_of_many_files_the_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(EXAMPLE)
    with pytest.raises(DataError, match=r"b\.xml: The file is not there"):
        import_files(tmp_path / "m", [tmp_path / "a.xml", tmp_path / "b.xml"], workers=0)

"""The content-addressed store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.evidence import content_key
from tools.store import ContentStore, RecentTexts


def test_a_text_is_found_under_its_own_hash_in_a_new_process_too(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "texts.sqlite")
    key = store.put("s1", "胸痛 and fever")
    assert key == content_key("胸痛 and fever")
    store.close()
    assert ContentStore(tmp_path / "texts.sqlite").get(key) == "胸痛 and fever"


def test_a_purge_takes_only_what_no_other_session_owns(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "texts.sqlite")
    shared, own = store.put_all("s1", ["shared", "own"])
    store.put("s2", "shared")
    assert store.purge("s1") == 1
    assert store.get(shared) == "shared"
    with pytest.raises(DataError, match="gone"):
        store.get(own)


def test_the_file_is_private(tmp_path: Path) -> None:
    ContentStore(tmp_path / "texts.sqlite")
    assert (tmp_path / "texts.sqlite").stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "texts.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(DataError, match="damaged"):
        ContentStore(tmp_path / "texts.sqlite")


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.put_all("s1", ["new"]),
        lambda s: s.get_all([content_key("old")]),
        lambda s: s.purge("s1"),
    ],
    ids=["put_all", "get_all", "purge"],
)
def test_damage_met_later_is_a_data_error_with_advice(tmp_path: Path, use: Callable[[ContentStore], object]) -> None:
    file = tmp_path / "texts.sqlite"
    first = ContentStore(file)
    first.put_all("s1", ["old", *(f"{n} " * 2000 for n in range(20))])
    first.purge("nobody")
    first.close()
    store = ContentStore(file)
    overwrite_pages(file)
    with pytest.raises(DataError, match="damaged") as caught:
        use(store)
    assert caught.value.advice
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)


def overwrite_pages(file: Path) -> None:
    """Keep SQLite's first page, which holds the schema, and damage the rest."""
    with file.open("r+b") as handle:
        handle.seek(4096)
        handle.write(b"\xff" * (file.stat().st_size - 4096))


def test_a_text_that_could_not_be_kept_is_not_remembered(tmp_path: Path) -> None:
    file = tmp_path / "texts.sqlite"
    store = ContentStore(file)
    store._db.execute("pragma busy_timeout=0")
    other = sqlite3.connect(file)
    other.execute("begin immediate")
    with pytest.raises(DataError, match="another process"):
        store.put("s1", "new")
    other.close()
    with pytest.raises(DataError, match="gone"):
        store.get(content_key("new"))


def test_recent_texts_are_bounded_by_their_length_and_the_oldest_goes_first() -> None:
    recent = RecentTexts(most=10)
    recent.remember("a", "aaaa")
    recent.remember("b", "bbbb")
    assert recent.get("a") == "aaaa"  # used again: b is the oldest now
    recent.remember("c", "cccc")
    assert [recent.get(key) for key in "abc"] == ["aaaa", None, "cccc"]
    recent.remember("c", "c" * 30)
    assert [recent.get(key) for key in "abc"] == [None, None, "c" * 30]
    recent.clear()
    recent.remember("d", "d" * 10)
    assert recent.get("d") == "d" * 10

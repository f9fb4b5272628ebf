"""The content-addressed store."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.evidence import content_key
from tools.store import ContentStore


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

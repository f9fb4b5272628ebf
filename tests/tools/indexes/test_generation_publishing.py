"""Publishing removes what this program wrote before, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.indexes.generations import generation_name, publish, unfinished

MANIFEST = b'{"format": 1, "encoder": "enc", "built": "2026-01-01"}'


def build(folder: Path, moment: int) -> str:
    name = generation_name("0123456789abcdef" * 4, f"2026-01-01T00:00:{moment:02}")
    with unfinished(folder) as temporary:
        (temporary / "content").write_text(str(moment))
        publish(folder, temporary, name, MANIFEST)
    return name


def test_older_and_unfinished_generations_go_and_a_strangers_folder_stays(tmp_path: Path) -> None:
    build(tmp_path, 1)
    (tmp_path / ".new-interrupted").mkdir()
    for stranger in ("notes", "0123456789abcdef", "0123456789abcdef-old", "x0123456789abcdef-1"):
        (tmp_path / stranger).mkdir()
        (tmp_path / stranger / "thesis.txt").write_text("the only copy")
    name = build(tmp_path, 2)
    assert (tmp_path / name / "content").read_text() == "2"
    assert {p.name for p in tmp_path.iterdir()} == {
        *("notes", "0123456789abcdef", "0123456789abcdef-old", "x0123456789abcdef-1"),
        *(name, "manifest.json"),
    }
    assert (tmp_path / "notes" / "thesis.txt").read_text() == "the only copy"


@pytest.mark.parametrize("file", ["thesis.txt", "manifest.json"])
def test_a_folder_of_somebody_else_is_refused_and_left_as_it_was(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text('{"name": "a web page"}')
    (tmp_path / "pictures").mkdir()
    with pytest.raises(DataError, match="not an index") as caught:
        build(tmp_path, 1)
    assert caught.value.advice
    assert {p.name for p in tmp_path.iterdir()} == {file, "pictures"}
    assert (tmp_path / file).read_text() == '{"name": "a web page"}'


def test_publishing_itself_refuses_too(tmp_path: Path) -> None:
    temporary = tmp_path / "target" / ".new-content"
    temporary.mkdir(parents=True)
    (tmp_path / "target" / "thesis.txt").write_text("the only copy")
    with pytest.raises(DataError, match="not an index"):
        publish(tmp_path / "target", temporary, "0123456789abcdef-1", MANIFEST)
    assert temporary.is_dir()


def test_a_first_build_that_was_interrupted_can_be_done_again(tmp_path: Path) -> None:
    lost = build(tmp_path, 1)
    (tmp_path / "manifest.json").unlink()
    (tmp_path / ".manifest.json.half").write_text("{")
    name = build(tmp_path, 2)
    assert (tmp_path / "manifest.json").read_bytes() == MANIFEST
    assert (tmp_path / name).is_dir()
    assert not (tmp_path / lost).exists()

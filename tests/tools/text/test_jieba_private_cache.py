"""Jieba's dictionary cache lies in a private folder, not in the shared temporary one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from prompts.errors import DataError
from tools.text.tokens import jieba_tokenizer

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("code", ["tokens('胸痛三天')", "key_terms('胸痛三天')", "unknown_runs('胸痛三天')"])
def test_the_cache_is_written_under_the_data_folder(tmp_path: Path, code: str) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    imports = (
        "from tools.text.tokens import tokens; from tools.gaps.requirements import key_terms;"
        "from graphs.judging.key_terms import unknown_runs"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}; {code}"],
        env=os.environ | {"ANAMNESIS_HOME": str(tmp_path / "home"), "TMPDIR": str(shared), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "home" / "cache" / "jieba.cache").stat().st_size > 0
    assert (tmp_path / "home" / "cache").stat().st_mode & 0o777 == 0o700
    assert list(shared.iterdir()) == []


@pytest.fixture
def no_tokenizer_yet(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    import jieba

    monkeypatch.setattr(jieba.dt, "tmp_dir", None)
    return monkeypatch


def test_without_a_data_folder_it_is_the_platforms_cache(tmp_path: Path, no_tokenizer_yet: pytest.MonkeyPatch) -> None:
    no_tokenizer_yet.delenv("ANAMNESIS_HOME", raising=False)
    no_tokenizer_yet.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    assert jieba_tokenizer.__wrapped__().tmp_dir == str(tmp_path / "anamnesis")
    assert (tmp_path / "anamnesis").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_is_a_data_error(tmp_path: Path, no_tokenizer_yet: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    no_tokenizer_yet.setenv("ANAMNESIS_HOME", str(tmp_path / "file"))
    with pytest.raises(DataError, match="ANAMNESIS_HOME"):
        jieba_tokenizer.__wrapped__()

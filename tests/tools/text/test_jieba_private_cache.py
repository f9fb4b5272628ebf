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


CODE = """
import os, sys
from graphs.judging.key_terms import unknown_runs
from tools.gaps.requirements import key_terms
from tools.text.tokens import tokens

for first in (tokens, key_terms, unknown_runs):  # each is the first to need it, in a process of its own
    if not os.fork():
        os.environ["ANAMNESIS_HOME"] += first.__name__
        first("胸痛三天")
        os._exit(0)
    assert os.wait()[1] == 0
"""


def test_the_cache_is_written_under_the_data_folder(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env=os.environ | {"ANAMNESIS_HOME": f"{tmp_path}/", "TMPDIR": str(shared), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for first in ("tokens", "key_terms", "unknown_runs"):
        assert (tmp_path / first / "cache" / "jieba.cache").stat().st_size > 0
        assert (tmp_path / first / "cache").stat().st_mode & 0o777 == 0o700
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

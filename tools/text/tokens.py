"""Word tokens for lexical search, English and Chinese."""

from __future__ import annotations

import logging
import os
import re
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from prompts.errors import DataError
from tools.text.language import HAN

_one_at_a_time = threading.Lock()  # the stemmer works on itself: two threads would mix their words
WORD = re.compile(r"[a-z0-9]+(?:['’-][a-z0-9]+)*|[\u4e00-\u9fff]+")
PART = re.compile(r"['’-]")
STOP = frozenset(
    """a an and are as at be been but by can could did do does for from had has have he her hers him his how i if in
    into is it its me my of on or our she should so than that the their them then there these they this those to was
    we were what when where which while who will with would you your about also any some such just very more most
    tell please""".split()
)
STOP_ZH = frozenset("的 了 是 在 我 有 和 就 不 都 一 也 很 吗 呢 吧 什么 怎么 如何 请问 请 可以 这 那".split())


def tokens(text: str) -> list[str]:
    """Lower-case stems without stop words; Chinese runs are cut by jieba."""
    out: list[str] = []
    for word in WORD.findall(text.lower()):
        if not word.isascii() and HAN.match(word):
            out += [w for w in jieba_tokenizer().cut_for_search(word) if w.strip() and w not in STOP_ZH]
        else:
            out += stems(word)
    return out


@lru_cache(maxsize=65536)
def stems(word: str) -> tuple[str, ...]:
    """The stems of a word in small letters, cut at hyphens and apostrophes; none of a stop word or a lone letter."""
    parts = (word,) if word.isalnum() else PART.split(word)
    return tuple(stem(p) for p in parts if p not in STOP and (len(p) > 1 or p.isdigit()))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English Snowball stem (a very short or numeric token stays as it is)."""
    if len(word) < 3 or word.isdigit():
        return word
    with _one_at_a_time:
        stemmed: str = _stemmer().stemWord(word)
    return stemmed


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1)
def jieba_tokenizer() -> Any:
    """Jieba's tokenizer, quiet, with its dictionary's cache in a private folder.

    Jieba by itself keeps that cache in the machine's shared temporary folder and loads whatever lies there.
    Raises DataError when the private folder cannot be used.
    """
    import jieba

    jieba.setLogLevel(logging.WARNING)
    jieba.dt.tmp_dir = str(_private_folder())
    return jieba.dt


def _private_folder() -> Path:
    """``$ANAMNESIS_HOME/cache``, else the platform's place for a program's cache; mode 0700."""
    from platformdirs import user_cache_path

    home = os.environ.get("ANAMNESIS_HOME")
    folder = Path(home) / "cache" if home else user_cache_path("anamnesis")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as error:
        raise DataError(
            f"The cache folder {folder} cannot be used: {error.strerror}.",
            "Set ANAMNESIS_HOME to a folder that you may write to.",
        ) from error
    return folder

"""The mirror in PubMed's place, when the settings name one."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tools.literature.reachability import Reachability
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import Source
from tools.literature.vocabulary import Collection, CountedWords, Vocabulary

if TYPE_CHECKING:
    from tools.mirror.engine import Mirror


class Searched(NamedTuple):
    """What `SearchLiterature` is given when a mirror is searched; all None for the E-utilities of the settings."""

    settings: LiteratureSettings
    pubmed: Mirror | None = None
    source: Source | None = None
    reachability: Reachability | None = None


class _Here(Reachability):
    """What is on this machine needs no probe."""

    async def check(self) -> bool:
        """Always."""
        return True


def searched(settings: LiteratureSettings) -> Searched:
    """The mirror of the settings, searched in this process whatever ``live`` says: nothing leaves the machine.

    Raises:
        DataError: there is no mirror in the folder, or it is damaged.
    """
    if settings.mirror is None:
        return Searched(settings)
    mirror = _open(settings.mirror)
    here = settings.model_copy(update={"live": "auto"})
    return Searched(here, mirror, mirror_source(mirror, settings.mirror), _Here(settings.base_url))


IN_USE = 20  # ours: records of a mirror that hold a word which is then no person's name


def words_of(mirror: Mirror | None) -> Collection | None:
    """The words of a mirror, for the planner; of live PubMed none are known here."""
    if mirror is None:
        return None
    return CountedWords(lambda word: mirror.find(f'"{word}"[tiab]', 1).count, mirror.manifest().records)


def used_in(text: str, words: Collection, vocabulary: Vocabulary) -> list[str]:
    """The words of a text that a mirror's records use and that medicine uses more than talk does: searching a mirror,
    nothing leaves, and such a word names nobody."""
    written = dict.fromkeys(re.findall(r"[^\W\d_]{3,}", text))
    return [w for w in written if w.islower() and vocabulary.technical(w) > 0 and words.frequency(w) >= IN_USE]


def mirror_source(mirror: Mirror, folder: Path) -> Source:
    """Which copy answered, and how new it is: its newest date of entry, else of publication."""
    held = mirror.manifest()
    newest = max(held.sources, key=lambda s: s.at, default=None)
    return Source(
        kind="mirror",
        name=folder.resolve().name,
        date=held.newest_entered or held.newest_published,
        records=held.records,
        imports=len(held.sources),
        newest_import=newest.name if newest else "",
        imported=held.updated[:10],
    )


def described(folder: Path) -> str:
    """What a mirror holds, in a line; raises DataError when it cannot be used."""
    with contextlib.closing(_open(folder)) as mirror:
        held = mirror.manifest()
        return f"{held.records:,} records, newest of {held.newest_entered or held.newest_published or 'no date'}"


def _open(folder: Path) -> Mirror:
    from tools.mirror.engine import Mirror

    return Mirror.open(folder)

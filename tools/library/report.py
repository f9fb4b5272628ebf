"""What became of each file that was to be added."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from tools.evidence import Frozen


class Outcome(StrEnum):
    """What became of a file.

    ``duplicate``: its documents were there already, from another file. ``partly``: some of it could not be read.
    ``skipped``: a file of another kind in a folder.
    """

    ADDED = "added"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    DUPLICATE = "duplicate"
    PARTLY = "partly"
    FAILED = "failed"
    SKIPPED = "skipped"


class FileRow(Frozen):
    """A file, what became of it, how many documents it gives, and if something is wrong: what, and what to do."""

    path: str
    outcome: Outcome
    documents: int
    reason: str = ""
    advice: str = ""


class AddReport(Frozen):
    """A row a file, in the order in which they were taken."""

    rows: tuple[FileRow, ...]

    @property
    def counts(self) -> Counter[str]:
        """Files of each outcome."""
        return Counter(row.outcome.value for row in self.rows)

    @property
    def wrong(self) -> tuple[FileRow, ...]:
        """The files that were not taken in whole."""
        return tuple(row for row in self.rows if row.outcome in (Outcome.FAILED, Outcome.PARTLY))

    @property
    def skipped(self) -> dict[str, list[str]]:
        """Paths of what folders hold and is not read, by the reason."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.outcome is Outcome.SKIPPED:
                found.setdefault(row.reason, []).append(row.path)
        return found

    @property
    def exit_code(self) -> int:
        """0 when all went in, 1 when something did not, 2 when nothing could be read."""
        if not self.wrong:
            return 0 if any(row.outcome is not Outcome.SKIPPED for row in self.rows) else 2
        read = [row for row in self.rows if row.outcome not in (Outcome.FAILED, Outcome.SKIPPED)]
        return 1 if read else 2

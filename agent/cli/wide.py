"""A console that breaks no name: a table is as wide as what it holds where no terminal says how wide it may be."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

ROOM = 100_000  # columns to measure a table in: more than any has


class WideConsole(Console):
    """Prints to a pipe or a file each paragraph on one line, and tables as wide as they are.

    On a terminal text is wrapped between words, and a table is never narrower than the longest word of each column:
    a terminal that is too narrow wraps its lines, and what is copied from it is whole.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `rich.console.Console.print` does."""
        if not self.is_terminal and all(isinstance(o, str | Text) for o in objects):
            options.setdefault("soft_wrap", True)
        fitted = [o for o in objects if isinstance(o, Table if self.is_terminal else (Table, Padding, Group))]
        if not fitted:
            super().print(*objects, **options)
            return
        given, self.width = self._width, max(self.width, *map(self._needed, fitted))
        try:
            super().print(*objects, **options | {"crop": False})
        finally:
            self._width = given

    def _needed(self, table: Table | Padding | Group) -> int:
        """Columns that it needs: for all of it, or on a terminal for the longest word of each column of a table."""
        room = self.options.update(width=ROOM)
        if not isinstance(table, Table) or not self.is_terminal:
            return self.measure(table, options=room).maximum
        for column in table.columns:
            longest = max(self.measure(cell, options=room).minimum for cell in (column.header, *column.cells))
            column.min_width = max(column.min_width or 0, longest)
        return 0

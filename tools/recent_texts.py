"""The texts of a content store that were used last, kept in memory up to a number of characters."""

from __future__ import annotations

from collections import OrderedDict

CHARACTERS = 4_000_000  # ours: the texts of about fifty turns (60,000 to 90,000 characters each); 4 to 16 MB


class RecentTexts:
    """Texts by key, the one used longest ago forgotten first. Its user holds a lock around it.

    Args:
        most: characters of all texts together; the newest one stays, however long it is.
    """

    def __init__(self, most: int = CHARACTERS) -> None:
        self._most = most
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._characters = 0

    def get(self, key: str) -> str | None:
        """The text, None when it is not here."""
        if key in self._texts:
            self._texts.move_to_end(key)
        return self._texts.get(key)

    def remember(self, key: str, text: str) -> None:
        """Keep a text as the newest one."""
        self._characters += len(text) - len(self._texts.pop(key, ""))
        self._texts[key] = text
        while self._characters > self._most and len(self._texts) > 1:
            self._characters -= len(self._texts.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget all."""
        self._texts.clear()
        self._characters = 0

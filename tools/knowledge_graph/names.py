"""Names of diseases and findings in a text, with their other names: the graph as a table of synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.knowledge_graph.schema import Graph
from tools.text.abbreviations import expand
from tools.text.language import HAN

WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST = 6  # words of the longest name looked for; ours


class Names:
    """The names of a graph's diseases and findings, English and Chinese."""

    def __init__(self, graph: Graph) -> None:
        self._diseases = [d.id for d in graph.diseases]
        groups = [([d.name, *d.aliases], [d.zh, *d.aliases_zh]) for d in graph.diseases]
        groups += [([f.name, *f.say], [f.zh, *f.say_zh]) for f in graph.findings]
        self._english = [tuple(english) for english, _ in groups]
        self._by_words: dict[tuple[str, ...], int] = {}
        self._by_characters: dict[str, int] = {}
        for number, (english, chinese) in enumerate(groups):
            for name in english:
                self._by_words.setdefault(_words(name), number)
            for name in chinese:
                if name:
                    self._by_characters.setdefault(name, number)

    def found_in(self, text: str) -> dict[str, tuple[str, ...]]:
        """Each name found in the text, as written, with the English names of the same thing (itself left out)."""
        found: dict[str, tuple[str, ...]] = {}
        for written, group in self._matches(text):
            others = tuple(n for n in self._english[group] if n.lower() != written.lower())
            found.setdefault(written, others)
        return found

    def diseases_named(self, text: str) -> dict[str, tuple[str, ...]]:
        """As `found_in`, of diseases alone: a finding's name may be an everyday word."""
        known = len(self._diseases)
        return {n: tuple(m for m in self._english[g] if m != n) for n, g in self._matches(text) if g < known}

    def diseases_in(self, text: str) -> list[str]:
        """Ids of the diseases that a text names, in order; abbreviations are read too."""
        found = [group for form in (text, expand(text)) for _, group in self._matches(form)]
        return list(dict.fromkeys(self._diseases[g] for g in found if g < len(self._diseases)))

    def _matches(self, text: str) -> Iterator[tuple[str, int]]:
        if HAN.search(text):
            yield from ((name, group) for name, group in self._by_characters.items() if name in text)
        spans = [(m[0], m.start(), m.end()) for m in WORD.finditer(text.lower())]
        at = 0
        while at < len(spans):
            for length in range(min(LONGEST, len(spans) - at), 0, -1):
                group = self._by_words.get(tuple(w for w, _, _ in spans[at : at + length]))
                if group is not None:
                    yield text[spans[at][1] : spans[at + length - 1][2]], group
                    at += length - 1
                    break
            at += 1


def _words(name: str) -> tuple[str, ...]:
    return tuple(WORD.findall(name.lower()))

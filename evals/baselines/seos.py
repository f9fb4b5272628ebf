"""SEOS, and its published rule, as segmenters beside the baselines."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evals.baselines.contract import checked_count
from tools.encoders import Encoder
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.text.sentences import Span


@dataclass(frozen=True)
class Seos:
    """`tools.passages.seos` with these settings."""

    settings: SeosSettings

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Passages with their overlap; at a given number of parts, the text as one section and no overlap."""
        checked_count(count)
        if count is None:
            return [span for span, _ in self.led(text, title, encoder)]
        return [Span(p.core_start, p.core_end) for p in self._cut(text, title, encoder, count)]

    def led(self, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
        """Passages with their overlap, and the sentence that opens their block before those that are a later part."""
        return [
            (Span(p.start, p.end), Span(*p.lead) if p.lead else None) for p in self._cut(text, title, encoder, None)
        ]

    def _cut(self, text: str, title: str, encoder: Encoder, count: int | None) -> tuple[Passage, ...]:
        document = StoredDocument(id="evaluation", title=title, text=text)
        return segment(document, encoder, replace(self.settings, partitions=count))

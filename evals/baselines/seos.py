"""SEOS, and its published rule, as segmenters beside the baselines."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evals.baselines.contract import checked_count
from tools.encoders import Encoder
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.text.sentences import Span


@dataclass(frozen=True)
class Seos:
    """`tools.passages.seos` with these settings."""

    settings: SeosSettings

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Passages with their overlap; at a given number of parts, the text as one section and no overlap."""
        checked_count(count)
        document = StoredDocument(id="evaluation", title=title, text=text)
        passages = segment(document, encoder, replace(self.settings, partitions=count))
        if count is None:
            return [Span(passage.start, passage.end) for passage in passages]
        return [Span(passage.core_start, passage.core_end) for passage in passages]

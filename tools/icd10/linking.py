"""Entities of a diagnosis text: its phrases, each linked to a code at a chosen depth, English and Chinese."""

from __future__ import annotations

from copy import copy

from tools.contract import unique
from tools.icd10.chinese import ChineseNames
from tools.icd10.contract import Depth, Entity, Linked, Match, Name, Phrase, Setting, at_depth
from tools.icd10.matching import STRICT_THRESHOLD_ZH, Matcher, PublishedMatch, StrictMatch
from tools.icd10.names import NamedCodes, distinct
from tools.icd10.phrases import phrases
from tools.icd10.qualifiers import without_grades
from tools.icd10.table import ICD10
from tools.text.abbreviations import expand
from tools.text.language import HAN


class Linker:
    """Links diagnosis texts to ICD-10. Use changes nothing that it holds; it may be shared by threads.

    Attributes:
        table, setting: as given.

    Args:
        table: the compiled table, which every English code is of.
        named: names with their words, English and Chinese (`open_names`).
        setting: ``paper``, the published threshold over the table's own names, or ``strict``, ours over all.
        chinese: a user's table; None for none: ``strict`` then knows only the Chinese names among ``named``.
    """

    def __init__(
        self,
        table: ICD10,
        named: NamedCodes,
        setting: Setting = "strict",
        chinese: ChineseNames | None = None,
    ) -> None:
        self.table, self.setting, self._chinese = table, setting, chinese
        han = [bool(HAN.search(name.text)) for name in named.rows]
        self._strict = StrictMatch(named.where([not h for h in han]))
        own = chinese.diseases() if chinese is not None else []
        aliases = named.where(han).rows
        self._strict_zh = StrictMatch(distinct([*own, *aliases]), STRICT_THRESHOLD_ZH)
        self._english: Matcher = self._strict
        self._han: Matcher = self._strict_zh
        if setting == "paper":
            self._english = PublishedMatch([Name(row.code, row.name) for row in table.codes()])
            self._han = PublishedMatch(chinese.names if chinese is not None else [])

    def at(self, threshold: float) -> Linker:
        """The same linker with another threshold, in 0..1, for both languages."""
        other = copy(self)
        other._english, other._han = self._english.at(threshold), self._han.at(threshold)
        return other

    def phrases(self, text: str) -> list[Phrase]:
        """The diagnoses of a text; words that are one name in the tables stay together."""
        return phrases(text, self._known)

    def link(self, text: str, depth: Depth = "category") -> list[Linked]:
        """Each diagnosis of a text with what it names, in order; what is denied is left out."""
        return [Linked(phrase=p, entity=self.entity(p.text, depth, context=text)) for p in self.phrases(text)]

    def codes(self, text: str, depth: Depth = "category") -> frozenset[str]:
        """The set of codes that a text names: what set-level precision and recall compare."""
        return frozenset(linked.entity.code for linked in self.link(text, depth) if linked.entity is not None)

    def entity(self, phrase: str, depth: Depth = "category", *, context: str = "") -> Entity | None:
        """What one diagnosis names; None for nothing. ``context`` decides what its abbreviations mean."""
        forms = unique([phrase, without_grades(phrase), expand(phrase, context or phrase)])
        chinese = HAN.search(phrase) is not None
        match = (self._han if chinese else self._english).best(forms)
        return self._entity(match, depth) if match is not None else None

    def _entity(self, match: Match, depth: Depth) -> Entity | None:
        code = self._chinese.code(match.name.code, depth) if self._chinese is not None else ""
        name = self._chinese.title(code) if self._chinese is not None and HAN.search(match.name.text) else ""
        if not HAN.search(match.name.text) or not code:
            row = self.table.nearest(at_depth(match.name.code, depth)) or self.table.get(match.name.code[:3])
            if row is None:
                return None
            code, name = row.code, row.name
        return Entity(code=code, name=name or match.name.text, matched=match.name.text, score=round(match.score, 4))

    def _known(self, words: str) -> bool:
        return (self._strict_zh if HAN.search(words) else self._strict).names(words)

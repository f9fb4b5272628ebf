"""The tags of PubMed's fields, short and long (PubMed User Guide, "Search field tags")."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.mirror.syntax import EXPLODED, NEARNESS, Field, QueryError

NAMES: dict[Field, str] = {
    Field.ALL: "all|all fields|all field",
    Field.TITLE_ABSTRACT: "tiab|title/abstract|title abstract",
    Field.TITLE: "ti|title|titl",
    Field.ABSTRACT: "ab|abstract",
    Field.TEXT: "tw|text word|text words|word|text",
    Field.KEYWORD: "ot|other term|other terms",
    Field.MESH: "mh|mesh|mesh terms|mesh term",
    Field.MAJOR: "majr|mesh major topic|major topic|mesh:maj",
    Field.TYPE: "pt|publication type|publication types|ptyp",
    Field.PUBLISHED: "dp|pdat|date - publication|publication date|date of publication",
    Field.ENTERED: "edat|date - entry|date - entrez|entry date|entrez date",
    Field.LANGUAGE: "la|lang|language",
    Field.AUTHOR: "au|author|authors|auth",
    Field.JOURNAL: "ta|jour|journal|journal title abbreviation",
    Field.PMID: "pmid|uid",
    Field.IDENTIFIER: "aid|article identifier|doi|lid|location id",
    Field.SUBSET: "sb|filter|subset",
}
TAGS = {name: field for field, names in NAMES.items() for name in names.split("|")}
# PubMed's fields that the mirror does not hold: answering from another field would be a wrong result.
NOT_HELD = frozenset(
    "ad|affiliation|auid|author identifier|book|cois|conflict of interest statements|cn|corporate author|crdt|"
    "date - create|create date|dcom|date - completion|completion date|rn|ec/rn number|ed|editor|1au|first author name|"
    "author - first|fau|full author name|author - full|fir|full investigator name|investigator - full|gr|"
    "grants and funding|grant number|ir|investigator|isbn|ip|issue|lastau|last author name|author - last|mhda|"
    "date - mesh|mesh date|sh|mesh subheading|mesh subheadings|subheading|lr|date - modification|modification date|"
    "jid|nlm unique id|pg|pagination|ps|personal name as subject|subject - personal name|pa|pharmacological action|"
    "pl|place of publication|pubn|publisher|si|secondary source id|nm|supplementary concept|tt|transliterated title|"
    "vi|volume|epdat|ppdat|date - electronic|date - print".split("|")
)
NEAR = re.compile(r"(.*?)\s*:\s*~\s*(\d{1,6})")  # six digits: more words than any record has


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as read: its field (None when PubMed has no such field), ``explode``, and the distance of a proximity."""

    field: Field | None
    name: str
    explode: bool = True
    distance: int | None = None


def read_tag(text: str, at: int) -> Tag:
    """What stands between square brackets. Raises QueryError for a field that is not held, or a misplaced suffix."""
    name = " ".join(text.lower().split())
    near = NEAR.fullmatch(name)
    if near:
        field = _field(near[1], at)
        if field is not None and field not in NEARNESS:
            raise QueryError(f"Proximity is not possible in [{near[1]}]", "Use [ti:~N] or [tiab:~N].", at)
        return Tag(field, name, distance=int(near[2]))
    base, _, suffix = name.partition(":")
    if suffix.strip() == "noexp":
        field = _field(base.strip(), at)
        if field is not None and field not in EXPLODED:
            raise QueryError(f"[{name}] has nothing to explode", "Use :noexp with [mh], [majr] or [pt].", at)
        return Tag(field, name, explode=False)
    return Tag(_field(name, at), name)


def _field(name: str, at: int) -> Field | None:
    if name in NOT_HELD:
        raise QueryError(f"The field [{name}] is not held by this mirror", "Leave the term out, or ask PubMed.", at)
    return TAGS.get(name)

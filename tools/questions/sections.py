"""Questions that a whole section of a document answers: "How is gout treated?" asks for what stands under "Treatment".

QB-RAG answers questions beforehand, statement by statement; what a section is for is said by its heading alone. Which
section a question asks for is told by a trained head, whose disease it is by the search and by its name. Ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tools.evidence import EvidenceId
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import Document, LibraryQuestion
from tools.library.monograph import paragraphs
from tools.reading.messages import Section, section_asked
from tools.spelling import mended
from tools.text.abbreviations import expand
from tools.text.frequency import zipf
from tools.text.sentences import Span
from tools.text.tokens import stem, tokens
from tools.yaml_files import read_yaml

TABLE = Path(__file__).with_name("sections.yaml")
DOCUMENTS = 5  # ours: documents found whose subject the question may name
SURELY = 0.5  # ours: probability from which a section is what a question asks for
COMMON = 4.7  # ours: Zipf's scale (wordfreq): how common a word is that names no disease
ASKING = frozenset(stem(w) for w in "have get need help happen mean use take know does".split())  # ours: they ask only
SHORTEST = 3  # characters of a name; ours
MOST = 1500  # ours: characters of a section that an answer states, where its paragraphs are many
ACUTE = "acute "  # what a subject is named without as often as with it
WORD = re.compile(r"[a-z]{3,}")
PARTS = re.compile(r"\s*[()]\s*|\s+or\s+", re.IGNORECASE)  # of a title with another name in it
Names = Callable[[str], Mapping[str, Sequence[str]]]


class SectionQuestions:
    """Finds the section that answers a question about the subject of a document.

    Args:
        library: where documents are found.
        names: other names of what a title names.
    """

    def __init__(self, library: SearchableLibrary, names: Names = lambda _text: {}) -> None:
        self._library, self._names = library, names

    def search(self, question: str) -> list[QuestionHit]:
        """The section of each document found whose subject the question names, by its title before other names, else
        of the first that opens with all that the question is about.

        The similarity is the probability that such a section is asked for; none where it is not likely enough.
        """
        asked, share = likeliest(question)
        if asked is Section.OTHER or share < SURELY:
            return []
        found = [h.document for h in self._library.search(question, DOCUMENTS) if h.document.language == "en"]
        named = [(document, name) for document in found if (name := self.named(question, document))]
        titled = [(document, name) for document, name in named if name in titles(document)]
        opening = [(document, document.title) for document in found[:1] if _opens_with(document, question)]
        chosen = titled or named or opening
        hits = (_hit(document, name, asked, share) for document, name in chosen)
        return [hit for hit in hits if hit is not None]

    def named(self, question: str, document: Document) -> str:
        """The name by which a question names a document's subject, "" when it does not."""
        names = self._known_as(document)
        for written in dict.fromkeys((folded(question), folded(expand(mended(question))))):
            name = next((n for n in names if re.search(rf"(?<!\w){re.escape(n)}s?(?!\w)", written)), "")
            if name:
                return name
        return ""

    def _known_as(self, document: Document) -> list[str]:
        """The names of a document's subject, the longest first."""
        other = [folded(name) for names in self._names(document.title).values() for name in names]
        found = [*titles(document), *other]
        found += [name.removeprefix(ACUTE) for name in found]
        return sorted({name for name in found if len(name) >= SHORTEST}, key=lambda n: (-len(n), n))


def titles(document: Document) -> list[str]:
    """What a document says that it is about: its title, the parts of it, and its id."""
    names = (document.title, *PARTS.split(document.title), EvidenceId.parse(document.id).name)
    return [folded(name) for name in names]


def likeliest(question: str) -> tuple[Section, float]:
    """The section that a question most likely asks for, and the probability."""
    shares = section_asked(question)
    asked = max(shares, key=shares.__getitem__)
    return asked, shares[asked]


def _opens_with(document: Document, question: str) -> bool:
    """Whether a document's title and first section hold all that a question is about, words that stand together there
    together here, and one of them is rare: altitude sickness is not what helps with morning sickness."""
    first = document.sections[0] if document.sections else None
    opening = tokens(f"{document.title} {document.text[first.start : first.end] if first is not None else ''}")
    said = WORD.findall(folded(expand(mended(question))))
    wanted = [tokens(w)[0] if _about(w) else "" for w in said]
    together = {(a, b) for a, b in pairwise(wanted) if a and b}
    rare = any(zipf(w) < COMMON and _about(w) for w in said)
    return rare and {*filter(None, wanted)} <= {*opening} and together <= {*pairwise(opening)}


def _about(word: str) -> bool:
    """Whether a word tells what a question is about, not only that it asks, or for which section."""
    return bool(tokens(word)) and not (ASKING | _of_sections()).issuperset(tokens(word))


def _hit(document: Document, name: str, asked: Section, share: float) -> QuestionHit | None:
    """The section that is asked for; None where the document has none."""
    row = _table()[asked]
    place = _place(document, row["headings"])
    if place is None:
        return None
    known = LibraryQuestion(
        text=row["asked"].format(name=name),
        start=place.start,
        end=place.end,
        paragraph_start=place.start,
        paragraph_end=place.end,
    )
    return QuestionHit(document=document, question=known, similarity=share, lexical=0.0, direct=True)


def _place(document: Document, headings: Sequence[str]) -> Span | None:
    """The paragraphs under one of the headings, as many as an answer may have; the first whatever its length."""
    section = next((s for s in document.sections if _heads(s.title.lower(), headings)), None)
    if section is None:
        return None
    told = [p for p in paragraphs(document.text) if section.start <= p.start < section.end]
    if not told:
        return None
    start, end = told[0]
    for p in told[1:]:
        if p.end - start > MOST or "#" in document.text[end : p.start]:  # a heading within the section
            break
        end = p.end
    return Span(start, end)


def _heads(title: str, headings: Sequence[str]) -> bool:
    """Whether a title is one of the headings, or one with more behind it: ``treatment of gout``."""
    return any(title == heading or title.startswith((f"{heading} of ", f"{heading} in ")) for heading in headings)


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table: dict[str, Any] = read_yaml(TABLE)
    return table


@lru_cache(maxsize=1)
def _of_sections() -> frozenset[str]:
    """The words in which sections are asked for and headed."""
    rows = _table().values()
    said = [text for row in rows for text in (row["asked"].format(name=""), *row["headings"])]
    return frozenset(tokens(" ".join(said)))


def folded(text: str) -> str:
    """Lower case, without accents and apostrophes, hyphens as spaces."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    return re.sub(r"[-\s]+", " ", re.sub(r"['’`]", "", plain)).strip()

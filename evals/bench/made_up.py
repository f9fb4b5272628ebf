"""What benchmarks make up, the same for the same seed: words by Zipf's law, PubMed records, passages, vectors."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.datasets.literature import LiteratureDocument
from tools.encoders import Vectors, load_encoder
from tools.indexes.contract import Entry, Filter, Part
from tools.mirror.article_xml import record_xml
from tools.mirror.exporting import FOOT, HEAD
from tools.mirror.records import MeshHeading, MirrorRecord
from tools.mirror.words import words
from tools.text.tokens import STOP

STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"
VOCABULARY = 1_000_000  # ours: different words; PubMed has more, most of them in one record
FIRST_PMID = 50_000_000  # ours: above PubMed's own
Random = np.random.Generator


class Words:
    """Draws words, the first most often: word n as often as (n + shift) ** -exponent."""

    def __init__(self, known: Sequence[str], exponent: float, shift: float = 0) -> None:
        self._words = np.array(known, dtype=object)
        self._cumulative = np.cumsum((np.arange(1, len(known) + 1, dtype=np.float64) + shift) ** -exponent)

    def draw(self, random: Random, count: int) -> NDArray[np.object_]:
        """So many words."""
        at = np.searchsorted(self._cumulative, self._cumulative[-1] * random.random(count))
        return np.asarray(self._words[np.minimum(at, len(self._words) - 1)], dtype=object)


class Publications:
    """Draws PubMed records: words by their frequency in some texts, sentences, structured abstracts, and an update.

    Every record is drawn from its own number, so a file is the same however many there are.

    Args:
        texts: give the words. exponent: of Zipf's law. vocabulary: words, made-up ones after those of the texts.
        lengths: words of title and abstract, drawn from. headings: how often each is given.
        bare: share without an abstract; ours: in PubMed about a third, which would cost no time.
    """

    LENGTHS = ((12, 140), (12, 210), (12, 280))  # ours: as abstracts have
    LABELS = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
    SENTENCE = 15  # ours: words of a sentence
    STRUCTURED = 0.6  # ours: share of abstracts with labels
    REVISED, DELETED, RETRACTED = 0.01, 0.001, 0.0005  # ours: shares that the update revises, deletes and retracts
    HEADINGS = 8  # ours: drawn a record, some of them twice; indexed records have ten to fifteen
    NAMES = "Abel Baker Chen Diaz Evans Fischer Garcia Haas Ito Jones Kim Lopez Meyer Novak Okafor Patel".split()

    def __init__(
        self,
        texts: Iterable[str],
        *,
        exponent: float = 1.0,
        vocabulary: int = 0,
        lengths: Sequence[tuple[int, int]] = LENGTHS,
        headings: Mapping[str, int] | None = None,
        bare: float = 0.1,
        seed: int = 0,
    ) -> None:
        counted = Counter(word for text in texts for word in words(text))
        known = sorted(counted, key=lambda word: (-counted[word], word))
        self._words = Words([*known, *(f"xq{n:x}" for n in range(vocabulary - len(known)))], exponent)
        self._lengths, self._bare, self._seed = lengths, bare, seed
        self._headings = list(headings or {})
        self._shares = np.cumsum(np.array(list((headings or {}).values()), dtype=np.float64))

    @classmethod
    def of_the_library(cls) -> Publications:
        """From the starter library's words."""
        return cls(path.read_text(encoding="utf-8") for path in sorted(STARTER.rglob("*.md")))

    @classmethod
    def of_a_collection(cls, documents: Sequence[LiteratureDocument], seed: int = 0) -> Publications:
        """As the documents are: words (a million different ones), lengths, headings."""
        return cls(
            (text for d in documents for text in (d.title, d.abstract)),
            exponent=1.07,  # ours: the collection's own words fall about as steeply
            vocabulary=VOCABULARY,
            lengths=[(len(d.title.split()), len(d.abstract.split())) for d in documents],
            headings=Counter(name for d in documents for name in d.mesh),
            bare=0,
            seed=seed,
        )

    def files(self, folder: Path, count: int, *, a_file: int = 10_000, update: bool = True) -> Iterator[Path]:
        """Write ``count`` publications with NLM's kind of name, and an update that changes some of them.

        Args:
            a_file: records a file; NLM's have 30,000.
        """
        records = (record_xml(self.record(n)) for n in range(count))
        changes = [self._update(count)] if update else []
        number = 0
        for elements, most in ((records, a_file), *((change, count) for change in changes)):
            while some := list(islice(elements, most)):
                number += 1
                path = folder / f"pubmed99n{number:04d}.xml"
                path.write_bytes(HEAD + b"\n".join([*some, FOOT]))
                yield path

    def record(self, n: int, revision: int = 0, kinds: tuple[str, ...] = ()) -> MirrorRecord:
        """Publication ``n``; a revision has another text."""
        random = np.random.default_rng((self._seed, n, revision))
        titled, many = self._lengths[int(random.integers(len(self._lengths)))]
        title, text = self._sentences(random, titled), self._sentences(random, many)
        labels = self.LABELS if random.random() < self.STRUCTURED and len(text) >= len(self.LABELS) else ("",)
        each = -(-len(text) // len(labels))
        parts = [" ".join(text[at : at + each]) for at in range(0, len(text), each)] if text else []
        lines = [f"{label}: {part}" if label else part for label, part in zip(labels, parts, strict=False)]
        bare = random.random() < self._bare
        drawn = np.searchsorted(self._shares, self._shares[-1] * random.random(self.HEADINGS)) if self._headings else []
        date = f"{1980 + n % 45}-{n % 12 + 1:02}"
        return MirrorRecord(
            pmid=str(FIRST_PMID + n),
            title=" ".join(title),
            abstract="" if bare else "\n".join(lines),
            labels=() if bare else tuple(filter(None, labels[: len(parts)])),
            date=date,
            entered=f"{date}-01",
            journal="Made-up publications",
            journal_short="Made Up",
            languages=("eng",),
            publication_types=("Journal Article", *kinds),
            mesh=tuple(MeshHeading(name=name) for name in dict.fromkeys(self._headings[at] for at in drawn)),
            authors=tuple(f"{name} A" for name in random.choice(self.NAMES, 3).tolist()),
        )

    def _sentences(self, random: Random, count: int) -> list[str]:
        drawn = self._words.draw(random, count).tolist()
        cuts = range(0, count, self.SENTENCE)
        return [" ".join(drawn[at : at + self.SENTENCE]).capitalize() + "." for at in cuts]

    def _update(self, count: int) -> Iterator[bytes]:
        for n, drawn in enumerate(np.random.default_rng((self._seed, count)).random(count).tolist()):
            if drawn < self.DELETED:
                yield b'<DeleteCitation><PMID Version="1">%d</PMID></DeleteCitation>' % (FIRST_PMID + n)
            elif drawn < self.DELETED + self.RETRACTED:
                yield record_xml(self.record(n, kinds=("Retracted Publication",)))
            elif drawn < self.DELETED + self.RETRACTED + self.REVISED:
                yield record_xml(self.record(n, revision=1))


@dataclass(frozen=True)
class Correlated:
    """Correlated vectors in any number: a low-rank part plus noise, fitted to an encoder's real vectors.

    A vector is ``mean + sum of z_i sqrt(l_i) b_i + noise``, made unit length: z_i are standard normal, l_i the largest
    eigenvalues of the real vectors' covariance, b_i random orthonormal directions, and the noise is isotropic with the
    mean of the eigenvalues left out. In more dimensions than the real vectors have the low-rank part has the same
    eigenvalues along directions of the larger space, and the noise the same variance in each dimension, so that its
    share of the whole roughly doubles from 384 to 768. The model has no clusters, which real collections have and
    which help an index of inverted lists: it is the harder case.

    Attributes:
        mean: length of the mean vector. spectrum: (rank,) eigenvalues. noise: variance of each noise dimension.
        directions: (rank + 1, dimension) orthonormal; the last is the mean's.
    """

    mean: float
    spectrum: Vectors
    noise: float
    directions: Vectors

    @classmethod
    def fit(cls, vectors: Vectors, dimension: int, rank: int = 128) -> Correlated:
        """The model of real unit vectors (n, any), in this many dimensions.

        Args:
            rank: ours: 128 keeps 92 % of the variance of the starter library's vectors.
        """
        eigenvalues = np.clip(np.linalg.eigvalsh(np.cov(vectors.T.astype(np.float64)))[::-1], 0, None)
        rank = min(rank, len(eigenvalues) - 1)
        random = np.random.default_rng(7).normal(size=(dimension, rank + 1))
        return cls(
            mean=float(np.linalg.norm(vectors.mean(axis=0))),
            spectrum=eigenvalues[:rank].astype(np.float32),
            noise=float(eigenvalues[rank:].mean()),
            directions=np.linalg.qr(random)[0].T.astype(np.float32),
        )

    @staticmethod
    def of_the_library() -> Vectors:
        """Real vectors: paragraphs of the starter library as the embedded encoder reads them, headings left out."""
        texts = [part for file in sorted(STARTER.glob("*.md")) for part in file.read_text("utf-8").split("\n\n")]
        return load_encoder().encode_documents([text for text in texts if len(text) > 40])

    def draw(self, n: int, seed: int) -> Vectors:
        """(n, dimension) unit vectors; the same seed gives the same ones."""
        random = np.random.default_rng(seed)
        scores = random.standard_normal((n, len(self.spectrum)), dtype=np.float32) * np.sqrt(self.spectrum)
        vectors = scores @ self.directions[:-1] + self.mean * self.directions[-1]
        noise = random.standard_normal((n, self.directions.shape[1]), dtype=np.float32)
        vectors += noise * np.float32(np.sqrt(self.noise))
        return _unit(vectors)


class HashEncoder:
    """Words hashed into a vector, so that what is measured is the pipeline around the encoder.

    Texts with words in common are near each other; three tokens for two words, as word pieces have.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension, self.limit = dimension, 256
        self.name = f"words-hashed-{dimension}"

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        places = [[_hash(word) % self.dimension for word in text.split()] for text in texts]
        rows = np.repeat(np.arange(len(texts)), [len(found) for found in places])
        flat = rows * self.dimension + np.fromiter((p for found in places for p in found), dtype=np.int64)
        counts = np.bincount(flat, minlength=len(texts) * self.dimension).reshape(len(texts), self.dimension)
        vectors = counts.astype(np.float32) + 1e-3
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return [3 * len(text.split()) // 2 for text in texts]


@lru_cache(maxsize=100_000)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode())


class Passages:
    """Draws passages of any number with their vectors: words by Zipf's law, vectors in clusters, fields to filter on.

    Args:
        model: gives vectors as an encoder's spread. vocabulary: how many different words.
    """

    EXPONENT, SHIFT = 1.6, 150  # ours: new words come about as in 42,577 abstracts
    STOP_SHARE = 0.4  # ours: of the words of English prose
    LENGTH, QUERY = (60, 201), 6  # ours: words of a passage; words of a question that are no stop words
    TOPICS, TOPIC_SHARE = 2_000, 0.6  # ours: clusters of vectors, and how much of a vector its cluster gives
    A_PART = 20_000  # ours: passages drawn at once; part of what a seed gives
    KINDS, SHARES = ("review", "trial", "report", "guideline"), (0.3, 0.2, 0.49, 0.01)
    RECENT, RARE = Filter(since="2014-01"), Filter(kinds=("guideline",))  # 11 years of 45; a hundredth

    def __init__(self, model: Correlated, vocabulary: int = VOCABULARY) -> None:
        self._model = model
        self._topics = model.draw(self.TOPICS, seed=3)
        self._words = Words([_word(n) for n in range(vocabulary)], self.EXPONENT, self.SHIFT)
        self._stop = np.array(sorted(STOP), dtype=object)

    def parts(self, count: int) -> Iterator[Part]:
        """So many passages in parts."""
        for first, n in self._spans(count):
            yield Part(name=f"from {first}", read=partial(self.draw, first, n))

    def draw(self, first: int, count: int) -> tuple[list[Entry], Vectors]:
        """Passages from number ``first`` on, and their vectors (count, dimension)."""
        random = np.random.default_rng((first, 1))
        lengths = random.integers(*self.LENGTH, count)
        drawn = self._words.draw(random, int(lengths.sum()))
        stop = random.random(len(drawn)) < self.STOP_SHARE
        drawn[stop] = self._stop[random.integers(0, len(self._stop), int(stop.sum()))]
        texts = np.split(drawn, np.cumsum(lengths)[:-1])
        months = random.integers(0, 45 * 12, count).tolist()
        kinds = random.choice(self.KINDS, count, p=self.SHARES).tolist()
        entries = [
            Entry(
                id=f"pubmed:{FIRST_PMID + first + n}@0-{len(text)}",
                text=" ".join(text),
                collection="made-up",
                kind=kind,
                date=f"{1980 + month // 12}-{month % 12 + 1:02}",
            )
            for n, (text, month, kind) in enumerate(zip(texts, months, kinds, strict=True))
        ]
        return entries, self.vectors(first, count)

    def vectors(self, first: int, count: int) -> Vectors:
        """The vectors of these passages alone."""
        return self._clustered((first, 2), count)

    def questions(self, count: int) -> tuple[list[str], Vectors]:
        """Questions and their vectors, of passages that are in no collection."""
        drawn = self._words.draw(np.random.default_rng(4), count * self.QUERY).reshape(count, self.QUERY)
        return [" ".join(row) for row in drawn.tolist()], self._clustered((5, 6), count)

    def nearest(self, count: int, questions: Vectors, k: int) -> NDArray[np.int64]:
        """The numbers of the k nearest of so many passages, every vector compared: (questions, k)."""
        best, rows = np.empty((len(questions), 0), np.float32), np.empty((len(questions), 0), np.int64)
        for first, n in self._spans(count):
            scores = questions @ self.vectors(first, n).T
            numbers = np.broadcast_to(np.arange(first, first + n), scores.shape)
            best, rows = np.concatenate((best, scores), axis=1), np.concatenate((rows, numbers), axis=1)
            top = np.argpartition(-best, k - 1, axis=1)[:, :k]
            best, rows = np.take_along_axis(best, top, axis=1), np.take_along_axis(rows, top, axis=1)
        return rows

    def _spans(self, count: int) -> Iterator[tuple[int, int]]:
        return ((first, min(self.A_PART, count - first)) for first in range(0, count, self.A_PART))

    def _clustered(self, seed: tuple[int, int], count: int) -> Vectors:
        random = np.random.default_rng(seed)
        topics = self._topics[random.integers(0, self.TOPICS, count)]
        own = self._model.draw(count, int(random.integers(1 << 31)))
        return _unit(self.TOPIC_SHARE * topics + (1 - self.TOPIC_SHARE) * own)


def number_of(id: str) -> int:
    """The number of a passage by its id."""
    return int(id.removeprefix("pubmed:").split("@")[0]) - FIRST_PMID


def _unit(vectors: NDArray[np.floating]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _word(number: int) -> str:
    """A word of syllables, the shorter the lower its number."""
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    word = ""
    number += len(syllables)
    while number:
        number, at = divmod(number, len(syllables))
        word += syllables[at]
    return word

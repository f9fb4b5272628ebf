"""`anamnesis bench mirror`: made-up records imported, and the ladder's queries asked of them."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evals.bench.figures import Figure, print_figures
from evals.datasets.literature import LiteratureDocument, read_bioasq, read_collection
from evals.mirror_runs import RUNGS, ladder_queries, timed_import, times_in_process, times_over_http
from prompts.errors import InputError
from tools.files import write_atomic
from tools.mirror.database import FILE
from tools.mirror.engine import Mirror
from tools.mirror.exporting import FOOT, HEAD
from tools.mirror.words import words

# Made-up PubMed records in any number: real words by Zipf's law, real lengths, headings as often as they are.
VOCABULARY = 1_000_000  # ours: different words; PubMed has more, most of them in one record
EXPONENT = 1.07  # ours: of Zipf's law; the collection's own words fall about as steeply
PER_RECORD = 8  # ours: headings drawn a record, some of them twice; indexed records have ten to fifteen
A_FILE = 30_000  # NLM: records of a file of the baseline
DRAWN = 2_000  # ours: records made at once; part of what the seed gives
FIRST_PMID = 50_000_000  # ours: above PubMed's own
YEARS = (1980, 2025)
NAMES = "Abel Baker Chen Diaz Evans Fischer Garcia Haas Ito Jones Kim Lopez Meyer Novak Okafor Patel".split()


class Synthetic:
    """Draws records like those of a collection; the same for the same seed.

    Args:
        documents: give words in the order of their frequency, lengths, and headings.
    """

    def __init__(self, documents: Sequence[LiteratureDocument], seed: int = 0) -> None:
        counted: Counter[str] = Counter()
        for d in documents:
            counted.update(words(d.title))
            counted.update(words(d.abstract))
        known = [word for word, _ in counted.most_common(VOCABULARY)]
        self._words = np.array([*known, *(f"xq{n:x}" for n in range(VOCABULARY - len(known)))], dtype=object)
        weight = np.arange(1, len(self._words) + 1, dtype=np.float64) ** -EXPONENT
        self._cumulative = np.cumsum(weight / weight.sum())
        self._lengths = np.array([(len(d.title.split()), len(d.abstract.split())) for d in documents], dtype=np.int64)
        headings = Counter(name for d in documents for name in d.mesh)
        self._headings = np.array(list(headings), dtype=object)
        self._shares = np.array(list(headings.values()), dtype=np.float64) / max(1, sum(headings.values()))
        self._chance = np.random.default_rng(seed)

    def files(self, folder: Path, count: int) -> Iterator[Path]:
        """Write ``count`` records as files with NLM's kind of name."""
        for number, first in enumerate(range(0, count, A_FILE), 1):
            path = folder / f"pubmed99n{number:04d}.xml"
            with path.open("wb") as file:
                file.write(HEAD)
                for start in range(first, min(first + A_FILE, count), DRAWN):
                    file.writelines(self._records(start, min(DRAWN, min(first + A_FILE, count) - start)))
                file.write(FOOT)
            yield path

    def _records(self, first: int, n: int) -> Iterator[bytes]:
        lengths = self._lengths[self._chance.integers(0, len(self._lengths), n)]
        text = iter(self._draw(int(lengths.sum())))
        years = self._chance.integers(*YEARS, n)
        months = self._chance.integers(1, 13, n)
        headings: Sequence[Sequence[str]] = [()] * n
        if len(self._headings):
            headings = self._chance.choice(self._headings, (n, PER_RECORD), p=self._shares).tolist()
        names = self._chance.integers(0, len(NAMES), (n, 3))
        for row in range(n):
            title, abstract = (" ".join(next(text) for _ in range(k)) for k in lengths[row].tolist())
            yield _xml(FIRST_PMID + first + row, title, abstract, years[row], months[row], headings[row], names[row])

    def _draw(self, count: int) -> npt.NDArray[np.object_]:
        at = np.searchsorted(self._cumulative, self._chance.random(count))
        drawn: npt.NDArray[np.object_] = self._words[np.minimum(at, len(self._words) - 1)]
        return drawn


def _xml(
    pmid: int, title: str, abstract: str, year: int, month: int, headings: Sequence[str], names: Sequence[int]
) -> bytes:
    """A record as text: words here hold no character that XML would escape, but headings may."""
    mesh = "".join(
        f'<MeshHeading><DescriptorName UI="" MajorTopicYN="N">{name.replace("&", "&amp;").replace("<", "&lt;")}'
        "</DescriptorName></MeshHeading>"
        for name in dict.fromkeys(headings)
    )
    authors = "".join(
        f'<Author ValidYN="Y"><LastName>{NAMES[n]}</LastName><Initials>{NAMES[-n][0]}</Initials></Author>'
        for n in names
    )
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>'
        f'<Article PubModel="Print"><Journal><ISSN IssnType="Print">0000-0000</ISSN><JournalIssue CitedMedium="Print">'
        f"<PubDate><Year>{year}</Year><Month>{month:02d}</Month></PubDate></JournalIssue><Title>Made-up records</Title>"
        f"<ISOAbbreviation>Made Up</ISOAbbreviation></Journal><ArticleTitle>{title}</ArticleTitle>"
        f'<Abstract><AbstractText>{abstract}</AbstractText></Abstract><AuthorList CompleteYN="Y">{authors}</AuthorList>'
        f'<Language>eng</Language><PublicationTypeList><PublicationType UI="">Journal Article</PublicationType>'
        f"</PublicationTypeList></Article><MeshHeadingList>{mesh}</MeshHeadingList></MedlineCitation><PubmedData><History>"
        f'<PubMedPubDate PubStatus="entrez"><Year>{year}</Year><Month>{month:02d}</Month><Day>01</Day></PubMedPubDate>'
        f'</History><PublicationStatus>ppublish</PublicationStatus><ArticleIdList><ArticleId IdType="pubmed">{pmid}'
        "</ArticleId></ArticleIdList></PubmedData></PubmedArticle>\n"
    ).encode()


QUERIES = 100  # of each rung
BOUNDS = {"strict": 60, "abstraction": 60, "relaxed": 400}  # ms, p95 at a million records


def bench_mirror(records: int, data: Path, folder: Path | None, json_file: Path | None) -> None:
    """Import so many made-up records, ask them, print the figures and write them where asked.

    Args:
        data: the folder with the collection and the questions.
        folder: keeps the files and the mirror; None uses a temporary folder.
    """
    if folder is not None and (folder / "mirror" / FILE).exists():
        raise InputError(f"{folder} holds a mirror already.", "Give a new folder: the import is to be measured.")
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as temporary:
        figures = measure(records, data, folder or Path(temporary))
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def measure(records: int, data: Path, folder: Path) -> list[Figure]:
    """The figures for so many records."""
    from agent.settings import load_settings

    documents = read_collection(data)
    questions = [q.text for q in read_bioasq(data, frozenset(d.pmid for d in documents))]
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    written = []
    for path in Synthetic(documents).files(files, records):
        written.append(path)
        sys.stderr.write(f"\rmade {path.name}   ")
    del documents
    place = folder / "mirror"
    done = timed_import(place, written)
    for path in written:
        path.unlink()
    figures = [
        Figure(name="mirror.records", value=done.report.records, unit="records", n=1),
        Figure(name="mirror.import", value=done.rate, unit="records/s", n=records, asked="at least 2,000"),
        Figure(name="mirror.import_cpu", value=records / done.cpu_seconds, unit="records/s of one core", n=records),
        Figure(name="mirror.import_memory", value=done.memory_mb, unit="MB", n=1, asked="at most 4,096"),
    ]
    queries = ladder_queries(
        load_settings(model="", literature={"live": "off", "mirror": None}), place, questions, QUERIES
    )
    with contextlib.closing(Mirror.open(place)) as mirror:
        figures.append(Figure(name="mirror.size", value=mirror.manifest().bytes / 1e6, unit="MB", n=1))
        for rung in RUNGS:
            for way, times in (
                ("process", times_in_process(mirror, queries[rung])), ("http", times_over_http(mirror, queries[rung])),
            ):  # fmt: skip
                name, n = f"mirror.{way}.{rung}", len(times)
                bound = f"at most {BOUNDS[rung]}" if records >= 1_000_000 else ""
                figures.append(Figure(name=f"{name}.p50", value=float(np.percentile(times, 50)), unit="ms", n=n))
                p95 = float(np.percentile(times, 95))
                figures.append(Figure(name=f"{name}.p95", value=p95, unit="ms", n=n, asked=bound))
    return figures

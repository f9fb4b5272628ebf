"""PDF, page by page: hyphens and lines broken to fit are mended, running heads and page numbers left out."""

from __future__ import annotations

import io
import logging
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prompts.errors import DataError
from tools.readers.contract import Problem, Record
from tools.readers.files import LARGEST_PDF, LARGEST_TEXT, problem, read_bytes
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, normalise, one_line, own_document
from tools.readers.plain import title_of, unwrap

# What a damaged file makes pypdf raise beside its own errors: it walks whatever objects it finds.
FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)
REPEATED = 3  # ours: pages on which a first or last line must stand to be a running head
SHARE = 0.5  # ours: and the share of the pages with text
NUMBER = re.compile(r"\d+")
PAGE_NUMBER = re.compile(r"\s*(?:page\s+)?[-–]?\s*\d{1,4}\s*[-–]?(?:\s*(?:of|/)\s*\d{1,4})?\s*", re.IGNORECASE)
NAMELESS = re.compile(r"about:.*|untitled.*|microsoft word\b.*|.*\.(?:docx?|pdf|tex|indd|qxd|rtf)", re.IGNORECASE)
DAMAGED = "Open it in a viewer and save it again as PDF, or add its text."
SCANNED = "It is probably scanned: run text recognition over it, for example with ocrmypdf, and add the result."


class PdfFileReader:
    """Reads PDFs that hold text and are not locked."""

    suffixes = (".pdf",)

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """One record, each page a section, and problems for the pages that gave none."""
        try:
            reader = _open(read_bytes(path, LARGEST_PDF))
            pages, problems = _pages(reader)
            yield _record(pages, reader, path.stem)
        except DataError as error:
            yield problem(error)
            return
        yield from problems


def _open(data: bytes) -> Any:
    """The file as pypdf has it, unlocked when its password is empty."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as error:
        raise DataError("Reading a PDF needs pypdf.", "Run: pip install 'anamnesis[documents]'") from error

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it warns of is told here as a problem, or is mended
    if b"%PDF-" not in data[:1024]:
        raise DataError("This is not a PDF.", "Give it the suffix of its format.")
    try:
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
        pages = 0 if locked else len(reader.pages)
    except DependencyError as error:
        raise DataError("The PDF is encrypted in a way that needs a package more.", "Install cryptography.") from error
    except (PyPdfError, *FAULTS) as error:
        raise DataError("The PDF is damaged or cut off.", DAMAGED) from error
    if locked:
        raise DataError("The PDF is locked with a password.", "Save it without a password, for example with qpdf.")
    if not pages:
        raise DataError("The PDF has no page.", DAMAGED)
    return reader


def _pages(reader: Any) -> tuple[list[str], list[Problem]]:
    """The text of every page, "" where there is none, and the pages that gave none as problems."""
    from pypdf.errors import PyPdfError

    texts: list[str] = []
    empty: list[int] = []
    problems: list[Problem] = []
    unpacked = 0
    for number in range(1, len(reader.pages) + 1):
        try:
            contents = reader.pages[number - 1].get_contents()
            unpacked += len(contents.get_data()) if contents is not None else 0
            if unpacked > LARGEST_TEXT:
                raise DataError(f"The pages unpack to more than {LARGEST_TEXT // 1_000_000} MB.", "Split the PDF.")
            texts.append(normalise(reader.pages[number - 1].extract_text()))
        except (PyPdfError, *FAULTS):
            texts.append("")
            problems.append(Problem(where=f"page {number}", what="The page is damaged.", advice=DAMAGED))
            continue
        if not texts[-1].strip():
            empty.append(number)
    if not any(t.strip() for t in texts):
        if problems:
            raise DataError("No page of the PDF can be read.", DAMAGED)
        raise DataError("The PDF holds images but no text.", SCANNED)
    if empty:
        which = f"page{'s' if len(empty) > 1 else ''} {', '.join(map(str, empty))}"
        problems.append(Problem(where=which, what="There is no text there.", advice=SCANNED))
    return texts, problems


def _record(pages: list[str], reader: Any, name: str) -> Record:
    layout = Layout(headings=False)
    first: list[str] = []
    for number, page in enumerate(_without_running(pages), start=1):
        paragraphs = unwrap(page)
        first = first or paragraphs
        for paragraph in paragraphs:
            layout.paragraph((f"Page {number}",), paragraph)
    text, sections = layout.finish()
    if not text:
        raise DataError("The PDF holds page numbers and running heads, but no text.", SCANNED)
    said, date = _metadata(reader)
    title = said or title_of(first) or name
    return own_document(name, title, text, sections, date=date)


def _without_running(pages: list[str]) -> list[str]:
    """The pages without page numbers, and without the first or last line that most of them share, numbers aside."""
    split = [page.split("\n") for page in pages]
    kept = [[line for line in page if not PAGE_NUMBER.fullmatch(line)] for page in split]
    for at in (0, -1):
        edges = [_edge(page, at) for page in kept]
        counts = Counter(NUMBER.sub("#", page[e].strip()) for page, e in zip(kept, edges, strict=True) if e is not None)
        needed = max(REPEATED, SHARE * sum(e is not None for e in edges))
        for page, e in zip(kept, edges, strict=True):
            if e is not None and counts[NUMBER.sub("#", page[e].strip())] >= needed:
                del page[e]
    return ["\n".join(page) for page in kept]


def _edge(page: list[str], at: int) -> int | None:
    """The place of the first (0) or last (-1) line with anything in it."""
    places = [i for i, line in enumerate(page) if line.strip()]
    return places[at] if places else None


def _metadata(reader: Any) -> tuple[str, str]:
    """Title and date as the file's metadata say; "" for what they do not say or only seem to."""
    from pypdf.errors import PyPdfError

    try:
        said = reader.metadata
        title = one_line(str(said.title or "")) if said else ""
        date = iso_date(said.creation_date) if said else ""
    except (PyPdfError, *FAULTS):
        return "", ""
    return "" if NAMELESS.fullmatch(title) else title, date

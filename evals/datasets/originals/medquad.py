"""MedQuAD: a folder a source, an XML file a web page, with the page's subject and its questions and answers.

Format: the repository abachaa/MedQuAD (readme.txt, and files such as 5_NIDDK_QA/0000004.xml): Document with id, source
and url; Focus; FocusAnnotations with CUIs, semantic types and synonyms; QAPairs with pid, qid, qtype; Ben Abacha and
Demner-Fushman 2019. The answers of three sources were removed from the release for their copyright.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Placed, Problem, Row, placed
from evals.datasets.originals.members import Member, members
from evals.datasets.originals.xml_rows import below, children, said, xml_root
from evals.datasets.segmentation import PAGES


class Pair(BaseModel):
    """A question of a page; ``answer`` is "" where the release has none."""

    model_config = ConfigDict(frozen=True)

    qid: str = Field(min_length=1)
    type: str
    question: str = Field(min_length=1)
    answer: str


class MedquadPage(Row):
    """A web page; ``id`` is its folder and number, which alone is not unique. Some pages have no focus."""

    collection: str
    source: str
    url: str = Field(min_length=1)
    focus: str
    categories: tuple[str, ...] = ()
    cuis: tuple[str, ...] = ()
    semantic_types: tuple[str, ...] = ()
    semantic_group: str = ""
    synonyms: tuple[str, ...] = ()
    pairs: tuple[Pair, ...]


def read(path: Path) -> Found:
    """The pages of the release's folder, of one of its folders, or of a file."""
    for member in members(path, lambda name: name.lower().endswith(".xml")):
        if isinstance(member, Problem):
            yield member
        else:
            yield from _page(member, member.folder or path.resolve().name if path.is_dir() else path.parent.name)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """Pages of the same address as one, its distinct answers in order, as `segmentation` and `questions` read them."""
    pages: dict[str, dict[str, Any]] = {}
    for row in records:
        if isinstance(row, MedquadPage):
            page = pages.setdefault(
                row.url,
                {"url": row.url, "source_collection": row.collection, "focus": row.focus, "segments": [], "asked": 0},
            )
            _add(page, row.pairs, conversion)
    for page in pages.values():
        asked = page.pop("asked")
        if page["segments"]:
            yield PAGES, page | {"n_questions": asked, "n_answers": len(page["segments"])}
        else:
            conversion.leave_out("a page without any answer")


def _add(page: dict[str, Any], pairs: tuple[Pair, ...], conversion: Conversion) -> None:
    for pair in pairs:
        if not pair.answer:
            conversion.leave_out("a question whose answer is not in the release")
            continue
        page["asked"] += 1
        if any(segment["text"] == pair.answer for segment in page["segments"]):
            conversion.leave_out("an answer that its page has already")
            continue
        segment = {"qid": pair.qid, "question": pair.question, "question_type": pair.type, "text": pair.answer}
        page["segments"].append(segment)


def _page(member: Member, collection: str) -> Found:
    root = xml_root(member)
    if isinstance(root, Problem):
        yield root
        return
    if root.tag != "Document":
        yield Problem(member.name, root.sourceline, f"The root is {root.tag}, not Document.")
        return
    pairs = []
    for element in below(root, "QAPair"):
        pair = _pair(element, member.name)
        if isinstance(pair, Problem):
            yield pair
        else:
            pairs.append(pair)
    yield _placed(root, member, collection, pairs)


def _pair(element: Any, file: str) -> Pair | Problem:
    asked = children(element, "Question")
    question = said(element, "Question")
    if not asked or not question or not asked[0].get("qid"):
        return Problem(file, element.sourceline, "A pair without a question or without its qid.")
    qid, kind = str(asked[0].get("qid")), str(asked[0].get("qtype", ""))
    return Pair(qid=qid, type=kind, question=question, answer=said(element, "Answer"))


def _placed(root: Any, member: Member, collection: str, pairs: list[Pair]) -> Placed | Problem:
    def texts(name: str) -> list[str]:
        return [t for t in ("".join(e.itertext()).strip() for e in below(root, name)) if t]

    values = {
        "id": f"{collection}/{root.get('id', '')}", "collection": collection, "source": root.get("source", ""),
        "url": root.get("url", ""), "focus": said(root, "Focus"), "categories": texts("Category"),
        "cuis": texts("CUI"), "semantic_types": texts("SemanticType"),
        "semantic_group": next(iter(texts("SemanticGroup")), ""), "synonyms": texts("Synonym"), "pairs": pairs,
    }  # fmt: skip
    return placed(MedquadPage, values, member.name, root.sourceline)


ORIGINAL = Original("medquad", "the folder of the release, with a folder a source", read, convert)

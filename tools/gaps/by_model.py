"""The steps of KGCC by a language model (MedRGAG), and background.

Summaries are asked for all at once, one call a document. Background is written on all points by one call, or, as
published, by one a point. The model sees numbers, never ids. What fails is done by the local twin, document by document
and point by point. All documents in one call: `tools.gaps.reading`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import chain

from prompts.language_model import LanguageModel
from prompts.metering import or_local
from prompts.research import BackgroundPointsReply, BackgroundReply, CoveredReply, GapsReply, SummaryReply
from prompts.shown import one_line
from prompts.templates import load_prompt
from tools.contract import Gap
from tools.evidence import Evidence, Found, Origin, content_key
from tools.gaps.contract import Inquiry, Summary
from tools.gaps.local import ExplorerLocal, GeneratorLocal, SummariserLocal, excerpt
from tools.passages.contract import evidence_text
from tools.text.references import references_in
from tools.text.sentences import sentences

QUESTION = 4000  # ours: characters of the question that a model is shown; a case of a page
DOCUMENT = 4000  # ours: characters of a document that is summarised; a long abstract or passage whole
SUMMARY = 700  # ours: characters of a summary that are kept; the eighty words asked for, and some more
POINT = 160  # ours: characters of a knowledge point; the fifteen words asked for, and some more
BACKGROUND = {"en": 1200, "zh": 400}  # paper: 256 tokens, at about 4.7 letters a token in English and 1.6 in Chinese
LANGUAGES = {"en": "English", "zh": "Chinese"}
USELESS = re.compile(
    r"^\W*(?:nothing (?:\w+ )?(?:useful|relevant)|not (?:useful|relevant)|no (?:useful|relevant|helpful) information)\b"
    r"|^\W*(?:没有|无|未见)(?:有用|相关)(?:的)?(?:信息|内容)",
    re.IGNORECASE,
)


class SummariserByModel:
    """Summaries by a language model, one call a document, all at once.

    Args:
        model: in the role ``summary``; the documents that it fails at are summarised locally.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model, self._local = model, SummariserLocal()

    async def summarise(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> list[Summary]:
        """One summary a document, in order."""
        return list(await asyncio.gather(*(self._one(inquiry, document) for document in documents)))

    async def _one(self, inquiry: Inquiry, document: Evidence) -> Summary:
        return await or_local(
            self._model.role, lambda: self._by_model(inquiry, document), lambda: self._locally(inquiry, document)
        )

    async def _by_model(self, inquiry: Inquiry, document: Evidence) -> Summary:
        reply, _ = await self._model.structured(
            "summary",
            SummaryReply,
            question=one_line(inquiry.asked, QUESTION),
            document=one_line(evidence_text(document), DOCUMENT),
        )
        said = one_line(reply.summary, SUMMARY)
        if not reply.useful or USELESS.match(said):
            return Summary(evidence_id=document.id, title=document.title)
        text = said or one_line(excerpt(inquiry, document), SUMMARY)
        return Summary(evidence_id=document.id, title=document.title, text=text)

    async def _locally(self, inquiry: Inquiry, document: Evidence) -> Summary:
        return (await self._local.summarise(inquiry, [document]))[0]


class ExplorerByModel:
    """What is missing, by a language model, out of the summaries.

    Args:
        model: in the role ``gaps``; where it fails, or says nothing at all, the rules explore.
        points: gaps that it may name.
    """

    def __init__(self, model: LanguageModel, points: int = 3) -> None:
        self._model, self._local, self._points = model, ExplorerLocal(), points

    async def explore(self, inquiry: Inquiry, summaries: Sequence[Summary]) -> list[Gap]:
        """What is missing, then what is covered by which of the useful documents."""
        return await or_local(
            self._model.role,
            lambda: self._by_model(inquiry, summaries),
            lambda: self._local.explore(inquiry, summaries),
        )

    async def _by_model(self, inquiry: Inquiry, summaries: Sequence[Summary]) -> list[Gap]:
        reply, _ = await self._model.structured(
            "gaps",
            GapsReply,
            points=str(self._points),
            question=one_line(inquiry.asked, QUESTION),
            wanted=_listed(inquiry.requirements if inquiry.named else ()),
            diseases=_listed(inquiry.diseases),
            summaries="\n".join(_line(n, s) for n, s in enumerate(summaries, start=1)) or "none",
        )
        if not reply.missing and not reply.covered:  # it says neither that something is missing nor that nothing is
            return await self._local.explore(inquiry, summaries)
        useful = {n: s.evidence_id for n, s in enumerate(summaries, start=1) if s.useful}
        covered = [_covered(need, useful) for need in reply.covered]
        named = [Gap(requirement=p, query=p) for p in _phrases(reply.missing)]
        found = _once([*named, *covered])
        missing = [gap for gap in found if not gap.covered_by][: self._points]
        return [*missing, *(gap for gap in found if gap.covered_by)]


class GeneratorByModel:
    """Background by a language model. It is marked and cannot be cited; its sentences that name a publication go.

    Args:
        model: in the role ``background``; for a point that it fails at nothing is given.
        together: one call for all points; else one a point, all at once (published). The point "", the question alone,
            is always a call of its own.
    """

    def __init__(self, model: LanguageModel, *, together: bool = True) -> None:
        self._model, self._local, self._together = model, GeneratorLocal(), together

    async def write(self, inquiry: Inquiry, points: Sequence[str]) -> list[Evidence]:
        """At most one document a point, without those that the model knows nothing of."""
        named = [point for point in points if point]
        parts = [named] if self._together and len(named) > 1 else [[point] for point in named]
        parts += [[point] for point in points if not point]
        written = await asyncio.gather(*(self._part(inquiry, part) for part in parts))
        return list(chain.from_iterable(written))

    async def _part(self, inquiry: Inquiry, points: list[str]) -> list[Evidence]:
        by_model = self._on_one if len(points) == 1 else self._on_all
        return await or_local(
            self._model.role, lambda: by_model(inquiry, points), lambda: self._local.write(inquiry, points)
        )

    async def _on_one(self, inquiry: Inquiry, points: list[str]) -> list[Evidence]:
        (point,) = points
        template = "background" if point else "background_question"
        reply, _ = await self._model.structured(
            template,
            BackgroundReply,
            language=LANGUAGES[_tongue(inquiry)],
            question=one_line(inquiry.asked, QUESTION),
            point=one_line(point, POINT),
        )
        return self._documents(inquiry, [(point, reply.text)], template)

    async def _on_all(self, inquiry: Inquiry, points: list[str]) -> list[Evidence]:
        template = "background_points"
        reply, _ = await self._model.structured(
            template,
            BackgroundPointsReply,
            language=LANGUAGES[_tongue(inquiry)],
            question=one_line(inquiry.asked, QUESTION),
            points="\n".join(f"{n}. {one_line(point, POINT)}" for n, point in enumerate(points, start=1)),
        )
        said = {p.number: p.text for p in reversed(reply.points) if 1 <= p.number <= len(points)}
        return self._documents(inquiry, [(points[n - 1], said[n]) for n in sorted(said)], template)

    def _documents(self, inquiry: Inquiry, written: Sequence[tuple[str, str]], template: str) -> list[Evidence]:
        tongue = _tongue(inquiry)
        texts = [(point, _clipped(_without_references(text), BACKGROUND[tongue])) for point, text in written]
        return [_document(text, point, tongue, self._model.name, template) for point, text in texts if text]


def _tongue(inquiry: Inquiry) -> str:
    return "zh" if inquiry.language == "zh" else "en"


def _without_references(text: str) -> str:
    """The text without the sentences that name a publication, which a model cannot look up."""
    for span in reversed(sentences(text)):
        if references_in(span.of(text)):
            text = f"{text[: span.start]}{text[span.end :].lstrip()}"
    return text.strip()


def _document(text: str, point: str, language: str, model: str, template: str) -> Evidence:
    """Generated evidence. Its level says who wrote it by which prompt; nothing in it speaks of a source."""
    prompt = load_prompt(template)
    return Evidence(
        id=f"generated:{content_key(text)[:16]}",
        text=text,
        title=point,
        kind="background",
        origin=Origin.GENERATED,
        level=f"generated by {model}, prompt {prompt.id} {prompt.hash}",
        language=language,
        found=(Found(tool="fill_knowledge_gaps", stream="generated", query=point),),
    )


def _clipped(text: str, most: int) -> str:
    """The leading whole sentences within ``most`` characters, at least the beginning of the first."""
    text = text.strip()
    ends = [s.end for s in sentences(text) if s.end <= most]
    return text[: ends[-1]] if ends else text[:most].rstrip()


def _phrases(points: Sequence[str]) -> list[str]:
    return [p for p in (one_line(point, POINT) for point in points) if p]


def _covered(reply: CoveredReply, useful: dict[int, str]) -> Gap:
    need = one_line(reply.need, POINT)
    ids = dict.fromkeys(useful[n] for n in reply.documents if n in useful)
    return Gap(requirement=need, query=need, covered_by=tuple(ids))


def _once(gaps: Sequence[Gap]) -> list[Gap]:
    """The gaps with words, none twice but for case; the first of each stands."""
    kept: dict[str, Gap] = {}
    for gap in gaps:
        if gap.requirement:
            kept.setdefault(gap.requirement.casefold(), gap)
    return list(kept.values())


def _listed(items: Sequence[str]) -> str:
    return "; ".join(one_line(item, POINT) for item in items) or "not said"


def _line(number: int, summary: Summary) -> str:
    return f"{number}. {one_line(summary.title, POINT)}: {summary.text or 'nothing useful'}"

"""KADS by a language model (MedRGAG): one call maps the documents to the requirements and keeps a few.

The model sees numbers, never ids; what it invents, repeats or leaves out is set right here. An order drawn by the
question is ours, and off in the published configuration. The default selects and filters in one call:
`graphs.kads.choosing`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from graphs.kads.contract import Dropped, Kept, Selection, SelectionContext, Selector, usable_and_dropped
from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from prompts.selection import KeptReply, SelectionReply
from prompts.shown import one_line
from tools.contract import unique
from tools.evidence import Evidence, Frozen, Origin

QUESTION = 4000  # ours: characters of the question that the model is shown; a case of a page
REASON = 300  # ours: characters of a reason that are kept


class ModelSelectorSettings(Frozen):
    """Settings of the selector by a model. The defaults are ours; `PUBLISHED` is MedRGAG's.

    Attributes:
        shown: most documents that one call shows; further ones are dropped, by the order in which they were found.
        characters: of a document that are shown.
        shuffle: show the documents in an order drawn by the question, against the favour of the first places.
        neutral: the prompt says nothing for retrieved text and against generated text.
    """

    shown: int = 40
    characters: int = 1000
    shuffle: bool = True
    neutral: bool = False


PUBLISHED = ModelSelectorSettings(shuffle=False, neutral=True)


class Chosen(NamedTuple):
    """A document that a reply keeps, the requirements that it covers, why, and the reply's own words on it."""

    document: Evidence
    covers: tuple[str, ...]
    reason: str
    reply: KeptReply


class SelectorByModel:
    """Selects by a language model.

    Args:
        model: in the role ``selection``.
        local: selects when the model fails or keeps nothing.
    """

    def __init__(self, model: LanguageModel, local: Selector, settings: ModelSelectorSettings | None = None) -> None:
        self._model, self._local = model, local
        self._settings = settings or ModelSelectorSettings()

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """At most ``limit`` candidates; every candidate is kept or dropped, once, with a reason in words."""
        del context
        wanted = unique([r for r in requirements if r.strip()]) or [question]
        documents, unusable = usable_and_dropped(candidates)
        if not documents:
            return selection_of(wanted, [], unusable)
        return await or_local(
            self._model.role,
            lambda: self._by_model(question, wanted, documents, unusable, limit),
            lambda: self._local.select(question, requirements, candidates, limit),
        )

    async def _by_model(
        self, question: str, wanted: list[str], documents: list[Evidence], unusable: list[Dropped], limit: int
    ) -> Selection:
        shown = documents[: self._settings.shown]
        if self._settings.shuffle:
            shown = drawn(shown, question)
        reply, _ = await self._model.structured(
            "selection_neutral" if self._settings.neutral else "selection",
            SelectionReply,
            limit=str(limit),
            question=one_line(question, QUESTION),
            requirements=listed(wanted),
            documents="\n".join(_numbered(n, d, self._settings.characters) for n, d in enumerate(shown, start=1)),
        )
        chosen = chosen_of(reply.keep, shown, wanted)
        if not chosen:
            raise InvalidReplyError("The language model kept no document.", "Try again, or set another model.")
        return selection_of(wanted, chosen[:limit], [*unusable, *reasons(documents, shown, chosen, limit)])


def drawn(documents: Sequence[Evidence], question: str) -> list[Evidence]:
    """The documents in an order drawn by the question, however they came."""
    out = sorted(documents, key=lambda d: d.id)
    random.Random(question).shuffle(out)  # noqa: S311  an order, no secret
    return out


def listed(wanted: Sequence[str]) -> str:
    """What is needed, by number, one a line."""
    return "\n".join(f"{n}. {one_line(r, QUESTION)}" for n, r in enumerate(wanted, start=1))


def chosen_of(keep: Sequence[KeptReply], shown: Sequence[Evidence], wanted: Sequence[str]) -> list[Chosen]:
    """The documents that a reply keeps, in its order: unknown numbers and repeats are dropped."""
    out: dict[int, Chosen] = {}
    for item in keep:
        if 1 <= item.number <= len(shown) and item.number not in out:
            covers = tuple(unique([wanted[c - 1] for c in item.covers if 1 <= c <= len(wanted)]))
            reason = one_line(item.reason, REASON) or "kept by the model, which gave no reason"
            out[item.number] = Chosen(shown[item.number - 1], covers, reason, item)
    return list(out.values())


def _numbered(number: int, document: Evidence, characters: int) -> str:
    """A document on one line: its number and origin, its title and section, its text."""
    origin = "generated" if document.origin is Origin.GENERATED else "retrieved"
    named = one_line(". ".join(p for p in (document.title, document.section or "") if p), characters)
    return f"[{number}] {origin} | {named} | {one_line(document.text, characters)}"


def reasons(
    documents: Sequence[Evidence], shown: Sequence[Evidence], chosen: Sequence[Chosen], limit: int
) -> list[Dropped]:
    """Why each document that is not kept was left out."""
    seen = {d.id for d in shown}
    kept, beyond = ({c.document.id for c in part} for part in (chosen[:limit], chosen[limit:]))

    def why(document: Evidence) -> str:
        if document.id not in seen:
            return f"beyond the {len(shown)} documents that the model is shown"
        return f"beyond the {limit} documents that are kept" if document.id in beyond else "left out by the model"

    return [Dropped(evidence_id=d.id, reason=why(d)) for d in documents if d.id not in kept]


def selection_of(wanted: Sequence[str], chosen: Sequence[Chosen], dropped: Sequence[Dropped]) -> Selection:
    """The selection of what was chosen."""
    generated = sum(c.document.origin is Origin.GENERATED for c in chosen)
    return Selection(
        requirements=tuple(wanted),
        kept=tuple(Kept(evidence_id=c.document.id, covers=c.covers, reason=c.reason) for c in chosen),
        dropped=tuple(dropped),
        generated_share=generated / len(chosen) if chosen else 0.0,
    )

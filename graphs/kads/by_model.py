"""KADS by a language model (MedRGAG): one call maps the documents to the requirements and keeps a few.

The model sees numbers, never ids; what it invents, repeats or leaves out is set right here. Order shuffling and the
echo-chamber guard (`graphs.kads.echo`) are ours, and off in the published configuration.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from graphs.kads.contract import Dropped, Kept, Selection, Selector
from graphs.kads.echo import MOST_GENERATED, Chosen, may_echo, without_echo
from graphs.kads.unusable import usable_and_dropped
from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from prompts.selection import SelectionReply
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
        guard: the echo-chamber guard. most_generated: share of generated text that it lets stand.
    """

    shown: int = 40
    characters: int = 1000
    shuffle: bool = True
    guard: bool = True
    most_generated: float = MOST_GENERATED


PUBLISHED = ModelSelectorSettings(shuffle=False, guard=False)


class SelectorByModel:
    """Selects by a language model.

    Args:
        model: in the role ``selection``.
        local: selects when the model fails or keeps nothing, and maps left-out documents for the guard.
    """

    def __init__(self, model: LanguageModel, local: Selector, settings: ModelSelectorSettings | None = None) -> None:
        self._model, self._local = model, local
        self._settings = settings or ModelSelectorSettings()

    async def select(
        self, question: str, requirements: Sequence[str], candidates: Sequence[Evidence], limit: int
    ) -> Selection:
        """At most ``limit`` candidates; every candidate is kept or dropped, once, with a reason in words."""
        wanted = unique([r for r in requirements if r.strip()]) or [question]
        documents, unusable = usable_and_dropped(candidates)
        if not documents:
            return _selection(wanted, [], unusable)
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
            shown.sort(key=lambda d: d.id)
            random.Random(question).shuffle(shown)  # noqa: S311  an order, no secret
        reply, _ = await self._model.structured(
            "selection",
            SelectionReply,
            limit=str(limit),
            question=one_line(question, QUESTION),
            requirements="\n".join(f"{n}. {one_line(r, QUESTION)}" for n, r in enumerate(wanted, start=1)),
            documents="\n".join(_numbered(n, d, self._settings.characters) for n, d in enumerate(shown, start=1)),
        )
        chosen = chosen_of(reply, shown, wanted)
        if not chosen:
            raise InvalidReplyError("The language model kept no document.", "Try again, or set another model.")
        guarded = await self._guarded(question, wanted, documents, chosen[:limit], limit)
        reasons = _reasons(documents, shown, chosen, guarded, limit)
        return _selection(wanted, guarded, [*unusable, *reasons])

    async def _guarded(
        self, question: str, wanted: list[str], documents: list[Evidence], chosen: list[Chosen], limit: int
    ) -> list[Chosen]:
        """The selection after the echo-chamber guard; what was left out is mapped by the local twin."""
        if not self._settings.guard or not may_echo(chosen):
            return chosen
        kept = {c.document.id for c in chosen}
        left = {d.id: d for d in documents if d.origin is Origin.RETRIEVED and d.id not in kept}
        mapped = await self._local.select(question, wanted, list(left.values()), len(left)) if left else None
        spare = [Chosen(left[k.evidence_id], k.covers, k.reason) for k in mapped.kept] if mapped else []
        return without_echo(chosen, spare, limit, self._settings.most_generated)


def chosen_of(reply: SelectionReply, shown: Sequence[Evidence], wanted: Sequence[str]) -> list[Chosen]:
    """The documents that a reply keeps, in its order: unknown numbers and repeats are dropped."""
    out: dict[int, Chosen] = {}
    for item in reply.keep:
        if 1 <= item.number <= len(shown) and item.number not in out:
            covers = tuple(unique([wanted[c - 1] for c in item.covers if 1 <= c <= len(wanted)]))
            reason = one_line(item.reason, REASON) or "kept by the model, which gave no reason"
            out[item.number] = Chosen(shown[item.number - 1], covers, reason)
    return list(out.values())


def _numbered(number: int, document: Evidence, characters: int) -> str:
    """A document on one line: its number and origin, its title and section, its text."""
    origin = "generated" if document.origin is Origin.GENERATED else "retrieved"
    named = one_line(". ".join(p for p in (document.title, document.section or "") if p), characters)
    return f"[{number}] {origin} | {named} | {one_line(document.text, characters)}"


def _reasons(
    documents: Sequence[Evidence],
    shown: Sequence[Evidence],
    chosen: Sequence[Chosen],
    kept: Sequence[Chosen],
    limit: int,
) -> list[Dropped]:
    """Why each document that is not kept was left out."""
    seen = {d.id for d in shown}
    within, beyond = ({c.document.id for c in part} for part in (chosen[:limit], chosen[limit:]))
    held = {c.document.id for c in kept}

    def why(document: Evidence) -> str:
        if document.id not in seen:
            return f"beyond the {len(shown)} documents that the model is shown"
        if document.id in within:
            return "generated text that gave way to retrieved text"
        return f"beyond the {limit} documents that are kept" if document.id in beyond else "left out by the model"

    return [Dropped(evidence_id=d.id, reason=why(d)) for d in documents if d.id not in held]


def _selection(wanted: Sequence[str], chosen: Sequence[Chosen], dropped: Sequence[Dropped]) -> Selection:
    generated = sum(c.generated for c in chosen)
    return Selection(
        requirements=tuple(wanted),
        kept=tuple(Kept(evidence_id=c.document.id, covers=c.covers, reason=c.reason) for c in chosen),
        dropped=tuple(dropped),
        generated_share=generated / len(chosen) if chosen else 0.0,
    )

"""A model's statements after they were checked: those that fail are put right by one further call, or left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphs.answering.contract import AnswerView
from graphs.answering.prose import Fault, ProseReader, Stated
from graphs.answering.sources import Sources, question_of
from prompts.answer import MendReply, StatementReply
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.metering import Usage
from prompts.shown import one_line

SHOWN = 700  # ours: characters of a failing statement that the model is shown again
LEAST_REST = 1.0  # seconds of the deadline that a further call needs; ours: in less no model writes


class Written(NamedTuple):
    """What became of each statement, in order: None where it was left out; and why, for the trace."""

    stated: tuple[Stated | None, ...]
    dropped: tuple[str, ...] = ()

    @property
    def standing(self) -> list[Stated]:
        """The statements that stand."""
        return [s for s in self.stated if s is not None]


class ProseWriter:
    """Makes statements of what a model wrote.

    Args:
        model: is asked once to put right what fails. reader: holds statements to the sources.
    """

    def __init__(self, model: LanguageModel, reader: ProseReader) -> None:
        self._model, self._reader = model, reader

    async def written(
        self, said: Sequence[StatementReply], view: AnswerView, sources: Sources, spent: Usage
    ) -> Written:
        """Every statement checked, and those that failed once more after they were put right.

        ``spent`` is what the call that brought them took: the further call has the rest of the deadline.
        """
        stated, faults = await asyncio.to_thread(self._read, dict(enumerate(said)), sources)
        if faults:
            better = await self._mended(said, faults, view, sources, self._model.timeout - spent.seconds)
            mended, still = await asyncio.to_thread(self._read, better, sources)
            stated |= mended
            faults = {n: still.get(n, fault) for n, fault in faults.items() if n not in mended}
        dropped = tuple(f"{one_line(said[n].text, SHOWN)} ({fault})" for n, fault in faults.items())
        return Written(tuple(stated.get(n) for n in range(len(said))), dropped)

    def _read(self, said: Mapping[int, StatementReply], sources: Sources) -> tuple[dict[int, Stated], dict[int, Fault]]:
        stated: dict[int, Stated] = {}
        faults: dict[int, Fault] = {}
        for number, statement in said.items():
            try:
                stated[number] = self._reader.read(statement, sources)
            except Fault as fault:
                faults[number] = fault
        return stated, faults

    async def _mended(
        self,
        said: Sequence[StatementReply],
        faults: Mapping[int, Fault],
        view: AnswerView,
        sources: Sources,
        rest: float,
    ) -> dict[int, StatementReply]:
        """The failing statements as the model writes them when it is told why; none when it cannot be asked."""
        if rest < LEAST_REST:
            return {}
        lines = [
            f"{n + 1}. {one_line(said[n].text, SHOWN)} | wrong: {one_line(str(fault), SHOWN)}"
            for n, fault in faults.items()
        ]
        try:
            reply, _ = await self._model.within(rest).structured(
                "answer_mend",
                MendReply,
                rule=sources.rule,
                question=question_of(view),
                statements="\n".join(lines),
                documents=sources.shown,
            )
        except ServiceError:  # the trace has the failed call; what it was to mend is dropped with a notice
            return {}
        return {s.number - 1: s for s in reversed(reply.statements) if s.number - 1 in faults}

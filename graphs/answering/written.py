"""A model's statements after they were checked: those that fail are put right by one further call, or marked.

Asked about is what is wrong on its face: a figure, a medicine, a label or a publication that no source has. What our
check only does not recognise in its sources stands as it was written, marked, with the sentences that it named: asked
to write it again, a model writes less. Nor is it asked about what it says the documents lack: no sentence says that.
The same call asks about an option that what stands does not bear out: which sentences were read, and what as.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from graphs.answering.contract import AnswerView
from graphs.answering.notices import notice
from graphs.answering.prose import Claim, Fault, ProseReader, Stated, believed, unconfirmed
from graphs.answering.sources import Sources, question_of, told_by_asker
from graphs.judging.orders import instructing
from graphs.verification.absence import says_absent
from graphs.verification.quoted import best_citations
from graphs.verification.support import identical
from prompts.answer import MendReply, StatementReply
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.metering import Usage
from prompts.shown import one_line
from tools.contract import Notice
from tools.evidence import Citation, Statement

SHOWN = 700  # ours: characters of a failing statement that the model is shown again
BEYOND = "beyond the statements that are taken of a reply"
LEAST_REST = 1.0  # seconds of the deadline that a further call needs; ours: in less no model writes


class Doubt(NamedTuple):
    """Why an option does not stand on what is cited, for the model, and the sentences that show it; "" for no doubt."""

    why: str = ""
    shown: tuple[Citation, ...] = ()


class Written(NamedTuple):
    """What became of each statement, in order: None where it does not stand; why, for the trace; and the option.

    ``own``: those that do not stand and are shown all the same, as the model wrote them, by their place; none where it
    was shown a text that speaks to machines.
    """

    stated: tuple[Stated | None, ...]
    faults: Mapping[int, Fault]
    own: Mapping[int, Statement] = MappingProxyType({})
    dropped: tuple[str, ...] = ()
    option: str = ""

    @property
    def shown(self) -> list[Statement | None]:
        """Each statement as the reader gets it, in order."""
        return [self.own.get(n) if s is None else s.statement for n, s in enumerate(self.stated)]

    def notices(self, language: str) -> list[Notice]:
        """How many are not confirmed by what they cite, and how many are not shown."""
        cited = sum(self.faults[n].code != "uncited" for n in self.own)
        counts = {"not_confirmed": cited, "statement_dropped": len(self.dropped) - len(self.own)}
        return [notice(code, language, str(count)) for code, count in counts.items() if count]

    def beside(self, more: Sequence[StatementReply]) -> Written:
        """The same, with what a reply has beyond the statements that are taken of it among what is not shown."""
        return self._replace(dropped=(*self.dropped, *(f"{one_line(s.text, SHOWN)} ({BEYOND})" for s in more)))

    @property
    def standing(self) -> list[Stated]:
        """The statements that stand."""
        return [s for s in self.stated if s is not None]


Doubting = Callable[[str, Sequence[Stated]], Doubt]
"""Whether an option stands on statements."""


def no_doubt(_option: str, _standing: Sequence[Stated]) -> Doubt:
    """Nothing is chosen."""
    return Doubt()


class ProseWriter:
    """Makes statements of what a model wrote, of what fails again as it wrote that last.

    Args:
        model: is asked once to put right what fails. reader: holds statements to the sources.
    """

    def __init__(self, model: LanguageModel, reader: ProseReader) -> None:
        self._model, self._reader = model, reader

    async def written(
        self,
        claims: Sequence[Claim],
        view: AnswerView,
        sources: Sources,
        spent: Usage,
        option: str = "",
        doubting: Doubting = no_doubt,
    ) -> Written:
        """Every statement checked, and those that failed once more after they were put right.

        ``spent`` is what the call that brought them took: the further call has the rest of the deadline.
        """
        stated, faults = await asyncio.to_thread(self._read, dict(enumerate(claims)), sources, view)
        doubt = await asyncio.to_thread(doubting, option, [stated[n] for n in sorted(stated)])
        asked = {
            n: fault
            for n, fault in faults.items()
            if not (_remarks(claims[n], fault) or believed(claims[n], fault, question_of(view)))
        }
        if asked or doubt.why:
            rest = self._model.timeout - spent.seconds
            standing = {n: stated[n] for n in sorted(stated)} if doubt.why else {}
            better = await self._mended(claims, asked, view, sources, doubt, standing, rest)
            option = better.option or option
            again = {
                s.number - 1: claims[s.number - 1]._replace(reply=s)
                for s in reversed(better.statements)
                if s.number - 1 in asked
            }
            more = [Claim(s) for s in better.statements if s.number > len(claims)] if doubt.why else []
            again |= dict(enumerate(more, start=len(claims)))
            mended, still = await asyncio.to_thread(self._read, again, sources, view)
            stated |= mended
            faults = {n: still.get(n, fault) for n, fault in faults.items() if n not in mended}
            claims = [again[n] if n in still else claim for n, claim in enumerate(claims)]
        dropped = tuple(f"{one_line(claims[n].reply.text, SHOWN)} ({fault})" for n, fault in faults.items())
        places = range(max([len(claims) - 1, *stated]) + 1)
        led = instructing(sources.documents)  # what repeats such a text is not shown, not even as unconfirmed
        texts = {} if led else {n: unconfirmed(claims[n], fault, sources) for n, fault in faults.items()}
        own = {n: statement for n, statement in texts.items() if statement is not None}
        return Written(tuple(stated.get(n) for n in places), faults, own, dropped, option)

    def _read(
        self, claims: Mapping[int, Claim], sources: Sources, view: AnswerView
    ) -> tuple[dict[int, Stated], dict[int, Fault]]:
        asked = told_by_asker(view)
        stated: dict[int, Stated] = {}
        faults: dict[int, Fault] = {}
        for number, claim in claims.items():
            try:
                stated[number] = self._reader.read(claim, sources, asked)
            except Fault as fault:
                faults[number] = fault
        return stated, faults

    async def _mended(
        self,
        claims: Sequence[Claim],
        faults: Mapping[int, Fault],
        view: AnswerView,
        sources: Sources,
        doubt: Doubt,
        standing: Mapping[int, Stated],
        rest: float,
    ) -> MendReply:
        """The failing statements as the model writes them when it is told why; none when it cannot be asked.

        It is shown these with the sentences that they cite, the nearest ones, and the neighbours of both; of an option
        that is doubted the statements that stand too, with their sentences, and those that show the doubt, without
        neighbours.
        """
        nothing = MendReply(statements=[])
        if rest < LEAST_REST:
            return nothing
        told = {n: f"wrong: {one_line(str(f), SHOWN)}" for n, f in faults.items()} | dict.fromkeys(standing, "stands")
        same = {n for n, s in standing.items() if identical(s.statement.text, [c.quote for c in s.statement.citations])}
        lines = [f"{n + 1}. {_line(claims[n].reply, same=n in same)} | {told[n]}" for n in sorted(told)]
        near = [c for n in faults for c in best_citations(claims[n].reply.text, sources.documents)]
        labels = [c for n in faults for c in claims[n].reply.cites] + [sources.label(c) for c in near]
        cited = [c for s in standing.values() for c in s.statement.citations]
        shown = sources.around(labels, map(sources.label, (*doubt.shown, *cited)))
        asked = f"\nOption: {doubt.why}\nA new statement has number {len(claims) + 1}.\n" if doubt.why else ""
        try:
            reply, _ = await self._model.within(rest).structured(
                "answer_mend",
                MendReply,
                rule=shown.rule,
                question=question_of(view),
                statements="\n".join(lines) or "(none)",
                option=asked,
                documents=shown.shown,
            )
        except ServiceError:  # the trace has the failed call; what it was to mend is dropped with a notice
            return nothing
        return reply


def _remarks(claim: Claim, fault: Fault) -> bool:
    """Whether a statement says what the documents lack, for which no sentence could be cited."""
    return fault.code == "uncited" and says_absent(claim.reply.text)


def _line(said: StatementReply, *, same: bool = False) -> str:
    """A statement with its labels; ``same``: word for word its sentences, which are shown."""
    text = "(word for word)" if same else one_line(said.text, SHOWN)
    return f"{text} {''.join(f'[{label}]' for label in said.cites)}".strip()

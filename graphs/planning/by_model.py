"""Planning by a language model: tool calls, several a round, over rounds until it is done or the bound is reached.

The model chooses; code holds the frame. It must call a tool in the first round, and a case is always looked up in the
graph. Arguments that cannot be used go back once with what to mend; what is still wrong then goes to the tool, whose
refusal the model reads in the next round. The gaps are filled once, last and alone, so that they are read with all that
was found: when the model calls for it, when it calls nothing more, or when its rounds are used up.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphs.planning.contract import PlannedCall, Planner, ResearchView
from graphs.planning.conversation import asked, earlier, to_mend
from graphs.planning.tool_calls import Read, offered, read, safe_name
from graphs.planning.written_calls import written_calls
from prompts.endpoint import Call
from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.metering import BudgetError, meter
from prompts.tool_arguments import MAX_QUERY
from tools.contract import Outcome, Tool

GAPS, DIFFERENTIAL = "fill_knowledge_gaps", "lookup_differential"
SEARCHING = frozenset({"search_literature", "retrieve_passages", "find_answered_question"})
CASES = ("case", "follow_up")
CLOSING = 3  # the round of the local plan that fills the gaps, or tries a search that failed once more
UNUSABLE = "The language model's tool calls cannot be used."
NO_SEARCH = "The language model searched for nothing."
LAST = "the last call of the turn: see what is still missing to answer, and look for it"
ALWAYS = "a case is always looked up, whatever the model chose"


class PlannerByModel:
    """Plans by tool calls of a language model.

    Args:
        model: who chooses. local: who plans when it fails, and who closes research when it does not.
        tools: what it may call.
    """

    def __init__(self, model: LanguageModel, local: Planner, tools: Sequence[Tool]) -> None:
        self._model, self._local = model, local
        self._schemas = {tool.name: tool.arguments for tool in tools}
        self._offered = offered(tools)

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The calls of this round; see `Planner`. After a failure the rest of the turn is planned locally."""
        if _filled(view):
            return []
        if view.round > 1 and view.made and all(made.by == "local" for made in view.made):
            return await self._local.plan(view)
        closing = view.round > 1 and view.rounds_left <= 0
        try:
            calls = [] if closing else await self._by_model(view)
        except ServiceError as error:
            if isinstance(error, BudgetError) and view.made:
                raise
            return await self._instead(view, error.what)
        if not calls and not _searched(view):
            return await self._instead(view.model_copy(update={"round": 1}), NO_SEARCH)
        return _gaps_last(calls, view) if calls else await self._local.plan(view.model_copy(update={"round": CLOSING}))

    async def _instead(self, view: ResearchView, what: str) -> list[PlannedCall]:
        meter().fell_back("research", what)
        return await self._local.plan(view)

    async def _by_model(self, view: ResearchView) -> list[PlannedCall]:
        values, history = asked(view), earlier(view)
        first = not view.made
        calls, why = await self._chosen(history, values, required=first)
        most = view.calls_left + 1  # one beyond the bound, which then tells that it was reached
        results = read(calls[:most], why, self._schemas, view)
        planned = [r.planned for r in results if r.planned is not None]
        if _to_be_mended(results):
            again, more = await self._mended(
                results, [*history, *to_mend(results, len(view.made))], values, required=first
            )
            results = read(again[:most], more or why, self._schemas, view, planned)
            planned += [r.planned for r in results if r.planned is not None]
        if planned:
            return [*self._with_lookup(planned, view), *(_as_written(r) for r in results if r.wrong and not r.repeated)]
        if any(not r.repeated for r in results):
            raise ServiceError(UNUSABLE, "Set another model.")
        return []

    async def _chosen(
        self, history: Sequence[object], values: dict[str, str], *, required: bool
    ) -> tuple[tuple[Call, ...], str]:
        """The model's calls and its words beside them; calls that it wrote as text count."""
        calls, text = await self._model.choose("research", self._offered, history, values, required=required)
        as_text = () if calls else written_calls(text, self._schemas)
        return (as_text, "") if as_text else (calls, text)

    async def _mended(
        self, results: Sequence[Read], history: Sequence[object], values: dict[str, str], *, required: bool
    ) -> tuple[tuple[Call, ...], str]:
        """The second reply. When it fails, the faulty calls stay as they were beside those that can be made."""
        try:
            return await self._chosen(history, values, required=required)
        except ServiceError:
            if not any(r.planned for r in results):
                raise
            return tuple(r.call for r in results if not r.planned), ""

    def _with_lookup(self, calls: list[PlannedCall], view: ResearchView) -> list[PlannedCall]:
        """The calls, with a look-up of a case that was not looked up yet: the answer needs it."""
        known = [m.tool for m in view.made] + [c.tool for c in calls]
        if view.kind not in CASES or DIFFERENTIAL in known or DIFFERENTIAL not in self._schemas:
            return calls
        arguments = {"case": view.question[:MAX_QUERY]}
        return [PlannedCall(tool=DIFFERENTIAL, arguments=arguments, reason=ALWAYS), *calls]


def _gaps_last(calls: list[PlannedCall], view: ResearchView) -> list[PlannedCall]:
    """The calls, with the one that fills the gaps behind all others, which it waits for.

    Where they would leave no call for it, it takes the last place within the bound.
    """
    others, gaps = [c for c in calls if c.tool != GAPS], [c for c in calls if c.tool == GAPS][:1]
    room = view.calls_left - 1
    if not gaps and 0 < room < len(others):
        gaps = [PlannedCall(tool=GAPS, arguments={"question": view.question[:MAX_QUERY]}, reason=LAST)]
    waiting = [c.model_copy(update={"waits": bool(others)}) for c in gaps]
    return [*others[:room], *waiting, *others[room:]] if waiting and room > 0 else [*others, *waiting]


def _filled(view: ResearchView) -> bool:
    """Whether the gaps were filled: nothing is looked for after that."""
    return any(tool == GAPS and outcome is not Outcome.REFUSED for tool, outcome in view.outcomes)


def _searched(view: ResearchView) -> bool:
    return any(tool in SEARCHING and outcome is not Outcome.REFUSED for tool, outcome in view.outcomes)


def _to_be_mended(results: Sequence[Read]) -> bool:
    """Whether the model is asked again: a call is faulty, or nothing new is called. A repeat beside others is left."""
    faulty = any(r.wrong and not r.repeated for r in results)
    return faulty or (bool(results) and not any(r.planned for r in results))


def _as_written(result: Read) -> PlannedCall:
    """A call that is still faulty, for the tool to refuse: so it is traced, told, and read by the model."""
    call = result.call
    reason = f"as the model wrote it: {result.wrong}"
    return PlannedCall(tool=safe_name(call.name), arguments=call.arguments, reason=reason, by="model")

"""Planning by a language model: tool calls, several a round, over rounds until it is done or the bound is reached.

The model chooses; code holds the frame. It must call a tool in the first round, and a case is always looked up in the
graph. Arguments that cannot be used go back once with what to mend; what is still wrong then goes to the tool, whose
refusal the model reads in the next round. The gaps are filled once, last and alone, so that they are read with all that
was found: when the model calls for it, when it calls nothing more, or when its rounds are used up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from pydantic import BaseModel, ValidationError

from graphs.planning.contract import MadeCall, PlannedCall, Planner, ResearchView
from prompts.endpoint import Call
from prompts.errors import ServiceError
from prompts.forms import function_of
from prompts.language_model import LanguageModel
from prompts.metering import BudgetError, meter
from prompts.replies import faults
from prompts.templates import fence_of
from prompts.tool_arguments import MAX_QUERY
from tools.contract import Differential, Outcome, Tool

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


# What the planning model is shown: the question with what is known of it, and the calls of this turn with results.

LEADING = 5  # ours: diseases of the first look that are shown
RESULT = 6000  # ours: characters of a result that are shown, some 1,500 tokens
FAULTY = 1000  # ours: characters of faulty arguments that are shown again
AS_TOLD = "(as told)"  # stands for an argument that is the whole question
LEFT = "Left: rounds {rounds}, calls {calls}."
PENDING = "this call will be made; do not repeat it"
KINDS = {
    "case": "a patient's case",
    "follow_up": "a patient's case",
    "evidence": "a question of evidence",
    "multiple_choice": "a multiple-choice question",
}


def asked(view: ResearchView) -> dict[str, str]:
    """The values of the prompt ``research``. Once calls are made they stay the same, so that a server can keep what it
    has read of the conversation."""
    options = "".join(f"\n{letter}. {text}" for letter, text in view.options.items())
    rounds, calls = _bounds(view)
    return {
        "kind": KINDS.get(view.kind, view.kind),
        "rounds": str(rounds),
        "calls": str(calls),
        "question": view.question[:MAX_QUERY],
        "options": f"\n\nOptions:{options}" if options else "",
        "look": _look(view.differential) if view.kind in ("case", "follow_up") and not view.made else "",
    }


def _bounds(view: ResearchView) -> tuple[int, int]:
    """The model's rounds and calls in all: the last round of a turn only fills the gaps."""
    return max(view.round + view.rounds_left - 1, 1), view.calls_left + len(view.made)


def _look(differential: Differential | None) -> str:
    """The leading diseases of the knowledge graph's first look at the case."""
    if differential is None or not differential.ranking:
        return ""
    lines = [f"\n- {d.name} ({d.icd10}) {d.score:.2f}" for d in differential.ranking[:LEADING]]
    return "\n\nFirst look at the knowledge graph, diseases with their share of belief:" + "".join(lines)


def earlier(view: ResearchView) -> list[AnyMessage]:
    """The earlier rounds as messages: the calls, then what each brought, between fences, and how much was left."""
    messages: list[AnyMessage] = []
    numbered = list(enumerate(view.made, start=1))
    rounds, calls = _bounds(view)
    for number in sorted({m.round for m in view.made}):
        of_round = [(place, m) for place, m in numbered if m.round == number]
        messages.append(
            AIMessage(content="", tool_calls=[_tool_call(place, m.tool, _shortened(m)) for place, m in of_round])
        )
        last = of_round[-1][0]
        left = "\n" + LEFT.format(rounds=max(rounds - number, 1), calls=calls - last)
        messages += [
            ToolMessage(content=f"{_fenced(m.result)}{left if place == last else ''}", tool_call_id=_id(place))
            for place, m in of_round
        ]
    return messages


def to_mend(results: Sequence[Read], before: int) -> list[AnyMessage]:
    """The faulty reply as messages: its calls, and of each that it will be made or what is wrong.

    Args:
        before: calls that the conversation holds already; ids go on from there.
    """
    numbered = list(enumerate(results, start=before + 1))
    calls = [_tool_call(place, r.call.name, _kept(r.call.arguments)) for place, r in numbered]
    return [
        AIMessage(content="", tool_calls=calls),
        *(
            ToolMessage(content=PENDING if r.planned else f"Error: {r.wrong}. Mend this call.", tool_call_id=_id(place))
            for place, r in numbered
        ),
    ]


def _tool_call(place: int, tool: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(name=safe_name(tool), args=arguments, id=_id(place), type="tool_call")


def _id(place: int) -> str:
    """Nine letters and digits: every server takes that, and some take nothing else."""
    return f"call{place:05}"


def _fenced(result: str) -> str:
    fence = fence_of([result])
    return f"{fence}\n{result[:RESULT]}\n{fence}"


def _shortened(call: MadeCall) -> dict[str, Any]:
    whole = WHOLE.get(call.tool, "")
    return {name: AS_TOLD if name == whole else value for name, value in call.arguments.items()}


def _kept(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return dict(arguments) if len(json.dumps(arguments, default=str)) <= FAULTY else {}


# Tool calls that a model wrote as text, because its server does not read them out of what it says.

MARKS = re.compile(r"</?tool_calls?>|\[/?TOOL_CALLS?\]|```(?:json)?|[\s,\[\]]")  # what models put around written calls
GIVEN = ("arguments", "parameters")  # names under which models give the arguments


def written_calls(text: str, tools: Collection[str]) -> tuple[Call, ...]:
    """The calls of a text that holds nothing but calls; none of any other text, which may quote what was retrieved."""
    found: list[Call] = []
    rest: list[str] = []
    at = 0
    while at < len(text):
        start = text.find("{", at)
        if start < 0:
            break
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):  # no JSON, or nested beyond reason
            return ()
        call = _call(value, tools)
        if call is None:
            return ()
        found.append(call)
        rest.append(text[at:start])
        at = end
    rest.append(text[at:])
    return () if MARKS.sub("", "".join(rest)) else tuple(found)


def _call(value: Any, tools: Collection[str]) -> Call | None:
    if not isinstance(value, dict) or value.get("name") not in tools:
        return None
    arguments: dict[str, Any] = next((value[key] for key in GIVEN if isinstance(value.get(key), dict)), {})
    return Call("", value["name"], arguments)


# Tool calls as a model wrote them: what it is offered, and its arguments checked, set right or refused with a
# reason.
# What is said whole is never copied by the model: the case that is looked up, and the question whose gaps are
# filled, are the turn's own (ours: a copy costs tokens, and a slip in it would change the differential).

WHOLE = {"lookup_differential": "case", "fill_knowledge_gaps": "question"}  # arguments that are the turn's question
LIMIT = "limit"  # left to its default: a planner has better use for its words
REASON = 200  # ours: characters of a reason, a sentence
SHOWN = 80  # ours: characters of an argument in a reason
UNSAFE = re.compile(r"[^A-Za-z0-9_-]")  # what a function's name may not hold (code: the protocol)
REPEATED = "this call was made before, and its result stands above; make another one, or none"


class Read(NamedTuple):
    """A call and what came of it: planned, or what is wrong with it; ``repeated`` when it was made before."""

    call: Call
    planned: PlannedCall | None
    wrong: str = ""
    repeated: bool = False


def offered(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as functions of the protocol, without the arguments that are filled in for the model. One that writes
    how many results it wants is heeded."""
    return [function_of(t.name, t.description, t.arguments, (WHOLE.get(t.name, ""), LIMIT)) for t in tools]


def read(
    calls: Sequence[Call],
    why: str,
    schemas: Mapping[str, type[BaseModel]],
    view: ResearchView,
    planned: Sequence[PlannedCall] = (),
) -> list[Read]:
    """Each call as it can be made, or what is wrong with it.

    Args:
        why: the model's words beside its calls; "" leaves the reasons to the code.
        planned: calls of this round that will be made already.
    """
    seen = [_key(schemas, m) for m in view.made if m.outcome is not Outcome.REFUSED]
    seen += [_key(schemas, p) for p in planned]
    results: list[Read] = []
    for call in calls:
        result = _read_one(call, why, schemas, view)
        if result.planned is not None:
            key = _key(schemas, result.planned)
            if key in seen:
                result = Read(call, None, REPEATED, repeated=True)
            seen.append(key)
        results.append(result)
    return results


def _read_one(call: Call, why: str, schemas: Mapping[str, type[BaseModel]], view: ResearchView) -> Read:
    schema = schemas.get(call.name)
    if schema is None:
        return Read(call, None, f"there is no such tool; the tools are {', '.join(schemas)}")
    whole = {WHOLE[call.name]: view.question[:MAX_QUERY]} if call.name in WHOLE else {}
    if call.error and not whole:
        return Read(call, None, call.error)
    try:
        valid = schema.model_validate({**_softened(call.arguments, schema), **whole})
    except ValidationError as error:
        return Read(call, None, faults(error))
    arguments = valid.model_dump(mode="json", exclude_defaults=True)  # strict schemas want what may be left out too
    reason = " ".join(why.split())[:REASON] or _reason(arguments)
    return Read(call, PlannedCall(tool=call.name, arguments=arguments, reason=reason, by="model"))


def _softened(arguments: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    """Arguments set right where nothing is lost: null for what has a default, what goes beyond a bound, one text where
    a list is wanted."""
    softened: dict[str, Any] = {}
    for name, value in arguments.items():
        field = schema.model_fields.get(name)
        if field is None:
            softened[name] = value
        elif value is not None or field.is_required():
            listed = _as_list(value) if field.annotation == list[str] else value
            softened[name] = _within(listed, field.metadata)
    return softened


def _as_list(value: Any) -> Any:
    return [p.strip() for p in re.split(r"[,;\n]", value) if p.strip()] if isinstance(value, str) else value


def _within(value: Any, bounds: Sequence[Any]) -> Any:
    """A whole number, or a list's length, within the bounds of its field."""
    for bound in bounds:
        least, most, longest = (getattr(bound, name, None) for name in ("ge", "le", "max_length"))
        if isinstance(value, list):
            value = value[:longest]
        elif isinstance(value, int):
            value = value if least is None else max(value, least)
            value = value if most is None else min(value, most)
    return value


def _key(schemas: Mapping[str, type[BaseModel]], call: PlannedCall | MadeCall) -> tuple[str, str]:
    """What makes two calls the same: the tool and its arguments with their defaults, case and white space aside."""
    schema = schemas.get(call.tool)
    arguments = call.arguments
    if schema is not None:
        try:
            arguments = schema.model_validate(arguments).model_dump(mode="json")
        except ValidationError:
            arguments = call.arguments
    return call.tool, " ".join(repr(sorted(arguments.items())).lower().split())


def _reason(arguments: Mapping[str, Any]) -> str:
    """A reason made of the first text among the arguments."""
    about = next((v for v in arguments.values() if isinstance(v, str)), "")
    plain = " ".join(about.split())
    return f"chosen by the model: {plain[:SHOWN]}{' ...' if len(plain) > SHOWN else ''}"


def safe_name(name: str) -> str:
    """A tool's name as the protocol takes it: what a model invents may be anything."""
    return UNSAFE.sub("_", name)[:64] or "unknown"

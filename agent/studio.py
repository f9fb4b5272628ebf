"""The machine for LangGraph's own tools: `langgraph dev` opens it, draws it and runs turns of a conversation.

What a run lends to the nodes (`TurnContext`) cannot be typed into a form, so that a node makes it and runs the machine
inside: a turn is a plain message, a thread is a session. The server of LangGraph keeps the threads; texts and traces
lie under ``studio`` in the data folder, apart from the sessions of `anamnesis`, and go when that folder is deleted.
LangGraph's server refuses whatever blocks its loop, as short writes of texts and traces do: ``--allow-blocking``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict  # pydantic makes no schema of typing's before Python 3.12

from agent.messages import check_message
from agent.sessions import Home, new_session_id
from agent.settings import Settings, load_settings, untraced
from agent.trace import TraceRecorder
from graphs.answering.contract import Answer
from graphs.clinical import clinical_graph
from graphs.context import Parts, TurnContext
from graphs.state import new_turn
from prompts.errors import InputError
from prompts.metering import Meter, metered
from tools.store import ContentStore

FOLDER = "studio"


class StudioState(TypedDict, total=False):
    """A conversation as LangGraph's tools know one, and the last answer whole."""

    messages: Annotated[list[AnyMessage], add_messages]
    answer: dict[str, Any]


class StudioContext(BaseModel):
    """What may come with a message: options of a multiple-choice question by letter; whether a report is asked for.

    ``ask``: the next best question may be asked before a case is researched, as an interrupt that the reply resumes.
    """

    options: dict[str, str] = Field(default_factory=dict)
    report: bool = False
    ask: bool = False


Conversation = CompiledStateGraph[StudioState, StudioContext, StudioState, StudioState]


async def graph() -> Conversation:
    """The graph that ``langgraph.json`` names, over the environment's settings. Raises as `Agent` does."""
    return await asyncio.to_thread(_opened)


@lru_cache(maxsize=1)
def _opened() -> Conversation:
    from agent.assembly import assemble

    settings = load_settings()
    home = Home(settings.home).prepare()
    return conversation_graph(assemble(settings, home), settings, Home(home.root / FOLDER).prepare())


def conversation_graph(parts: Parts, settings: Settings, home: Home) -> Conversation:
    """A graph of one node that runs the machine; its state between turns is kept by whoever keeps the thread's.

    Args:
        parts: what the machine is made of.
        home: where texts and traces go.
    """
    machine = clinical_graph(parts, checkpointer=True)
    store = ContentStore(home.texts)

    async def turn(
        state: StudioState, config: RunnableConfig, runtime: Runtime[StudioContext]
    ) -> dict[str, Any]:  # LangGraph reads these names and types
        text = check_message(said(state["messages"]), settings.max_characters)
        session = str(config["configurable"].get("thread_id") or new_session_id())
        given = runtime.context or StudioContext()
        number = sum(isinstance(message, HumanMessage) for message in state["messages"])
        begun = new_turn(number, store.put(session, text), given.options, report=given.report, asks=given.ask)
        recorder = TraceRecorder(home.traces, f"{session}/{number}")
        meter = Meter(settings.budget, settings.prices, recorder.event)
        context = TurnContext(session, f"{session}/{number}", store, recorder, meter)
        try:
            with untraced(settings), metered(meter):
                values = await machine.ainvoke(cast(Any, begun), config, context=context)
        finally:
            recorder.close()
        answer = Answer.model_validate_json(store.get(values["answer_key"]))
        return {"messages": [AIMessage(answer.to_markdown())], "answer": answer.model_dump(mode="json")}

    outer = StateGraph(StudioState, context_schema=StudioContext)
    outer.add_node("turn", turn)  # type: ignore[call-overload]
    outer.add_edge(START, "turn")
    outer.add_edge("turn", END)
    return outer.compile(name="anamnesis")


def said(messages: Sequence[AnyMessage]) -> str:
    """The text of the last message; raises InputError where it is not the user's."""
    if not messages or not isinstance(messages[-1], HumanMessage):
        raise InputError("There is no message to answer.", "Send a case or a question as a human message.")
    return str(messages[-1].text)

"""An answer in the shapes of OpenAI's chat completions: whole, and as the chunks of a stream."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agent.conversation import Step
from agent.server.events import COMMENT
from agent.server.openai_contract import ChatCompletion, ReplyChoice, ReplyMessage, TokenUsage
from agent.server.problems import Refusal, body_of, refusal_of
from graphs.answering.contract import Answer
from graphs.answering.markdown import markdown_of
from prompts.errors import AnamnesisError

BETWEEN = "\n\n"  # paragraphs of Markdown
DONE = "data: [DONE]\n\n"


def completion_of(answer: Answer, ignored: Sequence[str], model: str) -> ChatCompletion:
    """An answer as a completion."""
    message = ReplyMessage(content=markdown_of(answer), anamnesis=extra(answer, ignored))
    return ChatCompletion(
        id=f"chatcmpl-{answer.session}-{answer.turn}",
        created=int(time.time()),
        model=model,
        choices=[ReplyChoice(message=message)],
        usage=usage_of(answer),
    )


def extra(answer: Answer, ignored: Sequence[str]) -> dict[str, Any]:
    """What goes beside the text: the session, the whole Answer, and what of the request had no effect."""
    return {"session": answer.session, "answer": answer.model_dump(mode="json"), "ignored": list(ignored)}


def usage_of(answer: Answer) -> TokenUsage:
    """Tokens of the language model in this turn."""
    used = answer.usage
    total = used.input_tokens + used.output_tokens
    return TokenUsage(prompt_tokens=used.input_tokens, completion_tokens=used.output_tokens, total_tokens=total)


async def streamed(
    events: AsyncIterator[Step | Answer | None], model: str, session: str, ignored: Sequence[str], *, usage: bool
) -> AsyncIterator[str]:
    """Chunks: each finished step as ``reasoning_content``, then the verified answer a paragraph at a time.

    A draft is never sent: a text that was sent cannot be taken back when the verification drops a sentence of it.
    """
    shape = _Chunks(model, session, usage=usage)
    try:
        yield shape.delta({"role": "assistant", "content": ""})
        async for event in events:
            if event is None:
                yield COMMENT
            elif isinstance(event, Answer):
                for text in _pieces(event):
                    yield shape.delta({"content": text})
                yield shape.delta({"anamnesis": extra(event, ignored)}, finish="stop")
                if usage:
                    yield shape.usage(event)
            elif event.status == "finished":
                yield shape.delta({"reasoning_content": f"{event.tool or event.step}: {event.summary or 'done'}\n"})
    except Refusal as refusal:
        yield _data(body_of("/v1/", refusal, ""))
    except AnamnesisError as error:  # the answer is stored; what leads to it could not be
        yield _data(body_of("/v1/", refusal_of(error), ""))
    yield DONE


def _pieces(answer: Answer) -> list[str]:
    """The message's text in pieces that join to exactly it."""
    first, *others = markdown_of(answer).split(BETWEEN)
    return [first, *(f"{BETWEEN}{text}" for text in others)]


class _Chunks:
    """Chunks of one completion."""

    def __init__(self, model: str, session: str, *, usage: bool) -> None:
        self._head = {
            "id": f"chatcmpl-{session}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._usage: dict[str, Any] = {"usage": None} if usage else {}

    def delta(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._head, "choices": [choice], **self._usage})

    def usage(self, answer: Answer) -> str:
        return _data({**self._head, "choices": [], "usage": usage_of(answer).model_dump()})


def _data(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"

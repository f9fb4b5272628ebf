"""What is asked in a request for a chat completion, and what of it has no effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.server.histories import Said
from agent.server.openai_contract import Completion, Message
from agent.server.problems import Refusal, refusal_of
from agent.sessions import unknown_session
from agent.trace import SESSION_NAME

READ = frozenset({"model", "messages", "stream", "stream_options", "n", "response_format", "metadata", "user"})
NOT_READ = ("system", "developer", "tool", "function")  # roles


@dataclass(frozen=True)
class Wanted:
    """A request, read.

    Attributes:
        text: the message to answer. before: the conversation before it.
        session: the session that the client names, "" for none.
        ignored: fields and roles of the request that have no effect.
    """

    text: str
    before: tuple[Said, ...]
    session: str
    ignored: tuple[str, ...]

    @property
    def said(self) -> tuple[Said, ...]:
        """The conversation with the message to answer."""
        return (*self.before, Said("user", self.text))


def read(body: Completion, header: str, model: str) -> Wanted:
    """Read a request.

    Args:
        header: the value of X-Session-Id, which stands above the metadata.
        model: the one model that there is.

    Raises:
        Refusal: 404 another model; 400 what cannot be done, where doing something else would mislead.
    """
    if body.model != model:
        what = f"The model {body.model[:80]!r} does not exist."
        raise Refusal(404, "model_not_found", what, f"There is {model!r}: GET /v1/models.")
    if body.n not in (None, 1):
        raise Refusal(400, "n_unsupported", "One message is answered by one answer: n must be 1.")
    if body.response_format is not None and body.response_format.type != "text":
        what, advice = "The message is always text.", "The answer as JSON is in the message's field `anamnesis`."
        raise Refusal(400, "response_format_unsupported", what, advice)
    if body.messages[-1].role != "user":
        raise Refusal(400, "no_user_message", "The last message must be the user's.")
    said = _conversation(body.messages)
    session = header or (body.metadata.session if body.metadata and body.metadata.session else "")
    if session and not SESSION_NAME.match(session):
        raise refusal_of(unknown_session(session[:80]))
    return Wanted(said[-1].text, tuple(said[:-1]), session, _ignored(body))


def _conversation(messages: Sequence[Message]) -> list[Said]:
    for message in messages:
        if message.role == "user" and isinstance(message.content, list):
            strange = [part.type for part in message.content if part.type != "text"]
            if strange:
                what = f"Only text can be read, not {strange[0][:40]!r}."
                raise Refusal(400, "content_unsupported", what, "Describe in words what it shows.")
    told = [m for m in messages if m.role == "user" or (m.role == "assistant" and m.text)]
    return [Said(m.role, m.text) for m in told]


def _ignored(body: Completion) -> tuple[str, ...]:
    sent = [name for name in body.model_fields_set | set(body.model_extra or {}) if name not in READ]
    roles = {f"{m.role} messages" for m in body.messages if m.role in NOT_READ}
    return (*sorted(sent), *sorted(roles))

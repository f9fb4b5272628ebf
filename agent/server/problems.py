"""What the server refuses, and the shape of an error: ours under /api, OpenAI's under /v1."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from agent.sessions.ids import SessionBusy, UnknownSession
from prompts.errors import AnamnesisError, DataError, InputError, ServiceError

OPENAI_PATH = "/v1/"
OPENAI_TYPES = {  # code: the types that OpenAI's service sends; its clients choose their exception by the status
    401: "invalid_request_error",
    403: "invalid_request_error",
    404: "invalid_request_error",
    429: "rate_limit_exceeded",
}


class Problem(BaseModel):
    """An error. ``code`` is stable, for programs; ``advice`` says what to do; ``request_id`` finds it in the log."""

    code: str
    message: str
    advice: str = ""
    request_id: str = ""


class ErrorBody(BaseModel):
    """The body of every answer of /api that is an error."""

    error: Problem


class OpenAIProblem(BaseModel):
    """An error as OpenAI's clients read it."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIErrorBody(BaseModel):
    """The body of every answer of /v1 that is an error."""

    error: OpenAIProblem


class Refusal(Exception):  # noqa: N818  it is the server's answer, not a fault
    """A request that is refused.

    Args:
        status: of HTTP. code: for programs. what, advice: for people.
        retry_after: seconds after which to ask again, None where that would not help.
        headers: to go with it.
    """

    def __init__(
        self,
        status: int,
        code: str,
        what: str,
        advice: str = "",
        *,
        retry_after: float | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(what)
        self.status, self.code, self.what, self.advice = status, code, what, advice
        self.retry_after = retry_after
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(max(1, round(retry_after + 0.5)))


COMMAND = "`anamnesis "  # how an advice begins that is for the command line
LISTS = "GET /api/sessions lists yours, GET /api/sessions/{session} its turns."


def refusal_of(error: AnamnesisError) -> Refusal:
    """The answer to a typed error of the agent; a client is not told to run a command on the server."""
    if isinstance(error, UnknownSession):
        return Refusal(404, "no_session", error.what, LISTS)
    if isinstance(error, SessionBusy):
        return Refusal(409, "session_busy", error.what, error.advice, retry_after=1)
    if isinstance(error, InputError):
        return Refusal(400, "bad_input", error.what, LISTS if COMMAND in error.advice else error.advice)
    if isinstance(error, DataError):
        return Refusal(500, "data", error.what, error.advice)
    if isinstance(error, ServiceError):
        return Refusal(502, "service", error.what, error.advice)
    return Refusal(500, "internal", "The turn failed.", "Tell the operator the request id.")


def body_of(path: str, refusal: Refusal, request_id: str) -> dict[str, Any]:
    """The body of an error, in the form that the path's clients read."""
    if path.startswith(OPENAI_PATH):
        message = f"{refusal.what} {refusal.advice}".strip()
        kind = OPENAI_TYPES.get(refusal.status, "server_error" if refusal.status >= 500 else "invalid_request_error")
        return OpenAIErrorBody(error=OpenAIProblem(message=message, type=kind, code=refusal.code)).model_dump()
    problem = Problem(code=refusal.code, message=refusal.what, advice=refusal.advice, request_id=request_id)
    return ErrorBody(error=problem).model_dump()


def unmet(status: int) -> Refusal:
    """The answer where nothing of ours was reached: no such path, a wrong method."""
    said = HTTPStatus(status).phrase
    return Refusal(status, said.lower().replace(" ", "_").replace("'", ""), f"{said}.", "See docs/server.md.")


def answers(*statuses: int, model: type[BaseModel] = ErrorBody) -> dict[int | str, dict[str, Any]]:
    """The errors of an endpoint, for its description."""
    return {status: {"model": model, "description": HTTPStatus(status).phrase} for status in sorted(statuses)}

"""Failures of a model's server as typed errors. None carries the request, whose headers hold the key."""

from __future__ import annotations

from prompts.errors import ServiceError


class InvalidReplyError(ServiceError):
    """The model answered twice, and neither reply was what the schema asks for."""


class UnsupportedError(ServiceError):
    """The server refuses the form of the request (400, 422): another form may do. ``told`` is what it says, short."""

    told: str = ""


def too_slow() -> ServiceError:
    """The error of a deadline."""
    return ServiceError("The language model did not answer in time.", "Try again, or raise ANAMNESIS_MODEL_TIMEOUT.")


def malformed() -> ServiceError:
    """The error of a body that is no chat completion."""
    what = "The language model's server sent an answer that is no chat completion."
    return ServiceError(what, "Check OPENAI_BASE_URL, then try again.")


def declined() -> ServiceError:
    """The error of a refusal."""
    return ServiceError("The language model declined to answer.", "Put the question otherwise, or set another model.")


def failure(error: Exception) -> ServiceError:
    """The typed error for one of the openai client."""
    import openai

    if isinstance(error, openai.RateLimitError):
        return ServiceError("The language model has had too many requests.", "Wait a minute, then try again.")
    if isinstance(error, openai.APITimeoutError):
        return too_slow()
    if isinstance(error, openai.APIConnectionError):
        return ServiceError("The language model cannot be reached.", "Check OPENAI_BASE_URL and the network.")
    if isinstance(error, openai.APIStatusError):
        return _of_status(error.status_code, error.message)
    return ServiceError("The language model's answer was cut off or withheld.", "Try again.")


def _of_status(status: int, told: str) -> ServiceError:
    if status >= 500:
        return ServiceError(f"The language model's server failed (status {status}).", "Try again in a minute.")
    what = f"The language model refused the request (status {status})."
    if status in (400, 422):
        refused = UnsupportedError(what, "Check ANAMNESIS_MODEL and OPENAI_BASE_URL.", retryable=False)
        refused.told = told[:200]
        return refused
    advice = "Check OPENAI_API_KEY." if status in (401, 403) else "Check ANAMNESIS_MODEL and OPENAI_BASE_URL."
    return ServiceError(what, advice, retryable=False)

"""Failures of a model's server as typed errors. None carries the request, whose headers hold the key."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING

from prompts.errors import ServiceError

if TYPE_CHECKING:
    import openai

FILTERED = "content_filter"  # code: why a reply ended, or was refused, where a server filters what is said
FILTER_WORDS = "content management policy"  # code: what Azure's servers say of a prompt that they filter
PASSING = (408, 409, 425, 429)  # code: statuses below 500 that the protocol's own clients try again


class InvalidReplyError(ServiceError):
    """The model answered twice, and neither reply was what the schema asks for."""


class CutError(ServiceError):
    """The reply ended at its bound of tokens, also when a shorter one was asked for."""


class RefusalError(ServiceError):
    """The model, or its server's filter, declined to answer. It is not asked again."""


class PassingError(ServiceError):
    """A failure that may pass: too many requests, a failing server, a lost connection, a malformed answer.

    Attributes:
        wait: seconds to wait before another try, as the server says; None when it does not.
    """

    wait: float | None = None


class SilentError(PassingError):
    """The server did not answer within the deadline, or cannot be reached."""


class DeniedError(ServiceError):
    """The server refuses the key, or has no such model: it would refuse every other request too."""


class UnsupportedError(ServiceError):
    """The server refuses the form of the request (400, 422): another form may do. ``told`` is what it says, short."""

    told: str = ""


def too_slow() -> ServiceError:
    """The error of a deadline."""
    return SilentError("The language model did not answer in time.", "Try again, or raise ANAMNESIS_MODEL_TIMEOUT.")


def malformed() -> ServiceError:
    """The error of a body that is no chat completion."""
    what = "The language model's server sent an answer that is no chat completion."
    return PassingError(what, "Check OPENAI_BASE_URL, then try again.")


def declined() -> ServiceError:
    """The error of a refusal."""
    what = "The language model declined to answer."
    return RefusalError(what, "Put the question otherwise, or set another model.", retryable=False)


def cut_off() -> ServiceError:
    """The error of a reply that ended at its bound of tokens."""
    advice = "Raise ANAMNESIS_MODEL_MAX_TOKENS or the server's context, or lower ANAMNESIS_MODEL_REASONING_EFFORT."
    return CutError("The language model's reply was cut: it was longer than its bound.", advice)


def unusable() -> ServiceError:
    """The error of two replies that were not in the form that was asked for; the trace has what was wrong."""
    what = "The language model's reply was not in the form that was asked for."
    return InvalidReplyError(what, "Try again, or set another model.")


def failure(error: Exception, place: str) -> ServiceError:
    """The typed error for one of the openai client; ``place`` names the model and its address."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return too_slow()
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, place)
    if isinstance(error, openai.APIConnectionError):
        return SilentError("The language model cannot be reached.", "Check OPENAI_BASE_URL and the network.")
    return PassingError("The language model's answer was cut off or withheld.", "Try again.")


def _of_status(error: openai.APIStatusError, place: str) -> ServiceError:
    status = error.status_code
    if status in PASSING or status >= 500:
        passing = _passing(status)
        passing.wait = _retry_after(error.response.headers)
        return passing
    what = f"The language model refused the request (status {status})."
    if error.code == FILTERED or FILTER_WORDS in error.message.lower():
        return declined()
    if status in (400, 422):
        refused = UnsupportedError(what, "Check ANAMNESIS_MODEL and OPENAI_BASE_URL.", retryable=False)
        refused.told = error.message[:200]
        return refused
    if status in (401, 403):
        return DeniedError(what, "Check OPENAI_API_KEY.", retryable=False)
    if status == 404:
        missing = f"There is no language model {place} (status 404)."
        return DeniedError(missing, "Check ANAMNESIS_MODEL and OPENAI_BASE_URL.", retryable=False)
    return ServiceError(what, "Check ANAMNESIS_MODEL and OPENAI_BASE_URL.", retryable=False)


def _passing(status: int) -> PassingError:
    if status == 429:
        return PassingError("The language model has had too many requests.", "Wait a minute, then try again.")
    return PassingError(f"The language model's server failed (status {status}).", "Try again in a minute.")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header: a number, or a date."""
    told = headers.get("retry-after", "")
    try:
        seconds = float(told)
    except ValueError:
        date = parsedate_tz(told)
        seconds = mktime_tz(date) - time.time() if date is not None else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None

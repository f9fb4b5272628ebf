"""How the E-utilities can fail: a type, a reason and an advice each; none of them is ever an empty result."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from prompts.errors import ServiceError
from tools.yaml_files import read_yaml


class Reason(StrEnum):
    """What happened, for programs; `RECOVERY` says when and what helps."""

    TOO_MANY_REQUESTS = "too_many_requests"
    NO_ANSWER = "no_answer"
    NO_CONNECTION = "no_connection"
    NO_START = "no_start"
    SERVER_ERROR = "server_error"
    REFUSED = "refused"
    REDIRECTED = "redirected"
    BAD_QUERY = "bad_query"
    BEYOND_LIMIT = "beyond_limit"
    HELD = "held"
    CUT_OFF = "cut_off"
    NOT_XML = "not_xml"
    DAMAGED = "damaged"
    WRONG_DOCUMENT = "wrong_document"
    INCOMPLETE = "incomplete"
    TOO_LARGE = "too_large"


class EUtilitiesError(ServiceError):
    """A failure of the E-utilities.

    Args:
        reason: what happened; the advice and whether to try again follow from `RECOVERY`.
        what: the same in a sentence, without address, key or e-mail.
        retry_after: seconds that the server asks to wait, None when it does not say.
    """

    def __init__(self, reason: Reason, what: str, retry_after: float | None = None) -> None:
        super().__init__(what, RECOVERY[reason].advice, retryable=RECOVERY[reason].retryable)
        self.reason, self.retry_after = reason, retry_after


class RateLimited(EUtilitiesError):  # noqa: N818 - the base says that it is an error
    """The server has had too many requests."""


class Unavailable(EUtilitiesError):  # noqa: N818 - the base says that it is an error
    """The server cannot be reached, does not answer, or fails."""


class Refused(EUtilitiesError):  # noqa: N818 - the base says that it is an error
    """The server does not accept the request, whatever its terms: key, address, redirect."""


class BadQuery(EUtilitiesError):  # noqa: N818 - the base says that it is an error
    """The request itself is wrong: the query, or a range beyond PubMed's limit."""


class MalformedReply(EUtilitiesError):  # noqa: N818 - the base says that it is an error
    """An answer came and is not what it should be."""


class Recovery(NamedTuple):
    """The type of a failure, when its reason is given, what helps, and whether the same request may succeed later."""

    kind: type[EUtilitiesError]
    when: str
    advice: str
    retryable: bool


KINDS = {kind.__name__: kind for kind in (RateLimited, Unavailable, Refused, BadQuery, MalformedReply)}
RECOVERY = {
    Reason(reason): Recovery(**(row | {"kind": KINDS[row["kind"]]}))
    for reason, row in read_yaml(Path(__file__).with_name("failures.yaml")).items()
}


def failure(reason: Reason, what: str, retry_after: float | None = None) -> EUtilitiesError:
    """The typed error of a reason."""
    return RECOVERY[reason].kind(reason, what, retry_after)

"""How the E-utilities can fail: a type, a reason and an advice each; none of them is ever an empty result."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from prompts.errors import ServiceError


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


LATER = "Try again in a minute."
RECOVERY = {
    Reason.TOO_MANY_REQUESTS: Recovery(
        RateLimited,
        "status 429, or an answer that says that the rate limit is exceeded",
        "Wait a minute, or set NCBI_API_KEY for a higher limit.",
        True,
    ),
    Reason.NO_ANSWER: Recovery(Unavailable, "no answer, or none whole, within the time limit", LATER, True),
    Reason.NO_CONNECTION: Recovery(Unavailable, "the connection could not be made, or broke", LATER, True),
    Reason.NO_START: Recovery(
        Unavailable,
        "no request was sent: the rate that all workers share gave no start, or this machine was too busy to keep one",
        "Try again in a minute; check ANAMNESIS_DATABASE and ANAMNESIS_LITERATURE__WORKERS.",
        True,
    ),
    Reason.SERVER_ERROR: Recovery(
        Unavailable, "status 500 and above, or an ERROR element about the server itself", LATER, True
    ),
    Reason.REFUSED: Recovery(
        Refused,
        "another status of 400 and above, or a key that the server does not know",
        "Check NCBI_API_KEY and the address in ANAMNESIS_LITERATURE__BASE_URL.",
        False,
    ),
    Reason.REDIRECTED: Recovery(
        Refused,
        "a redirect to another server, or of a posted request",
        "Set ANAMNESIS_LITERATURE__BASE_URL to the new address if you trust it.",
        False,
    ),
    Reason.BAD_QUERY: Recovery(BadQuery, "an ERROR element about the request", "Search with other terms.", False),
    Reason.BEYOND_LIMIT: Recovery(
        BadQuery,
        "more than the first 9,999 records of a search are asked for",
        "Narrow the search, or split it by dates, for example 2020:2022[dp].",
        False,
    ),
    Reason.HELD: Recovery(
        BadQuery,
        "nothing was sent: the query holds a word that is not known to be medical or general",
        "Release the word with send:, as in send:Brightwater, or leave it out.",
        False,
    ),
    Reason.CUT_OFF: Recovery(MalformedReply, "fewer bytes than announced, or a broken compression", LATER, True),
    Reason.NOT_XML: Recovery(MalformedReply, "a web page, JSON, or nothing at all with status 200", LATER, True),
    Reason.DAMAGED: Recovery(
        MalformedReply, "XML that ends early, is not well-formed, or declares entities", LATER, True
    ),
    Reason.WRONG_DOCUMENT: Recovery(MalformedReply, "XML with another root than asked for", LATER, True),
    Reason.INCOMPLETE: Recovery(
        MalformedReply, "an answer without its count, its ids or the records that were listed", LATER, True
    ),
    Reason.TOO_LARGE: Recovery(
        MalformedReply, "a body beyond the size limit", "Ask for fewer records at a time.", False
    ),
}


def failure(reason: Reason, what: str, retry_after: float | None = None) -> EUtilitiesError:
    """The typed error of a reason."""
    return RECOVERY[reason].kind(reason, what, retry_after)

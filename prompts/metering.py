"""What a turn spends on models, within its budget, and where a local judgement had to stand in.

The meter of a turn is a context variable, so that it reaches every judgement without standing in any signature; tasks
that a turn starts inherit it. Outside a turn there is a meter without bounds.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from prompts.errors import ServiceError
from prompts.model_failures import DeniedError, SilentError
from prompts.model_settings import Budget, Price, Role

# How long a turn goes on asking a server that fails: not at all after a refused key, twice when it is silent.
SILENT = 2  # judgements one after another that a silent server may cost a turn; ours: one may be an accident


@dataclass
class _Server:
    """What a turn knows of a server: times in a row that it was silent, the last time, and why it is given up."""

    silent: int = 0
    at: float = float("-inf")
    given_up: ServiceError | None = None


class Patience:
    """The servers of a turn."""

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}

    @contextmanager
    def asking(self, place: str) -> Iterator[None]:
        """Around a judgement by the server at a place.

        Raises:
            ServiceError: the server is given up for this turn; or what the judgement raised.
        """
        server = self._servers.setdefault(place, _Server())
        if server.given_up is not None:
            given_up = server.given_up
            raise type(given_up)(given_up.what, given_up.advice, retryable=given_up.retryable)
        started = time.monotonic()
        try:
            yield
        except DeniedError as error:
            server.given_up = error
            raise
        except SilentError as error:
            self._was_silent(server, started, error)
            raise
        except ServiceError:
            server.silent = 0  # it failed, but it answered
            raise
        server.silent = 0

    @staticmethod
    def _was_silent(server: _Server, started: float, error: SilentError) -> None:
        """Count a silence that began after the one before: judgements that waited together count once."""
        if started >= server.at:
            server.silent += 1
            server.at = time.monotonic()
        if server.silent >= SILENT:
            server.given_up = error


T = TypeVar("T")
MILLION = 1_000_000


class Usage(BaseModel):
    """What calls have cost.

    Attributes:
        calls: requests sent. input_tokens, output_tokens: as the server counts them, 0 when it does not.
        seconds: of waiting for the server, summed over calls. cost: by the price table of the settings.
        unpriced: calls to a model that the table does not name; ``cost`` leaves them out.
        cached: replies that were kept from before. They are no calls, and cost nothing.
    """

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    unpriced: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            seconds=round(self.seconds + other.seconds, 3),
            cost=round(self.cost + other.cost, 6),
            unpriced=self.unpriced + other.unpriced,
            cached=self.cached + other.cached,
        )

    @property
    def used(self) -> bool:
        """Whether a model was asked, or a reply of one taken that was kept from before."""
        return self.calls + self.cached > 0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens


class BudgetError(ServiceError):
    """The turn's budget for models is spent."""


class FellBack(NamedTuple):
    """A judgement that the model failed at, made locally instead."""

    role: str
    what: str


class Meter:
    """Counts what a turn spends, and refuses what goes beyond its budget.

    Args:
        budget: the bounds. prices: by model name. record: is told of every call and of every fall-back (the trace).
        spent: what an earlier part of the same turn has cost by role, after a resume.
        session: whose words are asked with; "" outside of one.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        record: Callable[..., None] | None = None,
        spent: Mapping[str, Usage] | None = None,
        session: str = "",
    ) -> None:
        self.session = session
        self._budget = budget or Budget(calls=None, tokens=None, money=None, seconds=None)
        self._prices = prices or {}
        self.record = record or (lambda *_, **__: None)
        self._started = time.monotonic()
        self.by_role: dict[str, Usage] = dict(spent or {})
        self.fallen_back: list[FellBack] = []
        self.patience = Patience()
        self._open = 0
        self._told = 0

    @property
    def total(self) -> Usage:
        """All roles together."""
        return sum(self.by_role.values(), Usage())

    def seconds_left(self) -> float | None:
        """Seconds of the budget that are left, None without a bound."""
        bound = self._budget.seconds
        return None if bound is None else max(bound - (time.monotonic() - self._started), 0.0)

    def waited(self, seconds: float) -> None:
        """Time in which a person was waited for is not the turn's."""
        self._started += seconds

    def check(self, role: Role) -> None:
        """Raise BudgetError when nothing more may be spent."""
        total, budget = self.total, self._budget
        spent = {
            "calls": budget.calls is not None and total.calls + self._open >= budget.calls,
            "tokens": budget.tokens is not None and total.tokens >= budget.tokens,
            "money": budget.money is not None and total.cost >= budget.money,
            "seconds": self.seconds_left() == 0.0,
        }
        over = [name for name, reached in spent.items() if reached]
        if over:
            what = f"The turn's budget for language models is spent ({', '.join(over)})."
            self.record("model_budget", role=role, spent=over)
            raise BudgetError(what, "Raise ANAMNESIS_BUDGET__CALLS, __TOKENS, __MONEY or __SECONDS.", retryable=False)

    def begin(self, role: Role) -> None:
        """Begin a call, which `charge` ends; calls that run at once count towards the bound of calls.

        Raises:
            BudgetError: nothing more may be spent.
        """
        self.check(role)
        self._open += 1

    def charge(self, role: Role, model: str, usage: Usage, **told: Any) -> Usage:
        """End and count a call; returns its usage with what it cost. ``told`` goes into the trace."""
        self._open = max(self._open - 1, 0)
        price = self._prices.get(model)
        cost = (
            (usage.input_tokens * price.input + usage.output_tokens * price.output) / MILLION
            if price is not None
            else 0.0
        )
        priced = usage.model_copy(update={"cost": round(cost, 6), "unpriced": 0 if price else usage.calls})
        self.by_role[role] = self.by_role.get(role, Usage()) + priced
        self.record("model", role=role, model=model, **priced.model_dump(exclude_defaults=True), **told)
        return priced

    def reused(self, role: Role, model: str, usage: Usage, **told: Any) -> None:
        """Count a reply that was kept from before. ``told`` goes into the trace."""
        self.by_role[role] = self.by_role.get(role, Usage()) + usage
        self.record("model", role=role, model=model, **usage.model_dump(exclude_defaults=True), method="kept", **told)

    def fell_back(self, role: Role, what: str) -> None:
        """Note that a judgement was made locally, and why; the trace has every reason, a role's first one is told."""
        self.record("judged_locally", role=role, why=what)
        if all(note.role != role for note in self.fallen_back):
            self.fallen_back.append(FellBack(role, what))

    def untold(self) -> list[FellBack]:
        """Fall-backs since the last call of this method."""
        fresh = self.fallen_back[self._told :]
        self._told = len(self.fallen_back)
        return fresh


_current: ContextVar[Meter | None] = ContextVar("anamnesis_meter", default=None)


def meter() -> Meter:
    """The meter of the turn that runs now; outside a turn one without bounds, which nobody reads."""
    return _current.get() or Meter()


@contextmanager
def metered(by: Meter) -> Iterator[Meter]:
    """Make a meter the current one, for everything that is started inside."""
    token = _current.set(by)
    try:
        yield by
    finally:
        _current.reset(token)


async def or_local(role: Role, by_model: Callable[[], Awaitable[T]], local: Callable[[], Awaitable[T]]) -> T:
    """The model's judgement; when it fails after its one repair, or the budget is spent, the local one, noted."""
    try:
        return await by_model()
    except ServiceError as error:
        meter().fell_back(role, error.what)
        return await local()

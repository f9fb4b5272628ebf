"""Time: Retry-After within the deadline, deadlines that start after the limiter, the limit of requests at once."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest

from prompts.errors import ServiceError
from prompts.language_model import LanguageModels
from prompts.metering import BudgetError, Meter, metered
from prompts.model_settings import Budget
from support.asking_model import GOOD, model_of, plan, plan_once, settings_for
from support.scripted_model import Scripted, serving, serving_by


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    import langchain_openai  # noqa: F401  its import is not what is timed here


def busy(after: str) -> Scripted:
    return Scripted(status=429, body="{}", headers={"Retry-After": after})


def test_retry_after_is_waited_for() -> None:
    with serving(busy("0.4"), Scripted(GOOD)) as server:
        assert plan_once(model_of(server, max_retries=1)) == "croup"
    first, second = server.exchanges
    assert 0.4 <= second.started - first.ended < 1.5


@pytest.mark.parametrize("as_date", [False, True])
def test_a_wait_beyond_the_deadline_is_not_begun(as_date: bool) -> None:
    after = formatdate(time.time() + 90, usegmt=True) if as_date else "30"
    with serving(busy(after)) as server:
        started = time.monotonic()
        with pytest.raises(ServiceError, match="too many requests"):
            plan_once(model_of(server, max_retries=3, timeout=2.0))
    assert time.monotonic() - started < 1.5
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [Scripted(status=503, body="{}"), Scripted(body="{no"), Scripted(GOOD, cut=30)])
def test_a_failure_that_may_pass_is_tried_again_and_each_try_is_counted(fault: Scripted) -> None:
    meter = Meter()
    with serving(fault, fault, Scripted(GOOD)) as server, metered(meter):
        assert plan_once(model_of(server, max_retries=2)) == "croup"
    assert meter.total.calls == len(server.requests) == 3


def test_a_refused_key_is_not_tried_again() -> None:
    with serving(Scripted(status=401, body="{}")) as server, pytest.raises(ServiceError, match="401"):
        plan_once(model_of(server, max_retries=3))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "slow", [Scripted(GOOD, pause=9), Scripted(GOOD, between=9)], ids=["first byte", "rest of the body"]
)
def test_a_slow_answer_ends_at_the_deadline(slow: Scripted) -> None:
    with serving(slow) as server:
        started = time.monotonic()
        with pytest.raises(ServiceError, match="in time"):
            plan_once(model_of(server, timeout=0.4))
    assert time.monotonic() - started < 2.4


def test_the_deadline_starts_when_the_turn_has_come() -> None:
    async def both() -> list[str]:
        model = model_of(server, concurrency=1, timeout=0.9)
        return await asyncio.gather(plan(model), plan(model))

    with serving(Scripted(GOOD, pause=0.6)) as server:
        started = time.monotonic()
        assert asyncio.run(both()) == ["croup", "croup"]
    assert time.monotonic() - started > 1.2
    assert server.most_at_once == 1


def test_waiting_for_a_turn_ends_with_the_turns_seconds() -> None:
    async def both() -> list[object]:
        model = model_of(server, concurrency=1, timeout=9)
        with metered(Meter(Budget(seconds=1.5))):
            return await asyncio.gather(plan(model), plan(model), return_exceptions=True)

    with serving(Scripted(GOOD, pause=9)) as server:
        started = time.monotonic()
        ended = asyncio.run(both())
    assert time.monotonic() - started < 4
    assert all(isinstance(e, ServiceError) for e in ended)
    assert len(server.requests) == 1


def test_no_more_requests_at_once_than_the_limit_and_roles_share_it() -> None:
    async def many() -> None:
        models = LanguageModels(settings_for(server, concurrency=3))
        await asyncio.gather(*(plan(models.of(role)) for role in ("summary", "filter") for _ in range(6)))

    with serving(Scripted(GOOD, pause=0.1)) as server:
        asyncio.run(many())
    assert server.most_at_once == 3
    assert len(server.requests) == 12


def test_a_role_with_more_time_is_not_cut_off_by_another_that_has_less() -> None:
    async def ask() -> str:
        models = LanguageModels(settings_for(server, timeout=5.0, roles={"filter": {"timeout": 0.2}}))
        with pytest.raises(ServiceError, match="in time"):
            await plan(models.of("filter"))
        return await plan(models.of("summary"))

    with serving(Scripted(GOOD, pause=0.6)) as server:
        assert asyncio.run(ask()) == "croup"


@pytest.mark.parametrize(
    ("bound", "named"),
    [({"calls": 1}, "calls"), ({"tokens": 18}, "tokens"), ({"money": 0.01}, "money"), ({"seconds": 1e-9}, "seconds")],
)
def test_a_spent_budget_refuses_before_anything_is_sent(bound: dict[str, float], named: str) -> None:
    from prompts.model_settings import Price

    told: list[dict[str, object]] = []
    meter = Meter(
        Budget.model_validate({"calls": None, "tokens": None, "seconds": None, **bound}),
        {"m": Price(input=1000, output=2000)},
        lambda kind, **data: told.append({"kind": kind, **data}),
    )

    async def twice() -> None:
        model = model_of(server)
        await plan(model)
        await plan(model)

    with serving(Scripted(GOOD)) as server, metered(meter), pytest.raises(BudgetError, match=named):
        asyncio.run(twice())
    assert len(server.requests) == (0 if named == "seconds" else 1)
    assert told[-1] == {"kind": "model_budget", "role": "query_plan", "spent": [named]}


def test_tokens_and_money_are_counted_by_role_and_calls_without_a_price_are_told() -> None:
    from prompts.model_settings import Price

    meter = Meter(prices={"m": Price(input=1000, output=2000)})

    async def ask() -> None:
        models = LanguageModels(settings_for(server, roles={"answer": {"model": "dear"}}))
        await plan(models.of("summary"))
        await plan(models.of("summary"))
        await plan(models.of("answer"))

    with serving(Scripted(GOOD, tokens=(1000, 500)), Scripted(GOOD, tokens=(10, 5))) as server, metered(meter):
        asyncio.run(ask())
    summary, answer = meter.by_role["summary"], meter.by_role["answer"]
    assert (summary.calls, summary.input_tokens, summary.output_tokens) == (2, 1010, 505)
    assert summary.cost == pytest.approx(1.01 + 1.01)
    assert (answer.calls, answer.unpriced, answer.cost) == (1, 1, 0)
    assert meter.total.calls == 3


def test_a_server_that_counts_no_tokens_is_no_failure() -> None:
    with serving_by(lambda _: Scripted(GOOD, tokens=None)) as server:
        assert plan_once(model_of(server)) == "croup"

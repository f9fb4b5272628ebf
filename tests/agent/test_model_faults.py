"""A turn ends in a valid answer with the right notice whatever a model or its server does: a sample of the matrix.

`anamnesis dev bench faults` strikes every role with every fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from evals.bench.faults import FAULTS, GRACE, ROLES, STEPS, FaultyAgent, faulty_agent

DEADLINE = 4.0  # seconds: long for a busy machine, and waited for in full by one fault alone
PAIRS = list(zip(cycle(ROLES), FAULTS, strict=False))


@pytest.fixture(scope="module")
def agent(built_home: Path) -> Iterator[FaultyAgent]:
    with faulty_agent(DEADLINE, built_home) as agent:
        agent.strike("answer", "thinking")  # what is imported with the first call is paid for here
        yield agent


@pytest.fixture(scope="module")
def in_steps(built_home: Path) -> Iterator[FaultyAgent]:
    with faulty_agent(DEADLINE, built_home, steps=True) as agent:
        yield agent


def test_every_role_and_every_fault_is_in_the_sample() -> None:
    assert {r for r, _ in PAIRS} == set(ROLES)
    assert {f for _, f in PAIRS} == set(FAULTS)


@pytest.mark.parametrize(("role", "fault"), PAIRS)
def test_a_fault_ends_in_a_valid_answer_that_tells_of_it(agent: FaultyAgent, role: str, fault: str) -> None:
    struck = agent.strike(role, fault)
    assert not struck.wrong
    assert struck.beyond <= GRACE


@pytest.mark.parametrize(
    ("role", "fault"), zip(STEPS, ["malformed JSON", "refusal", "empty", "cut", "a page"], strict=True)
)
def test_so_it_does_in_every_step_of_a_published_method(in_steps: FaultyAgent, role: str, fault: str) -> None:
    assert not in_steps.strike(role, fault).wrong

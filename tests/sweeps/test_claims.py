"""A due sweep is claimed by one worker; another takes over from one that dies."""

from collections import Counter
from inspect import signature
from pkgutil import resolve_name
from uuid import uuid4

import pytest

from payments.models import Sweep
from payments.sweeps import claims
from payments.sweeps.claims import LEASE_SECONDS, Claim, Run
from payments.sweeps.table import SWEEPS
from tests.concurrency import at_once
from tests.sweeps.factories import HOUR, SECOND, let_pass, one_claim

ALONE, SHARED = "check_money", "deliver_webhooks"
FIRST, SECOND_WORKER = uuid4(), uuid4()


@pytest.fixture(autouse=True)
def registered(db: None) -> None:
    claims.register()


def ended(claim: Claim | None, error: str = "") -> None:
    assert claim
    claims.finish(FIRST, [Run(claim, 5, error)])


@pytest.mark.parametrize("name", [name for sweep in SWEEPS.values() for name in sweep.does.split()])
def test_what_a_sweep_does_is_a_function_that_takes_nothing(name: str) -> None:
    signature(resolve_name(f"payments.{name}")).bind()


def test_a_sweep_is_claimed_once_until_its_interval_is_over() -> None:
    for name in (ALONE, SHARED):
        ended(one_claim(FIRST, name))
        assert one_claim(SECOND_WORKER, name) is None
        let_pass(SECOND * SWEEPS[name].seconds)
        assert one_claim(SECOND_WORKER, name)


def test_a_shared_sweep_is_due_again_while_it_runs_and_another_is_not() -> None:
    one_claim(FIRST, ALONE)
    one_claim(FIRST, SHARED)
    let_pass(SECOND * SWEEPS[SHARED].seconds)
    assert one_claim(SECOND_WORKER, SHARED)
    assert one_claim(SECOND_WORKER, ALONE) is None


def test_another_worker_takes_over_from_one_that_died_within_a_minute() -> None:
    one_claim(FIRST, ALONE)
    assert LEASE_SECONDS < 60
    let_pass(SECOND * LEASE_SECONDS)
    assert one_claim(SECOND_WORKER, ALONE)


def test_a_worker_that_lives_keeps_a_long_sweep() -> None:
    claim = one_claim(FIRST, ALONE)
    assert claim
    for _ in range(10):
        let_pass(SECOND * (LEASE_SECONDS - 1))
        claim = claim._replace(started_at=Sweep.objects.get(name=ALONE).started_at)
        assert claims.renew(FIRST, [claim]) == 1
        assert one_claim(SECOND_WORKER, ALONE) is None


def test_a_worker_whose_sweep_was_taken_over_neither_renews_nor_moves_it() -> None:
    claim = one_claim(FIRST, ALONE)
    let_pass(SECOND * LEASE_SECONDS)
    one_claim(SECOND_WORKER, ALONE)
    due_at = Sweep.objects.get(name=ALONE).due_at
    assert claim
    assert claims.renew(FIRST, [claim]) == 0
    ended(claim)
    assert Sweep.objects.get(name=ALONE).due_at == due_at


def test_a_hourly_sweep_is_due_an_hour_after_its_start_however_long_it_took() -> None:
    claim = one_claim(FIRST, "delete_old_rows")
    ended(claim)
    assert claim
    assert Sweep.objects.get(name="delete_old_rows").due_at == claim.started_at + HOUR


def test_the_result_is_recorded_and_a_failure_keeps_the_time_of_the_last_success() -> None:
    ended(one_claim(FIRST, SHARED))
    worked_at = Sweep.objects.get(name=SHARED).worked_at
    let_pass(SECOND)
    ended(one_claim(FIRST, SHARED), "OperationalError")
    sweep = Sweep.objects.get(name=SHARED)
    assert (sweep.error, sweep.milliseconds, sweep.worked_at) == (
        "OperationalError",
        5,
        worked_at and worked_at - SECOND,
    )


def test_no_more_are_claimed_than_a_worker_has_threads() -> None:
    assert len(claims.claim(FIRST, list(SWEEPS), 3)) == 3


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_that_claim_at_once_one_gets_each_sweep() -> None:
    claims.register()
    found = at_once(8, lambda _: claims.claim(uuid4(), list(SWEEPS), len(SWEEPS)))
    counts = Counter(claim.name for batch in found for claim in batch)
    assert counts == dict.fromkeys(SWEEPS, 1)

"""A hold is extended exactly when the provider says so, by what was asked, as often as may be and no more."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from payments.domain.charging import expiry, operations
from payments.domain.maintenance.test_clock import advance
from payments.domain.shared.caller import Caller, IdempotencyKey
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.idempotency import Replay
from payments.models import Attempt, Charge
from payments.providers.base import Capabilities
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from tests.charging.doubles import Double, LosesAnswers, Unreachable, provider
from tests.charging.elapsed_time import WEEK, extend, let_time_pass, recover, row_of, stands
from tests.client import CHALLENGED, DECLINED, Api, made
from tests.concurrency import at_once
from tests.invariants.test_invariants import broken


def refusal(do: Callable[[], object]) -> str:
    with pytest.raises(PaymentError) as refused:
        do()
    return refused.value.code


def test_a_hold_is_kept_for_a_week_longer(api: Api) -> None:
    charge = api.held()
    before = row_of(charge)
    assert extend(charge).refusal is None
    after = row_of(charge)
    assert before.hold_expires_at is not None
    assert after.hold_expires_at == before.hold_expires_at + WEEK
    assert stands(charge) == (True, 7, "")
    assert SimulatedPayment.objects.get().extended_days == 7


def test_it_moves_no_money_and_writes_one_event(api: Api) -> None:
    charge = api.held()
    before = [event["type"] for event in made(api.get("/events/", object=charge["id"]))["data"]]
    extend(charge)
    after = [event["type"] for event in made(api.get("/events/", object=charge["id"]))["data"]]
    announced = {name: value for name, value in api.read(charge).items() if name != "updated_at"}
    assert after == ["charge.updated", *before]
    assert announced == {name: value for name, value in charge.items() if name != "updated_at"}
    assert broken() == {}


def test_a_hold_ends_28_days_after_its_authorization_at_the_latest(api: Api) -> None:
    charge = api.held()
    before = row_of(charge)
    for _ in range(3):
        extend(charge)
    assert refusal(lambda: extend(charge)) == "charge_not_extendable"
    after = row_of(charge)
    assert before.hold_expires_at is not None
    assert after.hold_expires_at == before.hold_expires_at + 3 * WEEK
    assert SimulatedOperation.objects.count() == 3


def test_the_same_key_extends_once(api: Api) -> None:
    charge = api.held()
    caller = Caller.service(row_of(charge)).under(IdempotencyKey("act-7", b"7" * 32))
    operations.extend(caller, charge["id"])
    with pytest.raises(Replay):
        operations.extend(caller, charge["id"])
    assert stands(charge) == (True, 7, "")


def test_the_database_keeps_no_hold_for_longer(api: Api) -> None:
    api.held()
    with pytest.raises(IntegrityError), transaction.atomic():
        Charge.objects.update(hold_extended_days=22)


@pytest.mark.parametrize(
    "make",
    [
        lambda api: api.charge(),
        lambda api: api.charge(DECLINED),
        lambda api: api.charge(CHALLENGED),
        lambda api: made(api.post(f"/charges/{api.held()['id']}/void")),
        lambda api: made(api.post(f"/charges/{api.held()['id']}/capture")),
    ],
    ids=["captured", "failed", "pending", "voided", "captured later"],
)
def test_what_is_not_held_is_not_extended(api: Api, make: Callable[[Api], dict[str, Any]]) -> None:
    charge = make(api)
    assert refusal(lambda: extend(charge)) == "charge_not_extendable"
    assert not Attempt.objects.filter(kind="extend").exists()


def test_where_the_provider_extends_no_holds_it_is_not_asked(api: Api) -> None:
    charge = api.held()
    with provider(Double(capabilities=Capabilities(hold=True))):
        assert refusal(lambda: extend(charge)) == "charge_not_extendable"
    assert not Attempt.objects.filter(kind="extend").exists()


def test_what_the_provider_refuses_changes_nothing(api: Api) -> None:
    charge = api.held()
    before = row_of(charge)
    SimulatedPayment.objects.update(extended_days=20)
    assert (answered := extend(charge).refusal)
    assert answered.code == "charge_not_extendable"
    assert row_of(charge).hold_expires_at == before.hold_expires_at
    assert stands(charge) == (True, 0, "")


def test_what_was_never_sent_may_be_asked_again(api: Api) -> None:
    charge = api.held()
    with provider(Unreachable()):
        assert refusal(lambda: extend(charge)) == "provider_unavailable"
    assert stands(charge) == (True, 0, "")
    assert extend(charge).refusal is None


def test_a_hold_that_is_being_extended_is_not_released_though_its_time_is_over(api: Api) -> None:
    charge = api.held()
    with provider(LosesAnswers()):
        extend(charge)
    let_time_pass(Charge, "hold_expires_at")
    assert expiry.void_expired_holds() == 0
    recover()
    assert (expiry.void_expired_holds(), stands(charge)) == (0, (True, 7, ""))


def test_a_hold_whose_time_is_over_is_extended_until_it_is_released(api: Api) -> None:
    charge = api.held()
    let_time_pass(Charge, "hold_expires_at")
    extend(charge)
    assert expiry.void_expired_holds() == 0
    let_time_pass(Charge, "hold_expires_at")
    assert expiry.void_expired_holds() == 1
    assert refusal(lambda: extend(charge)) == "charge_not_extendable"


def test_a_sweep_that_found_a_hold_over_leaves_it_where_it_was_extended_meanwhile(api: Api) -> None:
    charge = api.held()
    caller = Caller.service(row_of(charge))
    assert refusal(lambda: operations.release(caller, charge["id"], expired_only=True)) == "charge_not_voidable"
    assert stands(charge)[0]


def test_the_rest_of_a_hold_that_is_extended_can_be_captured(api: Api) -> None:
    charge = api.held()
    extend(charge)
    assert made(api.post(f"/charges/{charge['id']}/capture", {"amount": 4_000}))["amount_captured"] == 4_000
    assert broken() == {}


def test_moved_time_ends_an_extended_hold_after_14_days(api: Api) -> None:
    charge = api.held()
    caller = Caller.service(row_of(charge))
    extend(charge)
    advance(caller, timedelta(days=13))
    assert stands(charge)[0]
    advance(caller, timedelta(days=1, seconds=1))
    assert api.read(charge)["status"] == "voided"


@pytest.mark.django_db(transaction=True)
def test_of_extension_and_the_end_of_the_hold_one_after_the_other_is_done(api: Api) -> None:
    charge = api.held()
    let_time_pass(Charge, "hold_expires_at")
    acts: list[Callable[[], object]] = [lambda: extend(charge).refusal, expiry.void_expired_holds]

    def act(number: int) -> object:
        try:
            return acts[number]()
        except PaymentError as refused:
            return refused.code

    answers = at_once(2, act)
    held, days, operation = stands(charge)
    assert (answers, held, days, operation) in [([None, 0], True, 7, ""), (["charge_not_extendable", 1], False, 0, "")]
    assert broken() == {}


@pytest.mark.django_db(transaction=True)
def test_of_four_extensions_at_once_three_are_done(api: Api) -> None:
    charge = api.held()

    def act(_: int) -> object:
        try:
            return extend(charge).refusal
        except PaymentError as refused:
            return refused.code

    assert sorted(map(str, at_once(4, act))) == ["None", "None", "None", "charge_not_extendable"]
    assert stands(charge) == (True, 21, "")
    assert broken() == {}

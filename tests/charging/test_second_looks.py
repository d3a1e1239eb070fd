"""What the provider knew nothing of is looked up again later, for it may have arrived after all."""

import os
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from payments import clock
from payments.domain.charging import recovery
from payments.domain.charging.attempts import payment_of
from payments.domain.due_rows import SECOND_LOOK_DELAYS_SECONDS
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge
from payments.models.charging.attempt import SECOND_LOOKS
from payments.providers.base import Outcome, WebhookEvent
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import (
    ArrivesLateAndDies,
    ArrivesLateUnheard,
    Do,
    Double,
    KnowsNothing,
    Unreachable,
    provider,
)
from tests.charging.elapsed_time import recover, settle_refunds
from tests.client import NEVER_ARRIVES, REFUNDS_WAIT, Api, made
from tests.concurrency import at_once
from tests.operators.corrections import corrected, unknown_payment

# For other processes and threads, for a check of the money, and where an overtaken record fails.
committed = pytest.mark.django_db(transaction=True)
VERBS = ["charge", "capture", "void", "refund"]


def prepared(api: Api, verb: str) -> Callable[[], object]:
    """Return the request for `verb`, with all that it needs."""
    if verb == "charge":
        body = {"amount": 10_000, "currency": "PHP", "source": api.source(), "description": "Slow"}
        return lambda: Api(api.key).post("/charges/", body)
    charge = api.charge() if verb == "refund" else api.held()
    body = {} if verb == "void" else {"amount": 4_000}
    return lambda: Api(api.key).post(f"/charges/{charge['id']}/{verb}", body)


def killed(do: Callable[[], object]) -> None:
    """Run it in a process that is killed meanwhile."""
    connection.close()
    child = os.fork()
    if child == 0:
        do()
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


def given_up(api: Api) -> Attempt:
    """Return an attempt that never reaches the provider."""
    api.charge(NEVER_ARRIVES)
    recover()
    return Attempt.objects.get()


def arrived_unheard(api: Api, verb: str) -> Attempt:
    """Return an attempt that was given up and arrived later, unreported."""
    do = prepared(api, verb)
    with provider(ArrivesLateUnheard()):
        do()
    return Attempt.objects.get(outcome="NotFound")


def standing() -> tuple[str, int, int]:
    """How the one charge stands, and what was captured and refunded of it."""
    charge = Charge.objects.get()
    return charge.status, charge.amount_captured, charge.amount_refunded


def look_again() -> None:
    """Run the second look, and what follows from it."""
    recover()
    recovery.resolve_due()


AFTERWARDS = {
    "charge": ("failed", 0, 0),
    "capture": ("succeeded", 4_000, 0),
    "void": ("voided", 0, 0),
    "refund": ("succeeded", 10_000, 4_000),
}


@pytest.mark.long
@committed
@pytest.mark.parametrize("verb", VERBS)
def test_what_a_stalled_process_sent_before_it_was_killed_is_found(api: Api, verb: str) -> None:
    do = prepared(api, verb)
    with provider(ArrivesLateAndDies()):
        killed(do)
    assert Attempt.objects.filter(state="done", outcome="NotFound").count() == 1

    look_again()

    assert standing() == AFTERWARDS[verb]
    assert not Attempt.objects.filter(due_at__isnull=False).exists()
    assert checks.run(INVARIANTS).failures == []


@pytest.mark.long
@committed
@pytest.mark.parametrize("verb", VERBS)
def test_what_a_stalled_process_sent_that_then_received_nothing_is_found(api: Api, verb: str) -> None:
    attempt = arrived_unheard(api, verb)

    look_again()

    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.due_at) == ("LateApproved", None)
    assert standing() == AFTERWARDS[verb]
    assert checks.run(INVARIANTS).failures == []


@committed
def test_money_of_a_failed_charge_that_is_found_goes_back_to_its_payer(api: Api) -> None:
    arrived_unheard(api, "charge")
    assert SimulatedPayment.objects.get().state == "captured"

    look_again()

    assert Charge.objects.get().reversed_late
    assert SimulatedPayment.objects.get().state == "voided"


@committed
def test_until_it_is_found_the_provider_may_be_ahead_of_us(api: Api) -> None:
    arrived_unheard(api, "charge")
    assert checks.run(INVARIANTS).failures == []


@committed
def test_a_refund_that_is_found_pending_is_waited_for(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT)
    with provider(ArrivesLateUnheard()):
        api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000})
    look_again()
    assert standing() == ("succeeded", 10_000, 0)

    settle_refunds()

    assert standing() == ("succeeded", 10_000, 4_000)
    assert not Attempt.objects.filter(due_at__isnull=False).exists()


def test_it_is_looked_up_after_ten_minutes_an_hour_and_a_day_and_then_no_more(api: Api) -> None:
    attempt = given_up(api)
    passed = timedelta()
    for after in (timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)):
        assert attempt.due_at
        passed += attempt.due_at - attempt.updated_at
        # Each lookup is due so long after the one before, which here took no time.
        assert abs(passed - after) < timedelta(minutes=1)
        Attempt.objects.update(due_at=clock.now(), updated_at=clock.now())
        assert recovery.resolve_due() == 1
        attempt.refresh_from_db()

    assert (attempt.outcome, attempt.due_at, attempt.tries) == ("NotFound", None, SECOND_LOOKS)
    assert standing() == ("failed", 0, 0)


def test_the_lookups_by_which_it_was_given_up_do_not_count(api: Api) -> None:
    api.charge(NEVER_ARRIVES)
    Attempt.objects.update(tries=9)
    recover()
    attempt = Attempt.objects.get()
    assert attempt.due_at
    assert (attempt.tries, attempt.due_at - clock.now() < timedelta(minutes=11)) == (0, True)


@committed
@pytest.mark.parametrize("double", [KnowsNothing(), Unreachable()], ids=["unknown", "unreachable"])
def test_a_lookup_that_shows_nothing_is_not_the_last(api: Api, double: Simulator) -> None:
    attempt = arrived_unheard(api, "charge")
    with provider(double):
        for _ in range(SECOND_LOOKS + 1):
            recover()
    attempt.refresh_from_db()
    assert attempt.due_at
    assert attempt.due_at > clock.now()

    look_again()

    assert SimulatedPayment.objects.get().state == "voided"


def test_one_that_is_not_due_is_left_alone(api: Api) -> None:
    given_up(api)
    assert recovery.resolve_due() == 0


@committed
def test_of_many_processes_one_looks_it_up(api: Api) -> None:
    attempt = given_up(api)
    lookups = Counter[str]()

    def resolve(do: Do, asked: object) -> Outcome:
        lookups.update(["resolve"])
        return do()

    with provider(Double(resolve=resolve)):
        claimed = at_once(8, lambda _: recovery.resolve(attempt))
    assert (sum(claimed), lookups.total()) == (1, 1)


@committed
def test_what_a_lookup_finds_while_the_provider_reports_it_is_moved_once(api: Api) -> None:
    attempt = arrived_unheard(api, "charge")
    found = WebhookEvent(attempt.reference, Simulator().resolve(payment_of(attempt)))

    at_once(8, lambda number: recovery.resolve(attempt) if number % 2 else recovery.apply_event(found))

    assert Attempt.objects.filter(kind="reverse").count() == 1
    look_again()
    assert checks.run(INVARIANTS).failures == []


@committed
def test_what_is_found_beside_another_operation_is_found_again_when_that_is_over(api: Api) -> None:
    attempt = arrived_unheard(api, "refund")
    Charge.objects.update(operation="refund")
    for _ in range(SECOND_LOOKS + 1):
        recover()
    assert standing() == ("succeeded", 10_000, 0)

    Charge.objects.update(operation="")
    recover()

    assert standing() == ("succeeded", 10_000, 4_000)
    attempt.refresh_from_db()
    assert attempt.due_at is None


@committed
def test_what_cannot_be_true_of_the_charge_any_more_moves_nothing_and_is_looked_up_no_more(api: Api) -> None:
    attempt = arrived_unheard(api, "capture")
    [charge] = made(api.get("/charges/"))["data"]
    assert made(api.post(f"/charges/{charge['id']}/void"))["status"] == "voided"

    for _ in range(SECOND_LOOKS):
        recover()

    attempt.refresh_from_db()
    assert (standing(), attempt.due_at) == (("voided", 0, 0), None)
    assert checks.run(INVARIANTS).failures == []


def test_what_operators_gave_up_is_looked_up_again_too(api: Api) -> None:
    corrected(unknown_payment(api), "never_arrived")
    assert standing() == ("failed", 0, 0)

    look_again()

    assert Charge.objects.get().reversed_late
    assert SimulatedPayment.objects.get().state == "voided"


def test_nothing_is_given_up_without_being_looked_up_again(api: Api) -> None:
    given_up(api)
    with pytest.raises(IntegrityError, match="attempt_is_due_or_done"), transaction.atomic():
        Attempt.objects.update(due_at=None, tries=SECOND_LOOKS - 1)


def test_what_has_another_outcome_is_due_no_more(api: Api) -> None:
    api.charge()
    with pytest.raises(IntegrityError, match="attempt_is_due_or_done"), transaction.atomic():
        Attempt.objects.update(due_at=clock.now())


def test_the_schedule_has_a_delay_for_each_lookup() -> None:
    assert len(SECOND_LOOK_DELAYS_SECONDS) == SECOND_LOOKS

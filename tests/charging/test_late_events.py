"""What a provider reports later, again, or about nothing."""

import pytest

from payments import clock
from payments.domain.charging import outcome_rules, recovery
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.ledger import movements
from payments.ledger.movements import Movement
from payments.models import Attempt, Charge, Event
from payments.providers.base import Approved, Declined, WebhookEvent
from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import run_sweep
from tests.charging.doubles import PaidAtTheLastMoment, provider
from tests.charging.elapsed_time import arrive_late, let_time_pass, recover, settle_refunds
from tests.client import NEVER_ARRIVES, REFUNDS_FAIL, Api


def test_money_that_comes_after_the_charge_failed_is_reversed_and_shown(api: Api) -> None:
    charge = api.charge(NEVER_ARRIVES)
    recover()
    event = arrive_late(Attempt.objects.get())

    for _ in range(2):
        recovery.apply_event(event)
    recover()

    after = api.read(charge)
    assert after["status"] == "failed"
    assert Charge.objects.get().reversed_late
    assert SimulatedPayment.objects.get().state == "voided"
    assert Attempt.objects.get(kind="reverse").state == "done"


@pytest.mark.django_db(transaction=True)
def test_a_payer_who_pays_as_the_payment_is_being_ended_was_in_time(api: Api) -> None:
    charge = api.charge_source(api.wallet())
    let_time_pass(Charge, "action_expires_at")
    with provider(PaidAtTheLastMoment()):
        recover()
    run_sweep("apply_simulator_messages")
    recover()

    assert api.read(charge)["status"] == "succeeded"
    assert not Attempt.objects.filter(kind="reverse").exists()
    assert checks.run(INVARIANTS).failures == []


def test_a_repeated_report_changes_nothing(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    api.post(f"/charges/{charge['id']}/refund")
    settle_refunds()
    before, events = api.read(charge), Event.objects.count()
    reference = Attempt.objects.get(kind="refund").reference

    for outcome in (Declined("processing_error"), Approved("so_1")):
        recovery.apply_event(WebhookEvent(reference, outcome))

    assert api.read(charge) == before
    assert Event.objects.count() == events


@pytest.mark.parametrize("is_settled", [True, False])
def test_a_refund_made_after_it_failed_is_taken_from_where_its_money_is(api: Api, is_settled: bool) -> None:
    charge = api.charge(REFUNDS_FAIL)
    api.post(f"/charges/{charge['id']}/refund", {"amount": 4000})
    settle_refunds()
    attempt = Attempt.objects.select_related("charge", "refund").get(kind="refund")
    attempt.charge.settled_at = clock.now() if is_settled else None
    changes = outcome_rules.succeed_failed_refund(attempt, clock.now())
    moved = [change for change in changes if isinstance(change, Movement)]
    assert moved == [movements.refund_succeeded_late(4000, is_settled=is_settled)]


def test_a_report_of_an_unknown_reference_is_ignored(db: None) -> None:
    recovery.apply_event(WebhookEvent("0" * 32, Approved("sp_1")))
    assert not Event.objects.exists()

"""After a restore to a moment in the past, what the provider did since is booked or left to operators."""

import io

import pytest
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management import CommandError, call_command
from pytest_django import Settings

from payments import clock
from payments.domain.charging import operations
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.reconciliation import items
from payments.domain.shared.caller import Caller
from payments.models import Attempt, Card, Charge, ProviderAccount, ReconciliationItem, ReconciliationRun
from payments.providers.simulator.models import Entry, SimulatedPayment
from payments.tasks import run_sweep
from tests.client import APPROVED, CHALLENGED, REFUNDS_FAIL, Api, error_of, made
from tests.reconciliation.factories import kinds
from tests.restore.command import on, recovered
from tests.restore.restored import lost

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    settings.RECONCILIATION_MARGIN_MINUTES = 0
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 0


def test_where_nothing_was_lost_nothing_is_booked_and_nothing_is_left(api: Api) -> None:
    charge = api.charge()
    with lost() as moment:
        pass
    before = Attempt.objects.count()
    assert "booked" not in recovered(moment)
    assert Attempt.objects.count() == before
    assert api.read(charge)["amount_captured"] == 10_000


def test_a_capture_that_was_lost_is_booked_with_its_amount(api: Api) -> None:
    charge = api.held()
    with lost() as moment:
        on(api, charge, "capture", {"amount": 6_000})
    assert not api.read(charge)["captured"]
    assert "booked: capture Approved" in recovered(moment)
    assert api.read(charge)["amount_captured"] == 6_000
    assert Entry.objects.filter(kind="capture").count() == 1


def test_a_void_that_was_lost_is_booked(api: Api) -> None:
    held, captured = api.held(), api.charge()
    with lost() as moment:
        on(api, held, "void")
        on(api, captured, "void")
    recovered(moment)
    assert [api.read(charge)["status"] for charge in (held, captured)] == ["voided", "voided"]


def test_an_extension_that_was_lost_is_booked(api: Api) -> None:
    charge = api.held()
    with lost() as moment:
        operations.extend(Caller.service(Charge.objects.get()), charge["id"])
    recovered(moment)
    assert Charge.objects.get().hold_extended_days == 7


def test_refunds_that_were_lost_are_booked_one_by_one(api: Api) -> None:
    charge = api.charge()
    with lost() as moment:
        on(api, charge, "refund", {"amount": 1_000})
        on(api, charge, "refund", {"amount": 2_000})
    recovered(moment)
    assert [refund["amount"] for refund in api.read(charge)["refunds"]] == [2_000, 1_000]
    assert api.read(charge)["amount_refunded"] == 3_000


def test_a_refund_that_was_lost_and_failed_there_is_booked_as_failed(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    with lost() as moment:
        on(api, charge, "refund", {"amount": 1_000})
        run_sweep("apply_simulator_messages")
    recovered(moment)
    [refund] = api.read(charge)["refunds"]
    assert (refund["status"], api.read(charge)["amount_refunded"]) == ("failed", 0)


def test_a_capture_and_a_refund_of_it_are_both_booked(api: Api) -> None:
    charge = api.held()
    with lost() as moment:
        on(api, charge, "capture")
        on(api, charge, "refund", {"amount": 4_000})
    recovered(moment)
    assert (api.read(charge)["amount_captured"], api.read(charge)["amount_refunded"]) == (10_000, 4_000)


def test_a_payment_that_its_payer_approved_in_the_lost_time_is_booked(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    with lost() as moment:
        SimulatedPayment.objects.update(state="captured", amount_captured=10_000)
        payment = SimulatedPayment.objects.get()
        Entry.objects.create(payment=payment, reference=payment.reference, kind="capture", amount=10_000)
    assert api.read(charge)["status"] == "pending"
    recovered(moment)
    assert api.read(charge)["status"] == "succeeded"


def test_a_payment_that_its_payer_refused_in_the_lost_time_is_looked_up_before_its_action_expires(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    with lost() as moment:
        SimulatedPayment.objects.update(state="declined", decline_code="card_declined")
    assert "operations looked up  1" in recovered(moment)
    assert api.read(charge)["status"] == "failed"


def test_a_charge_that_nobody_knows_here_is_an_item_with_the_providers_reference(api: Api) -> None:
    with lost() as moment:
        api.charge(amount=7_000)
    output = recovered(moment, ends_with=1)
    assert "simulator, “Not in ledger”: 1" in output
    line = ReconciliationItem.objects.get().line
    payment = SimulatedPayment.objects.get()
    assert line is not None
    assert (line.reference, line.provider_ref, line.amount) == (payment.reference, str(payment), 7_000)
    assert not Charge.objects.exists()


def test_a_hold_that_nobody_knows_here_is_an_item_though_no_money_moved(api: Api) -> None:
    with lost() as moment:
        api.held()
    recovered(moment, ends_with=1)
    line = ReconciliationItem.objects.get().line
    assert line is not None
    assert line.word == "authorize, not known here"


def test_money_that_nobody_knows_here_is_known_once_an_operator_has_closed_it(
    api: Api, django_user_model: type[AbstractBaseUser]
) -> None:
    with lost() as moment:
        api.charge()
    recovered(moment, ends_with=1)
    operator = django_user_model._default_manager.create(username="ana")
    items.close(ReconciliationItem.objects.get(), operator, "refunded at the provider")
    recovered(moment)


def test_a_void_of_what_was_settled_here_meanwhile_is_left_to_operators(api: Api) -> None:
    charge = api.charge()
    with lost() as moment:
        on(api, charge, "void")
    Charge.objects.update(settle_due_at=clock.now())
    run_sweep("settle_due")
    recovered(moment, ends_with=1)
    assert kinds() == ["missing_here"]
    assert api.read(charge)["status"] == "succeeded"


def test_a_live_providers_report_of_the_lost_time_is_asked_for_until_it_was_read(shop: NewMerchant) -> None:
    ProviderAccount.objects.create(
        merchant=shop.merchant, livemode=True, provider="adyen", title="Adyen", sealed_credentials=b"-"
    )
    with lost() as moment:
        pass
    assert "reconcile FILE --mapping adyen --from" in recovered(moment, ends_with=1)
    now = clock.now()
    ReconciliationRun.objects.create(provider="adyen", started_by="command", covers_from=moment, covers_to=now)
    call_command("recover_after_restore", "--since", clock.iso(moment), "--until", clock.iso(now), stderr=io.StringIO())


@pytest.mark.long
def test_a_second_run_books_nothing_twice(api: Api) -> None:
    charge = api.held()
    with lost() as moment:
        on(api, charge, "capture")
        on(api, charge, "refund", {"amount": 4_000})
        api.charge()
        api.held()
    recovered(moment, ends_with=1)
    attempts, found = Attempt.objects.count(), ReconciliationItem.objects.count()
    assert "booked" not in recovered(moment, ends_with=1)
    assert (Attempt.objects.count(), ReconciliationItem.objects.count()) == (attempts, found)
    assert api.read(charge)["amount_refunded"] == 4_000


def test_a_run_after_the_workers_reconciliation_matches_what_it_had_found_missing(api: Api) -> None:
    charge = api.held()
    with lost() as moment:
        on(api, charge, "capture")
    run_sweep("reconcile_simulator")
    assert kinds() == ["missing_here"]
    recovered(moment)
    assert kinds() == []


def test_a_retry_of_a_lost_charge_finds_its_source_closed(api: Api) -> None:
    source = api.source(APPROVED)
    body = {"amount": 10_000, "currency": "PHP", "source": source, "description": "Halo-halo"}
    with lost() as moment:
        made(api.post("/charges/", body, key="order-1"))
    recovered(moment, ends_with=1)
    assert error_of(api.post("/charges/", body, key="order-1"))["code"] == "source_expired"
    assert Entry.objects.filter(kind="capture").count() == 1


def test_the_card_of_a_payment_that_waits_for_its_payer_stays(api: Api) -> None:
    api.charge(CHALLENGED, require_auth=True)
    with lost() as moment:
        pass
    recovered(moment)
    assert Card.objects.get().sealed_number


def test_a_retry_of_a_lost_charge_on_a_newer_source_finds_no_source(api: Api) -> None:
    with lost() as moment:
        body = {"amount": 10_000, "currency": "PHP", "source": api.source(APPROVED), "description": "Halo-halo"}
        made(api.post("/charges/", body, key="order-1"))
    recovered(moment, ends_with=1)
    assert error_of(api.post("/charges/", body, key="order-1"))["code"] == "resource_missing"
    assert Entry.objects.filter(kind="capture").count() == 1


@pytest.mark.parametrize("moment", ["2999-01-01", "yesterday"])
def test_a_moment_that_is_none_of_the_past_is_refused(moment: str) -> None:
    with pytest.raises(CommandError):
        call_command("recover_after_restore", "--since", moment)

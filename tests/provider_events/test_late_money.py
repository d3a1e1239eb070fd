"""Money that comes after we gave a payment up goes back, also where the provider does that later."""

from typing import Any

import pytest

from payments import ids
from payments.domain.checkout import payments
from payments.domain.merchants.merchants import NewMerchant
from payments.inbox.rows import late_payments
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge, ProviderAccount
from payments.providers.base import Unknown
from payments.providers.references import FollowUp, reference_of
from payments.providers.simulator.books import approve
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import let_time_pass, recover
from tests.checkout.cast import charges_of, opened, pay_by_wallet, row_of
from tests.client import Api
from tests.provider_events.psp import WebhookPsp, announce, approved, declined, event_about, name_of, standing
from tests.routing.doubles import account_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def late(live: Api, psp: WebhookPsp, account: ProviderAccount) -> dict[str, Any]:
    """Return a charge that failed when the payer's time was over and was paid afterwards."""
    charge = live.charge_source(live.wallet())
    let_time_pass(Charge, "action_expires_at")
    recover()
    assert live.read(charge)["failure_data"]["code"] == "action_expired"
    approve(SimulatedPayment.objects.get(), send_message=False)
    return charge


def going_back() -> list[int]:
    """Return the amounts of late money in the inbox."""
    return [attempt.amount for attempt in late_payments(None)]


def reversal() -> Attempt:
    return Attempt.objects.get(kind="reverse")


@pytest.mark.parametrize("outcome", [approved(captured=True), None], ids=["announced", "asked"])
def test_a_late_success_is_sent_back_once_the_provider_reports_it(
    live: Api, psp: WebhookPsp, account: ProviderAccount, late: dict[str, Any], outcome: Any
) -> None:
    announce(account, event_about(name_of("authorize"), outcome))
    assert (live.read(late)["status"], Charge.objects.get().reversed_late) == ("failed", True)

    for _ in range(3):
        recover()
    assert (reversal().state, len(psp.announced)) == ("waiting", 1)
    assert going_back() == [10_000]
    announce(account, *psp.announced)
    assert going_back() == []

    assert (reversal().state, reversal().outcome) == ("done", "Approved")
    assert SimulatedPayment.objects.get().state == "voided"
    assert {state for state, _ in standing()} == {"applied"}


def test_late_money_is_refunded_where_the_provider_answers_that_it_does_not_void(
    psp: WebhookPsp, account: ProviderAccount, late: dict[str, Any]
) -> None:
    announce(account, event_about(name_of("authorize"), approved(captured=True)))
    psp.voids = False
    recover()
    psp.announced.clear()
    announce(account, event_about(name_of("reverse"), declined()))
    for _ in range(3):
        recover()

    [refund] = psp.announced
    assert (refund.reference, reversal().state) == (reference_of(reversal().id, FollowUp.REFUND), "waiting")
    announce(account, refund)

    assert (reversal().state, SimulatedPayment.objects.get().amount_refunded) == ("done", 10_000)
    assert {state for state, _ in standing()} == {"applied"}


@pytest.mark.parametrize("of_this_account", [True, False])
def test_a_decline_of_something_else_is_none_of_the_void_of_late_money(
    psp: WebhookPsp, account: ProviderAccount, shop: NewMerchant, late: dict[str, Any], of_this_account: bool
) -> None:
    announce(account, event_about(name_of("authorize"), approved(captured=True)))
    if of_this_account:
        announce(account, event_about(ids.new_id().hex, declined()))
    else:
        announce(account_at(psp, shop.merchant, title="Second"), event_about(name_of("reverse"), declined()))
    recover()
    announce(account, *psp.announced)
    assert SimulatedPayment.objects.get().state == "voided"


def test_a_refund_of_late_money_that_fails_is_not_given_up(
    psp: WebhookPsp, account: ProviderAccount, late: dict[str, Any]
) -> None:
    announce(account, event_about(name_of("authorize"), approved(captured=True)))
    psp.voids = False
    recover()
    announce(account, event_about(name_of("reverse"), declined()))
    recover()
    announce(account, event_about(reference_of(reversal().id, FollowUp.REFUND), declined()))
    assert reversal().state == "unknown"


def test_a_payment_that_is_ended_by_a_webhook_fails(live: Api, psp: WebhookPsp, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet())
    ended = reference_of(Attempt.objects.get().id, FollowUp.CANCEL)
    announce(account, event_about(ended, approved(), amount=None))
    assert live.read(charge)["failure_data"]["code"] == "action_expired"


def test_a_payment_whose_payer_gave_up_and_that_is_ended_by_a_webhook_was_cancelled_by_the_payer(
    live: Api, psp: WebhookPsp, account: ProviderAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(live, payment_method_types=["gcash"])
    pay_by_wallet(session)
    monkeypatch.setattr(psp, "cancel", lambda operation: Unknown("timed out"))
    assert not payments.give_up(row_of(session))
    announce(account, event_about(reference_of(Attempt.objects.get().id, FollowUp.CANCEL), approved(), amount=None))
    assert [(charge.failure_data or {})["code"] for charge in charges_of(session)] == ["payer_cancelled"]


@pytest.mark.parametrize("outcome", [approved(), declined()], ids=["ended", "not ended"])
def test_the_result_of_cancelling_a_payment_that_is_over_is_no_news(
    live: Api, account: ProviderAccount, late: dict[str, Any], outcome: Any
) -> None:
    known = live.read(late)
    announce(account, event_about(reference_of(Attempt.objects.get().id, FollowUp.CANCEL), outcome, amount=None))
    assert live.read(late) == known
    assert standing() == [("applied", "")]


def test_a_payment_that_could_not_be_ended_waits_on(live: Api, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet())
    ended = reference_of(Attempt.objects.get().id, FollowUp.CANCEL)
    announce(account, event_about(ended, declined(), amount=None))
    assert live.read(charge) == charge


def test_a_reversal_whose_answer_is_lost_is_looked_up_before_it_is_asked_for_again(
    psp: WebhookPsp, account: ProviderAccount, late: dict[str, Any]
) -> None:
    announce(account, event_about(name_of("authorize"), approved(captured=True)))
    recover()
    psp.found = Unknown("timed out")
    recover()
    psp.found = None
    recover()
    assert (len(psp.announced), reversal().state) == (1, "waiting")


@pytest.mark.django_db(transaction=True)
def test_the_money_is_in_order_after_all(psp: WebhookPsp, account: ProviderAccount, late: dict[str, Any]) -> None:
    announce(account, event_about(name_of("authorize"), approved(captured=True)))
    recover()
    announce(account, *psp.announced)
    assert checks.run(INVARIANTS).failures == []

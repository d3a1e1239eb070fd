"""Money of an attempt that had failed comes late: it is given back, and the checkout that is being paid stays so."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from payments.domain.charging import recovery
from payments.domain.checkout import payments, sessions
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import public_id
from payments.models import Attempt, Charge, Checkout, PayerMessage
from payments.providers.base import Approved, Declined, Outcome, WebhookEvent
from payments.providers.simulator.books import approve
from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import run_sweep
from tests.charging.doubles import Double, provider
from tests.charging.elapsed_time import arrive_late, let_time_pass, recover
from tests.checkout import shelf
from tests.checkout.cast import SETUP, billed, charges_of, event_types, opened, pay, pay_by_wallet, row_of, shown
from tests.client import CHALLENGED, NEVER_ARRIVES, Api, error_of, made
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db
State = Checkout.State
MONEY, DECLINE = Approved("P1", captured=True), Declined("card_declined")
# Begins the attempt of a checkout that is under way when the money of the one before comes.
Begin = Callable[[dict[str, Any]], Charge]


def absent(checkout: dict[str, Any]) -> Attempt:
    """Lose a payment on its way: it is found absent, and the checkout is free again."""
    pay(checkout, NEVER_ARRIVES)
    recover()
    return Attempt.objects.latest("created_at")


def received(checkout: dict[str, Any]) -> Attempt:
    """Give a wallet's payment up whose provider only receives the cancel, so that its page stays open."""
    pay_by_wallet(checkout)
    with provider(Double(cancel=Approved("received"))):
        assert payments.give_up(row_of(checkout))
    return Attempt.objects.latest("created_at")


def comes_late(attempt: Attempt) -> None:
    """Have the money of an attempt arrive at last, and be reported."""
    booked = SimulatedPayment.objects.filter(reference=attempt.reference).first()
    if booked:
        approve(booked, send_message=True)
        run_sweep("apply_simulator_messages")
    else:
        recovery.apply_event(arrive_late(attempt))


def in_3d_secure(checkout: dict[str, Any]) -> Charge:
    return pay(checkout, CHALLENGED)


def decided(charge: Charge) -> None:
    """Pay on the page of the bank or wallet, and come back."""
    assert charge.action
    came = Client().post(path_of(charge.action["url"]), {"decision": "pay"})
    Client().get(path_of(came["Location"]))


@pytest.mark.parametrize("first", [absent, received])
@pytest.mark.parametrize("second", [in_3d_secure, pay_by_wallet])
def test_late_money_leaves_the_attempt_under_way_alone_which_then_pays(api: Api, first: Any, second: Begin) -> None:
    session = opened(api)
    attempt = first(session)
    charge = second(session)
    comes_late(attempt)
    assert (row_of(session).state, row_of(session).attempts) == (State.PAYING, 2)

    decided(charge)

    assert [(each.status, each.reversed_late) for each in charges_of(session)] == [
        ("failed", True),
        ("succeeded", False),
    ]
    assert shown(api, session)["payment_status"] == "paid"
    assert event_types(api, session) == ["checkout_session.created", "checkout_session.completed"]
    recover()
    assert Attempt.objects.get(kind="reverse").outcome == "Approved"


def test_late_money_leaves_a_hold_alone(api: Api) -> None:
    session = opened(api, **SETUP)
    attempt = absent(session)
    pay(session)
    comes_late(attempt)
    assert shown(api, session)["payment_status"] == "authorized"


@pytest.mark.parametrize("first", [absent, received])
@pytest.mark.parametrize("late", [[DECLINE], [DECLINE, MONEY], [MONEY, DECLINE], [MONEY, MONEY]])
def test_late_messages_in_any_order_move_a_request_no_more(api: Api, first: Any, late: list[Outcome]) -> None:
    request = billed(api)
    attempt = first(request)
    in_3d_secure(request)
    before = event_types(api, request)
    for outcome in late:
        recovery.apply_event(WebhookEvent(attempt.reference, outcome))
    assert (row_of(request).state, event_types(api, request)) == (State.PAYING, before)


def test_a_session_cannot_expire_while_its_payer_pays_after_late_money(api: Api) -> None:
    session = opened(api)
    attempt = absent(session)
    in_3d_secure(session)
    comes_late(attempt)
    refused = api.post(f"/checkout_sessions/{session['id']}/expire")
    let_time_pass(Checkout, "expires_at")
    assert (error_of(refused)["code"], sessions.expire_due()) == ("session_busy", 0)


def test_a_request_that_is_being_paid_after_late_money_cannot_be_voided_and_is_paid(api: Api) -> None:
    request = billed(api)
    attempt = absent(request)
    charge = in_3d_secure(request)
    comes_late(attempt)
    refused = api.post(f"/payment_requests/{request['id']}/void", {"reason": "Sent twice"})
    assert error_of(refused)["code"] == "request_busy"
    decided(charge)
    assert (shown(api, request)["paid"], shown(api, request)["voided"]) == (True, False)


def test_late_money_is_no_second_decline(api: Api, shop: NewMerchant) -> None:
    shop.merchant.send_receipts = True
    shop.merchant.save()
    request = billed(api)
    attempt = absent(request)
    in_3d_secure(request)

    def said() -> tuple[list[str], int]:
        return event_types(api, request), PayerMessage.objects.filter(kind="payment_failed").count()

    before = said()
    comes_late(attempt)
    assert said() == before == (["payment_request.created", "payment_request.failed"], 1)


def test_the_last_piece_of_a_link_is_not_sold_twice_after_late_money(api: Api) -> None:
    link = shelf.linked(api, line_items=[{"name": "Halo-halo", "amount": 12_500, "quantity": 1}])
    payment = {"id": public_id("cs", shelf.open_payment(link, 1).id)}
    attempt = absent(payment)
    charge = in_3d_secure(payment)
    comes_late(attempt)
    let_time_pass(Checkout, "expires_at")
    assert (sessions.expire_due(), shelf.left(api, link)) == (0, [0])
    decided(charge)
    assert (row_of(payment).state, shelf.left(api, link)) == (State.PAID, [0])


def test_a_form_that_is_sent_again_after_late_money_leads_to_the_page(api: Api) -> None:
    session = opened(api)
    attempt = absent(session)
    in_3d_secure(session)
    comes_late(attempt)
    page = path_of(session["payment_url"])
    sent = Client().post(page, {"way": "gcash", "attempt": "2"})
    assert (sent.status_code, sent["Location"]) == (303, session["payment_url"])
    assert len(charges_of(session)) == 2


def test_late_money_of_a_session_that_was_paid_otherwise_changes_nothing_of_it(api: Api) -> None:
    session = opened(api)
    attempt = received(session)
    charge = pay(session)
    comes_late(attempt)
    made(api.post(f"/charges/ch_{charge.id.hex}/refund"))
    assert shown(api, session)["payment_details"]["status"] == "refunded"
    assert shown(api, session)["payment_status"] == "paid"


@pytest.mark.parametrize("decision", ["cancel", "fail"])
def test_a_payer_who_cancels_is_no_decline(api: Api, shop: NewMerchant, decision: str) -> None:
    shop.merchant.send_receipts = True
    shop.merchant.save()
    request = billed(api)
    charge = pay_by_wallet(request)
    assert charge.action
    came = Client().post(path_of(charge.action["url"]), {"decision": decision})
    Client().get(path_of(came["Location"]))
    is_declined = decision == "fail"
    assert row_of(request).state == State.UNPAID
    assert event_types(api, request)[1:] == ["payment_request.failed"] * is_declined
    assert PayerMessage.objects.filter(kind="payment_failed").count() == is_declined

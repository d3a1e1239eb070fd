"""A checkout session from its order to its end, by the API and by its payer."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from payments import clock, failpoints
from payments.domain.checkout import payments, sessions
from payments.domain.shared.errors import PaymentError
from payments.failpoints import Failpoint
from payments.models import Checkout
from payments.sweeps import in_turn
from tests.checkout.cast import SETUP, charges_of, event_types, opened, pay, pay_by_wallet, row_of, shown
from tests.client import CHALLENGED, DECLINED, Api, error_of, made

pytestmark = pytest.mark.django_db

ALWAYS = {
    *("id", "object", "amount_subtotal", "amount_total", "branding", "billing_address_collection", "cancel_url"),
    *("created_at", "expires_at", "last_updated", "currency", "customer_name_collection", "phone_number_collection"),
    *("line_items", "livemode", "locale", "merchant", "metadata", "mode", "payment_method_types", "payment_status"),
    *("payment_url", "require_auth", "submit_type", "success_url", "bank_code", "billing", "client_reference_id"),
    *("customer", "customer_email", "customer_name", "customer_phone", "description", "payment_details", "shipping"),
    "shipping_address_collection",
}


def test_a_new_session_has_every_member(api: Api) -> None:
    session = opened(api)
    assert session.keys() == ALWAYS
    assert (session["amount_total"], session["payment_status"], session["mode"]) == (25_000, "unpaid", "payment")
    assert session["payment_url"].endswith(f"/checkout/{session['id']}")
    assert shown(api, session) == session


def test_the_currency_is_shown_as_it_was_sent_and_charged_in_upper_case(api: Api) -> None:
    session = opened(api, currency="php")
    assert session["currency"] == "php"
    assert pay(session).currency == "PHP"


def test_a_paid_session_shows_its_charge(api: Api) -> None:
    session = opened(api, metadata={"order": "1001"})
    charge = pay(session)
    paid = shown(api, session)
    assert paid["payment_status"] == "paid"
    assert paid["payment_details"] == made(api.get(f"/charges/ch_{charge.id.hex}"))
    assert (charge.amount, charge.description, charge.metadata) == (25_000, "Halo-halo", {"order": "1001"})


def test_the_events_of_a_paid_session_are_created_and_completed(api: Api) -> None:
    session = opened(api)
    pay(session)
    assert event_types(api, session) == ["checkout_session.created", "checkout_session.completed"]


def test_a_declined_attempt_leaves_the_session_unpaid_and_another_card_pays(api: Api) -> None:
    session = opened(api)
    assert pay(session, DECLINED).status == "failed"
    assert shown(api, session)["payment_status"] == "unpaid"
    pay(session)
    assert [charge.status for charge in charges_of(session)] == ["failed", "succeeded"]


def test_a_session_is_paid_once(api: Api) -> None:
    session = opened(api)
    pay(session)
    with pytest.raises(PaymentError, match="paid, over, or being paid"):
        pay(session)
    assert len(charges_of(session)) == 1


def test_a_form_that_is_sent_twice_pays_once(api: Api) -> None:
    session = opened(api)
    shown_form = row_of(session)
    pay(session, DECLINED)
    with pytest.raises(PaymentError):
        payments.pay(shown_form, payments.Choice(type="gcash", attempt=shown_form.attempts), "203.0.113.7")
    assert len(charges_of(session)) == 1


def test_a_session_cannot_expire_while_its_payer_is_at_a_bank(api: Api) -> None:
    session = opened(api)
    pay(session, CHALLENGED)
    assert error_of(api.post(f"/checkout_sessions/{session['id']}/expire"))["code"] == "session_busy"


def test_a_payer_who_comes_back_may_pay_otherwise(api: Api) -> None:
    session = opened(api)
    pay_by_wallet(session)
    assert payments.give_up(row_of(session))
    pay(session)
    assert [charge.status for charge in charges_of(session)] == ["failed", "succeeded"]


def test_an_expired_session_cannot_be_paid(api: Api) -> None:
    session = opened(api)
    expired = made(api.post(f"/checkout_sessions/{session['id']}/expire"))
    assert expired["payment_status"] == "expired"
    with pytest.raises(PaymentError):
        pay(session)
    assert event_types(api, session) == ["checkout_session.created", "checkout_session.expired"]


def test_a_paid_session_cannot_expire(api: Api) -> None:
    session = opened(api)
    pay(session)
    assert error_of(api.post(f"/checkout_sessions/{session['id']}/expire"))["code"] == "session_not_expirable"


def test_a_session_ends_at_its_time(api: Api) -> None:
    session = opened(api)
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert sessions.expire_due() == 1
    assert shown(api, session)["payment_status"] == "expired"
    assert sessions.expire_due() == 0


def test_a_session_whose_time_is_over_cannot_be_paid_before_it_is_ended(api: Api) -> None:
    session = opened(api)
    Checkout.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(PaymentError, match="time to pay this is over"):
        pay(session)


def test_a_session_in_setup_mode_holds_the_card_and_is_captured(api: Api) -> None:
    session = opened(api, **SETUP)
    pay(session)
    assert shown(api, session)["payment_status"] == "authorized"
    captured = made(api.post(f"/checkout_sessions/{session['id']}/capture", {"amount": 20_000}))
    assert (captured["payment_status"], captured["payment_details"]["amount_captured"]) == ("paid", 20_000)
    assert event_types(api, session) == ["checkout_session.created", "checkout_session.completed"]


def test_a_capture_that_is_sent_again_is_answered_by_what_it_did(api: Api) -> None:
    session = opened(api, **SETUP)
    pay(session)
    first, again = (api.post(f"/checkout_sessions/{session['id']}/capture", key="k-1") for _ in range(2))
    assert (first.status_code, again.content) == (200, first.content)


def test_a_hold_that_is_voided_voids_its_session(api: Api) -> None:
    session = opened(api, **SETUP)
    charge = pay(session)
    made(api.post(f"/charges/ch_{charge.id.hex}/void"))
    assert shown(api, session)["payment_status"] == "voided"
    refused = api.post(f"/checkout_sessions/{session['id']}/capture")
    assert error_of(refused)["code"] == "session_not_capturable"


@pytest.mark.django_db(transaction=True)
def test_a_capture_is_answered_where_the_database_is_away_after_it(api: Api) -> None:
    session = opened(api, **SETUP)
    pay(session)
    away: list[Failpoint] = []

    def answer_nothing(execute: Any, *given: Any) -> Any:
        if away:
            raise OperationalError
        return execute(*given)

    failpoints.listen(lambda step: away.append(step) if step is Failpoint.RECORDED else None)
    try:
        with connection.execute_wrapper(answer_nothing):
            captured = api.post(f"/checkout_sessions/{session['id']}/capture", {"amount": 20_000}, key="once")
    finally:
        failpoints.listen(None)
    assert away
    body = made(captured)
    assert (body["payment_status"], body["payment_details"]["amount_captured"]) == ("paid", 20_000)
    again = made(api.post(f"/checkout_sessions/{session['id']}/capture", {"amount": 20_000}, key="once"))
    assert again["payment_details"] == body["payment_details"]


def test_an_unpaid_session_cannot_be_captured(api: Api) -> None:
    refused = api.post(f"/checkout_sessions/{opened(api, **SETUP)['id']}/capture")
    assert (refused.status_code, error_of(refused)["code"]) == (409, "session_not_capturable")


def test_after_twenty_attempts_a_session_takes_no_more(api: Api) -> None:
    session = opened(api)
    Checkout.objects.update(attempts=20)
    with pytest.raises(PaymentError, match="20 times"):
        pay(session)


def test_a_session_whose_time_ends_during_a_sweep_does_not_wait_for_the_next(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_turn, "BATCH", 1)
    moment = clock.now() + timedelta(hours=1)
    rows = [row_of(opened(api)).id for _ in range(3)]
    Checkout.objects.update(expires_at=moment)
    # The clock ticks whenever it is asked, so the last is due once the first has ended.
    Checkout.objects.filter(id=rows[-1]).update(expires_at=moment + 3 * clock.TICK)
    with clock.at(moment):
        assert sessions.expire_due() == len(rows)

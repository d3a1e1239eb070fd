"""What customers get about requests: the invoice, again, reminders, and payments that were declined."""

from collections.abc import Iterator
from datetime import timedelta
from email.message import Message
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.checkout import requests
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages.to_payers import send_due
from payments.models import Checkout, PayerMessage, PaymentRequest
from tests.checkout.cast import billed, customer, event_types, opened, pay, pay_by_wallet, row_of, shown
from tests.client import DECLINED, Api, error_of, made
from tests.inbox.smtp import Server, use
from tests.messages.letters import header, parts
from tests.support.receiver import Receiver

pytestmark = pytest.mark.django_db
State = PayerMessage.State


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """Yield a mail server that takes every mail."""
    with Server() as server:
        use(settings, server)
        yield server


@pytest.fixture
def with_receipts(shop: NewMerchant) -> NewMerchant:
    """Return the shop, which has chosen that payers get messages about their payments."""
    shop.merchant.send_receipts = True
    shop.merchant.save()
    return shop


def live() -> None:
    """Make every request and message one of live mode."""
    Checkout.objects.update(livemode=True)
    PayerMessage.objects.update(livemode=True)


def kept() -> list[PayerMessage]:
    """Send what is due in test mode, and return all messages, the oldest first."""
    send_due()
    send_due()
    return list(PayerMessage.objects.order_by("id"))


def sent(kind: str) -> list[PayerMessage]:
    return [message for message in kept() if message.kind == kind]


def mailed(server: Server) -> Message:
    send_due()
    [mail] = server.mails
    return mail


def resend(api: Api, request: dict[str, Any]) -> Any:
    return api.post(f"/payment_requests/{request['id']}/resend")


@pytest.mark.long
def test_the_customer_gets_the_invoice_with_total_message_and_address(api: Api, server: Server) -> None:
    request = billed(api, message="Salamat <b>po</b>!", customer=customer(api, metadata={"name": "Juan dela Cruz"}))
    live()
    mail = mailed(server)
    text, html = parts(mail)
    assert mail["To"] == "juan@example.com"
    assert header(mail, "Subject") == f"Invoice {request['number']} from Sari Store: ₱250.00"
    for part in ("Salamat", "For Juan dela Cruz", request["payment_request_url"], "Halo-halo", "₱250.00"):
        assert part in text, part
    assert "Salamat &lt;b&gt;po&lt;/b&gt;!" in html


@pytest.mark.long
def test_a_request_is_delivered_when_the_mail_server_took_it(api: Api, server: Server) -> None:
    request = billed(api)
    live()
    send_due()
    checkout = Checkout.objects.whole().get()
    assert (checkout.request.email_delivered, checkout.request.sms_delivered, checkout.version) == (True, False, 2)
    Checkout.objects.update(livemode=False)
    assert shown(api, request)["delivered"] == {"email": True, "sms": False}


@pytest.mark.long
def test_test_mode_sends_nothing_and_keeps_what_it_would_say(api: Api, server: Server) -> None:
    request = billed(api, delivery_methods=["email", "sms"])
    mail, text = kept()
    assert server.mails == []
    assert (mail.state, text.state, text.recipient) == (State.KEPT, State.KEPT, "+639171234567")
    assert request["payment_request_url"] in mail.text
    assert request["payment_request_url"] in text.text
    assert shown(api, request)["delivered"] == {"email": False, "sms": False}
    assert event_types(api, request) == ["payment_request.created"]


def test_an_sms_goes_to_the_service_of_the_installation(api: Api, settings: Settings) -> None:
    with Receiver() as service:
        settings.SMS_URL, settings.NOTIFY_ALLOW_LOOPBACK = service.url, True
        request = billed(api, delivery_methods=["sms"])
        live()
        send_due()
        [call] = service.calls
    assert call.event["to"] == "+639171234567"
    assert request["payment_request_url"] in call.event["text"]
    assert PaymentRequest.objects.get().sms_delivered


def test_a_customer_who_reads_filipino_gets_it_in_filipino(api: Api) -> None:
    billed(api, customer=customer(api, metadata={"locale": "fil"}))
    [mail] = kept()
    assert "Pinadalhan ka" in mail.text or "mula sa Sari Store" in mail.subject


def test_a_voided_request_is_not_sent_any_more(api: Api) -> None:
    request = billed(api)
    made(api.post(f"/payment_requests/{request['id']}/void", {"reason": "Sent twice"}))
    assert [message.state for message in kept()] == [State.DROPPED]


def test_a_resend_sends_the_invoice_again_with_an_event(api: Api) -> None:
    request = billed(api)
    again = made(resend(api, request))
    assert again == shown(api, request)
    assert [message.sequence for message in sent("request")] == [1, 2]
    assert event_types(api, request) == ["payment_request.created", "payment_request.updated"]


def test_a_request_is_sent_again_once_a_minute(api: Api) -> None:
    request = billed(api)
    start = clock.now()
    with clock.at(start):
        made(resend(api, request))
        refused = resend(api, request)
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    with clock.at(start + timedelta(seconds=60)):
        made(resend(api, request))


def test_a_request_is_sent_again_ten_times(api: Api) -> None:
    request = billed(api)
    PaymentRequest.objects.update(resends=10)
    refused = resend(api, request)
    assert (refused.status_code, error_of(refused)["code"]) == (429, "rate_limited")


def test_a_paid_request_is_not_sent_again(api: Api) -> None:
    request = billed(api)
    pay(request)
    assert (resend(api, request).status_code, error_of(resend(api, request))["code"]) == (409, "request_not_open")


def remind_after(days: int) -> int:
    with clock.at(clock.now() + timedelta(days=days)):
        return requests.remind_due()


def test_an_open_request_is_reminded_of_after_three_and_seven_days(api: Api, with_receipts: NewMerchant) -> None:
    billed(api)
    assert [remind_after(days) for days in (2, 3, 3, 6, 7, 30)] == [0, 1, 0, 0, 1, 0]
    assert [message.sequence for message in sent("request_reminder")] == [1, 2]


def test_reminders_that_an_outage_delayed_do_not_leave_together(api: Api, with_receipts: NewMerchant) -> None:
    billed(api)
    assert [remind_after(days) for days in (30, 30, 33, 34)] == [1, 0, 0, 1]


def test_a_request_that_cannot_be_reminded_of_keeps_no_other_back(api: Api, with_receipts: NewMerchant) -> None:
    broken = billed(api)
    Checkout.objects.filter(id=row_of(broken).id).update(order={})
    billed(api, customer=broken["customer"])
    assert remind_after(3) == 1


def test_a_paid_request_is_not_reminded_of(api: Api, with_receipts: NewMerchant) -> None:
    pay(billed(api))
    remind_after(3)
    assert PaymentRequest.objects.get().remind_at is None
    assert sent("request_reminder") == []


def test_a_merchant_who_has_not_chosen_it_reminds_nobody(api: Api) -> None:
    billed(api)
    assert [remind_after(3), remind_after(7)] == [1, 1]
    assert sent("request_reminder") == []


def test_the_test_clock_brings_reminders(api: Api, with_receipts: NewMerchant) -> None:
    billed(api)
    made(api.post("/test/clock", {"advance_seconds": 3 * 24 * 3600}))
    assert [message.sequence for message in sent("request_reminder")] == [1]


def test_a_payer_is_mailed_about_declined_attempts_three_times(api: Api, with_receipts: NewMerchant) -> None:
    request = billed(api)
    for _ in range(4):
        pay(request, DECLINED)
    messages = sent("payment_failed")
    assert [(message.sequence, message.recipient) for message in messages] == [
        (number, "juan@example.com") for number in (1, 2, 3)
    ]
    assert request["payment_request_url"] in messages[0].text


def test_nobody_is_mailed_about_a_declined_attempt_once_it_is_paid(api: Api, with_receipts: NewMerchant) -> None:
    request = billed(api)
    pay(request, DECLINED)
    pay(request)
    assert [message.state for message in sent("payment_failed")] == [State.DROPPED]


def test_the_payer_of_a_session_is_informed_by_the_shop(api: Api, with_receipts: NewMerchant) -> None:
    pay(opened(api, customer_email="juan@example.com"), DECLINED)
    assert sent("payment_failed") == []


def test_a_payer_who_waits_is_not_mailed_about_a_failure(api: Api, with_receipts: NewMerchant) -> None:
    pay_by_wallet(billed(api))
    assert sent("payment_failed") == []

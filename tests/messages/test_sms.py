"""SMS: the same outbox, sent by the service that the installation names."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages.content import Content
from payments.domain.messages.kinds import KINDS, Kind
from payments.domain.messages.to_payers import send_due
from payments.models import Charge, PayerMessage
from tests.messages.letters import captured, put_into_outbox, standing
from tests.support.receiver import Receiver

pytestmark = pytest.mark.django_db
State = PayerMessage.State
URL = "https://pay.example/r/k3V9tQ2mXa"
NUMBER, TEXT = "+639175550142", f"Sari Store sent you invoice A-1 of ₱1.00: {URL}"


@pytest.fixture(autouse=True)
def _kind() -> Iterator[None]:
    """Have a kind of message that goes by SMS too."""

    def say(charge: Charge, message: PayerMessage) -> Content:
        return Content(charge.merchant, NUMBER, "₱1.00", URL, values={"number": "A-1"})

    KINDS["invoice"] = Kind("Invoice", "request", Charge, say)
    yield
    del KINDS["invoice"]


@pytest.fixture
def service(settings: Settings) -> Iterator[Receiver]:
    """Yield a service that takes every SMS."""
    settings.NOTIFY_ALLOW_LOOPBACK = True
    with Receiver() as service:
        settings.SMS_URL = service.url
        yield service


def invoice(shop: NewMerchant, livemode: bool = True) -> PayerMessage:
    return put_into_outbox(captured(shop.merchant, livemode), "invoice", channel="sms")


def test_an_sms_is_posted_once_with_number_and_text(shop: NewMerchant, service: Receiver) -> None:
    message = invoice(shop)
    assert (send_due(), send_due()) == (1, 0)
    [call] = service.calls
    assert json.loads(call.body) == {"to": NUMBER, "text": TEXT}
    assert call.headers["idempotency-key"] == message.id.hex
    assert standing(message) == (State.SENT, 0, "")
    assert (message.recipient, message.subject, message.text) == (NUMBER, "", TEXT)


def test_test_mode_keeps_an_sms(shop: NewMerchant, service: Receiver) -> None:
    message = invoice(shop, livemode=False)
    assert send_due() == 1
    assert (standing(message)[0], message.text, service.calls) == (State.KEPT, TEXT, [])


def test_without_a_service_live_ones_wait(shop: NewMerchant, settings: Settings) -> None:
    settings.SMS_URL = ""
    message = invoice(shop)
    assert (send_due(), standing(message)[0]) == (0, State.WAITING)


@pytest.mark.parametrize(("status", "asked"), [(500, 1), (400, 2)], ids=["a service that fails", "a refused number"])
def test_what_is_not_taken_is_tried_again_under_the_same_key(
    shop: NewMerchant, settings: Settings, status: int, asked: int
) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    answers = [status] * asked + [200, 200]
    with Receiver(lambda call: answers.pop(0)) as service:
        settings.SMS_URL = service.url
        messages = [invoice(shop), invoice(shop)]
        assert send_due() == asked
        assert sorted(standing(each)[1] for each in messages) == [0] * (2 - asked) + [1] * asked
        with clock.at(clock.now() + timedelta(seconds=10)):
            assert send_due() == 2
    assert {standing(each)[0] for each in messages} == {State.SENT}
    assert len({call.headers["idempotency-key"] for call in service.calls}) == 2
    assert f"The service answered {status}." in {each.why for each in messages}


def test_no_service_in_a_private_network_is_called(shop: NewMerchant, service: Receiver, settings: Settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = False
    settings.SMS_URL = service.url.replace("http:", "https:")
    message = invoice(shop)
    send_due()
    assert (standing(message)[:2], service.calls) == ((State.WAITING, 1), [])

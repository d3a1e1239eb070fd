"""Receipts: written with the capture or refund, once, where the merchant chose it."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.charging import attempts, late_outcomes
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages.kinds import KINDS
from payments.domain.messages.outbox import message_of
from payments.domain.messages.receipts import receipt_of
from payments.domain.messages.to_payers import send_due
from payments.domain.shared.caller import Caller
from payments.models import Attempt, Merchant, PayerMessage
from payments.providers.base import Approved, Declined
from tests.checkout.cast import SETUP, opened, pay
from tests.client import CHALLENGED, DECLINED, REFUNDS_WAIT, Api, made
from tests.messages.letters import OWNER, captured, put_into_outbox

pytestmark = pytest.mark.django_db


def kinds() -> list[tuple[str, int]]:
    return list(PayerMessage.objects.order_by("id").values_list("kind", "sequence"))


def lines_of(message: PayerMessage) -> list[str]:
    letter = KINDS[message.kind].read(message)
    return letter.text.splitlines() if letter else []


def paid(api: Api, **members: Any) -> dict[str, Any]:
    return api.charge_source(api.source(owner=OWNER), **members)


def test_a_capture_writes_one_receipt(api: Api, shop: NewMerchant) -> None:
    charge = paid(api)
    [message] = PayerMessage.objects.all()
    assert (message.kind, message.merchant, message.livemode, message.channel) == (
        "receipt",
        shop.merchant,
        False,
        "email",
    )
    assert f"ch_{message.about_id.hex}" == charge["id"]


def test_a_receipt_of_a_checkout_has_its_items_and_its_language(api: Api, shop: NewMerchant) -> None:
    items = [{"name": "Halo-halo", "amount": 12_500, "quantity": 2}, {"name": "Turon", "amount": 4_000, "quantity": 0}]
    session = opened(api, line_items=items, locale="fil")
    charge = pay(session, owner=OWNER)
    made(api.post(f"/charges/ch_{charge.id.hex}/refund", {}))
    receipt, refund = PayerMessage.objects.order_by("id")
    assert (receipt.locale, refund.locale) == ("fil", "fil")
    assert [line for line in lines_of(receipt) if line[:2] == "- "] == ["- Halo-halo (2 × ₱125.00): ₱250.00"]


def test_a_receipt_of_a_part_names_the_order_as_a_whole(api: Api, shop: NewMerchant) -> None:
    session = opened(api, **SETUP)
    pay(session, owner=OWNER)
    made(api.post(f"/checkout_sessions/{session['id']}/capture", {"amount": 10_000}))
    assert [line for line in lines_of(PayerMessage.objects.get()) if line[:2] == "- "] == ["- Halo-halo: ₱100.00"]


def test_a_hold_has_its_receipt_when_it_is_captured(api: Api, shop: NewMerchant) -> None:
    charge = paid(api, capture=False)
    assert kinds() == []
    made(api.post(f"/charges/{charge['id']}/capture", {"amount": 4_000}))
    [message] = PayerMessage.objects.all()
    assert "Receipt: ₱40.00" in lines_of(message)


def test_each_refund_has_a_receipt_when_it_is_made(api: Api, shop: NewMerchant) -> None:
    charge = paid(api)
    for amount in (1_000, 2_000):
        made(api.post(f"/charges/{charge['id']}/refund", {"amount": amount}))
    assert [kind for kind, _ in kinds()] == ["receipt", "refund_receipt", "refund_receipt"]
    amounts = [lines_of(each)[2] for each in PayerMessage.objects.order_by("id")]
    assert amounts == ["Receipt: ₱100.00", "Refund: ₱10.00", "Refund: ₱20.00"]


def test_a_refund_that_waits_has_none_yet(api: Api, shop: NewMerchant) -> None:
    charge = api.charge_source(api.source(REFUNDS_WAIT, owner=OWNER))
    made(api.post(f"/charges/{charge['id']}/refund", {}))
    assert [kind for kind, _ in kinds()] == ["receipt"]


@pytest.mark.parametrize("number", [DECLINED, CHALLENGED])
def test_what_is_not_captured_has_none(api: Api, shop: NewMerchant, number: str) -> None:
    api.charge_source(api.source(number, owner=OWNER))
    assert kinds() == []


def test_money_that_comes_too_late_has_none(api: Api, shop: NewMerchant) -> None:
    api.charge_source(api.source(DECLINED, owner=OWNER))
    attempt = Attempt.objects.select_related("charge__source__card").get()
    attempt.charge.refund_list = []
    late_outcomes.apply(attempt, Approved("ref"))
    assert kinds() == []


def test_a_refund_that_fails_afterwards_has_no_other(api: Api, shop: NewMerchant) -> None:
    charge = paid(api)
    made(api.post(f"/charges/{charge['id']}/refund", {}))
    late_outcomes.apply(attempts.reload(Attempt.objects.get(kind=Attempt.Kind.REFUND)), Declined("refund_failed"))
    assert made(api.get(f"/charges/{charge['id']}"))["amount_refunded"] == 0
    assert [kind for kind, _ in kinds()] == ["receipt", "refund_receipt"]


def test_a_receipt_costs_no_statement_and_no_receipt_no_row(api: Api, shop: NewMerchant) -> None:
    counts = []
    for choice in (True, False):
        Merchant.objects.filter(pk=shop.merchant.pk).update(send_receipts=choice)
        source = api.source(owner=OWNER)
        with CaptureQueriesContext(connection) as queries:
            api.charge_source(source)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert len(kinds()) == 1


@pytest.mark.parametrize(
    "owner", [None, {"name": "Juan"}, {"billing": {"name": "Juan"}}], ids=["nobody", "a name", "no address"]
)
def test_a_payer_without_an_address_has_none(api: Api, shop: NewMerchant, owner: Any) -> None:
    api.charge_source(api.source(**({"owner": owner} if owner else {})))
    assert kinds() == []


def test_a_customers_address_is_used_where_the_source_has_none(api: Api, shop: NewMerchant) -> None:
    customer = made(api.post("/customers/", {"email": "maria@example.com", "description": "Maria"}))["id"]
    source = api.source()
    made(api.post(f"/customers/{customer}/sources/", {"source": source}))
    api.charge_source(source)
    send_due()
    assert PayerMessage.objects.get().recipient == "maria@example.com"


def test_live_mode_without_a_mail_server_writes_none(shop: NewMerchant, settings: Settings) -> None:
    charge = captured(shop.merchant)
    settings.EMAIL_HOST = ""
    assert receipt_of(Caller.service(charge), "charge.captured", charge) == []
    settings.EMAIL_HOST = "mail.example.com"
    assert len(receipt_of(Caller.service(charge), "charge.captured", charge)) == 1


def test_the_outbox_takes_no_message_twice(shop: NewMerchant) -> None:
    charge = captured(shop.merchant)
    put_into_outbox(charge)
    with pytest.raises(IntegrityError):
        execute_writes(message_of(charge.merchant_id, True, "receipt", charge.id, charge.version))


def test_a_message_is_forgotten_after_90_days(shop: NewMerchant) -> None:
    put_into_outbox(captured(shop.merchant))
    for days, deleted in ((89, 0), (91, 1)):
        with clock.at(clock.now() + timedelta(days=days)):
            assert delete_old_rows() == deleted

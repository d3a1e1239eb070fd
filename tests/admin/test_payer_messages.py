"""What payers were sent, or would have been, as operators see it."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators import receipts
from payments.domain.payer_messages.send import send_mails
from payments.models import AuditEntry, Merchant, MerchantAccess, PayerMessage
from payments.staff.roles import ALL_MERCHANTS
from tests.admin.actions import act, address_of
from tests.admin.conftest import text_of, words_of
from tests.admin.test_hands_off import merchant_form
from tests.admin.test_pages import list_of, page_of
from tests.client import signed_in
from tests.concurrency import at_once
from tests.factories import MerchantFactory, RefundFactory
from tests.operators.factories import person
from tests.payer_messages.letters import captured, put_into_outbox

pytestmark = pytest.mark.django_db
SUPPORT = {"support_email": "hello@sari.example", "support_phone": "+63 (917) 555-0142", "send_receipts": "on"}


def test_test_mode_shows_what_would_have_been_sent(shop: NewMerchant, operator: Client) -> None:
    message = put_into_outbox(captured(shop.merchant, livemode=False))
    send_mails()
    text = words_of(operator.get(page_of(message)))
    for shown in ("Receipt", "Kept", "juan@example.com", "Receipt from Sari Store: ₱100.00", "Two sacks of rice"):
        assert shown in text
    assert "juan@example.com" in text_of(operator.get(f"{list_of(PayerMessage)}?mode=test"))


def test_the_page_of_a_charge_shows_its_messages_and_those_of_its_refunds(shop: NewMerchant, operator: Client) -> None:
    charge = captured(shop.merchant, livemode=False)
    refund = RefundFactory(charge=charge, amount=100)
    put_into_outbox(charge)
    send_mails()
    PayerMessage.objects.create(
        merchant=shop.merchant, livemode=False, kind="refund_receipt", about_id=refund.id, sequence=1
    )
    text = words_of(operator.get(page_of(charge)))
    assert "Receipt by e-mail: kept" in text
    assert "Receipt of a refund by e-mail: waiting" in text
    assert "Receipt from Sari Store: ₱100.00" in text


@pytest.fixture
def support(db: None) -> Client:
    return signed_in(person("maria", "support"))


def test_support_sends_a_receipt_again_with_the_day_of_the_payment(shop: NewMerchant, support: Client) -> None:
    paid = captured(shop.merchant, livemode=False, created_at=clock.now() - timedelta(days=40))
    assert address_of(paid, "send_receipt") in text_of(support.get(page_of(paid)))
    assert act(support, paid, "send_receipt").status_code == 302
    send_mails()
    message = PayerMessage.objects.get()
    assert (message.recipient, message.state) == ("juan@example.com", "kept")
    assert f"Paid on {paid.created_at.day} " in message.text
    entry = AuditEntry.objects.get(action="sent_again")
    assert (entry.object_name, entry.detail, entry.reason) == (str(paid), "receipt", "Ticket 4711")


@pytest.mark.long
def test_a_receipt_is_sent_again_three_times_a_day(shop: NewMerchant, support: Client) -> None:
    paid = captured(shop.merchant, livemode=False)
    for _ in range(3):
        act(support, paid, "send_receipt")
    assert "which is the limit" in text_of(act(support, paid, "send_receipt"))
    PayerMessage.objects.update(created_at=clock.now() - timedelta(days=1, seconds=1))
    act(support, paid, "send_receipt")
    assert PayerMessage.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_each_sends_a_receipt_of_its_own(shop: NewMerchant) -> None:
    paid = captured(shop.merchant, livemode=False)
    at_once(2, lambda _: receipts.send_again(paid))
    assert sorted(PayerMessage.objects.values_list("sequence", flat=True)) == [1, 2]


@pytest.mark.long
@pytest.mark.parametrize("columns", [{"owner": {}}, {"livemode": True}], ids=["no address", "no mail server"])
def test_no_receipt_is_offered_that_cannot_be_sent(shop: NewMerchant, support: Client, columns: dict[str, Any]) -> None:
    paid = captured(shop.merchant, **{"livemode": False} | columns)
    assert address_of(paid, "send_receipt") not in text_of(support.get(page_of(paid)))
    act(support, paid, "send_receipt")
    assert not PayerMessage.objects.exists()


def test_a_payers_text_is_escaped(shop: NewMerchant, operator: Client) -> None:
    message = put_into_outbox(captured(shop.merchant, livemode=False, description="<script>alert(1)</script>"))
    send_mails()
    assert "<script>alert" not in text_of(operator.get(page_of(message)))


def test_who_works_for_another_merchant_sees_none(shop: NewMerchant, other_shop: NewMerchant) -> None:
    message = put_into_outbox(captured(shop.merchant, livemode=False))
    ben = person("ben", "viewer")
    ben.groups.remove(Group.objects.get(name=ALL_MERCHANTS))
    MerchantAccess.objects.create(user=ben, merchant=other_shop.merchant)
    assert signed_in(ben).get(page_of(message)).status_code == 404
    MerchantAccess.objects.create(user=ben, merchant=shop.merchant)
    assert signed_in(ben).get(page_of(message)).status_code == 200


def test_a_merchant_gets_support_contact_and_receipts_with_a_reason(operator: Client) -> None:
    merchant = MerchantFactory()
    assert operator.post(page_of(merchant), merchant_form(**SUPPORT)).status_code == 302
    found = Merchant.objects.get()
    assert (found.support_email, found.support_phone, found.send_receipts) == (
        "hello@sari.example",
        "+63 (917) 555-0142",
        True,
    )
    entry = AuditEntry.objects.latest("id")
    assert {"support_email", "support_phone", "send_receipts"} <= set(entry.fields)


@pytest.mark.long
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("support_email", "hello"),
        ("support_email", "a@b.example\nBcc: c@d.example"),
        ("support_phone", "call us"),
        ("support_phone", "1" * 26),
        ("support_phone", "0917\n5550142"),
    ],
)
def test_a_contact_that_is_none_is_refused(field: str, value: str, operator: Client) -> None:
    merchant = MerchantFactory()
    text = text_of(operator.post(page_of(merchant), merchant_form(**SUPPORT | {field: value})))
    assert "errorlist" in text
    assert not Merchant.objects.get().send_receipts

"""Messages of providers, and those to payers, as operators see them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from payments import clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.messages.to_payers import send_due
from payments.domain.operators import receipts
from payments.domain.provider_events import attention
from payments.models import Attempt, AuditEntry, Merchant, MerchantAccess, PayerMessage, ProviderEvent
from payments.staff.roles import ALL_MERCHANTS
from tests.admin.actions import act, address_of
from tests.admin.conftest import text_of, words_of
from tests.admin.test_hands_off import merchant_form
from tests.admin.test_pages import list_of, page_of
from tests.client import Api, signed_in
from tests.concurrency import at_once
from tests.factories import MerchantFactory, RefundFactory
from tests.messages.letters import captured, put_into_outbox
from tests.operators.factories import person
from tests.provider_events.factories import make_provider_message
from tests.staff.all_merchants import for_all

LIST = "/admin/payments/providermessage/"
pytestmark = pytest.mark.django_db


def test_the_page_shows_the_message_without_secrets_and_its_result(shop: NewMerchant, operator: Client) -> None:
    message = make_provider_message(shop.merchant, b'{"number": "4000000000003055", "event": "payment.capture"}')
    page = words_of(operator.get(f"{LIST}{message.pk}/change/"))
    for shown in ("Our account", "payment.capture", "needs attention", "Nobody knows it", "live"):
        assert shown in page
    assert "4000000000003055" not in page


def test_a_report_of_an_attempt_leads_to_it(api: Api, shop: NewMerchant, operator: Client) -> None:
    api.charge()
    attempt = Attempt.objects.get()
    message = make_provider_message(shop.merchant, reference=attempt.reference)
    page = text_of(operator.get(f"{LIST}{message.pk}/change/"))
    assert f'href="/admin/payments/attempt/{attempt.pk}/change/"' in page


@pytest.mark.long
@pytest.mark.parametrize(
    ("standing", "found"), [("attention", ["first"]), ("waiting", ["second"]), ("", ["first", "second", "third"])]
)
def test_the_list_is_narrowed_to_what_needs_attention(
    shop: NewMerchant, operator: Client, standing: str, found: list[str]
) -> None:
    inbox = {
        "first": make_provider_message(shop.merchant, b"1"),
        "second": make_provider_message(shop.merchant, b"2", state="waiting", why="", due_at="2026-11-21T00:00:00Z"),
        "third": make_provider_message(shop.merchant, b"3", state="applied", why=""),
    }
    page = text_of(operator.get(LIST, {"mode": "live", **({"review": standing} if standing else {})}))
    assert [name for name, message in inbox.items() if f"{message.pk}/change/" in page] == found


SEARCHES: dict[str, Callable[[Api], str]] = {
    "its charge": lambda api: f"ch_{Attempt.objects.get().charge_id.hex}",
    "our reference": lambda api: Attempt.objects.get().reference,
    "the provider's mark": lambda api: "evt-77",
}


@pytest.mark.long
@pytest.mark.parametrize("term", SEARCHES)
def test_a_webhook_is_found_by_what_it_is_about(api: Api, shop: NewMerchant, operator: Client, term: str) -> None:
    api.charge()
    wanted = make_provider_message(shop.merchant, b"1", reference=Attempt.objects.get().reference, key="evt-77")
    other = make_provider_message(shop.merchant, b"2")
    page = text_of(operator.get(LIST, {"mode": "live", "q": SEARCHES[term](api)}))
    assert (str(wanted.pk) in page, str(other.pk) in page) == (True, False)


def test_an_operator_of_another_merchant_sees_nothing_of_it(shop: NewMerchant, other_shop: NewMerchant) -> None:
    message = make_provider_message(shop.merchant)
    ana, client = User.objects.create(username="ana", is_staff=True), Client()
    ana.user_permissions.add(Permission.objects.get(codename="view_providermessage"))
    MerchantAccess.objects.create(user=ana, merchant=other_shop.merchant)
    client.force_login(ana)
    assert str(message.pk) not in text_of(client.get(LIST))
    assert client.get(f"{LIST}{message.pk}/change/").status_code != 200


def an_operator(role: str) -> Client:
    client, user = Client(), for_all(User.objects.create(username=role, is_staff=True))
    user.groups.add(Group.objects.get(name=role))
    client.force_login(user)
    return client


def closed(client: Client, event: ProviderEvent, note: str) -> str:
    address = f"{LIST}{event.message_id}/close/"
    return words_of(client.post(address, {"event": event.pk, "note": note}, follow=True))


def test_who_may_closes_what_needs_attention_with_a_note(shop: NewMerchant) -> None:
    event = make_provider_message(shop.merchant).events.get()
    finance = an_operator("finance")
    assert "Close with a note" in words_of(finance.get(f"{LIST}{event.message_id}/change/"))

    page = closed(finance, event, "Refunded by hand, ticket 77.")

    assert "Closed." in page
    assert "Refunded by hand, ticket 77. finance," in page
    assert "Close with a note" not in page
    event.refresh_from_db()
    assert (event.state, event.closed_by.username) == ("closed", "finance")
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.object_id, entry.actor) == ("closed", str(event.message_id), "finance")
    assert entry.reason == "Refunded by hand, ticket 77."


@pytest.mark.long
@pytest.mark.parametrize("note", ["", " ", "card 4000000000003055"], ids=["none", "blank", "secret"])
def test_a_note_is_needed_and_holds_no_secret(shop: NewMerchant, note: str) -> None:
    event = make_provider_message(shop.merchant).events.get()
    assert "4000000000003055" not in closed(an_operator("finance"), event, note)
    event.refresh_from_db()
    assert event.state == "needs_attention"


def test_of_several_reports_the_one_that_was_chosen_is_closed(shop: NewMerchant) -> None:
    message = make_provider_message(shop.merchant)
    first = message.events.get()
    chosen = ProviderEvent.objects.create(
        merchant=message.merchant,
        message=message,
        account=message.account,
        state="needs_attention",
        why="Another",
        due_at=None,
    )
    page = closed(an_operator("finance"), chosen, "Ticket 77.")
    assert "Close with a note" in page
    assert dict(message.events.values_list("pk", "state")) == {first.pk: "needs_attention", chosen.pk: "closed"}


@pytest.mark.long
@pytest.mark.parametrize("state", ["applied", "no_news", "not_ours"])
def test_what_needs_no_attention_is_not_closed(shop: NewMerchant, state: str) -> None:
    event = make_provider_message(shop.merchant, state=state).events.get()
    assert "Nothing of it needs attention any more." in closed(an_operator("finance"), event, "Ticket 77.")
    with pytest.raises(attention.TooLate):
        attention.close(event, User.objects.get(), "Ticket 77.")


@pytest.mark.django_db(transaction=True)
def test_of_operators_who_close_at_once_one_does(shop: NewMerchant) -> None:
    event = make_provider_message(shop.merchant).events.get()
    people = [User.objects.create(username=name) for name in ("ana", "ben", "caro")]

    def close(number: int) -> str:
        try:
            attention.close(event, people[number], f"Seen by {people[number]}.")
        except attention.TooLate:
            return ""
        return people[number].username

    [winner] = [name for name in at_once(3, close) if name]
    event.refresh_from_db()
    assert (event.closed_by.username, event.note) == (winner, f"Seen by {winner}.")
    assert event.updated_at == event.closed_at


def test_what_needs_attention_is_kept_until_somebody_closed_it(shop: NewMerchant) -> None:
    event = make_provider_message(shop.merchant).events.get()
    with clock.at(clock.now() + timedelta(days=91)):
        assert delete_old_rows() == 0
    attention.close(event, User.objects.create(username="ana"), "Ticket 77.")
    with clock.at(clock.now() + timedelta(days=89)):
        assert delete_old_rows() == 0
    with clock.at(clock.now() + timedelta(days=91)):
        assert delete_old_rows() == 1


def test_the_first_page_counts_those_that_need_attention(shop: NewMerchant, operator: Client) -> None:
    make_provider_message(shop.merchant, b"1")
    assert "need a look" not in words_of(operator.get("/admin/"))
    for number in (b"2", b"3"):
        make_provider_message(shop.merchant, number)
    assert "3 events of providers need a look" in words_of(operator.get("/admin/"))


SUPPORT = {"support_email": "hello@sari.example", "support_phone": "+63 (917) 555-0142", "send_receipts": "on"}


def test_test_mode_shows_what_would_have_been_sent(shop: NewMerchant, operator: Client) -> None:
    message = put_into_outbox(captured(shop.merchant, livemode=False))
    send_due()
    text = words_of(operator.get(page_of(message)))
    for shown in ("Receipt", "Kept", "juan@example.com", "Receipt from Sari Store: ₱100.00", "Two sacks of rice"):
        assert shown in text
    assert "juan@example.com" in text_of(operator.get(f"{list_of(PayerMessage)}?mode=test"))


def test_the_page_of_a_charge_shows_its_messages_and_those_of_its_refunds(shop: NewMerchant, operator: Client) -> None:
    charge = captured(shop.merchant, livemode=False)
    refund = RefundFactory(charge=charge, amount=100)
    put_into_outbox(charge)
    send_due()
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
    assert "In live mode it would be sent now." in text_of(support.get(page_of(paid)))
    send_due()
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
    send_due()
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

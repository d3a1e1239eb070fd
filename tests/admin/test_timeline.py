"""The page of a charge: the timeline in order, in a bounded number of statements."""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from payments.admin.timeline.page import timeline
from payments.admin.timeline.records import MOST, Records
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, AuditEntry, Charge, Event, MerchantAccess, ReconciliationItem, Webhook
from payments.providers.references import FollowUp, reference_of
from payments.providers.simulator.models import SimulatedPayment
from tests.admin.conftest import IDEMPOTENCY_KEY, House, text_of, words_of
from tests.admin.test_pages import page_of
from tests.client import APPROVED, CHALLENGED, REFUNDS_WAIT, Api, made
from tests.ledger.books import settle
from tests.provider_events.factories import make_provider_message
from tests.reconciliation.factories import a_difference
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.long

# However long its story is: session, user, rights, alerts, the charge and what belongs to it, each sort once.
MOST_STATEMENTS = 40
HOST = "office-7.kaha.example"


def charge_of(house: House) -> Charge:
    return Charge.objects.get()


def page_text(client: Client, charge: Charge) -> str:
    return words_of(client.get(page_of(charge)))


def hex_of(charge: dict[str, Any]) -> str:
    """Return the charge's ID as an address has it."""
    return str(UUID(charge["id"].removeprefix("ch_")))


def titles(charge: Charge) -> list[str]:
    return [str(moment.title) for moment in timeline(Records(charge), with_address=True)]


def test_a_payment_is_shown_in_order(house: House) -> None:
    charge = charge_of(house)
    announced = titles(charge)
    expected = [
        "POST /v2/charges/",
        "charge.created",
        "simulator was asked to authorize ₱1,234.50",
        "simulator answered: Approved",
        "charge.succeeded",
        f"POST /v2/charges/{charge}/refund",
        "simulator was asked to refund ₱4.50",
    ]
    assert [title for title in announced if title in expected] == expected
    assert [m.at for m in timeline(Records(charge), True)] == sorted(m.at for m in timeline(Records(charge), True))


def test_a_request_names_its_key_masked_and_its_idempotency_key_and_answer(house: House, operator: Client) -> None:
    text = page_text(operator, charge_of(house))
    key = house.shop.keys["sk_test"]
    assert f"Request {house.request_id} Key sk_test_…{key[-4:]} (secret)" in text
    assert f"Idempotency key {IDEMPOTENCY_KEY} Answered 201" in text
    assert key not in text


def test_the_ledger_is_shown_line_by_line(house: House, operator: Client) -> None:
    settle()
    text = page_text(operator, charge_of(house))
    assert "Posted: capture" in text
    assert "provider receivable debit ₱1,234.50" in text
    assert "Posted: settle" in text


def test_the_payers_way_is_shown(api: Api, operator: Client, client: Client) -> None:
    charge = api.charge(CHALLENGED)
    client.get(urlsplit(charge["action"]["url"]).path, headers={"User-Agent": "Firefox/145.0"})
    client.post(urlsplit(charge["action"]["url"]).path, {"decision": "pay"})
    client.get(urlsplit(SimulatedPayment.objects.get().return_url).path)
    announced = titles(Charge.objects.get())
    assert (
        announced.index("Payer was asked to confirm")
        < announced.index("Payer decided")
        < announced.index("Payer came back")
    )
    assert "From 127.0.0.1 With Firefox" in page_text(operator, Charge.objects.get())
    # The request that made it has no attempt of its own any more, and its events know it.
    assert announced[0] == "POST /v2/charges/"


def test_a_provider_event_is_shown_with_its_result(house: House, operator: Client) -> None:
    charge = charge_of(house)
    refund = charge.attempts.get(kind="refund")
    message = make_provider_message(charge.merchant, b'{"token": "whsec_0123456789abcdef"}', reference=refund.reference)
    undone = reference_of(refund.pk, FollowUp.REFUND)
    make_provider_message(charge.merchant, b"2", reference=undone, state="applied", why="", outcome="Approved")
    make_provider_message(charge.merchant, b"3", reference="rfd-1", payment=refund.reference, why="Done by hand")
    make_provider_message(charge.merchant, b"4", why="It is about another charge.")
    Attempt.objects.filter(pk=refund.pk).update(account=message.account)

    text = page_text(operator, charge)

    assert "gone reported: a change, and was asked about it" in text
    assert "Result needs attention: Nobody knows it" in text
    assert "gone reported: Approved" in text
    assert "Done by hand" in text
    assert "another charge" not in text
    assert "whsec_" not in text


def test_a_webhook_that_waits_is_shown(house: House, operator: Client) -> None:
    assert Webhook.objects.exists()
    assert "charge.succeeded waits to be sent" in page_text(operator, charge_of(house))


def test_a_difference_with_the_providers_report_is_shown(house: House, operator: Client) -> None:
    item = a_difference()
    ReconciliationItem.objects.filter(pk=item.pk).update(charge=charge_of(house))
    assert f"Report and ledger differ: {item}" in titles(charge_of(house))


def test_what_staff_did_is_shown_with_its_reason(house: House, operator: Client) -> None:
    audit_log.record(Action.LOOKED_UP, charge_of(house).attempts.first(), reason="The payer called.")
    text = page_text(operator, charge_of(house))
    assert ": looked up" in text
    assert "Why The payer called." in text


def test_only_who_may_see_the_audit_log_sees_from_where_staff_acted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: HOST)
    audit_log.record(Action.LOOKED_UP, charge_of(house).attempts.first(), reason="The payer called.")
    assert AuditEntry.objects.latest("id").origin == HOST
    viewer = Client()
    user = for_all(User.objects.create(username="viewer", is_staff=True))
    user.user_permissions.add(Permission.objects.get(codename="view_charge"))
    viewer.force_login(user)
    text = page_text(viewer, charge_of(house))
    assert "The payer called." in text
    assert HOST not in text
    assert "Views by staff" not in text


def test_who_works_for_some_merchants_does_not_see_from_where_staff_acted(house: House, client: Client) -> None:
    ana = User.objects.create(username="ana", is_staff=True)
    ana.user_permissions.set(Permission.objects.filter(codename__in=["view_charge", "view_auditentry"]))
    MerchantAccess.objects.create(user=ana, merchant=house.shop.merchant)
    client.force_login(ana)
    client.get(page_of(charge_of(house)))
    assert "Views by staff" not in page_text(client, charge_of(house))
    for_all(ana)
    assert "Views by staff" in page_text(client, charge_of(house))


def test_a_long_story_costs_no_more_than_a_short_one(
    api: Api, operator: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    charge = api.charge(REFUNDS_WAIT)
    row = Charge.objects.get()
    # Every page says how much is open, as it was counted within five minutes.
    operator.get(reverse("admin:inbox"))
    with django_assert_max_num_queries(MOST_STATEMENTS):
        operator.get(page_of(row))
    for _ in range(5):
        made(api.post(f"/charges/{charge['id']}/refund", {"amount": 100}))
    with django_assert_max_num_queries(MOST_STATEMENTS):
        operator.get(page_of(row))


def test_of_each_sort_the_newest_are_shown_and_the_others_counted(house: House, operator: Client) -> None:
    charge = charge_of(house)
    event = Event.objects.filter(object_id=charge.pk).latest("sequence")
    for number in range(MOST):
        event.pk, event.sequence = None, 1000 + number
        event.save(force_insert=True)
    records = Records(charge)
    assert len(records.events) == MOST
    assert records.events[-1].sequence == 1000 + MOST - 1
    assert f"{records.more['changes']} more changes" in page_text(operator, charge)


def test_charges_of_the_same_card_through_other_sources_are_shown(
    house: House, api: Api, other_shop: NewMerchant, operator: Client
) -> None:
    charge = charge_of(house)
    same, another = (api.charge(number) for number in (REFUNDS_WAIT, APPROVED))
    elsewhere = Api(other_shop.keys["sk_test"]).charge(REFUNDS_WAIT)
    text = text_of(operator.get(page_of(charge)))
    assert "The same card, from other sources" in text
    assert [hex_of(other) in text for other in (same, elsewhere, another)] == [True, True, False]


def test_nobody_sees_charges_of_the_same_card_at_other_merchants(
    house: House, other_shop: NewMerchant, client: Client
) -> None:
    charge = charge_of(house)
    elsewhere = Api(other_shop.keys["sk_test"]).charge(REFUNDS_WAIT)
    ana = User.objects.create(username="ana", is_staff=True)
    ana.user_permissions.set(Permission.objects.filter(codename="view_charge"))
    MerchantAccess.objects.create(user=ana, merchant=house.shop.merchant)
    client.force_login(ana)
    text = text_of(client.get(page_of(charge)))
    assert ("The same card" in text, hex_of(elsewhere) in text) == (False, False)


def test_the_customer_is_shown_with_their_other_charges(house: House, api: Api, operator: Client) -> None:
    kept = api.source(REFUNDS_WAIT)
    made(api.post(f"/customers/{house.customer['id']}/sources/", {"source": kept}))
    first, _ = (api.charge_source(kept) for _ in range(2))
    text = text_of(operator.get(page_of(Charge.objects.latest("pk"))))
    assert "juan@example.com" in text
    assert hex_of(first) in text


def test_opening_a_charge_is_recorded(house: House, operator: Client) -> None:
    charge = charge_of(house)
    operator.get(page_of(charge))
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.object_id, entry.actor) == ("viewed", str(charge.pk), "operator")
    assert entry.origin == "127.0.0.1"
    assert "Views by staff" in page_text(operator, charge)

"""Sessions that keep the payer's card: in mode `subscription` after a charge, in mode `save_card` without one."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from customers.domain.kept_sources import SOURCES_MAX
from customers.models import Customer, CustomerSource
from payments import clock
from payments.domain.charging import expiry, recovery
from payments.domain.shared.errors import PaymentError
from payments.ids import parse_id
from payments.models import Card, Charge, Checkout, Source
from payments.providers.simulator.models import SimulatedPayment
from tests.checkout.cast import SAVE_CARD, SUBSCRIPTION, charges_of, event_types, opened, pay, save, shown
from tests.client import ANSWER_LOST, APPROVED, DECLINED, Api, error_of, made
from tests.pages.checkout_page import CARD
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db
MARIA = {"email": "maria@example.com", "name": "Maria Clara"}


@pytest.fixture
def customer(api: Api) -> str:
    return made(api.post("/customers/", {"email": "juan@example.com", "description": "Juan"}))["id"]


def kept(api: Api, customer: str) -> list[dict[str, Any]]:
    return made(api.get(f"/customers/{customer}"))["sources"]


def test_a_subscription_charges_the_total_and_keeps_the_card(api: Api, customer: str) -> None:
    session = opened(api, **SUBSCRIPTION, customer=customer)
    charge = pay(session)
    assert (charge.amount, shown(api, session)["payment_status"]) == (25_000, "paid")
    [source] = kept(api, customer)
    again = api.charge_source(source["id"], 5_000)
    assert (again["status"], again["source"]["vaulted"]) == ("succeeded", True)


def test_the_expiry_of_a_card_that_a_subscription_keeps_is_announced(api: Api, customer: str) -> None:
    pay(opened(api, **SUBSCRIPTION, customer=customer))
    card = Card.objects.get()
    last_month = (int(card.exp_year), int(card.exp_month))
    assert card.expiring_at
    end = card.expiring_at + timedelta(days=30)
    assert (end - timedelta(seconds=1)).timetuple()[:2] == last_month


def test_a_card_whose_customer_was_deleted_meanwhile_is_not_announced(api: Api, customer: str) -> None:
    pay(opened(api, **SUBSCRIPTION, customer=customer), ANSWER_LOST)
    made(api.delete(f"/customers/{customer}"))
    with clock.at(clock.now() + timedelta(hours=1)):
        recovery.resolve_due()
    card = Card.objects.get()
    assert (Charge.objects.get().status, card.source.vaulted) == ("succeeded", False)
    assert card.expiring_at
    with clock.at(card.expiring_at):
        assert expiry.announce_expiring_cards() == 0
    assert Card.objects.get().expiring_at is None


def fill(customer: str, count: int) -> None:
    """Keep wallets for a customer until it has so many sources."""
    row = Customer.objects.get(id=parse_id("cus", customer))
    flags = {"used": True, "vaulted": True, "type": "gcash", "livemode": False, "customer_id": row.id}
    wallets = [Source(merchant_id=row.merchant_id, **flags) for _ in range(count)]
    Source.objects.bulk_create(wallets)
    ties = [CustomerSource(merchant_id=row.merchant_id, customer=row, source=wallet) for wallet in wallets]
    CustomerSource.objects.bulk_create(ties)


@pytest.mark.parametrize("how", ["deleted", "full"])
@pytest.mark.parametrize("mode", [SUBSCRIPTION, SAVE_CARD], ids=["subscription", "save_card"])
def test_no_card_is_charged_or_checked_that_cannot_be_kept_and_the_page_says_so(
    api: Api, client: Client, customer: str, mode: dict[str, Any], how: str
) -> None:
    session = opened(api, **mode, customer=customer)
    fill(customer, SOURCES_MAX) if how == "full" else made(api.delete(f"/customers/{customer}"))
    with pytest.raises(PaymentError, match="customer"):
        (pay if mode is SUBSCRIPTION else save)(session)
    page = path_of(session["payment_url"])
    answer = client.post(page, {"attempt": "0", **CARD, "number": APPROVED})
    assert (answer.status_code, answer["Location"]) == (303, session["payment_url"])
    for language, words in (("en", "The shop cannot keep your card"), ("fil", "Hindi maitatago ng tindahan")):
        assert words in client.get(page, {"lang": language}).content.decode()
    assert not SimulatedPayment.objects.exists()
    assert Checkout.objects.get().attempts == 0


def test_a_card_that_was_charged_to_be_kept_is_kept_where_the_customer_became_full_meanwhile(
    api: Api, customer: str
) -> None:
    session = opened(api, **SUBSCRIPTION, customer=customer)
    charge = pay(session, ANSWER_LOST)
    fill(customer, SOURCES_MAX)
    with clock.at(clock.now() + timedelta(hours=1)):
        recovery.resolve_due()
    assert shown(api, session)["payment_status"] == "paid"
    assert Source.objects.get(id=charge.source_id).vaulted


def test_a_subscription_without_a_customer_makes_one_of_what_the_payer_gave(api: Api) -> None:
    session = opened(api, **SUBSCRIPTION)
    pay(session, payer=MARIA)
    customer = shown(api, session)["customer"]
    assert made(api.get(f"/customers/{customer}"))["email"] == "maria@example.com"
    assert len(kept(api, customer)) == 1


def test_a_declined_subscription_keeps_no_card_and_makes_one_customer_at_most(api: Api) -> None:
    session = opened(api, **SUBSCRIPTION)
    pay(session, DECLINED, payer=MARIA)
    assert not Card.objects.filter(sealed_number__isnull=False).exists()
    pay(session, payer=MARIA)
    assert Customer.objects.count() == 1
    assert len(kept(api, shown(api, session)["customer"])) == 1


def test_the_security_code_of_a_kept_card_is_destroyed(api: Api, customer: str) -> None:
    pay(opened(api, **SUBSCRIPTION, customer=customer))
    assert not Card.objects.filter(sealed_cvc__isnull=False).exists()


def test_the_number_of_a_kept_card_stays_after_the_time_of_unused_ones(api: Api, customer: str) -> None:
    pay(opened(api, **SUBSCRIPTION, customer=customer))
    Card.objects.update(number_expires_at="2026-01-01T00:00:00Z")
    assert expiry.destroy_unused_numbers() == 0
    assert Card.objects.get().sealed_number is not None


def test_the_number_of_a_card_whose_customer_was_deleted_is_destroyed_in_time(api: Api, customer: str) -> None:
    pay(opened(api, **SUBSCRIPTION, customer=customer), ANSWER_LOST)
    made(api.delete(f"/customers/{customer}"))
    with clock.at(clock.now() + timedelta(hours=1)):
        recovery.resolve_due()
    assert not Source.objects.get().vaulted
    Card.objects.update(number_expires_at="2026-01-01T00:00:00Z")
    assert expiry.destroy_unused_numbers() == 1


def attached(api: Api, customer: str, **consent: Any) -> HttpResponse:
    """Return the answer to the only source, attached to `customer`."""
    order = {"source": f"src_{Source.objects.get().id.hex}"} | ({"consent": consent} if consent else {})
    return api.post(f"/customers/{customer}/sources", order)


@pytest.mark.parametrize("do", [pay, save], ids=["subscription", "save_card"])
def test_attaching_the_card_of_a_session_again_keeps_the_first_consent_and_changes_nothing_else(
    api: Api, customer: str, do: Callable[[dict[str, Any]], Any]
) -> None:
    do(opened(api, **(SUBSCRIPTION if do is pay else SAVE_CARD), customer=customer))
    before = kept(api, customer)
    for words in ("", "A box a week", "Two boxes a week"):
        made(attached(api, customer, **({"text": words, "at": "2026-11-20"} if words else {})))
    assert Source.objects.get().consent == {"text": "A box a week", "at": "2026-11-20T00:00:00.000000Z"}
    assert kept(api, customer) == before


def test_the_card_of_a_session_is_kept_for_its_own_customer_only(api: Api, customer: str) -> None:
    save(opened(api, **SAVE_CARD, customer=customer))
    other = made(api.post("/customers/", {"email": "maria@example.com", "description": "Maria"}))["id"]
    assert error_of(attached(api, other, text="x", at="2026-11-20"))["code"] == "source_already_used"
    made(api.delete(f"/customers/{customer}/sources/{kept(api, customer)[0]['id']}"))
    assert error_of(attached(api, customer, text="x", at="2026-11-20"))["code"] == "source_already_used"
    assert Source.objects.get().consent is None


def test_the_source_of_a_paid_session_cannot_be_attached_and_the_message_names_the_mode(
    api: Api, customer: str
) -> None:
    source = pay(opened(api)).source
    refused = error_of(api.post(f"/customers/{customer}/sources", {"source": f"src_{source.id.hex}"}))
    assert refused["code"] == "source_already_used"
    assert "`subscription`" in refused["message"]


def test_saving_a_card_charges_nothing_and_keeps_it(api: Api, customer: str) -> None:
    session = opened(api, **SAVE_CARD, customer=customer)
    assert (session["amount_total"], session["line_items"]) == (0, [])
    save(session)
    saved = shown(api, session)
    assert (saved["payment_status"], saved["payment_details"], saved["customer"]) == ("paid", None, customer)
    assert charges_of(session) == []
    assert len(kept(api, customer)) == 1
    assert event_types(api, session) == ["checkout_session.created", "checkout_session.completed"]


def test_a_card_is_saved_once(api: Api) -> None:
    session = opened(api, **SAVE_CARD)
    save(session, **MARIA)
    with pytest.raises(PaymentError):
        save(session, **MARIA)
    assert Source.objects.filter(vaulted=True).count() == 1
    assert Checkout.objects.get().attempts == 1


def test_a_session_for_an_unknown_customer_is_refused(api: Api) -> None:
    refused = api.post("/checkout_sessions/", {**SAVE_CARD, "customer": f"cus_{'0' * 32}"})
    assert refused.status_code in (400, 404)


def test_the_data_of_a_customer_fill_the_form(api: Api, customer: str) -> None:
    assert opened(api, customer=customer)["customer_email"] == "juan@example.com"

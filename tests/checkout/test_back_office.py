"""Checkout sessions in the back office: the list, the page, the charge's page and the action Expire."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.models import AuditEntry, Charge, Checkout, Event, MerchantAccess, PaymentLink
from payments.search.sweep import rebuild
from tests.admin.conftest import client_of, text_of, words_of
from tests.admin.test_pages import list_of, page_of
from tests.checkout.cast import SETUP, billed, customer, opened, pay, pay_by_wallet, row_of, shown
from tests.checkout.shelf import linked
from tests.client import DECLINED, Api
from tests.factories import MerchantFactory
from tests.operators.corrections import operator as staff_member

pytestmark = [pytest.mark.django_db, pytest.mark.long]
FIND = reverse("admin:find")
CUSTOMER = {"customer_email": "juan@example.com", "customer_name": "Juan dela Cruz", "customer_phone": "09171234567"}


def listed(client: Client, **query: str) -> set[str]:
    """Return the pages of the listed checkouts."""
    text = text_of(client.get(list_of(Checkout), {"mode": "test", **query}))
    return {page_of(row) for row in Checkout.objects.all() if page_of(row) in text}


def pages_of(*sessions: dict[str, Any]) -> set[str]:
    return {page_of(row_of(session)) for session in sessions}


def support_of_no_merchant() -> tuple[Client, User]:
    """Return a member of support who works for no merchant yet, signed in."""
    client, user = Client(), staff_member("rosa")
    user.is_superuser = False
    user.save()
    user.groups.set(Group.objects.filter(name="support"))
    client.force_login(user)
    return client, user


def act(client: Client, session: dict[str, Any], **form: str) -> Any:
    return client.post(reverse("admin:payments_checkout_expire", args=[row_of(session).pk]), form, follow=True)


@pytest.fixture
def operator(db: None) -> Client:
    """Return a client with a signed-in superuser."""
    return client_of("operator")


@pytest.fixture
def sessions(api: Api) -> dict[str, dict[str, Any]]:
    """Return one session in each state."""
    made = {state: opened(api) for state in ("unpaid", "paying", "paid", "expired")}
    made["authorized"] = opened(api, **SETUP)
    pay_by_wallet(made["paying"])
    pay(made["paid"])
    pay(made["authorized"])
    api.post(f"/checkout_sessions/{made['expired']['id']}/expire")
    return made


def test_the_list_shows_what_an_operator_looks_for(api: Api, operator: Client) -> None:
    opened(api, client_reference_id="ORDER-1001", **CUSTOMER)
    text = words_of(operator.get(list_of(Checkout), {"mode": "test"}))
    for word in ("₱250.00", "unpaid", "Halo-halo", "ORDER-1001", "Juan dela Cruz", "Sari Store"):
        assert word in text, word


def test_sessions_are_filtered_by_state(sessions: dict[str, Any], operator: Client) -> None:
    for state, session in sessions.items():
        assert listed(operator, state=state) == pages_of(session), state


def test_sessions_are_filtered_by_merchant_purpose_kind_and_amount(api: Api, operator: Client) -> None:
    session, held = opened(api), opened(api, **SETUP, line_items=[{"name": "Taho", "amount": 100, "quantity": 1}])
    merchant = str(row_of(session).merchant_id)
    assert listed(operator, merchant=merchant, kind="session") == pages_of(session, held)
    assert listed(operator, merchant=merchant, kind="link") == set()
    assert listed(operator, merchant=str(MerchantFactory().pk)) == set()
    assert listed(operator, purpose="setup") == pages_of(held)
    assert listed(operator, least="200", currency="PHP") == pages_of(session)


def test_the_list_has_sums_and_a_file(api: Api, operator: Client) -> None:
    session = opened(api, client_reference_id="ORDER-1001")
    opened(api)
    assert "₱500.00" in words_of(operator.get(list_of(Checkout), {"mode": "test"}))
    response = operator.post(f"{reverse('admin:payments_checkout_csv')}?mode=test")
    file = b"".join(response.streaming_content).decode()
    assert file.count("cs_") == 2
    assert session["id"] in file
    assert "ORDER-1001" in file


def test_operators_see_the_sessions_of_their_merchants_alone(api: Api, shop: NewMerchant) -> None:
    session = opened(api)
    client, user = support_of_no_merchant()
    assert listed(client) == set()
    assert client.get(page_of(row_of(session))).status_code == 404
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)
    assert listed(client) == pages_of(session)


def test_the_page_shows_order_payer_addresses_and_attempts(api: Api, operator: Client) -> None:
    items = [{"name": "Halo-halo", "amount": 12_500, "quantity": 2, "description": "With ube"}]
    session = opened(api, line_items=items, metadata={"table": "7"}, **CUSTOMER)
    declined = pay(session, DECLINED)
    address = {"line1": "1 Session Road", "city": "Baguio", "country": "PH"}
    paid = pay(session, payer={"name": "Ana Reyes", "billing": address})
    text = words_of(operator.get(page_of(row_of(session))))
    for word in (
        *("With ube", "₱125.00", "₱250.00", "https://shop.example/thanks", "https://shop.example/cart"),
        *("Ana Reyes", "juan@example.com", "09171234567", "1 Session Road", "table", "Card, GCash", "2 of 20"),
        *(str(declined), str(paid), "declined", "captured", session["payment_url"]),
    ):
        assert word in text, word


def test_the_timeline_has_requests_attempts_changes_and_staff(api: Api, operator: Client) -> None:
    session = opened(api)
    pay(session, DECLINED)
    act(operator, session, reason="The shop closed.")
    text = words_of(operator.get(page_of(row_of(session))))
    text = text[text.index("requests, messages, ledger entries") :]
    expected = [
        "POST /v2/checkout_sessions/",
        "checkout_session.created",
        "Payer chose Visa",
        "operator: expired",
        "The shop closed.",
        "checkout_session.expired",
    ]
    assert all(word in text for word in expected), text
    assert text.index(expected[0]) < text.index(expected[1]) < text.index(expected[2]) < text.index(expected[5])


def test_the_page_of_a_charge_leads_to_its_checkout(api: Api, operator: Client) -> None:
    session = opened(api)
    charge = pay(session)
    assert page_of(row_of(session)) in text_of(operator.get(page_of(charge)))
    assert page_of(charge) in text_of(operator.get(list_of(Charge), {"q": session["id"]}))


def test_the_page_of_an_event_leads_to_its_session(api: Api, operator: Client) -> None:
    session = opened(api)
    event = Event.objects.get(type="checkout_session.created")
    assert page_of(row_of(session)) in text_of(operator.get(page_of(event)))
    assert page_of(event) in text_of(operator.get(list_of(Event), {"q": session["id"]}))


def test_an_operator_expires_a_session_and_says_why(api: Api, operator: Client) -> None:
    session = opened(api)
    assert "cannot be paid any more" in words_of(act(operator, session, reason="The shop closed."))
    assert shown(api, session)["payment_status"] == "expired"
    entry = AuditEntry.objects.get(action="expired")
    assert (entry.actor, entry.reason, entry.object_id) == ("operator", "The shop closed.", str(row_of(session).pk))


@pytest.mark.parametrize("state", ["paying", "paid", "authorized", "expired"])
def test_a_session_that_is_not_unpaid_is_not_expired(state: str, sessions: dict[str, Any], operator: Client) -> None:
    assert "cannot expire" in words_of(act(operator, sessions[state], reason="Too late"))
    assert row_of(sessions[state]).state == state
    assert not AuditEntry.objects.filter(action="expired").exists()


def test_a_session_that_is_paid_while_the_form_is_open_stays_paid(api: Api, operator: Client) -> None:
    session = opened(api)
    form = reverse("admin:payments_checkout_expire", args=[row_of(session).pk])
    assert "Nothing is charged" in words_of(operator.get(form))
    pay(session)
    act(operator, session, reason="Too late")
    assert shown(api, session)["payment_status"] == "paid"


def test_a_viewer_cannot_expire_a_session(api: Api) -> None:
    session = opened(api)
    viewer = client_of("vic", "view_checkout")
    assert "Expire" not in words_of(viewer.get(page_of(row_of(session)))).partition("Payer")[0]
    assert act(viewer, session, reason="No").status_code == 403
    assert row_of(session).state == "unpaid"


def test_a_page_shows_who_looked_at_it_and_records_that(api: Api, operator: Client) -> None:
    session = opened(api)
    operator.get(page_of(row_of(session)))
    assert AuditEntry.objects.filter(action="viewed", object_id=str(row_of(session).pk)).count() == 1
    assert "Views by staff" in words_of(operator.get(page_of(row_of(session))))


def test_hostile_texts_are_shown_as_texts(api: Api, operator: Client) -> None:
    hostile = '<script>alert("1")</script>'
    items = [{"name": hostile, "amount": 100, "quantity": 1, "description": hostile}]
    session = opened(
        api, line_items=items, description=hostile, client_reference_id=hostile, metadata={hostile: hostile}
    )
    for address in (page_of(row_of(session)), f"{list_of(Checkout)}?mode=test"):
        assert "<script>alert" not in text_of(operator.get(address))


FOUND_BY = (
    *("ORDER-1001", "order-10", "juan@example.com", "09171234567", "dela Cruz", "halo-halo", "250.00", "table", "sari"),
    *("ana@example.com", "Baguio", "halo-halo juan today"),
)


def test_one_search_field_finds_a_session(api: Api, operator: Client) -> None:
    session = opened(api, client_reference_id="ORDER-1001", metadata={"table": "7"}, **CUSTOMER)
    pay(session, payer={"email": "ana@example.com", "billing": {"city": "Baguio"}})
    opened(api, line_items=[{"name": "Taho", "amount": 100, "quantity": 1}])
    rebuild()
    for term in FOUND_BY:
        assert page_of(row_of(session)) in text_of(operator.get(FIND, {"q": term})), term
    for term in set(FOUND_BY) - {"sari"}:
        assert listed(operator, q=term) == pages_of(session), term


def test_one_search_field_finds_a_request_by_its_number_and_its_payer(api: Api, operator: Client) -> None:
    request = billed(api)
    rebuild()
    for term in (request["number"], "juan@example.com", "halo-halo"):
        assert page_of(row_of(request)) in text_of(operator.get(FIND, {"q": term})), term


def test_one_search_field_finds_a_link_by_its_name_and_its_items(api: Api, operator: Client) -> None:
    link = PaymentLink.objects.get(id=parse_id("plink", linked(api)["id"]))
    rebuild()
    for term in ("summer menu", "turon"):
        assert page_of(link) in text_of(operator.get(FIND, {"q": term})), term
    assert operator.get(FIND, {"q": str(link)})["Location"] == page_of(link)


def test_the_id_of_a_customer_finds_what_it_has_paid(api: Api, operator: Client) -> None:
    session, request = opened(api, customer=customer(api)), billed(api)
    rebuild()
    assert listed(operator, q=session["customer"]) == pages_of(session)
    assert listed(operator, q=request["customer"]) == pages_of(request)


def test_an_id_opens_the_page_of_its_session_and_so_does_its_beginning(api: Api, operator: Client) -> None:
    session = opened(api)
    for term in (session["id"], session["id"][:30]):
        assert operator.get(FIND, {"q": term})["Location"] == page_of(row_of(session))


def test_the_ids_of_its_charge_and_events_find_a_session(api: Api, operator: Client) -> None:
    session = opened(api)
    charge = pay(session)
    event = Event.objects.get(type="checkout_session.completed")
    for term in (str(charge), f"src_{charge.source_id.hex}", f"evt_{event.id.hex}", f"mer_{charge.merchant_id.hex}"):
        assert listed(operator, q=term) == pages_of(session), term


def test_other_texts_and_operators_of_other_merchants_find_nothing(api: Api) -> None:
    session = opened(api, client_reference_id="ORDER-1001")
    rebuild()
    assert listed(client_of("ana"), q="ORDER-2002") == set()
    rosa, _ = support_of_no_merchant()
    for term in ("ORDER-1001", session["id"]):
        assert page_of(row_of(session)) not in text_of(rosa.get(FIND, {"q": term}, follow=True))

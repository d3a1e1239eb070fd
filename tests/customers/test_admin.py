"""What operators see of customers, and the one thing that they do there: they detach a source."""

from typing import Any

import pytest
from django.test import Client

from customers.models import Customer, CustomerSource
from payments.ids import parse_id
from payments.models import AuditEntry, Card
from payments.search.sweep import rebuild
from tests.client import Api
from tests.customers.factories import attach, new_customer, read

LIST = "/admin/customers/customer/"


def page_of(customer: dict[str, Any]) -> str:
    return f"{LIST}{parse_id('cus', customer['id'])}/change/"


@pytest.mark.long
@pytest.mark.parametrize("what", ["id", "email", "source", "charge"])
def test_a_customer_is_found_by_any_id_and_by_its_address(admin_client: Client, api: Api, what: str) -> None:
    maria, other = new_customer(api), new_customer(api, email="other@example.ph")
    source = attach(api, maria)
    terms = {"id": maria["id"], "email": "maria@example", "source": source, "charge": api.charge_source(source)["id"]}
    rebuild()

    found = admin_client.get(LIST, {"q": terms[what]}).content.decode()

    assert page_of(maria) in found
    assert page_of(other) not in found


@pytest.mark.parametrize(("presence", "shown"), [("present", True), ("deleted", False)])
def test_deleted_customers_are_listed_apart(
    admin_client: Client, maria: dict[str, Any], presence: str, shown: bool
) -> None:
    listed = admin_client.get(LIST, {"state": presence}).content.decode()

    assert (page_of(maria) in listed) is shown


def test_the_page_of_a_card_says_whether_it_was_ever_checked(
    admin_client: Client, api: Api, maria: dict[str, Any]
) -> None:
    source = attach(api, maria)
    card = Card.objects.get(source_id=parse_id("src", source))
    path = f"/admin/payments/card/{card.pk}/change/"

    before = admin_client.get(path).content.decode()
    api.charge_source(source, initiator="customer")
    after = admin_client.get(path).content.decode()

    card.refresh_from_db()
    assert "Never: no payment with its owner was approved yet" in before
    assert "Never" not in after
    assert card.network_reference in after


def test_the_page_of_a_customer_shows_the_sources_it_has_and_had(
    admin_client: Client, api: Api, maria: dict[str, Any]
) -> None:
    sources = [attach(api, maria), attach(api, maria)]
    api.delete(f"/customers/{maria['id']}/sources/{sources[0]}")

    page = admin_client.get(page_of(maria)).content.decode()

    assert all(text in page for text in (maria["id"], maria["email"], *sources, "3055"))


@pytest.mark.parametrize("path", ["{page}", "{delete}", LIST + "add/"])
def test_no_customer_is_added_changed_or_deleted_by_hand(
    admin_client: Client, maria: dict[str, Any], path: str
) -> None:
    addresses = {"page": page_of(maria), "delete": page_of(maria).replace("/change/", "/delete/")}
    response = admin_client.post(path.format(**addresses), {"email": "changed@example.ph", "post": "yes"})

    assert response.status_code == 403
    assert Customer.objects.get().email == maria["email"]


def detach(client: Client, customer: dict[str, Any], source: str) -> Any:
    address = page_of(customer).replace("change", "detach-source")
    return client.post(address, {"source": source, "reason": "The payer asked, ticket 4711"})


def test_a_detached_source_is_charged_no_more_and_its_card_data_is_gone(
    admin_client: Client, api: Api, maria: dict[str, Any]
) -> None:
    gone, kept = attach(api, maria), attach(api, maria)

    assert detach(admin_client, maria, gone).status_code == 302

    assert [source["id"] for source in read(api, maria)["sources"]] == [kept]
    order = {"amount": 100, "currency": "PHP", "source": gone, "description": "Rice"}
    assert api.post("/charges/", order).status_code == 409
    assert Card.objects.get(source_id=parse_id("src", gone)).sealed_number is None
    entry = AuditEntry.objects.latest("id")
    assert (entry.object_id, entry.fields) == (str(parse_id("cus", maria["id"])), ["sources"])
    assert "ticket 4711" in entry.reason


def test_a_source_that_is_not_kept_for_the_customer_is_not_detached(
    admin_client: Client, api: Api, maria: dict[str, Any]
) -> None:
    other = attach(api, new_customer(api, email="other@example.ph"))

    assert "errorlist" in detach(admin_client, maria, other).content.decode()

    assert not CustomerSource.objects.filter(detached_at__isnull=False).exists()


def test_the_page_of_a_customer_shows_its_charges(admin_client: Client, api: Api, maria: dict[str, Any]) -> None:
    charge = api.charge_source(attach(api, maria))
    other = api.charge()

    page = admin_client.get(page_of(maria)).content.decode()

    assert str(parse_id("ch", charge["id"])) in page
    assert str(parse_id("ch", other["id"])) not in page

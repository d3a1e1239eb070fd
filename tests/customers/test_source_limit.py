"""Each event of a customer shows all of its sources, so there are only so many."""

from typing import Any

import pytest

from customers.domain.kept_sources import SOURCES_MAX
from customers.models import Customer, CustomerSource
from payments.models import Source
from tests.client import Api, error_of, made
from tests.concurrency import at_once, statuses
from tests.customers.factories import new_customer, read

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def customer(api: Api) -> dict[str, Any]:
    """Return a customer with two sources fewer than the limit."""
    known = new_customer(api)
    [row] = Customer.objects.all()
    flags = {"used": True, "vaulted": True, "type": "gcash", "livemode": False}
    sources = [Source(merchant_id=row.merchant_id, **flags) for _ in range(SOURCES_MAX - 2)]
    Source.objects.bulk_create(sources)
    CustomerSource.objects.bulk_create(
        CustomerSource(merchant_id=row.merchant_id, customer=row, source=source) for source in sources
    )
    return known


def attach(api: Api, customer: dict[str, Any], source: str) -> Any:
    return Api(api.key).post(f"/customers/{customer['id']}/sources", {"source": source})


def test_no_race_keeps_more_than_a_hundred_sources_for_a_customer(api: Api, customer: dict[str, Any]) -> None:
    assert SOURCES_MAX == 100
    sources = [api.source() for _ in range(6)]
    responses = at_once(6, lambda number: attach(api, customer, sources[number]))
    assert statuses(responses) == {200: 2, 409: 4}
    refused = [number for number, response in enumerate(responses) if response.status_code == 409]
    assert {error_of(responses[number])["code"] for number in refused} == {"too_many_sources"}
    assert len(read(api, customer)["sources"]) == SOURCES_MAX
    # Nothing of those that were refused is used up.
    assert all(not made(api.get(f"/sources/{sources[number]}"))["used"] for number in refused)


def test_a_customer_whose_source_is_detached_has_room_for_another(api: Api, customer: dict[str, Any]) -> None:
    for _ in range(2):
        made(attach(api, customer, api.source()))
    refused = attach(api, customer, source := api.source())
    assert (refused.status_code, error_of(refused)["code"]) == (409, "too_many_sources")
    assert "Detach" in error_of(refused)["message"]
    made(api.delete(f"/customers/{customer['id']}/sources/{read(api, customer)['sources'][0]['id']}"))
    assert attach(api, customer, source).status_code == 200

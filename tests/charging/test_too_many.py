"""Each event of a charge shows all of its refunds, so there are only so many."""

from typing import Any

import pytest

from payments.domain.charging.operations import REFUNDS_MAX
from payments.ids import public_id
from payments.models import Charge, IdempotencyRecord, Refund
from tests.client import Api, error_of
from tests.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def charge(api: Api) -> dict[str, Any]:
    """Create a charge with two refunds fewer than the maximum, all of them failed."""
    made = api.charge()
    [row] = Charge.objects.all()
    known = {"merchant_id": row.merchant_id, "livemode": False, "charge": row, "currency": "PHP"}
    Refund.objects.bulk_create(Refund(**known, amount=1, status="failed") for _ in range(REFUNDS_MAX - 2))
    return made


def refund(api: Api, charge: dict[str, Any], key: str | None = None) -> Any:
    return api.post(f"/charges/{charge['id']}/refund", {"amount": 1}, key=key)


def test_a_charge_has_at_most_a_hundred_refunds_failed_ones_included(api: Api, charge: dict[str, Any]) -> None:
    assert REFUNDS_MAX == 100
    assert [refund(api, charge).status_code for _ in range(2)] == [200, 200]
    refused = refund(api, charge, key="once")
    error = error_of(refused)
    assert (refused.status_code, error["code"], error["charge_id"]) == (409, "too_many_refunds", charge["id"])
    assert "100 refunds" in error["message"]
    assert len(api.read(charge)["refunds"]) == REFUNDS_MAX
    assert IdempotencyRecord.objects.get(key="once").status == 409


def test_no_race_makes_more_refunds_than_there_can_be(api: Api, charge: dict[str, Any]) -> None:
    responses = at_once(12, lambda _: refund(Api(api.key), charge))
    assert {response.status_code for response in responses} == {200, 409}
    assert {error_of(it)["code"] for it in responses if it.status_code == 409} <= {"too_many_refunds", "resource_busy"}
    assert Refund.objects.count() == REFUNDS_MAX
    assert public_id("ch", Charge.objects.get().id) == charge["id"]


def test_a_charge_with_so_many_refunds_that_failed_is_as_before_otherwise(api: Api, charge: dict[str, Any]) -> None:
    for _ in range(2):
        refund(api, charge)
    before = api.read(charge)
    refund(api, charge)
    assert api.read(charge) == before

"""What a request leaves behind is noticed."""

from collections.abc import Callable

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.models import IdempotencyRecord, Merchant
from tests.client import Api
from tests.contract.calls import customer
from tests.fuzz.rows import changed, rows

pytestmark = pytest.mark.django_db(transaction=True)

CHANGES: dict[str, Callable[[Api], object]] = {
    "written": lambda api: customer(api),
    "changed": lambda api: Merchant.objects.update(title="Sari Store"),
    "removed": lambda api: IdempotencyRecord.objects.all().delete(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_is_noticed(api: Api, change: Callable[[Api], object]) -> None:
    api.post("/sources/", {"type": "gcash"}, "once")
    before = rows()
    change(api)
    assert changed(before, rows(), 422) != []


def test_reading_changes_nothing(api: Api, shop: NewMerchant) -> None:
    before = rows()
    api.get("/me")
    assert changed(before, rows(), 422) == []


def test_the_row_that_keeps_a_conflict_may_be_written(api: Api) -> None:
    charge = api.charge()
    before = rows()
    assert api.post(f"/charges/{charge['id']}/capture", None, "once").status_code == 409
    assert changed(before, rows(), 422) == [IdempotencyRecord._meta.db_table]
    assert changed(before, rows(), 409) == []

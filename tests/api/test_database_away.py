"""A database that answers and cannot store: 503 with `Retry-After`, which counts against no caller."""

import pytest
from django.db import connection

from payments import clock
from payments.db.partitions import EVENTS, month_of
from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, error_of
from tests.customers.factories import MARIA


def refuse_writes() -> None:
    """Have the idle connection of this thread take no writes, as when its server has become a standby."""
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_read_only_database_is_answered_503_and_its_connection_not_used_again(api: Api) -> None:
    order = {"amount": 10_000, "currency": "PHP", "source": api.source(), "description": "Halo-halo"}
    refuse_writes()
    response = api.post("/charges/", order)
    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert error_of(response)["type"] == "api_error"
    assert api.post("/charges/", order).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_valid_key_is_not_answered_429_because_of_the_database(settings, shop: NewMerchant) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "1/year"
    api = Api(shop.keys["sk_test"])
    statuses = []
    for _ in range(4):
        refuse_writes()
        statuses.append(api.post("/customers/", MARIA).status_code)
    connection.close()
    assert statuses == [503] * 4


@pytest.mark.django_db(transaction=True)
def test_a_month_without_a_table_is_answered_503(api: Api) -> None:
    source, part = api.source(), EVENTS.part(month_of(clock.now()))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = %s", [part])
        [bounds] = cursor.fetchone()
        cursor.execute(f"ALTER TABLE payments_event DETACH PARTITION {part}")
    try:
        response = api.post("/charges/", {"amount": 10_000, "currency": "PHP", "source": source, "description": "Taho"})
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE payments_event ATTACH PARTITION {part} {bounds}")
    assert (response.status_code, response.get("Retry-After")) == (503, "1")

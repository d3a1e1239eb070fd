"""Many operations on one charge at once: they wait without a connection, few of them, and keep nobody else waiting."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from pytest_django import Settings

from payments import failpoints
from payments.db.backend.base import DatabaseWrapper
from payments.domain.charging import operations
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.failpoints import Failpoint
from payments.redis_client.rate_counters import Counters
from payments.vault import VaultUnavailable
from payments.vault.transit import TransitKeys
from tests.charging.doubles import LONG_SECONDS, Waits, provider
from tests.client import Api, error_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def blocked() -> Iterator[Waits]:
    double = Waits("refund")
    with provider(double):
        yield double


@pytest.fixture
def two_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "CONNECTIONS", 2)
    monkeypatch.setattr(DatabaseWrapper, "_by_process_and_name", {})
    yield
    connection.close()
    connection.close_pool()


@contextmanager
def noticed(step: Failpoint) -> Iterator[list[object]]:
    """Return the connection of each thread that reaches `step`."""
    seen: list[object] = []
    failpoints.listen(lambda at: seen.append(connection.connection) if at is step else None)
    try:
        yield seen
    finally:
        failpoints.listen(None)


def refund(api: Api, charge: dict[str, Any]) -> HttpResponse:
    try:
        return Api(api.key).post(f"/charges/{charge['id']}/refund", {"amount": 1})
    finally:
        connection.close()


def waiting() -> int:
    return operations._waiting.taken


@contextmanager
def refunds(api: Api, blocked: Waits, count: int) -> Iterator[list[Future[HttpResponse]]]:
    """One refund that the provider is asked for, and `count` that wait for it."""
    charge = api.charge()
    connection.close()
    with ThreadPoolExecutor(count + 1) as threads:
        try:
            asked = [threads.submit(refund, api, charge)]
            assert blocked.asked.wait(LONG_SECONDS)
            yield [*asked, *(threads.submit(refund, api, charge) for _ in range(count))]
        finally:
            blocked.proceed.set()


def test_nobody_holds_a_connection_while_another_operation_is_waited_for(api: Api, blocked: Waits) -> None:
    with noticed(Failpoint.WAITING) as seen, refunds(api, blocked, 1):
        assert wait_until(lambda: bool(seen), LONG_SECONDS)
    assert set(seen) == {None}


@pytest.mark.usefixtures("two_connections")
def test_others_are_served_while_more_wait_than_there_are_connections(
    api: Api, other_shop: NewMerchant, blocked: Waits
) -> None:
    with refunds(api, blocked, 4) as answers:
        assert wait_until(lambda: waiting() == 4, LONG_SECONDS)
        assert Api(other_shop.keys["sk_test"]).get("/charges/").status_code == 200
        connection.close()
        blocked.proceed.set()
        assert {answer.result().status_code for answer in answers} <= {200, 409}
        assert answers[0].result().status_code == 200


def test_when_enough_wait_for_a_charge_one_more_is_refused_at_once(api: Api, blocked: Waits) -> None:
    with refunds(api, blocked, operations.WAITING_MAX) as answers:
        assert wait_until(lambda: waiting() == operations.WAITING_MAX, LONG_SECONDS)
        charge = api.get("/charges/").json()["data"][0]
        refused = refund(api, charge)
        assert (refused.status_code, error_of(refused)["code"]) == (409, "resource_busy")
        assert refused["Retry-After"] == "1"
        # None of those that wait has ended meanwhile.
        assert not any(answer.done() for answer in answers)
    assert waiting() == 0


def test_those_that_wait_for_one_charge_keep_nobody_from_another(api: Api, blocked: Waits) -> None:
    other = api.held()
    with refunds(api, blocked, operations.WAITING_MAX):
        assert wait_until(lambda: waiting() == operations.WAITING_MAX, LONG_SECONDS)
        assert api.post(f"/charges/{other['id']}/capture").status_code == 200


def test_nobody_holds_a_connection_while_redis_is_asked() -> None:
    connection.ensure_connection()
    Counters(settings.REDIS_URL).increment("waiting", 1)
    assert connection.connection is None


def test_nobody_holds_a_connection_while_the_vault_is_asked(settings: Settings) -> None:
    settings.VAULT_TRANSIT_URL, settings.VAULT_TRANSIT_TOKEN_FILE = "http://127.0.0.1:1", "/dev/null"
    connection.ensure_connection()
    with pytest.raises(VaultUnavailable):
        TransitKeys().wrap(b"key", b"place")
    assert connection.connection is None

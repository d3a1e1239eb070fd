"""A key that was just read is not read again for a second, and not a moment longer."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.merchants.api_keys import find_key, key_digest
from payments.domain.merchants.key_cache import KEPT_COUNT, KEPT_SECONDS, KeyCache, cached_keys
from payments.models import ApiKey, Merchant
from tests.client import Api, error_of
from tests.factories import ApiKeyFactory

pytestmark = pytest.mark.django_db


class Timer:
    """A clock that shows the seconds that it is given."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def timer() -> Timer:
    return Timer()


@pytest.fixture
def keys(timer: Timer) -> KeyCache:
    return KeyCache(timer=timer)


@pytest.fixture
def kept() -> Iterator[None]:
    """Return the process keeps keys as it does outside tests."""
    cached_keys.seconds = KEPT_SECONDS
    yield
    cached_keys.seconds = 0


def statements_of(keys: KeyCache, digest: bytes) -> int:
    with CaptureQueriesContext(connection) as captured:
        keys.find(digest)
    return len(captured)


def test_a_key_is_kept_for_a_second(keys: KeyCache, timer: Timer) -> None:
    digest = key_digest(ApiKeyFactory().text)
    assert statements_of(keys, digest) == 1
    timer.now += 0.99
    assert statements_of(keys, digest) == 0
    timer.now += 0.01
    assert statements_of(keys, digest) == 1


def test_being_used_keeps_a_key_no_longer(keys: KeyCache, timer: Timer) -> None:
    digest = key_digest(ApiKeyFactory().text)
    asked = []
    for _ in range(10):
        asked.append(statements_of(keys, digest))
        timer.now += 0.3
    assert asked == [1, 0, 0, 0, 1, 0, 0, 0, 1, 0]


def test_whatever_changes_of_a_key_or_its_merchant_holds_after_a_second(keys: KeyCache, timer: Timer) -> None:
    digest = key_digest(ApiKeyFactory(kind="restricted", rights=["charges:read"]).text)
    keys.find(digest)
    changes = {"revoked_at": clock.now(), "rights": ["account:read"], "allowed_networks": ["10.0.0.0/8"]}
    ApiKey.objects.update(**changes)
    Merchant.objects.update(status="closed")
    timer.now += KEPT_SECONDS
    found = keys.find(digest)
    assert {name: getattr(found, name) for name in changes} == changes
    assert found.merchant.status == "closed"


def test_the_second_starts_before_the_question(keys: KeyCache, timer: Timer) -> None:
    digest = key_digest(ApiKeyFactory().text)

    def slowly(execute, *rest):
        timer.now += KEPT_SECONDS
        return execute(*rest)

    with connection.execute_wrapper(slowly):
        keys.find(digest)
    assert statements_of(keys, digest) == 1


def test_a_key_that_is_not_there_is_looked_for_each_time(keys: KeyCache) -> None:
    assert [statements_of(keys, key_digest("sk_test_none")) for _ in range(2)] == [1, 1]


@pytest.mark.long
def test_only_so_many_keys_are_kept(keys: KeyCache) -> None:
    first, *others = [bytes([number // 256, number % 256]) * 16 for number in range(KEPT_COUNT + 1)]
    merchant = ApiKeyFactory().merchant
    ApiKey.objects.bulk_create(
        ApiKey(merchant=merchant, livemode=False, kind="secret", digest=digest, last4="0")
        for digest in [first, *others]
    )
    for digest in [first, *others]:
        keys.find(digest)
    assert [statements_of(keys, digest) for digest in (others[-1], first)] == [0, 1]


@pytest.mark.usefixtures("kept")
def test_requests_of_one_second_read_their_key_once(api: Api) -> None:
    api.get("/ping")
    with CaptureQueriesContext(connection) as captured:
        assert api.get("/ping").status_code == 200
    assert len(captured) == 0


@pytest.mark.usefixtures("kept")
def test_a_key_that_is_kept_expires_in_time(api: Api) -> None:
    ApiKey.objects.filter(id=find_key(api.key).id).update(expires_at=clock.now() + timedelta(milliseconds=200))
    answers = {"": api.get("/ping")}
    while "key_revoked" not in answers:
        answer = api.get("/ping")
        answers[error_of(answer)["code"] if answer.status_code == 401 else ""] = answer
    assert find_key(api.key).expires_at <= clock.now()


@pytest.mark.usefixtures("kept")
def test_a_key_that_is_kept_was_used_once_in_a_minute(api: Api) -> None:
    api.get("/ping")
    first = find_key(api.key).last_used_at
    api.get("/ping")
    assert first
    assert find_key(api.key).last_used_at == first

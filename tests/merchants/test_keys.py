import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries

from payments import clock
from payments.domain.merchants import api_keys
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.row_lookup import NotOne
from payments.ids import public_id
from payments.models import ApiKey
from tests.factories import ApiKeyFactory

pytestmark = pytest.mark.django_db


def test_a_key_has_at_least_190_random_bits(shop: NewMerchant) -> None:
    for text in shop.keys.values():
        digits = text.rpartition("_")[2]
        assert re.fullmatch("[0-9a-f]+", digits)
        assert len(digits) * 4 >= 190


def test_a_secret_key_is_stored_as_a_digest_only(shop: NewMerchant) -> None:
    text = shop.keys["sk_test"]
    row = ApiKey.objects.filter(digest=api_keys.key_digest(text)).values().get()
    assert row["last4"] == text[-4:]
    assert text not in str(row)


def test_a_publishable_key_can_be_shown_again(shop: NewMerchant) -> None:
    text = shop.keys["pk_live"]
    assert ApiKey.objects.get(digest=api_keys.key_digest(text)).public_text == text


def test_rolling_gives_a_key_of_the_same_merchant_mode_and_kind() -> None:
    old = ApiKeyFactory(livemode=True, kind="publishable")
    new, text = api_keys.roll_key(old, timedelta())
    assert (new.merchant, new.livemode, new.kind, new.expires_at) == (old.merchant, True, "publishable", None)
    assert text != old.text


def test_rolling_keeps_rights_and_networks() -> None:
    limits = {"rights": ["charges:read", "refunds:write"], "networks": ["10.0.0.0/8", "2001:db8::/32"]}
    new, text = api_keys.roll_key(ApiKeyFactory(kind="restricted", **limits), timedelta(hours=1))
    new.refresh_from_db()
    assert (new.rights, new.allowed_networks) == (limits["rights"], limits["networks"])
    assert text.startswith("rk_test_")


def test_rolling_keeps_an_earlier_end() -> None:
    end = clock.now() + timedelta(hours=1)
    old = ApiKeyFactory(expires_at=end)
    api_keys.roll_key(old, timedelta(hours=24))
    old.refresh_from_db()
    assert old.expires_at == end


@pytest.mark.parametrize("state", ["revoked_at", "expires_at"])
def test_an_inactive_key_cannot_be_rolled(state: str) -> None:
    old = ApiKeyFactory(**{state: clock.now()})
    with pytest.raises(api_keys.KeyInactive):
        api_keys.roll_key(old, timedelta(hours=24))
    assert ApiKey.objects.count() == 1


def test_revoking_twice_keeps_the_first_time() -> None:
    key = ApiKeyFactory()
    assert api_keys.revoke_key(key)
    key.refresh_from_db()
    first = key.revoked_at
    assert not api_keys.revoke_key(key)
    key.refresh_from_db()
    assert key.revoked_at == first


NAMES = {
    "id": lambda key: public_id("key", key.id),
    "text": lambda key: key.text,
    "last4": lambda key: key.last4,
    "masked as listed": str,
    "masked as in /v2/me": lambda key: f"****{key.last4}",
    "masked with dots": lambda key: f"sk_test_...{key.last4}",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_key_is_found_by(name) -> None:
    key = ApiKeyFactory()
    assert api_keys.find_key(name(key)) == key


def test_a_masked_key_is_not_one_of_another_kind_or_mode() -> None:
    last4 = ApiKeyFactory().last4
    for prefix in ("pk_test_", "sk_live_", "pk_live_"):
        with pytest.raises(NotOne):
            api_keys.find_key(f"{prefix}…{last4}")


def test_ambiguous_last_characters_find_no_key() -> None:
    one, other = ApiKeyFactory(last4="abcd"), ApiKeyFactory(last4="abcd")
    with pytest.raises(NotOne) as refusal:
        api_keys.find_key("abcd")
    assert all(public_id("key", key.id) in str(refusal.value) for key in (one, other))


@pytest.mark.parametrize("text", ["", "zzzz", f"sk_test_{'0' * 47}", f"sk_test_{'0' * 48}", f"key_{'0' * 32}"])
def test_a_malformed_key_name_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(NotOne) as refusal:
        api_keys.find_key(text)
    assert not text or text not in str(refusal.value)


@pytest.mark.parametrize(("kind", "rights"), [("restricted", []), ("secret", ["charges:read"])])
def test_the_database_allows_rights_only_for_restricted_keys(kind: str, rights: list[str]) -> None:
    key = ApiKeyFactory()
    with pytest.raises(IntegrityError, match="key_rights_only_of_restricted"):
        ApiKey.objects.filter(id=key.id).update(kind=kind, rights=rights)


@pytest.mark.parametrize(
    ("address", "works"),
    [
        ("10.20.30.40", True),
        ("::ffff:10.20.30.40", True),
        ("192.0.2.7", True),
        ("2001:db8::1", True),
        ("11.0.0.0", False),
        ("192.0.2.8", False),
        ("2001:db9::1", False),
        ("::ffff:11.0.0.1", False),
        ("", False),
        ("unknown", False),
        ("10.20.30.40:443", False),
    ],
)
def test_a_key_works_only_from_its_networks(address: str, works: bool) -> None:
    key = ApiKeyFactory(networks=["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32"])
    assert api_keys.allows_address(key, address) is works


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::1", "unknown"])
def test_a_key_without_networks_works_from_everywhere(address: str) -> None:
    assert api_keys.allows_address(ApiKeyFactory(), address)


def test_the_first_use_of_a_key_is_recorded_at_once() -> None:
    key = ApiKeyFactory()
    api_keys.record_use(key)
    key.refresh_from_db()
    assert clock.now() - key.last_used_at < timedelta(minutes=1)


def test_a_use_within_the_minute_writes_nothing(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    key = ApiKeyFactory(last_used_at=clock.now() - timedelta(seconds=50))
    with django_assert_num_queries(0):
        api_keys.record_use(key)


def test_of_concurrent_uses_only_the_first_is_recorded() -> None:
    key = ApiKeyFactory(last_used_at=clock.now() - timedelta(hours=1))
    stale = ApiKey.objects.get(id=key.id)
    api_keys.record_use(key)
    noted = ApiKey.objects.get(id=key.id).last_used_at
    api_keys.record_use(stale)
    assert ApiKey.objects.get(id=key.id).last_used_at == noted


@pytest.mark.django_db(transaction=True)
def test_recording_a_use_does_not_wait_for_a_locked_row() -> None:
    key = ApiKeyFactory()
    held, done = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            ApiKey.objects.select_for_update().get(id=key.id)
            held.set()
            done.wait(60)
        connection.close()

    with ThreadPoolExecutor(1) as threads:
        holding = threads.submit(hold)
        held.wait(60)
        api_keys.record_use(key)
        still_held = not holding.done()
        done.set()
    key.refresh_from_db()
    assert (still_held, key.last_used_at) == (True, None)

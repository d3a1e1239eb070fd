"""The cache of data keys: its content and its times."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from payments import vault
from payments.vault import Purpose, VaultError, VaultUnavailable, key_wraps, with_prefetched_keys
from payments.vault.base import KeyDestroyed
from payments.vault.data_keys import OPENING_COUNT, OPENING_SECONDS, SEALING_SECONDS, DataKeys
from tests.vault.stores import MemoryStore, Timer

OLD_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
NEW_KEY = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


@pytest.fixture
def timer() -> Timer:
    return Timer()


@pytest.fixture
def keys(store: MemoryStore, timer: Timer) -> DataKeys:
    return DataKeys(store, timer)


def test_the_first_key_is_created_on_first_use(store: MemoryStore, keys: DataKeys) -> None:
    key_id, _ = keys.sealing(Purpose.CARD)
    assert [key.id for key in store.keys] == [key_id]


def test_a_cached_key_is_not_read_again(store: MemoryStore, keys: DataKeys) -> None:
    key_id, cipher = keys.sealing(Purpose.CARD)
    asked = store.asked
    assert keys.sealing(Purpose.CARD) == (key_id, cipher)
    assert keys.opening(Purpose.CARD, key_id) is cipher
    assert store.asked == asked


def test_a_process_seals_with_a_retired_key_for_a_short_time_only(
    store: MemoryStore, keys: DataKeys, timer: Timer
) -> None:
    old, _ = keys.sealing(Purpose.CARD)
    store.keys.clear()
    timer.seconds += SEALING_SECONDS - 1
    assert keys.sealing(Purpose.CARD)[0] == old
    timer.seconds += 1
    assert keys.sealing(Purpose.CARD)[0] != old


def test_a_process_forgets_a_destroyed_key(store: MemoryStore, keys: DataKeys, timer: Timer) -> None:
    key_id, _ = keys.sealing(Purpose.CARD)
    store.keys.clear()
    timer.seconds += OPENING_SECONDS - 1
    keys.opening(Purpose.CARD, key_id)
    timer.seconds += 1
    with pytest.raises(KeyDestroyed):
        keys.opening(Purpose.CARD, key_id)


def test_the_cache_has_a_limited_size(store: MemoryStore, keys: DataKeys) -> None:
    store.keys = [key_wraps.new_key(Purpose.CARD) for _ in range(OPENING_COUNT + 1)]
    for key in store.keys:
        keys.opening(Purpose.CARD, key.id)
    asked = store.asked
    keys.opening(Purpose.CARD, store.keys[-1].id)
    assert store.asked == asked
    keys.opening(Purpose.CARD, store.keys[0].id)
    assert store.asked == asked + 1


@pytest.mark.parametrize(
    ("purpose", "age"),
    [(Purpose.CARD, timedelta(days=30)), (Purpose.SECRET, timedelta(days=30)), (Purpose.CVC, timedelta(minutes=10))],
)
def test_an_old_key_is_replaced_by_a_new_one(
    store: MemoryStore, keys: DataKeys, timer: Timer, purpose: Purpose, age: timedelta
) -> None:
    keys.sealing(purpose)
    [key] = store.keys
    second = timedelta(seconds=1)
    for older, count in ((age - 2 * second, 1), (age, 2)):
        store.keys[0] = replace(key, created_at=key.created_at - older)
        timer.seconds += SEALING_SECONDS
        keys.sealing(purpose)
        assert len(store.keys) == count


def test_a_replaced_key_still_opens(store: MemoryStore, keys: DataKeys) -> None:
    key_id, _ = keys.sealing(Purpose.CARD)
    store.keys.append(key_wraps.new_key(Purpose.CARD))
    vault.use_store(store)
    DataKeys(store).opening(Purpose.CARD, key_id)


def test_a_wrapped_key_says_nothing_of_the_key(store: MemoryStore, keys: DataKeys) -> None:
    keys.sealing(Purpose.CARD)
    [key] = store.keys
    assert key_wraps.unwrap(key) not in key.wrapped
    assert "wrapped=" not in repr(key)


@pytest.mark.parametrize("change", [{"purpose": Purpose.SECRET}, {"id": UUID(int=1)}], ids=["purpose", "id"])
def test_a_wrapped_key_is_bound_to_its_row(change: dict[str, object]) -> None:
    key = key_wraps.new_key(Purpose.CARD)
    with pytest.raises(VaultError):
        key_wraps.unwrap(replace(key, **change))


def test_a_rewrapped_key_is_the_same_key(settings) -> None:
    settings.VAULT_KEYS = f"old:{OLD_KEY}"
    key = key_wraps.new_key(Purpose.CARD)
    plain = key_wraps.unwrap(key)
    settings.VAULT_KEYS = f"new:{NEW_KEY},old:{OLD_KEY}"
    fresh = vault.rewrap(key)
    settings.VAULT_KEYS = f"new:{NEW_KEY}"
    assert (key.kek, fresh.kek, key_wraps.unwrap(fresh)) == ("local:old", "local:new", plain)


def test_a_key_whose_wrapping_key_is_missing_is_unavailable(settings) -> None:
    settings.VAULT_KEYS = f"old:{OLD_KEY}"
    key = key_wraps.new_key(Purpose.CARD)
    settings.VAULT_KEYS = f"new:{NEW_KEY}"
    with pytest.raises(VaultUnavailable, match="local:old"):
        key_wraps.unwrap(key)


class Waiting(MemoryStore):
    """A store that records whether its caller has a transaction open."""

    def __init__(self) -> None:
        super().__init__()
        self.holding = False
        self.asked_while_holding = 0

    def newest(self, *args, **kwargs):
        self.asked_while_holding += self.holding
        return super().newest(*args, **kwargs)


def test_no_key_is_fetched_inside_a_transaction() -> None:
    store, began = Waiting(), 0
    keys = DataKeys(store)

    @with_prefetched_keys
    def transaction() -> int:
        nonlocal began
        began += 1
        store.holding = True
        try:
            keys.sealing(Purpose.CARD)
            keys.sealing(Purpose.CVC)
        finally:
            store.holding = False
        return began

    assert transaction() == 3, "once for each key that was not cached, and once with both"
    assert transaction() == 4
    assert store.asked_while_holding == 0


def test_a_nested_function_fetches_no_key_inside_the_outer_transaction() -> None:
    store = Waiting()
    keys = DataKeys(store)

    @with_prefetched_keys
    def inner() -> None:
        keys.sealing(Purpose.CARD)

    @with_prefetched_keys
    def outer() -> None:
        store.holding = True
        try:
            inner()
        finally:
            store.holding = False

    outer()
    assert store.asked_while_holding == 0


def test_keys_that_expire_as_fast_as_they_are_fetched_are_unavailable() -> None:
    store = MemoryStore()

    @with_prefetched_keys
    def transaction() -> None:
        DataKeys(store).sealing(Purpose.CARD)

    with pytest.raises(VaultUnavailable):
        transaction()

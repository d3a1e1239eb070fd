from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments import vault
from payments.vault import KeyDestroyed, Place, Purpose, VaultError, seal, unseal
from tests.vault.stores import MemoryStore

pytestmark = pytest.mark.usefixtures("store")

MERCHANT, OTHER_MERCHANT = UUID(int=1), UUID(int=2)
CARD, OTHER_CARD = UUID(int=3), UUID(int=4)
NUMBER = "4242424242424242"
PLACE = Place(Purpose.CARD, MERCHANT, CARD, "number")
# The store of data keys is the same for all examples, as for all rows.
with_one_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@with_one_store
@given(st.text(), st.sampled_from(Purpose), st.uuids(), st.uuids(), st.text(max_size=40))
def test_a_sealed_value_opens_in_its_place(
    text: str, purpose: Purpose, merchant_id: UUID, object_id: UUID, field: str
) -> None:
    place = Place(purpose, merchant_id, object_id, field)
    assert unseal(seal(text, place), place) == text


def test_a_sealed_value_opens_as_the_database_returns_it() -> None:
    assert unseal(memoryview(seal(NUMBER, PLACE)), PLACE) == NUMBER


def test_the_plain_text_is_not_in_the_sealed_value() -> None:
    assert NUMBER.encode() not in seal(NUMBER, PLACE)


def test_the_same_text_is_never_sealed_the_same_twice() -> None:
    assert len({seal(NUMBER, PLACE) for _ in range(20)}) == 20


def test_values_of_one_purpose_share_a_data_key_and_those_of_others_do_not(store: MemoryStore) -> None:
    for purpose in [*Purpose, *Purpose]:
        seal(NUMBER, replace(PLACE, purpose=purpose))
    assert [key.purpose for key in store.keys] == list(Purpose)


@pytest.mark.parametrize(
    "moved",
    [{"merchant_id": OTHER_MERCHANT}, {"object_id": OTHER_CARD}, {"field": "cvc"}, {"purpose": Purpose.SECRET}],
    ids=lambda moved: next(iter(moved)),
)
def test_a_sealed_value_does_not_open_in_another_place(moved: dict[str, Any]) -> None:
    with pytest.raises(VaultError):
        unseal(seal(NUMBER, PLACE), replace(PLACE, **moved))


def test_the_id_of_the_data_key_is_bound_to_the_value(store: MemoryStore) -> None:
    sealed = seal(NUMBER, PLACE)
    [key] = store.keys
    twin = seal(NUMBER, replace(PLACE, purpose=Purpose.SECRET))
    other = store.keys[1]
    assert (sealed[1:17], twin[1:17]) == (key.id.bytes, other.id.bytes)
    with pytest.raises(VaultError):
        unseal(sealed.replace(key.id.bytes, other.id.bytes), replace(PLACE, purpose=Purpose.SECRET))


@with_one_store
@given(st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject) -> None:
    sealed = bytearray(seal(NUMBER, PLACE))
    sealed[data.draw(st.integers(1, len(sealed) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(VaultError):
        unseal(bytes(sealed), PLACE)


@pytest.mark.parametrize("version", [b"", b"\0", b"\3", b"4"])
def test_a_value_of_an_unknown_version_is_refused(version: bytes) -> None:
    with pytest.raises(VaultError, match="version"):
        unseal(version + seal(NUMBER, PLACE)[1:] if version else b"", PLACE)


@with_one_store
@given(st.data())
def test_a_cut_value_is_noticed(data: st.DataObject) -> None:
    sealed = seal(NUMBER, PLACE)
    with pytest.raises(VaultError):
        unseal(sealed[: data.draw(st.integers(0, len(sealed) - 1))], PLACE)


def test_an_added_byte_is_noticed() -> None:
    with pytest.raises(VaultError):
        unseal(seal(NUMBER, PLACE) + b"\0", PLACE)


def test_the_error_shows_neither_the_text_nor_the_sealed_bytes() -> None:
    sealed = seal(NUMBER, PLACE)
    with pytest.raises(VaultError) as failure:
        unseal(sealed, replace(PLACE, field="cvc"))
    assert NUMBER not in str(failure.value)
    assert sealed.hex() not in repr(failure.value)
    assert failure.value.__suppress_context__


def test_a_value_does_not_open_without_its_data_key(store: MemoryStore) -> None:
    sealed = seal(NUMBER, PLACE)
    vault.use_store(MemoryStore())
    with pytest.raises(KeyDestroyed):
        unseal(sealed, PLACE)

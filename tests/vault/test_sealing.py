from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.vault import VaultError, seal, unseal

MERCHANT, STRANGER = UUID(int=1), UUID(int=2)
CARD, OTHER_CARD = UUID(int=3), UUID(int=4)
NUMBER = "4242424242424242"
PLACE = {"merchant_id": MERCHANT, "object_id": CARD, "field": "number"}

OLD_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
NEW_KEY = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


@given(st.text(), st.uuids(), st.uuids(), st.text(max_size=40))
def test_what_was_sealed_opens_in_its_place(text: str, merchant_id: UUID, object_id: UUID, field: str) -> None:
    sealed = seal(text, merchant_id=merchant_id, object_id=object_id, field=field)
    assert unseal(sealed, merchant_id=merchant_id, object_id=object_id, field=field) == text


def test_a_sealed_value_opens_as_the_database_returns_it() -> None:
    assert unseal(memoryview(seal(NUMBER, **PLACE)), **PLACE) == NUMBER


def test_the_plain_text_is_not_in_the_sealed_value() -> None:
    assert NUMBER.encode() not in seal(NUMBER, **PLACE)


def test_the_same_text_is_never_sealed_the_same_twice() -> None:
    assert len({seal(NUMBER, **PLACE) for _ in range(20)}) == 20


@pytest.mark.parametrize("moved", [{"merchant_id": STRANGER}, {"object_id": OTHER_CARD}, {"field": "cvc"}])
def test_a_sealed_value_does_not_open_in_another_place(moved: dict[str, object]) -> None:
    with pytest.raises(VaultError):
        unseal(seal(NUMBER, **PLACE), **{**PLACE, **moved})


@given(st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject) -> None:
    sealed = bytearray(seal(NUMBER, **PLACE))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(VaultError):
        unseal(bytes(sealed), **PLACE)


@given(st.data())
def test_a_cut_value_is_noticed(data: st.DataObject) -> None:
    sealed = seal(NUMBER, **PLACE)
    with pytest.raises(VaultError):
        unseal(sealed[: data.draw(st.integers(0, len(sealed) - 1))], **PLACE)


def test_an_added_byte_is_noticed() -> None:
    with pytest.raises(VaultError):
        unseal(seal(NUMBER, **PLACE) + b"\0", **PLACE)


def test_the_error_shows_neither_the_text_nor_the_sealed_bytes() -> None:
    sealed = seal(NUMBER, **PLACE)
    with pytest.raises(VaultError) as failure:
        unseal(sealed, **{**PLACE, "field": "cvc"})
    assert NUMBER not in str(failure.value)
    assert sealed.hex() not in repr(failure.value)
    assert failure.value.__suppress_context__


def test_a_value_of_the_old_key_opens_after_a_new_one_was_put_first(settings) -> None:
    settings.VAULT_KEYS = f"old:{OLD_KEY}"
    sealed = seal(NUMBER, **PLACE)
    settings.VAULT_KEYS = f"new:{NEW_KEY}, old:{OLD_KEY}"
    assert unseal(sealed, **PLACE) == NUMBER


def test_the_first_key_seals(settings) -> None:
    settings.VAULT_KEYS = f"new:{NEW_KEY}, old:{OLD_KEY}"
    sealed = seal(NUMBER, **PLACE)
    settings.VAULT_KEYS = f"new:{NEW_KEY}"
    assert unseal(sealed, **PLACE) == NUMBER


def test_a_value_of_a_key_that_is_gone_does_not_open(settings) -> None:
    settings.VAULT_KEYS = f"old:{OLD_KEY}"
    sealed = seal(NUMBER, **PLACE)
    settings.VAULT_KEYS = f"new:{NEW_KEY}"
    with pytest.raises(VaultError, match="VAULT_KEYS"):
        unseal(sealed, **PLACE)


def test_another_key_under_the_same_id_does_not_open(settings) -> None:
    settings.VAULT_KEYS = f"k1:{OLD_KEY}"
    sealed = seal(NUMBER, **PLACE)
    settings.VAULT_KEYS = f"k1:{NEW_KEY}"
    with pytest.raises(VaultError):
        unseal(sealed, **PLACE)


def test_the_key_id_is_bound_to_the_value(settings) -> None:
    settings.VAULT_KEYS = f"k1:{OLD_KEY}, k2:{OLD_KEY}"
    sealed = seal(NUMBER, **PLACE).replace(b"k1", b"k2")
    with pytest.raises(VaultError):
        unseal(sealed, **PLACE)

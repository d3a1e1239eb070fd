"""Values of version 1 open until they are sealed anew."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.vault import Place, Purpose, VaultError, VaultUnavailable, unseal
from tests.vault.direct import sealed_directly

NUMBER = "4242424242424242"
PLACE = Place(Purpose.CARD, UUID(int=1), UUID(int=3), "number")
OLD_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
NEW_KEY = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


def test_it_opens_after_a_new_key_was_put_first(settings) -> None:
    settings.VAULT_KEYS = f"old:{OLD_KEY}"
    sealed = sealed_directly(NUMBER, PLACE)
    settings.VAULT_KEYS = f"new:{NEW_KEY}, old:{OLD_KEY}"
    assert unseal(sealed, PLACE) == NUMBER


@pytest.mark.parametrize("left", ["", f"new:{NEW_KEY}"], ids=["none", "another"])
def test_without_its_key_it_does_not_open_for_the_moment(settings, left: str) -> None:
    settings.VAULT_KEYS = f"old:{OLD_KEY}"
    sealed = sealed_directly(NUMBER, PLACE)
    settings.VAULT_KEYS = left
    with pytest.raises(VaultUnavailable, match="VAULT_KEYS"):
        unseal(sealed, PLACE)


def test_another_key_under_the_same_id_does_not_open_it(settings) -> None:
    settings.VAULT_KEYS = f"k1:{OLD_KEY}"
    sealed = sealed_directly(NUMBER, PLACE)
    settings.VAULT_KEYS = f"k1:{NEW_KEY}"
    with pytest.raises(VaultError):
        unseal(sealed, PLACE)


def test_the_key_id_is_bound_to_it(settings) -> None:
    settings.VAULT_KEYS = f"k1:{OLD_KEY}, k2:{OLD_KEY}"
    sealed = sealed_directly(NUMBER, PLACE).replace(b"k1", b"k2")
    with pytest.raises(VaultError):
        unseal(sealed, PLACE)


def test_it_does_not_open_in_another_place() -> None:
    with pytest.raises(VaultError):
        unseal(sealed_directly(NUMBER, PLACE), replace(PLACE, object_id=UUID(int=4)))


@given(st.data())
def test_a_cut_one_is_noticed(data: st.DataObject) -> None:
    sealed = sealed_directly(NUMBER, PLACE)
    with pytest.raises((VaultError, VaultUnavailable)):
        unseal(sealed[: data.draw(st.integers(0, len(sealed) - 1))], PLACE)

import base64
import re
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError

from payments import clock
from payments.domain import merchants
from payments.domain.merchants import NewMerchant
from payments.ids import public_id
from payments.models import ApiKey, Merchant, NotifySecret
from tests.factories import ApiKeyFactory, MerchantFactory

pytestmark = pytest.mark.django_db


def test_a_new_merchant_has_a_key_of_each_kind_in_both_modes(shop: NewMerchant) -> None:
    assert {name: text.rpartition("_")[0] for name, text in shop.keys.items()} == {
        name: name for name in ("sk_test", "pk_test", "sk_live", "pk_live")
    }
    assert ApiKey.objects.filter(merchant=shop.merchant).count() == 4


def test_a_key_has_at_least_190_random_bits(shop: NewMerchant) -> None:
    for text in shop.keys.values():
        digits = text.rpartition("_")[2]
        assert re.fullmatch("[0-9a-f]+", digits)
        assert len(digits) * 4 >= 190


def test_a_secret_key_is_stored_as_a_digest_only(shop: NewMerchant) -> None:
    text = shop.keys["sk_test"]
    row = ApiKey.objects.filter(digest=merchants.key_digest(text)).values().get()
    assert row["last4"] == text[-4:]
    assert text not in str(row)


def test_a_publishable_key_can_be_shown_again(shop: NewMerchant) -> None:
    text = shop.keys["pk_live"]
    assert ApiKey.objects.get(digest=merchants.key_digest(text)).public_text == text


def test_callback_secrets_have_the_form_of_standard_webhooks(shop: NewMerchant) -> None:
    for secret in shop.notify_secrets.values():
        assert 24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64


@pytest.mark.parametrize(("mode", "livemode"), [("test", False), ("live", True)])
def test_a_callback_secret_can_be_revealed(shop: NewMerchant, mode: str, livemode: bool) -> None:
    assert merchants.reveal_notify_secret(shop.merchant.id, livemode) == shop.notify_secrets[f"whsec_{mode}"]


def test_a_callback_secret_is_stored_sealed(shop: NewMerchant) -> None:
    for row in NotifySecret.objects.filter(merchant=shop.merchant):
        assert b"whsec_" not in bytes(row.sealed)


def test_no_secret_of_a_new_merchant_shows_in_its_repr(shop: NewMerchant) -> None:
    assert "sk_" not in repr(shop)
    assert "whsec_" not in repr(shop)


@pytest.mark.parametrize(
    ("names", "account_name", "descriptor"),
    [
        (("Sari Store",), "Sari Store", "Sari Store"),
        (("Café Ñandú & Co. ☕",), "Café Ñandú & Co. ☕", "Cafe Nandu  Co."),
        (("Sari Store", "Sari Inc."), "Sari Inc.", "Sari Inc."),
        (("Sari Store", "Sari Inc.", "SARI"), "Sari Inc.", "SARI"),
    ],
)
def test_names_that_are_not_given_follow_from_the_others(names, account_name: str, descriptor: str) -> None:
    merchant = merchants.create_merchant(*names).merchant
    assert (merchant.account_name, merchant.statement_descriptor) == (account_name, descriptor)


@pytest.mark.parametrize(
    "names",
    [
        ("",),
        ("x" * 101,),
        ("Store", "x" * 101),
        ("ab",),
        ("日本",),
        ("Store", "", "ab"),
        ("Store", "", "SARI\n"),
        ("Store", "", "SARI ☕"),
        ("Store", "", "x" * 101),
    ],
)
def test_a_merchant_with_a_name_that_does_not_do_is_refused_whole(names: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError):
        merchants.create_merchant(*names)
    assert not Merchant.objects.exists()


def test_a_rolled_key_works_until_the_overlap_ends() -> None:
    old = ApiKeyFactory()
    merchants.roll_key(old, timedelta(hours=24))
    old.refresh_from_db()
    assert timedelta(hours=23, minutes=59) < old.expires_at - clock.now() <= timedelta(hours=24)


def test_rolling_gives_a_key_of_the_same_merchant_mode_and_kind() -> None:
    old = ApiKeyFactory(livemode=True, kind="publishable")
    new, text = merchants.roll_key(old, timedelta())
    assert (new.merchant, new.livemode, new.kind, new.expires_at) == (old.merchant, True, "publishable", None)
    assert text != old.text


def test_rolling_never_lengthens_the_life_of_a_key() -> None:
    end = clock.now() + timedelta(hours=1)
    old = ApiKeyFactory(expires_at=end)
    merchants.roll_key(old, timedelta(hours=24))
    old.refresh_from_db()
    assert old.expires_at == end


@pytest.mark.parametrize("state", ["revoked_at", "expires_at"])
def test_a_key_that_is_over_cannot_be_rolled(state: str) -> None:
    old = ApiKeyFactory(**{state: clock.now()})
    with pytest.raises(merchants.KeyIsOver):
        merchants.roll_key(old, timedelta(hours=24))
    assert ApiKey.objects.count() == 1


def test_revoking_twice_keeps_the_first_time() -> None:
    key = ApiKeyFactory()
    assert merchants.revoke_key(key)
    key.refresh_from_db()
    first = key.revoked_at
    assert not merchants.revoke_key(key)
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
    assert merchants.find_key(name(key)) == key


def test_a_masked_key_is_not_one_of_another_kind_or_mode() -> None:
    last4 = ApiKeyFactory().last4
    for prefix in ("pk_test_", "sk_live_", "pk_live_"):
        with pytest.raises(merchants.NotOne):
            merchants.find_key(f"{prefix}…{last4}")


def test_last_characters_that_two_keys_share_name_neither() -> None:
    one, other = ApiKeyFactory(last4="abcd"), ApiKeyFactory(last4="abcd")
    with pytest.raises(merchants.NotOne) as refusal:
        merchants.find_key("abcd")
    assert all(public_id("key", key.id) in str(refusal.value) for key in (one, other))


@pytest.mark.parametrize("text", ["", "zzzz", f"sk_test_{'0' * 47}", f"sk_test_{'0' * 48}", f"key_{'0' * 32}"])
def test_what_names_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(merchants.NotOne) as refusal:
        merchants.find_key(text)
    assert not text or text not in str(refusal.value)


def test_a_merchant_is_found_by_its_id_and_its_title() -> None:
    merchant = MerchantFactory(title="Sari Store")
    assert merchants.find_merchant("Sari Store") == merchant
    assert merchants.find_merchant(public_id("mer", merchant.id)) == merchant


def test_a_title_that_two_merchants_share_names_neither() -> None:
    one, other = MerchantFactory.create_batch(2, title="Sari Store")
    with pytest.raises(merchants.NotOne) as refusal:
        merchants.find_merchant("Sari Store")
    assert all(public_id("mer", merchant.id) in str(refusal.value) for merchant in (one, other))


def test_an_unknown_merchant_is_refused() -> None:
    with pytest.raises(merchants.NotOne, match="Nobody"):
        merchants.find_merchant("Nobody")

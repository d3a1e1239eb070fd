import base64

import pytest
from django.core.exceptions import ValidationError

from payments.domain.merchants import merchants
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.row_lookup import NotOne
from payments.ids import public_id
from payments.models import ApiKey, Merchant, WebhookSecret
from tests.factories import MerchantFactory

pytestmark = pytest.mark.django_db


def test_a_new_merchant_has_a_key_of_each_kind_in_both_modes(shop: NewMerchant) -> None:
    assert {name: text.rpartition("_")[0] for name, text in shop.keys.items()} == {
        name: name for name in ("sk_test", "pk_test", "sk_live", "pk_live")
    }
    assert ApiKey.objects.filter(merchant=shop.merchant).count() == 4


def test_webhook_secrets_have_the_form_of_standard_webhooks(shop: NewMerchant) -> None:
    for secret in shop.webhook_secrets.values():
        assert 24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64


@pytest.mark.parametrize(("mode", "livemode"), [("test", False), ("live", True)])
def test_a_webhook_secret_can_be_revealed(shop: NewMerchant, mode: str, livemode: bool) -> None:
    assert merchants.reveal_webhook_secret(shop.merchant.id, livemode) == shop.webhook_secrets[f"whsec_{mode}"]


def test_a_webhook_secret_is_stored_sealed(shop: NewMerchant) -> None:
    for row in WebhookSecret.objects.filter(merchant=shop.merchant):
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
def test_missing_names_have_defaults(names, account_name: str, descriptor: str) -> None:
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
def test_a_merchant_with_a_malformed_name_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError):
        merchants.create_merchant(*names)
    assert not Merchant.objects.exists()


def test_a_merchant_is_found_by_its_id_and_its_title() -> None:
    merchant = MerchantFactory(title="Sari Store")
    assert merchants.find_merchant("Sari Store") == merchant
    assert merchants.find_merchant(public_id("mer", merchant.id)) == merchant


def test_an_ambiguous_title_finds_no_merchant() -> None:
    one, other = MerchantFactory.create_batch(2, title="Sari Store")
    with pytest.raises(NotOne) as refusal:
        merchants.find_merchant("Sari Store")
    assert all(public_id("mer", merchant.id) in str(refusal.value) for merchant in (one, other))


def test_an_unknown_merchant_is_refused() -> None:
    with pytest.raises(NotOne, match="Nobody"):
        merchants.find_merchant("Nobody")

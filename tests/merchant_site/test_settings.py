"""The page of the business: what payers see of it, and how that looks before it is saved."""

import pytest
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, Merchant
from tests.admin.conftest import text_of, words_of
from tests.client import signed_in
from tests.merchant_site.conftest import Role, member

BUSINESS = {
    "title": "Halo House",
    "account_name": "Halo House Inc.",
    "statement_descriptor": "HALO HOUSE",
    "business_address": "12 Session Road, Baguio",
    "support_email": "help@sari.example",
    "support_phone": "+63 917 555 0142",
    "kept_bodies": "none",
    "send_receipts": "on",
    "brand_color": "#7a1f3d",
}


def address(shop: NewMerchant, page: str = "change") -> str:
    return f"/merchant/payments/merchant/{shop.merchant.pk}/{page}/"


def test_an_owner_changes_the_business_and_it_is_recorded(owner: Client, shop: NewMerchant) -> None:
    assert "Receipts No" in words_of(owner.get("/merchant/payments/merchant/", follow=True))
    owner.post(address(shop), BUSINESS)
    merchant = Merchant.objects.get(pk=shop.merchant.pk)
    assert (merchant.title, merchant.send_receipts, merchant.branding) == (
        *("Halo House", True),
        {"brand_color": "#7a1f3d"},
    )
    entry = AuditEntry.objects.about(merchant).latest("id")
    assert {"title", "statement_descriptor", "brand_color"} <= {*entry.fields}
    assert "help@sari.example" in words_of(owner.get("/merchant/payments/merchant/", follow=True))


def test_a_value_that_the_service_refuses_is_refused_with_words(owner: Client, shop: NewMerchant) -> None:
    text = words_of(owner.post(address(shop), BUSINESS | {"support_phone": "call us", "brand_color": "red"}))
    assert "Write a telephone number as" in text
    assert "Write a colour as" in text
    assert Merchant.objects.get(pk=shop.merchant.pk).title == shop.merchant.title


def test_a_merchant_does_not_close_or_reopen_itself(owner: Client, shop: NewMerchant) -> None:
    Merchant.objects.filter(pk=shop.merchant.pk).update(status="closed")
    owner.post(address(shop), BUSINESS | {"status": "active"})
    merchant = Merchant.objects.get(pk=shop.merchant.pk)
    assert (merchant.title, merchant.status) == ("Halo House", "closed")


def test_a_preview_shows_the_page_of_a_payment_in_the_values_of_the_form_and_saves_none(
    owner: Client, shop: NewMerchant
) -> None:
    stored = text_of(owner.get(address(shop, "preview")))
    shown = owner.post(address(shop, "preview"), BUSINESS | {"support_phone": "nonsense"})
    text = text_of(shown)
    assert shop.merchant.title in stored
    assert "#7a1f3d" not in stored
    assert "Halo House" in text
    assert "#7a1f3d" in text
    assert "frame-ancestors 'self'" in shown["Content-Security-Policy"]
    assert Merchant.objects.get(pk=shop.merchant.pk).title == shop.merchant.title


@pytest.mark.long
@pytest.mark.parametrize("page", ["change", "preview", "set-picture"])
@pytest.mark.parametrize("role", Role.values)
def test_owners_alone_see_and_change_the_business(role: str, page: str, shop: NewMerchant) -> None:
    client = signed_in(member(shop.merchant, role))
    statuses = {client.get(address(shop, page)).status_code, client.post(address(shop, page), BUSINESS).status_code}
    assert (403 in statuses) == (role != Role.OWNER)
    assert max(statuses) < 404

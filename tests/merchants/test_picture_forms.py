"""The form of a merchant's logo and icon, on the back office and on the merchants' own site."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.pictures import set_picture
from payments.ids import new_id
from payments.models import AuditEntry, Merchant
from tests.admin.actions import act, address_of
from tests.admin.conftest import text_of, the_operator, words_of
from tests.admin.forms import forms_of
from tests.admin.test_pages import page_of
from tests.checkout.cast import opened
from tests.client import Api, signed_in
from tests.factories import MerchantFactory
from tests.merchant_site.conftest import member
from tests.pages.conftest import browser, payer  # noqa: F401  a merchant's people have the payers' browser
from tests.providers.evidence import image, uploaded

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    return signed_in(the_operator())


def test_a_logo_is_uploaded_shown_and_removed_and_each_is_recorded(operator: Client) -> None:
    merchant = MerchantFactory()
    form = words_of(operator.get(address_of(merchant, "set_picture")))
    assert ("at most 512 KB" in form, "Remove the one that is there" in form) == (True, False)
    assert act(operator, merchant, "set_picture", picture="logo", file=uploaded(image("WEBP"))).status_code == 302
    assert "Remove the one that is there" in words_of(operator.get(address_of(merchant, "set_picture")))
    assert "data:image/png;base64," in text_of(operator.get(page_of(merchant)))
    assert "data:image/png;base64," in text_of(operator.get(address_of(merchant, "set_picture")))
    act(operator, merchant, "set_picture", picture="logo", remove="on")
    assert "data:image/png;base64," not in text_of(operator.get(page_of(merchant)))
    entries = AuditEntry.objects.about(merchant).order_by("id")
    assert [(entry.fields, entry.detail) for entry in entries] == [(["logo"], ""), (["logo"], "removed")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "Choose a file, or tick"),
        ({"file": image("PNG"), "remove": "on"}, "Choose a file, or tick"),
        ({"file": image("GIF")}, "Save the picture as a PNG"),
        ({"file": bytes(512 * 1024 + 1)}, "512 pixels wide for example"),
    ],
)
def test_a_form_that_names_no_picture_says_what_to_send(fields: dict[str, Any], why: str, operator: Client) -> None:
    merchant = MerchantFactory(logo=new_id())
    files = {"file": uploaded(fields.pop("file"))} if "file" in fields else {}
    assert why in words_of(act(operator, merchant, "set_picture", picture="icon", **fields, **files))
    assert Merchant.objects.get().icon is None


def test_an_owner_uploads_a_logo_that_payers_see_and_nobody_of_another_merchant_does(
    shop: NewMerchant, other_shop: NewMerchant
) -> None:
    owner = signed_in(member(shop.merchant))
    page = address_of(shop.merchant, "set_picture").replace("/admin/", "/merchant/")
    owner.post(page, {"picture": "logo", "file": uploaded(image("PNG"))})
    merchant = Merchant.objects.get(pk=shop.merchant.pk)
    assert f"/pictures/{merchant.logo}.png" in text_of(owner.get(page.replace("set-picture", "preview")))
    assert "data:image/png;base64," in text_of(owner.get(page))
    another = signed_in(member(other_shop.merchant))
    removed = another.post(page, {"picture": "logo", "remove": "on"})
    merchant.refresh_from_db()
    assert (removed.status_code, merchant.logo is None) == (404, False)


@pytest.mark.parametrize("site", ["admin", "merchant"])
def test_a_form_that_was_opened_before_an_upload_changes_of_the_branding_what_its_person_changed(
    site: str, operator: Client, shop: NewMerchant
) -> None:
    client = operator if site == "admin" else signed_in(member(shop.merchant))
    page = page_of(shop.merchant).replace("/admin/", f"/{site}/") + "?edit=1"
    forms = [form for form in forms_of(page, text_of(client.get(page))) if "brand_color" in form.values]
    assert len(forms) == 1
    set_picture(shop.merchant, "logo", image("PNG"))
    # Of two forms at once, each keeps what the other changed.
    forms[0].send(client, {"brand_color": "#112233", "reason": "Ticket 77"})
    forms[0].send(client, {"accent_color": "#445566", "reason": "Ticket 77"})
    shop.merchant.refresh_from_db()
    assert shop.merchant.branding == {"use_logo": True, "brand_color": "#112233", "accent_color": "#445566"}
    (form,) = [form for form in forms_of(page, text_of(client.get(page))) if "brand_color" in form.values]
    del form.values["use_logo"]
    form.send(client, {"accent_color": "", "reason": "Ticket 77"})
    shop.merchant.refresh_from_db()
    assert shop.merchant.branding == {"brand_color": "#112233"}


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_logo_is_seen_before_it_is_sent_and_then_by_payers(payer: Page, api: Api, shop: NewMerchant) -> None:  # noqa: F811
    session = signed_in(member(shop.merchant)).cookies[settings.SESSION_COOKIE_NAME].value
    payer.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": settings.PUBLIC_URL}])
    payer.goto(f"{settings.PUBLIC_URL}{page_of(shop.merchant)}".replace("/admin/", "/merchant/"))
    payer.get_by_label("More actions").click()
    payer.get_by_role("link", name="Logo and icon").click()
    payer.get_by_label("File").set_input_files(
        {"name": "logo.png", "mimeType": "image/png", "buffer": image("PNG", (600, 200))}
    )
    expect(payer.locator("form .brand-picture")).to_be_visible()
    payer.get_by_role("button", name="Save").click()
    expect(payer.get_by_text("Payers see it from now on.")).to_be_visible()
    payer.goto(opened(api)["payment_url"])
    assert payer.locator(".shop img").evaluate("image => [image.naturalWidth, image.naturalHeight]") == [512, 171]

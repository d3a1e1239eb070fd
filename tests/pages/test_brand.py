"""The merchant on payers' pages: name, logo, colour, order and reference."""

import pytest
from django.conf import settings
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import new_id
from payments.rendering.brand import Brand, brand_of, luminance, text_colour
from tests.checkout.cast import opened
from tests.client import Api
from tests.pages.waiting_charges import awaited, page_of

READABLE_CONTRAST = 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@given(st.integers(0, 0xFFFFFF))
def test_the_text_on_any_colour_can_be_read(number: int) -> None:
    colour = f"#{number:06x}"
    assert contrast(colour, text_colour(colour)) >= READABLE_CONTRAST


@pytest.mark.parametrize(
    "branding",
    [
        {"brand_color": "red"},
        {"brand_color": "#12345; } body { display: none"},
        {"brand_color": None, "logo": "http://sari.example/logo.png", "use_logo": True},
        {"logo": "https://sari.example; script-src */logo.png", "use_logo": True},
        {"icon": "javascript:alert(1)"},
        {"icon": 7, "brand_color": 7},
    ],
)
def test_a_malformed_branding_counts_as_none(branding: dict[str, object]) -> None:
    assert brand_of(branding) == Brand()


def test_a_page_shows_the_merchant_the_order_and_a_reference(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "gcash", description="Halo-halo, 2 cups")
    text, end = client.get(page_of(charge)).content.decode(), charge["id"][-8:].upper()
    for part in ("Sari Store", "Halo-halo, 2 cups", "₱100.00", f"{end[:4]} {end[4:]}"):
        assert part in text, part


def test_a_page_has_the_merchant_s_logo_and_colours_and_loads_nothing_else(
    client: Client, api: Api, shop: NewMerchant
) -> None:
    shop.merchant.branding = {"use_logo": True, "brand_color": "#ffe600", "accent_color": "#000000"}
    shop.merchant.logo = new_id()
    shop.merchant.save()
    page = client.get(page_of(awaited(api, "gcash")))
    assert f'src="{settings.PUBLIC_URL}/pictures/{shop.merchant.logo}.png" alt=""' in page.content.decode()
    assert "--primary: #ffe600;" in page.content.decode()
    assert "--secondary: #000000;" in page.content.decode()
    policy = dict(part.strip().partition(" ")[::2] for part in page["Content-Security-Policy"].split(";"))
    assert policy["img-src"] == f"'self' data: {settings.PUBLIC_URL}"
    assert "script-src" not in policy
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in page["Content-Security-Policy"]


def test_a_checkout_s_own_logo_is_loaded_from_its_address(client: Client, api: Api, db: None) -> None:
    branding = {"logo": "https://cdn.sari.example/logo.png", "use_logo": True}
    page = client.get(opened(api, branding=branding)["payment_url"])
    assert "img-src 'self' data: https://cdn.sari.example;" in page["Content-Security-Policy"]
    assert f'src="{branding["logo"]}" alt=""' in page.content.decode()


def test_a_checkout_s_own_colours_come_first() -> None:
    own = {"primary_color": "#111111", "secondary_color": "#222222"}
    brand = brand_of({"brand_color": "#ffe600", "accent_color": "#000000"} | own)
    assert (brand.primary, brand.secondary) == ("#111111", "#222222")
    assert brand_of({"brand_color": "#ffe600"}).secondary == "#ffe600"


def test_a_description_cannot_become_markup(client: Client, api: Api, db: None) -> None:
    charge = awaited(api, "gcash", description="<script>alert(1)</script>")
    assert "<script>alert" not in client.get(page_of(charge)).content.decode()

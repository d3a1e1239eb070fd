"""The payer's way, walked in a real browser from our page to the shop's."""

import re

import pytest
from playwright.sync_api import Page, expect

from payments.domain.merchants.merchants import NewMerchant
from payments.providers.simulator.models import SimulatedPayment
from tests.client import Api
from tests.pages.waiting_charges import awaited

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Shop = dict[str, str]


def open_page(payer: Page, api: Api, shop_site: Shop, kind: str) -> dict[str, object]:
    """Return a charge that waits for its payer, and the payer at its page."""
    charge = awaited(api, kind, shop_site)
    payer.goto(charge["action"]["url"])
    return charge


def press(payer: Page, name: str) -> None:
    payer.get_by_role("button", name=name).click()


def test_a_passed_challenge_ends_at_success(payer: Page, api: Api, shop_site: Shop) -> None:
    charge = open_page(payer, api, shop_site, "card")
    expect(payer.get_by_text("no real money")).to_be_visible()
    press(payer, "Complete authentication")
    expect(payer).to_have_url(shop_site["success"])
    assert api.read(charge)["status"] == "succeeded"


@pytest.mark.parametrize("button", ["Fail authentication", "Cancel"])
def test_a_failed_challenge_ends_at_fail(payer: Page, api: Api, shop_site: Shop, button: str) -> None:
    charge = open_page(payer, api, shop_site, "card")
    press(payer, button)
    expect(payer).to_have_url(shop_site["fail"])
    assert api.read(charge)["status"] == "failed"


def test_a_refused_wallet_ends_at_fail(payer: Page, api: Api, shop_site: Shop) -> None:
    open_page(payer, api, shop_site, "gcash")
    press(payer, "Refuse")
    expect(payer).to_have_url(shop_site["fail"])


def test_a_wrong_pin_is_reported_and_the_right_one_pays(payer: Page, api: Api, shop_site: Shop) -> None:
    open_page(payer, api, shop_site, "bpi")
    payer.get_by_label("One-time PIN").fill("000000")
    press(payer, "Pay ₱100.00")
    expect(payer.get_by_role("alert")).to_contain_text("Tries left: 2")
    payer.get_by_label("One-time PIN").fill("123456")
    payer.keyboard.press("Enter")
    expect(payer).to_have_url(shop_site["success"])


def test_a_qr_code_is_shown_and_the_phone_pays_for_the_screen(payer: Page, api: Api, shop_site: Shop) -> None:
    charge = open_page(payer, api, shop_site, "qrph")
    code = payer.get_by_alt_text("QR code")
    expect(code).to_be_visible()
    assert code.evaluate("image => image.complete && image.naturalWidth > 0")
    phone = payer.context.new_page()
    phone.goto(charge["action"]["url"])
    press(phone, "Pay ₱100.00")
    expect(phone).to_have_url(shop_site["success"])
    payer.get_by_role("link", name="I have paid on my phone").click()
    payer.get_by_role("link", name="Continue").click()
    expect(payer).to_have_url(shop_site["success"])


def test_the_back_button_shows_what_was_decided(payer: Page, api: Api, shop_site: Shop) -> None:
    open_page(payer, api, shop_site, "gcash")
    press(payer, "Pay ₱100.00")
    expect(payer).to_have_url(shop_site["success"])
    payer.go_back()
    expect(payer.get_by_role("heading", name="You approved this payment")).to_be_visible()
    expect(payer.get_by_role("button")).to_have_count(0)
    payer.reload()
    payer.get_by_role("link", name="Continue").click()
    expect(payer).to_have_url(shop_site["success"])


def test_a_second_tab_cannot_change_a_decision(payer: Page, api: Api, shop_site: Shop) -> None:
    charge = open_page(payer, api, shop_site, "gcash")
    second = payer.context.new_page()
    second.goto(payer.url)
    press(payer, "Pay ₱100.00")
    expect(payer).to_have_url(shop_site["success"])
    press(second, "Refuse")
    expect(second).to_have_url(shop_site["success"])
    assert api.read(charge)["status"] == "succeeded"


def test_a_double_click_pays_once(payer: Page, api: Api, shop_site: Shop) -> None:
    charge = open_page(payer, api, shop_site, "gcash")
    payer.get_by_role("button", name="Pay ₱100.00").dblclick()
    expect(payer).to_have_url(shop_site["success"])
    assert api.read(charge)["amount_captured"] == 10_000


def test_the_waiting_page_moves_on_by_itself(payer: Page, api: Api, shop_site: Shop) -> None:
    charge = open_page(payer, api, shop_site, "gcash")
    waiting = payer.context.new_page()
    waiting.goto(SimulatedPayment.objects.get().return_url)
    expect(waiting.get_by_role("heading", name="still being confirmed")).to_be_visible()
    press(payer, "Pay ₱100.00")
    expect(waiting).to_have_url(shop_site["success"])
    assert api.read(charge)["captured"]


@pytest.mark.parametrize("kind", ["card", "gcash", "qrph", "bpi"])
def test_a_page_fits_a_small_phone(payer: Page, api: Api, shop_site: Shop, kind: str) -> None:
    payer.set_viewport_size({"width": 320, "height": 640})
    open_page(payer, api, shop_site, kind)
    assert payer.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert payer.get_by_role("button").first.evaluate("button => button.offsetHeight >= 44")


def test_the_time_left_counts_down(payer: Page, api: Api, shop_site: Shop) -> None:
    open_page(payer, api, shop_site, "gcash")
    left = payer.get_by_role("timer").locator("span")
    expect(left).to_have_text(re.compile(r"^59:[0-5][0-9]$"))
    shown = "span => Number(getComputedStyle(span, '::after').getPropertyValue('--left'))"
    first = left.evaluate(shown)
    payer.wait_for_timeout(2_000)
    assert first - left.evaluate(shown) in (1, 2, 3)


def test_a_merchant_s_colour_is_on_the_button(payer: Page, api: Api, shop_site: Shop, shop: NewMerchant) -> None:
    shop.merchant.branding = {"brand_color": "#ffe600"}
    shop.merchant.save()
    open_page(payer, api, shop_site, "gcash")
    button = payer.get_by_role("button", name="Pay ₱100.00")
    assert button.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(255, 230, 0)"
    assert button.evaluate("element => getComputedStyle(element).color") == "color(xyz-d65 0 0 0)"

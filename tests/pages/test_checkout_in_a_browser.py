"""A checkout, walked in a real browser: on a phone, by the keyboard alone, without a script, in every state."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from tests.checkout.cast import billed, opened, pay, pay_by_wallet, shown
from tests.checkout.shelf import linked
from tests.client import Api
from tests.pages.axe import faults_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 390, "height": 844}
MOST_BYTES = 60_000
WAYS = ["card", "gcash", "maya", "grabpay", "qrph", "bpi", "bdo", "unionbank"]
HARD = {
    "customer_name_collection": True,
    "phone_number_collection": True,
    "billing_address_collection": "required",
    "shipping_address_collection": {"allowed_countries": ["PH", "SG"]},
}
Shop = dict[str, str]


def session_of(api: Api, shop_site: Shop, **members: Any) -> dict[str, Any]:
    urls = {"success_url": shop_site["success"], "cancel_url": shop_site["fail"]}
    return opened(api, **urls, **{"payment_method_types": WAYS, **members})


def fill_card(payer: Page, number: str = "4000000000003055") -> None:
    payer.get_by_label("Card number").press_sequentially(number)
    payer.get_by_label("Expiry").press_sequentially("839")
    payer.get_by_label("CVC").fill("123")
    payer.get_by_label("Name on card").fill("Maria Santos")


def press_pay(payer: Page) -> None:
    payer.get_by_role("button", name="Pay ₱250.00").click()


def test_a_card_pays_on_a_phone(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.set_viewport_size(PHONE)
    session = session_of(api, shop_site)
    payer.goto(session["payment_url"])
    fill_card(payer)
    expect(payer.get_by_label("Card number")).to_have_value("4000 0000 0000 3055")
    expect(payer.get_by_label("Expiry")).to_have_value("08 / 39")
    expect(payer.get_by_text("Visa")).to_be_visible()
    press_pay(payer)
    expect(payer).to_have_url(shop_site["success"])
    assert shown(api, session)["payment_status"] == "paid"


@pytest.mark.parametrize(("written", "value"), [("1/29", "01 / 29"), ("8 - 2039", "08 / 2039"), ("1239", "12 / 39")])
def test_an_expiry_is_grouped_as_it_is_typed(payer: Page, api: Api, shop_site: Shop, written: str, value: str) -> None:
    payer.goto(session_of(api, shop_site)["payment_url"])
    payer.get_by_label("Expiry").press_sequentially(written)
    expect(payer.get_by_label("Expiry")).to_have_value(value)


@pytest.mark.parametrize("written", ["2029-03", "3/29", "03\u201329"])
def test_an_expiry_is_grouped_as_a_password_manager_writes_it(
    payer: Page, api: Api, shop_site: Shop, written: str
) -> None:
    payer.goto(session_of(api, shop_site)["payment_url"])
    payer.get_by_label("Expiry").fill(written)
    expect(payer.get_by_label("Expiry")).to_have_value("03 / 29")


@pytest.mark.parametrize("again", ["after a while", "when it is seen again"])
def test_who_stops_the_page_may_press_again_and_pays_once(payer: Page, api: Api, shop_site: Shop, again: str) -> None:
    payer.clock.install()
    session = session_of(api, shop_site)
    payer.goto(session["payment_url"])
    fill_card(payer)
    # An answer without content leaves the page as one that is stopped.
    payer.route(session["payment_url"], lambda route: route.fulfill(status=204))
    press_pay(payer)
    expect(payer.get_by_role("button", name="One moment")).to_be_visible()
    payer.unroute_all()
    if again == "after a while":
        payer.clock.fast_forward(15_000)
    else:
        payer.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    press_pay(payer)
    expect(payer).to_have_url(shop_site["success"])
    assert shown(api, session)["payment_details"]["amount_captured"] == 25_000


def test_a_wallet_is_chosen_with_one_touch_and_another_way_afterwards(payer: Page, api: Api, shop_site: Shop) -> None:
    session = session_of(api, shop_site)
    payer.goto(session["payment_url"])
    payer.locator("label", has_text="Maya").click()
    expect(payer.get_by_label("Card number")).to_be_hidden()
    press_pay(payer)
    expect(payer.get_by_role("heading", name="Do you want to pay?")).to_be_visible()
    payer.goto(session["payment_url"])
    payer.get_by_role("button", name="Pay another way").click()
    payer.locator("label.way", has_text="Card").click()
    fill_card(payer)
    press_pay(payer)
    expect(payer).to_have_url(shop_site["success"])


def test_the_keyboard_alone_pays(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.goto(session_of(api, shop_site)["payment_url"])
    payer.get_by_label("GCash").focus()
    payer.keyboard.press("ArrowLeft")
    payer.keyboard.press("Tab")
    expect(payer.get_by_label("Card number")).to_be_focused()
    for written in ("4000000000003055", "0839", "123", "Maria Santos"):
        payer.keyboard.type(written)
        payer.keyboard.press("Tab")
    expect(payer.get_by_role("button", name="Pay ₱250.00")).to_be_focused()
    payer.keyboard.press("Enter")
    expect(payer).to_have_url(shop_site["success"])


def test_without_a_script_the_page_works_in_full(payer: Page, browser: Browser, api: Api, shop_site: Shop) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    page = context.new_page()
    page.goto(session_of(api, shop_site)["payment_url"])
    page.locator("label", has_text="QR Ph").click()
    expect(page.get_by_text("You get a QR code")).to_be_visible()
    page.locator("label.way", has_text="Card").click()
    page.get_by_label("Card number").fill("4000-0000-0000-3054")
    press_pay(page)
    expect(page.get_by_role("alert")).to_contain_text("Please check 4 fields")
    expect(page.get_by_label("Card number")).to_be_focused()
    expect(page.get_by_label("Card number")).to_have_value("")
    fill_card(page)
    press_pay(page)
    expect(page).to_have_url(shop_site["success"])
    context.close()


def test_a_double_click_on_pay_pays_once(payer: Page, api: Api, shop_site: Shop) -> None:
    session = session_of(api, shop_site)
    payer.goto(session["payment_url"])
    fill_card(payer)
    payer.get_by_role("button", name="Pay ₱250.00").dblclick()
    expect(payer).to_have_url(shop_site["success"])
    assert shown(api, session)["payment_details"]["amount_captured"] == 25_000


def test_the_quantities_of_a_link_are_chosen_and_paid(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.goto(str(linked(api, redirect_url=shop_site["success"], allow_adjustable_quantity=True)["url"]))
    more = payer.get_by_role("button", name="One more").first
    total = payer.get_by_role("status").text_content()
    more.click()
    expect(payer.get_by_role("status")).not_to_have_text(total or "")
    payer.get_by_role("button", name="Continue to payment").click()
    fill_card(payer)
    payer.get_by_role("button", name="Pay ₱").click()
    expect(payer).to_have_url(shop_site["success"])


def test_the_back_button_shows_that_it_is_paid(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.goto(session_of(api, shop_site)["payment_url"])
    fill_card(payer)
    press_pay(payer)
    expect(payer).to_have_url(shop_site["success"])
    payer.go_back()
    expect(payer.get_by_role("heading", name="your payment went through")).to_be_visible()
    expect(payer.get_by_label("Card number")).to_have_count(0)


def test_the_common_case_fits_one_screen_of_a_phone(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.set_viewport_size(PHONE)
    payer.goto(session_of(api, shop_site)["payment_url"])
    button = payer.get_by_role("button", name="Pay ₱250.00")
    expect(button).to_be_in_viewport(ratio=1)
    box = button.bounding_box()
    assert box
    assert box["height"] >= 52
    assert payer.evaluate("document.documentElement.scrollHeight") <= PHONE["height"]


def test_the_total_is_in_sight_wherever_the_payer_is(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.set_viewport_size({"width": 390, "height": 600})
    payer.goto(session_of(api, shop_site, **HARD)["payment_url"])
    for place in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
        payer.evaluate(f"scrollTo(0, {place})")
        expect(payer.get_by_role("button", name="Pay ₱250.00")).to_be_in_viewport(ratio=1)
    payer.set_viewport_size({"width": 1280, "height": 600})
    payer.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(payer.locator(".lead")).to_be_in_viewport()


def test_another_billing_address_is_asked_for_when_it_is_not_the_same(payer: Page, api: Api, shop_site: Shop) -> None:
    payer.goto(session_of(api, shop_site, **HARD)["payment_url"])
    expect(payer.get_by_role("group", name="Billing address")).to_be_hidden()
    payer.get_by_label("The billing address is the same").uncheck()
    expect(payer.get_by_role("group", name="Billing address")).to_be_visible()


def test_the_page_is_small_and_loads_nothing_of_others(payer: Page, api: Api, shop_site: Shop) -> None:
    sizes: dict[str, int] = {}
    payer.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    session = session_of(api, shop_site, **HARD)
    payer.goto(session["payment_url"], wait_until="networkidle")
    origin = re.match("http://[^/]+", session["payment_url"])
    assert origin
    assert {url for url in sizes if not url.startswith(origin[0])} == set()
    assert sum(sizes.values()) < MOST_BYTES


def asked(api: Api, shop_site: Shop) -> str:
    return str(session_of(api, shop_site, **HARD)["payment_url"])


def waited_for(api: Api, shop_site: Shop) -> str:
    session = session_of(api, shop_site)
    pay_by_wallet(session)
    return str(session["payment_url"])


def declined(api: Api, shop_site: Shop) -> str:
    session = session_of(api, shop_site)
    pay(session, number="4000000000000002")
    return str(session["payment_url"])


def paid(api: Api, shop_site: Shop) -> str:
    session = session_of(api, shop_site)
    pay(session)
    return str(session["payment_url"])


def over(api: Api, shop_site: Shop) -> str:
    session = session_of(api, shop_site)
    api.post(f"/checkout_sessions/{session['id']}/expire")
    return str(session["payment_url"])


def invoiced(api: Api, shop_site: Shop) -> str:
    return str(billed(api, message="Thank you!", payment_method_types=WAYS)["payment_request_url"])


def sold(api: Api, shop_site: Shop) -> str:
    return str(linked(api)["url"])


STATES = [asked, waited_for, declined, paid, invoiced, sold]
BRANDS = [{}, {"brand_color": "#f4d35e", "accent_color": "#f4d35e"}]


@pytest.fixture
def bare(live_server: LiveServer, settings: Settings, browser: Browser) -> Iterator[Page]:
    """Return a tab without a policy: what axe puts into a page is not the page's own."""
    settings.PUBLIC_URL = live_server.url
    context = browser.new_context(viewport=PHONE, bypass_csp=True)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("brand", BRANDS, ids=["plain", "yellow"])
def test_axe_finds_nothing(
    bare: Page, api: Api, shop: NewMerchant, shop_site: Shop, state: Callable[..., str], brand: dict[str, str]
) -> None:
    shop.merchant.branding = brand
    shop.merchant.save()
    address, found = state(api, shop_site), []
    for scheme, width in (("light", 390), ("dark", 1280)):
        bare.emulate_media(color_scheme=scheme)
        bare.set_viewport_size({"width": width, "height": 844})
        bare.goto(address)
        found += [(each["id"], each["nodes"][0]["html"]) for each in faults_of(bare)]
    assert found == []


def test_axe_finds_nothing_in_a_form_with_errors(bare: Page, api: Api, shop_site: Shop) -> None:
    bare.goto(asked(api, shop_site))
    press_pay(bare)
    expect(bare.get_by_role("alert")).to_contain_text("Please check")
    assert [(each["id"], each["nodes"][0]["html"]) for each in faults_of(bare)] == []


def test_a_receipt_is_sent_by_mail_from_the_page_of_the_end(bare: Page, api: Api, shop_site: Shop) -> None:
    bare.goto(paid(api, shop_site))
    bare.get_by_text("E-mail it").click()
    bare.get_by_role("button", name="Send").click()
    expect(bare.get_by_text("Write your e-mail address, for example")).to_be_visible()
    assert [(each["id"], each["nodes"][0]["html"]) for each in faults_of(bare)] == []
    bare.get_by_label("E-mail").fill("maria@example.com")
    bare.get_by_role("button", name="Send").click()
    expect(bare.get_by_role("status")).to_contain_text("The receipt is on its way")


@pytest.mark.parametrize("state", [*STATES, over])
def test_no_state_is_wider_than_a_small_phone(
    bare: Page, api: Api, shop: NewMerchant, shop_site: Shop, state: Callable[..., str]
) -> None:
    shop.merchant.title = "Samahan ng mga Magsasaka at Mangingisda ng Hilagang Mindoro Multi-Purpose Cooperative"
    shop.merchant.save()
    bare.set_viewport_size({"width": 320, "height": 640})
    bare.goto(state(api, shop_site))
    assert bare.evaluate("document.documentElement.scrollWidth") <= 320

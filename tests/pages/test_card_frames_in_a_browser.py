"""Card fields in frames, on a page of a shop with another origin, in a real browser: a card is taken and charged."""

import json
import re
from collections.abc import Generator
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.pages.card_frames import FRAMED
from payments.pages.checkout.fields import ALL_DIGITS, DIGIT_DIFFERS
from tests.client import APPROVED, CHALLENGED, DECLINED, Api, made
from tests.pages.axe import faults_of
from tests.pages.shop_with_frames import ShopPage, everything_of, leaked, led, shop_pages

__all__ = ["led"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("led")]

LINE = "4242 4242 4242 4242"


@pytest.fixture
def page(payer: Page, live_server: LiveServer) -> Generator[ShopPage]:
    """Return the shop's page, in a tab in which a complaint of the browser fails the test."""
    with shop_pages(live_server.url) as origin:
        yield ShopPage(payer, origin)


@pytest.fixture
def key(shop: NewMerchant) -> str:
    return shop.keys["pk_test"]


def test_a_card_is_taken_and_its_source_charged(page: ShopPage, key: str, api: Api) -> None:
    page.open(key).fill(APPROVED)
    page.pay()
    source = made(api.get(f"/sources/{page.result()}"))
    assert source["card"]["last4"] == APPROVED[-4:]
    assert (source["card"]["exp_month"], source["card"]["exp_year"]) == ("08", "2039")
    assert source["redirect"]["success"] == f"{page.origin}/thanks"
    assert api.charge_source(source["id"])["status"] == "succeeded"


def test_a_card_that_is_challenged_comes_back_to_the_shop_paid(page: ShopPage, key: str, api: Api) -> None:
    page.open(key).fill(CHALLENGED)
    page.pay()
    charge = api.charge_source(page.result())
    page.tab.goto(charge["action"]["url"])
    page.tab.get_by_role("button", name="Complete authentication").click()
    expect(page.tab).to_have_url(f"{page.origin}/thanks")
    assert api.read(charge)["status"] == "succeeded"


def test_the_page_of_the_guide_takes_a_card_and_hands_its_source_on(page: ShopPage, key: str, api: Api) -> None:
    page.tab.goto(f"{page.origin}/guide?key={key}")
    page.tab.get_by_label("Name on card").fill("Maria Santos")
    page.tab.frame_locator("#number iframe").locator("input").focus()
    for text, place in ((APPROVED, "number"), ("0839", "expiry"), ("123", "cvc")):
        expect(page.tab.frame_locator(f"#{place} iframe").locator("input")).to_be_focused()
        page.tab.keyboard.type(text)
    with page.tab.expect_request("**/orders/4711/pay") as sent:
        page.tab.get_by_role("button", name="Pay").click()
    source = str(sent.value.post_data).removeprefix("source=")
    assert api.charge_source(source)["status"] == "succeeded"


def test_the_keyboard_alone_fills_every_field(page: ShopPage, key: str) -> None:
    page.open(key)
    page.tab.get_by_label("Name").focus()
    page.tab.keyboard.press("Tab")
    expect(page.field("cardNumber")).to_be_focused()
    page.tab.keyboard.press("Tab")
    expect(page.field("cardExpiry")).to_be_focused()
    page.tab.keyboard.press("Shift+Tab")
    page.fill(APPROVED)
    page.tab.keyboard.press("Tab")
    expect(page.tab.get_by_role("button", name="Pay")).to_be_focused()
    page.tab.keyboard.press("Enter")
    assert page.result().startswith("src_")


def test_a_pasted_number_with_blanks_is_taken(page: ShopPage, key: str) -> None:
    page.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.open(key)
    page.tab.get_by_label("Name").fill(LINE)
    page.tab.get_by_label("Name").press("ControlOrMeta+a")
    page.tab.get_by_label("Name").press("ControlOrMeta+c")
    page.field("cardNumber").focus()
    page.tab.keyboard.press("ControlOrMeta+v")
    expect(page.field("cardNumber")).to_have_value(LINE)
    expect(page.field("cardExpiry")).to_be_focused()


@pytest.mark.parametrize(
    ("name", "label", "autofill"),
    [
        ("cardNumber", "Card number", "cc-number"),
        ("cardExpiry", "Expiry (MM / YY)", "cc-exp"),
        ("cardCvc", "CVC", "cc-csc"),
    ],
)
def test_a_field_has_a_name_a_keyboard_and_what_fills_it(
    page: ShopPage, key: str, name: str, label: str, autofill: str
) -> None:
    page.open(key)
    field = page.frame(name).get_by_label(label)
    expect(field).to_have_attribute("autocomplete", autofill)
    expect(field).to_have_attribute("inputmode", "numeric")
    expect(page.tab.locator(f"#{name} iframe")).to_have_attribute("title", label)


def test_a_field_that_is_not_complete_is_said_and_gets_the_cursor(page: ShopPage, key: str) -> None:
    page.open(key).fill(APPROVED)
    page.field("cardExpiry").fill("")
    page.pay()
    assert page.result() == "field_incomplete: Write month and year as on your card, for example 08 / 29"
    expect(page.field("cardExpiry")).to_be_focused()
    expect(page.field("cardExpiry")).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize("written", ["1/29", "2029-01"])
def test_an_expiry_may_have_no_zero_or_its_year_first(page: ShopPage, key: str, written: str) -> None:
    page.open(key)
    page.field("cardExpiry").fill(written)
    expect(page.field("cardExpiry")).to_have_value("01 / 29")
    expect(page.field("cardCvc")).to_be_focused()


def test_a_double_click_makes_one_source(page: ShopPage, key: str) -> None:
    page.open(key).fill(APPROVED)
    same = page.tab.evaluate("Promise.all([take(), take()]).then(([one, other]) => one.id === other.id)")
    assert same is True


def test_a_field_is_styled_as_its_page_says_and_loads_nothing(page: ShopPage, key: str) -> None:
    base = {"color": "rgb(1, 2, 3)", "fontSize": "20px", "fontFamily": "url(x)"}
    page.open(key, quote(json.dumps({"style": {"base": base | {"::placeholder": {"color": "rgb(4, 5, 6)"}}}})))
    field = page.field("cardNumber")
    expect(field).to_have_css("color", "rgb(1, 2, 3)")
    expect(field).to_have_css("font-size", "20px")
    assert field.evaluate("field => getComputedStyle(field, '::placeholder').color") == "rgb(4, 5, 6)"
    assert "url" not in field.evaluate("field => getComputedStyle(field).fontFamily")


@pytest.mark.parametrize(("page_scheme", "scheme"), [("normal", "light"), ("light dark", "dark")])
def test_a_field_is_dark_only_where_its_page_is(page: ShopPage, key: str, page_scheme: str, scheme: str) -> None:
    page.tab.emulate_media(color_scheme="dark")
    page.open(key)
    page.tab.evaluate(f"document.documentElement.style.colorScheme = '{page_scheme}'; fields.cardNumber.update()")
    expect(page.tab.locator("#cardNumber iframe")).to_have_css("color-scheme", scheme)
    expect(page.frame("cardNumber").locator("html")).to_have_css("color-scheme", scheme)


def test_no_digit_reaches_the_page(page: ShopPage, key: str) -> None:
    page.open(key).fill("4000000000003055", cvc="987")
    page.pay()
    page.result()
    seen = everything_of(page.tab)
    assert leaked(seen) == []
    assert "reached" not in seen
    noted = [text.split(" ", 1) for text in page.noted() if "SOURCE_CREATED" not in text]
    # An origin ends with a port, which has digits of its own.
    assert {origin for origin, _ in noted} == {page.tab.evaluate("elements.origin")}
    assert [text for _, text in noted if any(digits in text for digits in ("4000", "3055", "987"))] == []
    said = {"READY", "FIELD_COMPLETE", "FIELD_CHANGE", "FIELD_FOCUS", "FIELD_BLUR"}
    assert {json.loads(text)["type"] for _, text in noted} == said
    assert {json.loads(text).get("brand") for _, text in noted} == {None, "Visa"}


def test_the_page_learns_what_each_field_has_and_which_one_has_the_cursor(page: ShopPage, key: str) -> None:
    page.open(key)
    page.tab.evaluate("""() => {
      window.events = []
      const number = fields.cardNumber
      number.on("change", ({ brand, complete, empty, error }) => events.push([brand, complete, empty, error]))
      for (const event of ["focus", "blur"]) number.on(event, () => events.push(event))
    }""")
    page.field("cardNumber").focus()
    page.tab.keyboard.type(DECLINED[:-1])
    page.field("cardCvc").focus()
    page.field("cardNumber").focus()
    page.tab.keyboard.press("End")
    page.tab.keyboard.type(DECLINED[-1])
    expect(page.field("cardExpiry")).to_be_focused()
    page.tab.wait_for_function("events.filter(each => each === 'blur').length === 2")
    assert page.tab.evaluate("events") == [
        "focus",
        ["Visa", False, False, ""],
        ["Visa", False, False, str(ALL_DIGITS)],
        "blur",
        "focus",
        ["Visa", True, False, ""],
        "blur",
    ]


def test_a_number_with_a_wrong_digit_is_marked_in_its_field_and_around_it(page: ShopPage, key: str) -> None:
    page.tab.goto(f"{page.origin}/guide?key={key}")
    number, around = page.tab.frame_locator("#number iframe"), page.tab.locator("#number")
    number.locator("input").fill("4242 4242 4242 4241")
    expect(page.tab.get_by_role("alert")).to_have_text(str(DIGIT_DIFFERS))
    expect(around).to_have_class("card-field kaha-focus kaha-invalid")
    expect(around).to_have_css("border-color", "rgb(179, 38, 30)")
    expect(number.locator("input")).to_have_css("color", "rgb(179, 38, 30)")
    expect(number.locator("#brand")).to_have_text("Visa")
    number.locator("input").fill(LINE)
    expect(page.tab.get_by_role("alert")).to_be_empty()
    expect(around).to_have_class(re.compile("kaha-complete"))


# A frame is a part of a page: axe's further advice is for whole pages.
OF_WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("field", FRAMED)
def test_axe_finds_nothing_in_a_field(
    browser: Browser, live_server: LiveServer, key: str, field: str, scheme: Literal["light", "dark"]
) -> None:
    # What axe puts into a page is not the page's own.
    with browser.new_context(bypass_csp=True, color_scheme=scheme) as context:
        tab = context.new_page()
        tab.goto(f"{live_server.url}/components/index.html?key={key}&field={field}")
        found = faults_of(tab, **OF_WCAG)
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []

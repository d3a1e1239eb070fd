"""The payers' pages of each product on a host of its own, walked in a browser through all states."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.api.access import product_paths
from payments.domain.checkout import payments
from payments.domain.checkout.payments import Choice
from tests.checkout.cast import ADDRESS, billed, card, opened
from tests.checkout.shelf import linked
from tests.client import ANSWER_LOST, APPROVED, CHALLENGED, DECLINED, Api
from tests.pages.conftest import chromium
from tests.pages.shop_with_frames import led as led
from tests.support.relay import over_tls
from tests.webhooks.transport.certificates import Certificate

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("led")]
DOMAIN = "kaha.test"
HOSTS = {f"{product.upper()}_HOST": f"{product}.{DOMAIN}" for product in ("checkout", "links", "requests")}
LINKS = """() => [...document.querySelectorAll("a[href], form, img[src], link[href], script[src]")]
    .map(each => each.href || each.src || each.action)"""
# Opens a page with the form of a payment, and returns the host that it must be on.
Arrive = Callable[[Page, Api], str]


@pytest.fixture(scope="module")
def browser(live_server: LiveServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    certificate = Certificate(tmp_path_factory.mktemp("tls"), DOMAIN)
    with over_tls(int(live_server.url.rpartition(":")[2]), certificate.server()) as port:
        rules = ", ".join(f"MAP {name}:443 127.0.0.1:{port}" for name in (DOMAIN, *HOSTS.values()))
        with chromium(f"--host-resolver-rules={rules}") as browser:
            yield browser


@pytest.fixture
def tab(settings: Settings, browser: Browser) -> Iterator[Page]:
    """Return a tab, in which no page of ours is missing and none does what its policy forbids."""
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = f"https://{DOMAIN}", ["*"]
    for name, host in HOSTS.items():
        setattr(settings, name, host)
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(30_000)
    faults: list[str] = []
    context.on("console", lambda said: said.type == "error" and "422" not in said.text and faults.append(said.text))
    context.on("response", lambda answer: answer.status in (404, 500) and faults.append(answer.url))
    yield context.new_page()
    context.close()
    assert faults == []


def of_checkout(tab: Page, api: Api) -> str:
    tab.goto(opened(api)["payment_url"])
    return HOSTS["CHECKOUT_HOST"]


def of_request(tab: Page, api: Api) -> str:
    tab.goto(billed(api)["payment_request_url"])
    return HOSTS["REQUESTS_HOST"]


def of_link(tab: Page, api: Api) -> str:
    address = linked(api)["url"]
    tab.goto(address)
    assert urlsplit(address).hostname == HOSTS["LINKS_HOST"]
    assert_links_lead_on(tab)
    tab.get_by_role("button", name="One more").first.click()
    tab.get_by_role("button", name="Continue to payment").click()
    return HOSTS["CHECKOUT_HOST"]


def of_main_host(tab: Page, api: Api) -> str:
    """Open a page by its path on the main host, where it is known, too."""
    tab.goto(f"https://{DOMAIN}/checkout/{opened(api)['id']}/")
    return HOSTS["CHECKOUT_HOST"]


def choose(tab: Page, number: str) -> None:
    tab.get_by_label("Card number").fill(number)
    tab.get_by_label("Expiry").fill("0839")
    tab.get_by_label("CVC").fill("123")
    tab.get_by_label("Name on card").fill("Maria Santos")
    tab.get_by_role("button", name="Pay ₱").click()


def assert_links_lead_on(tab: Page) -> None:
    """Assert that all is there that a page of ours names on our hosts."""
    for address in tab.evaluate(LINKS):
        parts = urlsplit(address)
        if (parts.hostname or "").endswith(DOMAIN) and not parts.path.startswith("/static/"):
            environ = {"REQUEST_METHOD": "GET", "PATH_INFO": parts.path, "HTTP_HOST": parts.netloc}
            product_paths.lead(environ)
            answer = Client().get(environ["PATH_INFO"], headers={"host": parts.netloc, "accept": "*/*"})
            assert answer.status_code != 404, address


def declined(tab: Page) -> None:
    choose(tab, DECLINED)
    expect(tab.get_by_role("alert")).to_contain_text("Nothing was paid.")


def answer_lost(tab: Page) -> None:
    choose(tab, ANSWER_LOST)
    expect(tab.get_by_text("Please do not pay a second time.")).to_be_visible()


def faulty(tab: Page) -> None:
    choose(tab, "4242 4242 4242 4241")
    expect(tab.get_by_role("alert")).to_contain_text("Please check 1 field")


def sent_twice(tab: Page) -> None:
    """Send the form after the payer has paid in another tab."""
    checkout = payments.checkout_of_page(tab.url.rstrip("/").rpartition("/")[2])
    assert checkout
    payments.pay(checkout, Choice("card", 0, card(APPROVED)), ADDRESS)
    choose(tab, APPROVED)
    expect(tab.get_by_role("heading", name="your payment went through")).to_be_visible()


def back_from_a_wallet(tab: Page) -> None:
    tab.locator("label", has_text="GCash").click()
    tab.get_by_role("button", name="Pay ₱").click()
    expect(tab.get_by_role("heading", name="Do you want to pay?")).to_be_visible()
    assert_links_lead_on(tab)
    tab.go_back()
    expect(tab.get_by_role("button", name="Pay another way")).to_be_visible()
    assert_links_lead_on(tab)
    tab.get_by_role("button", name="Pay another way").click()
    expect(tab.get_by_role("button", name="Pay ₱")).to_be_visible()


def cancelled_at_the_bank(tab: Page) -> None:
    choose(tab, CHALLENGED)
    tab.locator("button[value=cancel]").click()
    expect(tab.get_by_label("Card number")).to_be_visible()


def over(tab: Page) -> None:
    """Send the form of an order that has ended meanwhile."""
    checkout = payments.checkout_of_page(tab.url.rstrip("/").rpartition("/")[2])
    assert checkout
    type(checkout).objects.filter(id=checkout.id).update(attempts=20)
    choose(tab, APPROVED)
    expect(tab.get_by_role("heading", name="tried too often")).to_be_visible()


def in_filipino(tab: Page) -> None:
    tab.get_by_role("link", name="Filipino").click()
    expect(tab.locator("html[lang=fil]")).to_have_count(1)
    tab.get_by_label(re.compile("Numero ng")).fill(DECLINED)
    tab.locator("#f-expiry").fill("0839")
    tab.locator("#f-cvc").fill("123")
    tab.locator("#f-holder").fill("Maria Santos")
    tab.locator(".pay-bar button").click()
    expect(tab.get_by_role("alert")).to_be_visible()
    expect(tab.locator("html[lang=fil]")).to_have_count(1)


@pytest.mark.parametrize(
    "act", [declined, answer_lost, faulty, sent_twice, back_from_a_wallet, cancelled_at_the_bank, over, in_filipino]
)
@pytest.mark.parametrize("arrive", [of_checkout, of_request, of_link, of_main_host])
def test_a_payer_is_led_on_from_every_state(tab: Page, api: Api, arrive: Arrive, act: Callable[[Page], None]) -> None:
    host = arrive(tab, api)
    assert_links_lead_on(tab)
    act(tab)
    assert urlsplit(tab.url).hostname == host or act is faulty
    assert_links_lead_on(tab)


@pytest.mark.parametrize("arrive", [of_request, of_link])
def test_a_click_saves_the_receipt(tab: Page, api: Api, arrive: Arrive) -> None:
    arrive(tab, api)
    choose(tab, APPROVED)
    expect(tab.get_by_role("heading", name="your payment went through")).to_be_visible()
    assert_links_lead_on(tab)
    with tab.expect_download() as saving:
        tab.get_by_role("link", name="Save receipt").click()
    assert re.fullmatch("receipt-[0-9A-Z]+.html", saving.value.suggested_filename)
    assert "₱" in Path(saving.value.path()).read_text()

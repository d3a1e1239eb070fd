"""The form of a link in a browser: the payer's page stands beside it, and is the page that the payer gets."""

from collections.abc import Callable, Generator
from typing import Any

import pytest
from django.conf import settings as configured
from playwright.sync_api import Browser, Page
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from tests.client import signed_in
from tests.merchant_site.conftest import member
from tests.merchant_site.test_checkouts import NEW_LINK, NEW_REQUEST, address
from tests.office.tabs import FILIPINO, PHONE
from tests.pages.axe import grave_faults
from tests.pages.conftest import browser  # noqa: F401  a merchant's people have the payers' browser

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def opened(
    shop: NewMerchant,
    live_server: LiveServer,
    settings: Settings,
    browser: Browser,  # noqa: F811
) -> Generator[Callable[..., Page]]:
    """Return what opens tabs of an owner of the shop; anything that a page's policy forbids fails the test."""
    settings.PUBLIC_URL = live_server.url
    session = signed_in(member(shop.merchant)).cookies[configured.SESSION_COOKIE_NAME].value
    complaints: list[str] = []

    def tab(**options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, viewport=PHONE, **options)
        context.add_cookies([{"name": configured.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        context.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        return context.new_page()

    yield tab
    for context in browser.contexts:
        context.close()
    assert complaints == []


def test_the_preview_follows_the_form_and_its_page_is_made(opened: Callable[..., Page]) -> None:
    tab = opened()
    tab.goto(NEW_LINK)
    for name, text in (("item-0-name", "Halo-halo"), ("item-0-amount", "125"), ("internal_name", "Summer")):
        tab.fill(f"[name={name}]", text)
        tab.press(f"[name={name}]", "Tab")
    tab.frame_locator("iframe").get_by_text("Continue to payment").wait_for()
    tab.click("text=Create")
    tab.goto(str(tab.get_attribute(".messagelist [data-copy]", "data-copy")))
    tab.get_by_text("Continue to payment").wait_for()


@pytest.mark.parametrize("language", [{}, FILIPINO], ids=["english", "filipino"])
def test_the_pages_are_accessible_and_no_wider_than_a_phone(
    language: dict[str, str], opened: Callable[..., Page]
) -> None:
    # What axe puts into a page is not the page's own.
    tab = opened(bypass_csp=True, **language)
    for url in (NEW_LINK, NEW_REQUEST, address("paymentlink_changelist"), address("checkout_changelist")):
        tab.goto(url)
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], url
        assert grave_faults(tab, iframes=False) == [], url

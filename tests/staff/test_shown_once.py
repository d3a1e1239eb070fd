"""A secret that was shown once is not shown again by the browser that showed it."""

import re
from collections.abc import Generator
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Error, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey
from tests.client import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECRET = re.compile(r"sk_test_[0-9a-f]{48}")


@pytest.fixture
def tab(live_server: LiveServer, settings: Settings, browser: Browser, ana: User) -> Generator[Page]:
    """Yield the tab of a superuser who has signed in."""
    settings.ADMIN_MFA = False
    client = signed_in(ana)
    context = browser.new_context(base_url=live_server.url)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def shown(tab: Page, shop: NewMerchant) -> Page:
    """Return the tab while it shows a key that was just issued."""
    tab.goto(reverse("admin:payments_merchant_issue_key", args=[shop.merchant.pk]))
    tab.get_by_label("Why").fill("Ticket 4711")
    tab.get_by_role("button", name="Issue a key").click()
    expect(tab.get_by_text("shown only this once")).to_be_visible()
    assert SECRET.search(tab.content())
    return tab


def test_a_reload_shows_no_key_and_issues_none(shown: Page) -> None:
    count = ApiKey.objects.count()
    shown.reload()
    expect(shown.get_by_text("was sent before")).to_be_visible()
    assert not SECRET.search(shown.content())
    assert ApiKey.objects.count() == count


def test_going_back_and_forth_shows_no_key(shown: Page) -> None:
    shown.get_by_role("link", name="I have stored them").click()
    for way in (shown.go_back, shown.go_forward):
        # The browser has kept nothing to go to, and says so.
        with suppress(Error):
            way()
        expect(shown.locator("body")).not_to_contain_text(SECRET)


def test_all_that_is_shown_once_is_copied_at_once(tab: Page) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(reverse("admin:payments_merchant_add"))
    tab.get_by_label("Title").fill("Tala Coffee Roasters")
    tab.get_by_label("Why").fill("Ticket 4711")
    tab.locator("button[name=decision]").click()
    tab.get_by_role("button", name="Copy all").click()
    copied = str(tab.evaluate("navigator.clipboard.readText()"))
    shown = tab.locator(".secrets dd code").all_text_contents()
    assert (len(shown), [text for text in shown if text not in copied]) == (5, [])
    tab.get_by_role("link", name="I have stored them").click()
    expect(tab.get_by_role("heading", level=1)).to_contain_text("Tala Coffee Roasters")

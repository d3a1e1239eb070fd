"""The guides in a real browser: on a phone, in the dark, by the keyboard."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from payments.api.guides.contents import NAMES
from tests.guides.texts import GUIDES
from tests.pages.axe import faults_of, grave_faults
from tests.pages.conftest import browser

__all__ = ["browser"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
PAGES = ["guides", *GUIDES]
GROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture
def tab(live_server: LiveServer, browser: Browser) -> Generator[Page]:
    """Return a tab on a phone; anything that the page's policy forbids fails the test."""
    context = browser.new_context(viewport=PHONE, base_url=live_server.url)
    complaints: list[str] = []
    context.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    yield context.new_page()
    context.close()
    assert complaints == []


def test_no_page_is_wider_than_the_screen(tab: Page) -> None:
    for path in ("/", *(f"/docs/{name}" for name in PAGES)):
        tab.goto(path)
        for width in (320, 390, 1280):
            tab.set_viewport_size({"width": width, "height": 844})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, path


def test_pages_are_dark_where_the_reader_wants_it(tab: Page) -> None:
    tab.emulate_media(color_scheme="light")
    tab.goto("/docs/webhooks")
    light = tab.evaluate(GROUND)
    tab.emulate_media(color_scheme="dark")
    assert {light, tab.evaluate(GROUND)} == {"rgb(255, 255, 255)", "rgb(20, 29, 28)"}


def test_a_phone_gets_from_the_top_to_a_heading_and_to_the_next_guide(tab: Page) -> None:
    tab.goto("/docs/webhooks")
    tab.get_by_role("link", name="Contents").click()
    tab.get_by_role("navigation").get_by_role("link", name="Retries").click()
    expect(tab.get_by_role("heading", name="Retries")).to_be_in_viewport()
    tab.get_by_role("navigation").get_by_role("link", name="Testing").click()
    expect(tab.get_by_role("heading", name="Testing", level=1)).to_be_visible()


def test_a_desk_has_the_contents_beside_the_text(tab: Page) -> None:
    tab.set_viewport_size(DESK)
    tab.goto("/docs/backups-and-upgrades#backup-and-restore")
    expect(tab.get_by_role("heading", name="Backup and restore")).to_be_in_viewport()
    expect(tab.get_by_role("link", name="First payment")).to_be_in_viewport()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", PHONE), ("dark", DESK)], ids=["phone", "desk"])
def test_axe_finds_nothing_serious(tab: Page, scheme: str, viewport: dict[str, int]) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size(viewport)
    for name in ("guides", "webhooks", "back-office", "configuration"):
        tab.goto(f"/docs/{name}")
        assert grave_faults(tab) == [], name


def test_axe_finds_nothing_on_the_start_page(tab: Page) -> None:
    tab.goto("/")
    for scheme, viewport in (("light", PHONE), ("dark", PHONE), ("dark", DESK)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size(viewport)
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults_of(tab)] == []


def test_the_start_page_leads_to_the_office_a_payment_and_the_guarantees(tab: Page) -> None:
    tab.goto("/")
    doors = tab.get_by_role("navigation").get_by_role("link")
    assert [door.get_attribute("href") for door in doors.all()] == ["/admin/", "/docs/checkout", "/docs/guarantees"]


def test_the_search_leads_from_a_guide_to_a_call_and_to_a_section_of_another_guide(tab: Page) -> None:
    tab.goto("/docs/glossary")
    tab.keyboard.press("/")
    tab.keyboard.type("capture a charge")
    expect(tab.get_by_label("Found").get_by_role("link").first).to_contain_text("Capture a charge")
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile(r"/docs#capture_charge$"))
    tab.get_by_role("searchbox").fill("webhooks retries")
    tab.get_by_label("Found").get_by_role("link").first.click()
    expect(tab).to_have_url(re.compile(r"/docs/webhooks#retries$"))


def test_each_block_of_code_can_be_copied(tab: Page) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto("/docs/card-fields")
    expect(tab.get_by_role("button", name="Copy")).to_have_count(tab.locator("main pre").count())
    block = tab.locator(".block", has_text="new Kaha(")
    block.get_by_role("button").click()
    expect(block.get_by_role("button")).to_have_text("Copied")
    assert tab.evaluate("navigator.clipboard.readText()") == block.locator("code").text_content()


def test_the_guides_can_be_read_one_after_the_other(tab: Page) -> None:
    tab.goto(f"/docs/{NAMES[0]}")
    for name in NAMES[1:]:
        tab.locator("[rel=next]").click()
        expect(tab).to_have_url(re.compile(f"/docs/{name}$"))
    expect(tab.locator("[rel=next]")).to_have_count(0)


def test_a_picture_opens_in_full(tab: Page) -> None:
    tab.goto("/docs/disputes")
    tab.get_by_role("link", name="A dispute in the back office").click()
    expect(tab).to_have_url(re.compile(r"/dispute-light[.0-9a-f]*\.webp$"))

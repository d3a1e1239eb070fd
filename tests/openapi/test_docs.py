import re
from urllib.parse import urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

pytestmark = pytest.mark.long


@pytest.mark.parametrize("path", ["/docs", "/docs/"])
def test_the_page_is_there_with_and_without_its_slash(path: str, client: Client) -> None:
    assert client.get(path).status_code == 200


def test_the_page_carries_no_script_or_style_of_its_own(client: Client) -> None:
    text = client.get("/docs").content.decode()
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", text) == []


def test_everything_that_the_page_loads_comes_from_here(client: Client) -> None:
    addresses = re.findall(r'(?:src|href|spec-url)="([^"]+)"', client.get("/docs").content.decode())
    assert len(addresses) > 4
    assert [address for address in addresses if not re.match(r"/(static|v2|docs)/|data:,", address)] == []


def test_the_policy_allows_no_other_origin_and_nothing_inline(client: Client) -> None:
    policy = client.get("/docs")["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_address_in_errors_shows_the_section_about_errors(live_server: LiveServer, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    answered: list[str] = []
    page.on("response", lambda response: answered.append(urlsplit(response.url).netloc))
    page.goto(f"{live_server.url}/docs#errors")
    expect(page.locator("[id='section/Errors']")).to_be_in_viewport()
    context.close()
    assert set(answered) <= {urlsplit(live_server.url).netloc, ""}, "nothing comes from elsewhere"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_reference_leads_to_the_guides(live_server: LiveServer, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/docs")
    page.get_by_role("link", name="Guides", exact=True).click()
    expect(page.get_by_role("heading", name="Guides", level=1)).to_be_visible()
    context.close()

import gzip
import re
from collections.abc import Generator
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.api.guides.code import coloured
from payments.api.guides.contents import NAMES
from payments.api.reference.members import Members
from tests.openapi.conftest import Document
from tests.pages.axe import grave_faults

pytestmark = pytest.mark.long
browser_only = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
GROUND = "getComputedStyle(document.body).backgroundColor"
# Most of the page is calls and schemas from one template: one that has no element of another class is left out, because
# to look at the colours of twenty thousand elements takes half a minute.
WITHOUT_REPEATED_FORMS = """
() => {
  const seen = new Set();
  for (const section of document.querySelectorAll("main section")) {
    const elements = [...section.querySelectorAll("*")];
    const forms = elements.map((one) => `${one.parentElement.tagName} ${one.tagName}.${one.className}`);
    if (forms.every((form) => seen.has(form))) section.remove();
    forms.forEach((form) => seen.add(form));
  }
}
"""


class Links(HTMLParser):
    """The targets of a page's links, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors += [values["id"]] if "id" in values else []
        self.targets |= {values["href"]} if tag == "a" else set()


@pytest.fixture
def tab(live_server: LiveServer, browser: Browser) -> Generator[Page]:
    """Return a desk's tab; anything from elsewhere, and anything that the page's policy forbids, fails the test."""
    context = browser.new_context(viewport=DESK, base_url=live_server.url, color_scheme="light")
    complaints: list[str] = []
    asked: list[str] = []
    context.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
    context.on("request", lambda request: asked.append(urlsplit(request.url).netloc))
    yield context.new_page()
    context.close()
    assert complaints == []
    assert set(asked) <= {urlsplit(live_server.url).netloc, ""}, "nothing comes from elsewhere"


def text_of(client: Client) -> str:
    return client.get("/docs").content.decode()


@pytest.mark.parametrize("path", ["/docs", "/docs/"])
def test_the_page_is_there_with_and_without_its_slash(path: str, client: Client) -> None:
    assert client.get(path).status_code == 200


def test_the_page_carries_no_script_or_style_of_its_own(client: Client) -> None:
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", text_of(client)) == []


def test_everything_that_the_page_loads_comes_from_here(client: Client) -> None:
    addresses = re.findall(r'<(?:link|script|img)[^>]* (?:src|href)="([^"]+)"', text_of(client))
    assert len(addresses) > 4
    assert [address for address in addresses if not re.match(r"/static/|data:,", address)] == []


def test_the_policy_allows_no_other_origin_and_nothing_inline(client: Client) -> None:
    policy = client.get("/docs")["Content-Security-Policy"]
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= set(policy.split("; "))
    assert "unsafe" not in policy
    assert "http" not in policy


def test_every_call_and_every_type_of_event_is_on_the_page(client: Client, described: Document) -> None:
    text = text_of(client)
    for (method, path), operation in described.operations().items():
        assert f'id="{operation["operationId"]}"' in text
        assert f">{method}</span> <code>{path}</code>" in text
    assert all(f"<code>{name}</code>" in text for name in described.content["webhooks"])


def test_every_link_leads_somewhere(client: Client) -> None:
    links = Links(text_of(client))
    assert len(set(links.anchors)) == len(links.anchors)
    assert {target[1:] for target in links.targets if target.startswith("#")} <= set(links.anchors)
    pages = {target for target in links.targets if target.startswith("/")}
    assert {f"/docs/{name}" for name in NAMES} <= pages
    assert [page for page in pages if client.get(page).status_code not in (200, 302)] == []


def test_guides_lead_to_the_reference(client: Client) -> None:
    for page in ("/docs/guides", "/docs/first-payment"):
        assert 'href="/docs"' in client.get(page).content.decode()


@pytest.mark.django_db
def test_who_is_signed_in_gets_the_same_page(client: Client) -> None:
    before = text_of(client)
    client.force_login(get_user_model().objects.create_superuser("ana"))
    assert text_of(client) == before
    assert re.findall(r"[srp]k_(?:test|live)_[0-9A-Za-z]{9,}|whsec_\w+", before) == []


def test_the_page_is_small_on_the_wire(client: Client) -> None:
    answer = client.get("/docs", headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert len(answer.content) < 80_000
    assert gzip.decompress(answer.content).decode() == text_of(client)


def test_one_address_cannot_ask_for_it_without_end(settings: Settings) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "2/year"
    reader = Client(REMOTE_ADDR="198.51.100.77")
    assert [reader.get("/docs").status_code for _ in range(3)] == [200, 200, 429]


def test_a_member_is_shown_with_its_type_bounds_and_members() -> None:
    schemas = {
        "Charge": {"type": "object", "properties": {}},
        "Address": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 9, "description": "City."}},
        },
    }
    thing = {
        "required": ["charge"],
        "properties": {
            "to": {"allOf": [{"$ref": "#/components/schemas/Address"}], "description": "Where *to*."},
            "kind": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "description": "<b>"},
            "charge": {"oneOf": [{"$ref": "#/components/schemas/Charge"}, {"type": "null"}], "description": ""},
            "size": {"type": ["integer", "null"], "minimum": 1, "maximum": 5, "default": 2, "description": ""},
        },
    }
    charge, to, kind, size = Members(schemas, {"Charge"}).rows(thing)
    assert (charge.type, charge.required, charge.target, charge.rows) == ("Charge or null", True, "Charge", ())
    assert (to.type, to.html, to.rows[0].name, to.rows[0].bounds) == (
        "object",
        "Where <em>to</em>.",
        "city",
        ["at most 9 characters"],
    )
    assert (kind.type, kind.choices, kind.html) == ("array of string", ["a", "b"], "&lt;b&gt;")
    assert (size.type, size.bounds) == ("integer or null", ["1 to 5", "default 2"])


def test_code_keeps_its_text_and_nothing_in_it_is_html() -> None:
    code = '{"a": "</code><script>", "b": [1, true], "c": "\\""}'
    shown = coloured(code, "json")
    assert "<script" not in shown
    assert '<span class="n">&quot;a&quot;</span>: ' in shown
    assert re.sub(r"</?span[^>]*>", "", shown).replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">") == code


class TestInABrowser:
    pytestmark = browser_only

    def test_the_address_in_errors_shows_the_section_about_errors(self, tab: Page) -> None:
        tab.goto("/docs#errors")
        expect(tab.locator("#errors h2")).to_be_in_viewport()

    def test_the_reference_leads_to_the_guides(self, tab: Page) -> None:
        tab.goto("/docs")
        tab.get_by_role("link", name="Guides", exact=True).click()
        expect(tab.get_by_role("heading", name="Guides", level=1)).to_be_visible()

    def test_the_language_of_one_sample_is_that_of_all_and_is_remembered(self, tab: Page) -> None:
        tab.goto("/docs#create_charge")
        samples = tab.locator("#create_charge figure:visible")
        expect(samples).to_have_count(1)
        expect(samples).to_contain_text("curl -s")
        tab.locator("#create_charge").get_by_role("button", name="PHP").click()
        expect(samples).to_contain_text("<?php")
        tab.reload()
        expect(tab.locator("figure:visible").first).to_contain_text("<?php")

    def test_a_sample_is_copied_as_it_stands(self, tab: Page, described: Document) -> None:
        tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.goto("/docs#create_charge")
        tab.locator("#create_charge .copy").click()
        expect(tab.locator("#create_charge .copy")).to_have_text("Copied")
        operation = described.operations()["POST", "/v2/charges/"]
        assert tab.evaluate("navigator.clipboard.readText()") == operation["x-codeSamples"][0]["source"]

    def test_search_finds_a_call_by_its_title_and_an_error_by_its_code(self, tab: Page) -> None:
        tab.goto("/docs")
        tab.keyboard.press("/")
        tab.keyboard.type("refund a")
        expect(tab.locator("#results a").first).to_contain_text("Refund a charge")
        tab.keyboard.press("Enter")
        expect(tab.locator("#refund_charge h3")).to_be_in_viewport()
        tab.locator("#search").fill("charge_not_capturable")
        expect(tab.get_by_label("Found").get_by_role("link", name="Capture a charge")).to_be_visible()
        tab.locator("#search").fill("zebra")
        expect(tab.locator("#results")).to_have_text("Nothing found.")
        tab.keyboard.press("Escape")
        expect(tab.locator("#results")).to_be_hidden()

    def test_the_contents_show_where_the_reader_is(self, tab: Page) -> None:
        tab.goto("/docs#void_charge")
        expect(tab.locator("nav a[aria-current]")).to_contain_text("Void a charge")

    def test_the_page_is_dark_as_the_system_is_or_as_the_reader_chose(self, tab: Page) -> None:
        tab.emulate_media(color_scheme="dark")
        tab.goto("/docs")
        assert tab.evaluate(GROUND) == "rgb(20, 29, 28)"
        tab.get_by_role("button", name="Light").click()
        assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"
        tab.goto("/docs/webhooks")
        assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"

    def test_it_is_not_wider_than_the_screen(self, tab: Page) -> None:
        tab.goto("/docs")
        for width in (320, 390, 1280):
            tab.set_viewport_size({"width": width, "height": 844})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width

    def test_all_calls_are_on_a_page_of_bounded_length(self, tab: Page) -> None:
        tab.set_viewport_size({"width": 1440, "height": 900})
        tab.goto("/docs")
        assert tab.evaluate("document.documentElement.scrollHeight") < 65_000

    def test_all_samples_are_there_without_javascript(self, live_server: LiveServer, browser: Browser) -> None:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{live_server.url}/docs")
        expect(page.locator("#create_charge figure:visible")).to_have_count(4)
        context.close()

    @pytest.mark.parametrize(("scheme", "viewport"), [("light", PHONE), ("dark", DESK)], ids=["phone", "desk"])
    def test_axe_finds_nothing_serious_of_what_looks_different(
        self, tab: Page, scheme: str, viewport: dict[str, int]
    ) -> None:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size(viewport)
        tab.goto("/docs")
        tab.evaluate(WITHOUT_REPEATED_FORMS)
        assert grave_faults(tab) == []

    def test_axe_finds_nothing_serious_on_the_whole_page(self, tab: Page) -> None:
        tab.goto("/docs")
        assert grave_faults(tab, rules={"color-contrast": {"enabled": False}}) == []

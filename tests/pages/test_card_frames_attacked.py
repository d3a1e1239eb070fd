"""Attacks by pages, frames and messages: no digit leaves the frame of a field, and no strange page gets one."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.origins import set_origins
from tests.client import APPROVED, Api, made
from tests.pages.shop_with_frames import ShopPage, everything_of, leaked, led, shop_pages

__all__ = ["led"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("led")]

DIGITS = "4000000000003055"


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, settings: Settings) -> Generator[ShopPage]:
    """Return the shop's page in a tab that may complain."""
    settings.PUBLIC_URL = live_server.url
    context = browser.new_context()
    context.set_default_timeout(30_000)
    with shop_pages(live_server.url, policy="") as origin:
        yield ShopPage(context.new_page(), origin)
    context.close()


@pytest.fixture
def key(shop: NewMerchant) -> str:
    return shop.keys["pk_test"]


def answers_to(tab: Page, message: str) -> list[str]:
    """Post a message to the number's frame once all fields are filled; return what it says before a later answer."""
    tab.wait_for_function("noted.some(text => text.includes('FIELD_COMPLETE') && text.includes('cardCvc'))")
    noted: list[str] = tab.evaluate(
        f"""async () => {{
          const frame = document.querySelector("#cardNumber iframe").contentWindow
          noted.length = 0
          const answer = new Promise(done => addEventListener("message", event => event.data.id === "later" && done()))
          frame.postMessage({message}, "*")
          frame.postMessage({{ type: "CREATE_SOURCE", id: "later" }}, "*")
          await answer
          return noted.filter(text => !text.includes("later"))
        }}"""
    )
    return noted


def test_a_page_reads_no_digit_in_what_it_can_reach(page: ShopPage, key: str) -> None:
    page.open(key).fill(DIGITS, cvc="987")
    assert leaked(everything_of(page.tab)) == []
    assert "reached" not in everything_of(page.tab)


@pytest.mark.parametrize("name", ["GET_VALUE", "constructor", "__proto__", "toString", "hasOwnProperty", "", "READY"])
def test_a_frame_answers_no_other_message(page: ShopPage, key: str, name: str) -> None:
    page.open(key).fill(DIGITS, cvc="987")
    assert answers_to(page.tab, f"{{ type: '{name}', id: 1 }}") == []


def test_the_width_of_a_frame_says_nothing_of_its_digits(page: ShopPage, key: str) -> None:
    sizes = "[...document.querySelectorAll('iframe')].map(frame => JSON.stringify(frame.getBoundingClientRect()))"
    page.open(key)
    before = page.tab.evaluate(sizes)
    page.fill(DIGITS, cvc="987")
    assert page.tab.evaluate(sizes) == before


def test_a_style_loads_nothing_and_reads_nothing(page: ShopPage, key: str) -> None:
    asked: list[str] = []
    page.open(key)
    page.tab.on("request", lambda request: asked.append(request.url))
    base = """{ fontFamily: "x; background: url(/leak)", color: "attr(value)", fontSize: "var(--x)",
      background: "url(/leak)", width: "1px", "::placeholder": { color: "url(/leak)", content: "url(/leak)" } }"""
    page.tab.evaluate(f"fields.cardNumber.update({{ style: {{ base: {base} }} }})")
    page.tab.evaluate("fields.cardNumber.update({ style: { base: { color: 'rgb(9, 9, 9)' } } })")
    expect(page.field("cardNumber")).to_have_css("color", "rgb(9, 9, 9)")
    assert asked == []
    assert page.field("cardNumber").get_attribute("style") is None
    of_frame = page.frame("cardNumber").locator("html").get_attribute("style")
    assert of_frame == "color-scheme: light; --text: rgb(9, 9, 9);"


def test_a_strange_frame_in_the_page_is_not_obeyed_and_gets_nothing(page: ShopPage, key: str) -> None:
    page.open(key).fill(DIGITS, cvc="987")
    page.tab.evaluate(
        """async () => {
          const other = document.createElement("iframe")
          other.srcdoc = `<script>
            const got = []
            addEventListener("message", ({ data }) => data === "end" ? parent.postMessage({ got }, "*") : got.push(1))
            const orders = [{ type: "INIT", apiKey: "${elements.key}", parentOrigin: location.origin },
              { type: "CREATE_SOURCE", id: "other", additionalData: { name: "x" } }]
            for (let at = 0; at < parent.length; at++) {
              for (const order of orders) if (parent[at] !== window) parent[at].postMessage(order, "*")
            }
          </` + `script>`
          other.setAttribute("sandbox", "allow-scripts")
          const loaded = new Promise(done => other.addEventListener("load", done))
          document.body.append(other)
          await loaded
          window.other = other
        }"""
    )
    assert [text for text in answers_to(page.tab, "{}") if "SOURCE" in text] == []
    got = """() => {
      const said = new Promise(done => addEventListener("message", event => event.data.got && done(event.data.got)))
      other.contentWindow.postMessage("end", "*")
      return said
    }"""
    assert page.tab.evaluate(got) == []


@pytest.mark.parametrize(
    "lie", ["apiKey: 'pk_test_other'", "parentOrigin: 'https://shop.example'", "parentOrigin: '*'"]
)
def test_a_page_that_claims_another_origin_or_key_is_not_answered(page: ShopPage, key: str, lie: str) -> None:
    page.open(key)
    noted = page.tab.evaluate(
        f"""async () => {{
          const frame = document.createElement("iframe")
          frame.src = document.querySelector("#cardNumber iframe").src
          const loaded = new Promise(done => frame.addEventListener("load", done))
          document.body.append(frame)
          await loaded
          const said = []
          const ready = new Promise(done => addEventListener("message", event => {{
            if (event.source !== frame.contentWindow) return
            said.push(event.data.type)
            if (said.includes("READY")) done()
          }}))
          const truth = {{ type: "INIT", apiKey: elements.key, parentOrigin: location.origin }}
          frame.contentWindow.postMessage({{ ...truth, {lie} }}, "*")
          frame.contentWindow.postMessage({{ type: "CREATE_SOURCE", id: "early" }}, "*")
          frame.contentWindow.postMessage(truth, "*")
          await ready
          return said
        }}"""
    )
    assert noted == ["READY"]


def test_messages_of_strangers_change_nothing_for_the_shop(page: ShopPage, key: str) -> None:
    page.open(key).fill(APPROVED)
    fake = "{ type: 'SOURCE_CREATED', id: '0', source: { id: 'src_fake' } }"
    page.tab.evaluate(f"window.taken = take(); postMessage({fake}, '*')")
    assert str(page.tab.evaluate("taken.then(source => source.id)")) != "src_fake"


def test_a_strange_page_shows_no_field(page: ShopPage, key: str, live_server: LiveServer) -> None:
    set_origins(find_key(key), ["https://shop.example"])
    page.tab.goto(f"{page.origin}/?key={key}")
    page.tab.wait_for_load_state("networkidle")
    assert page.tab.locator("#cardNumber iframe").count() == 1
    frames = [frame.url for frame in page.tab.frames[1:]]
    assert [url for url in frames if url.startswith(live_server.url)] == []


def test_the_page_of_a_listed_origin_takes_a_card(page: ShopPage, key: str, api: Api) -> None:
    set_origins(find_key(key), [page.origin])
    page.open(key).fill(APPROVED)
    page.pay()
    assert made(api.get(f"/sources/{page.result()}"))["type"] == "card"


def test_a_refusal_of_the_api_reaches_the_page_with_its_code(page: ShopPage, key: str) -> None:
    page.open(key).fill(APPROVED, expiry="08/2039")
    page.tab.get_by_label("Name").fill("x" * 300)
    page.pay()
    assert page.result() == "too_long: card.name: This value must have at most 50 characters."


def test_a_secret_key_is_refused_in_a_page_before_it_is_sent(page: ShopPage, key: str, shop: NewMerchant) -> None:
    page.open(key)
    asked: list[str] = []
    page.tab.on("request", lambda request: asked.append(request.url))
    said = page.tab.evaluate(
        f"(() => {{ try {{ new Kaha('{shop.keys['sk_test']}') }} catch (fault) {{ return fault.message }} }})()"
    )
    assert "publishable key" in said
    assert asked == []

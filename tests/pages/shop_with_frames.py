"""A shop on another origin than ours, whose page has card fields in frames and notes all that reaches it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.handlers.wsgi import WSGIHandler
from playwright.sync_api import FrameLocator, Locator, Page, expect

from payments.api.access import product_paths
from tests.guides.texts import blocks_of
from tests.support.http_server import Answered, Asked, answering

# The strictest policy with what the guide asks for: kaha's address in `script-src` and `frame-src`.
POLICY = (
    "default-src 'none'; script-src KAHA 'nonce-n'; frame-src KAHA; style-src 'nonce-n'; img-src data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
PAGE = """<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<style nonce="n">.box { block-size: 2.5rem; inline-size: 20rem; border: 1px solid; }</style>
<script src="KAHA/sdk/1/kaha.js" crossorigin></script>
<label>Name <input id="name" value="Maria Santos"></label>
<div id="cardNumber" class="box"></div><div id="cardExpiry" class="box"></div><div id="cardCvc" class="box"></div>
<button id="pay">Pay</button><output id="result"></output>
<script nonce="n">
  window.noted = []
  addEventListener("message", event => noted.push(`${event.origin} ${JSON.stringify(event.data)}`))
  for (const kind of ["keydown", "keyup", "keypress", "beforeinput", "input", "change", "paste"]) {
    addEventListener(kind, event => noted.push(`${kind} ${event.key} ${event.data} ${event.target.value}`), true)
  }
  const elements = new Kaha("KEY").elements()
  const fields = {}
  for (const name of ["cardNumber", "cardExpiry", "cardCvc"]) {
    fields[name] = elements.create(name, STYLE).mount(`#${name}`)
  }
  const redirect = { success: `${location.origin}/thanks`, fail: `${location.origin}/sorry` }
  const holder = document.getElementById("name")
  window.take = more => fields.cardNumber.createSource({ name: holder.value, redirect, ...more })
  document.getElementById("pay").addEventListener("click", () => take().then(
    source => { result.value = source.id },
    fault => { result.value = `${fault.code}: ${fault.message}` },
  ))
</script>"""


@dataclass(frozen=True, slots=True)
class ShopPage:
    """The shop's page in a browser's tab."""

    tab: Page
    origin: str

    def open(self, key: str, style: str = "{}") -> "ShopPage":
        """Open the page with the fields of this key, and wait until they are there."""
        self.tab.goto(f"{self.origin}/?key={key}&style={style}")
        expect(self.field("cardCvc")).to_be_visible()
        return self

    def frame(self, name: str) -> FrameLocator:
        return self.tab.frame_locator(f"#{name} iframe")

    def field(self, name: str) -> Locator:
        return self.frame(name).locator("input")

    def fill(self, number: str, expiry: str = "0839", cvc: str = "123") -> None:
        """Type a card as a payer does, who moves to no field by hand."""
        self.field("cardNumber").focus()
        for text, name in ((number, "cardNumber"), (expiry, "cardExpiry"), (cvc, "cardCvc")):
            expect(self.field(name)).to_be_focused()
            self.tab.keyboard.type(text)

    def pay(self) -> None:
        self.tab.get_by_role("button", name="Pay").click()

    def result(self) -> str:
        """Return what the page shows in the end."""
        expect(self.tab.locator("#result")).not_to_be_empty()
        return str(self.tab.evaluate("result.value"))

    def noted(self) -> list[str]:
        """Return all that reached the page."""
        noted: list[str] = self.tab.evaluate("noted")
        return noted


def guides_page(kaha: str, key: str) -> str:
    """Return the page that the guide shows, for kaha at this address and this key."""
    code = {block.language: block.code for block in blocks_of("templates/guides/card-fields.md")}
    script, style = f'<script nonce="n">{code["js"]}</script>', f'<style nonce="n">{code["css"]}</style>'
    page = f'<!doctype html><html lang="en"><link rel="icon" href="data:,">{style}{code["html"]}{script}'
    return page.replace("https://kaha.example", kaha).replace("pk_test_…", key)


@contextmanager
def shop_pages(kaha: str, policy: str = POLICY) -> Iterator[str]:
    """Serve the shop's page on another port and host name than kaha's; yield its origin."""

    html = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy.replace("KAHA", kaha)}

    def page(asked: Asked) -> Answered:
        if asked.path.startswith("/guide?"):
            return Answered(200, guides_page(kaha, asked.path.partition("=")[2]).encode(), html)
        if not asked.path.startswith("/?"):
            return Answered(200, b"<!doctype html><title>Shop</title><link rel=icon href=data:,>", html)
        query = parse_qs(urlsplit(asked.path).query)
        text = PAGE.replace("KAHA", kaha).replace("KEY", query.get("key", ["pk_"])[0])
        text = text.replace("STYLE", query.get("style", ["{}"])[0])
        return Answered(200, text.encode(), html)

    with answering(page) as server:
        yield server.address if "localhost" in kaha else server.address.replace("127.0.0.1", "localhost")


@pytest.fixture
def led(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead requests by other paths, as the web server does before Django."""
    handle: Any = WSGIHandler.__call__

    def handle_led(self: WSGIHandler, environ: dict[str, Any], start: Any) -> Any:
        product_paths.lead(environ)
        return handle(self, environ, start)

    monkeypatch.setattr(WSGIHandler, "__call__", handle_led)


# Parts of the card 4000000000003055, 08 / 39, 987. Three digits alone stand in IDs and times, too.
PARTS = ("4000 0000", "400000000000", "0000003055", "08 / 39", '"987"', "'987'", ">987<", "=987")


def leaked(seen: str) -> list[str]:
    """Return the parts of that card in what a page has seen."""
    return [part for part in PARTS if part in seen]


def everything_of(tab: Page) -> Any:
    """Return all text that a script of the page can reach: its document, storage, address and what is on `window`."""
    return tab.evaluate("""() => {
      const seen = [document.documentElement.outerHTML, location.href, document.cookie]
      for (const frame of document.querySelectorAll("iframe")) {
        seen.push(frame.src, frame.name, frame.title, `${frame.contentDocument}`, frame.getAttribute("style"))
        for (const read of ["document", "kahaField", "name", "localStorage"]) {
          try { seen.push(`reached ${read}`, `${frame.contentWindow[read]}`) } catch { seen.pop() }
        }
      }
      for (const name of Object.getOwnPropertyNames(window)) {
        try { seen.push(JSON.stringify(window[name])) } catch { seen.push(name) }
      }
      return seen.join("\\n")
    }""")

"""Pictures of a payer's checkout in each of its states, of card fields in a shop's page, and the one of README."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from payments.models import Charge
from tests.checkout.cast import SETUP, opened, pay, pay_by_wallet
from tests.client import APPROVED, CHALLENGED, NEVER_ARRIVES, Api
from tests.figures.back_office.picture import take
from tests.office.tabs import PHONE, WAYS, Office, main_pages
from tests.pages.checkout_page import INSUFFICIENT, page_of
from tests.pages.shop_with_frames import shop_pages
from tests.pages.waiting_charges import path_of

ORDER: dict[str, Any] = {
    "line_items": [
        {"name": "Noche Buena box", "amount": 145_000, "quantity": 2},
        {"name": "Delivery to Makati", "amount": 15_000, "quantity": 1},
    ],
    "payment_method_types": ["card", "gcash", "maya", "grabpay", "qrph", "bpi", "bdo", "unionbank"],
}
# A shop's own style, as far as its page is not the guide's.
STYLE = """body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem; }
label, p { display: block; margin: .75rem 0 .25rem; } [role=alert] { color: #b3261e; }
input { box-sizing: border-box; width: 100%; height: 2.75rem; padding: .5rem .75rem; font: inherit;
border: 1px solid #767676; border-radius: 8px; }
button { width: 100%; height: 3rem; margin-top: 1.25rem; border: 0; border-radius: 8px; background: #0b6e5f;
color: #fff; font: inherit; font-weight: 600; }"""
# The back office, and beside it the payer's phone.
FRONT = """<!doctype html><style>
body { margin: 0; width: 1280px; height: 692px; display: flex; gap: 24px; padding: 24px; box-sizing: border-box;
  align-items: center; background: GROUND; }
img { border: 1px solid LINE; box-shadow: 0 8px 24px rgb(0 0 0 / 20%); box-sizing: border-box; }
.office { width: 914px; border-radius: 10px; }
.phone { width: 294px; border-radius: 20px; border-width: 5px; }
</style><img class="office" src="OFFICE"><img class="phone" src="PHONE">"""
GROUNDS = {"light": ("#eef3f1", "#c9d5d2"), "dark": ("#0d1517", "#33474a")}


def pictures(office: Office, folder: Path) -> Iterator[dict[str, int]]:
    """Write each picture of a payer, with the keys of the demo shop; yield how many bytes each has."""
    keys = json.loads((folder / "demo.json").read_text())
    api = Api(keys["sk_test"])
    for name, lead in STATES.items():
        yield take(_payer(office, lead(api)), f"checkout-{name}")
    with shop_pages(office.url) as origin:
        yield _card_fields(office, f"{origin}/guide?key={keys['pk_test']}")
    session = opened(api, **ORDER)
    for way in GROUNDS:
        yield _front(office, page_of(session), way)


def _payer(office: Office, address: str, **way: Any) -> Page:
    """Return a payer's tab, on a phone."""
    tab = office.browser.new_context(base_url=office.url, viewport=PHONE, **way).new_page()
    tab.goto(address)
    return tab


def _after(act: Callable[[dict[str, Any]], object], **members: Any) -> Callable[[Api], str]:
    """Return what opens a session, does this to it, and returns its page's path."""

    def lead(api: Api) -> str:
        session = opened(api, **ORDER | members)
        act(session)
        return page_of(session)

    return lead


def _asked(act: Callable[[dict[str, Any]], Charge]) -> Callable[[Api], str]:
    """Return what opens a session, has it paid so, and returns the path of the page at which the payer must act."""

    def lead(api: Api) -> str:
        charge = act(opened(api, **ORDER))
        return path_of((charge.action or {})["url"])

    return lead


def _expired(api: Api) -> str:
    session = opened(api, **ORDER)
    api.post(f"/checkout_sessions/{session['id']}/expire")
    return page_of(session)


# What a payer meets, in the order of a payment.
STATES: dict[str, Callable[[Api], str]] = {
    "open": _after(lambda session: None),
    "declined": _after(lambda session: pay(session, INSUFFICIENT)),
    "authentication": _asked(lambda session: pay(session, CHALLENGED)),
    "code": _asked(lambda session: pay_by_wallet(session, "qrph")),
    "not-approved": _after(pay_by_wallet),
    "unknown": _after(lambda session: pay(session, NEVER_ARRIVES)),
    "paid": _after(lambda session: pay(session, APPROVED)),
    "reserved": _after(lambda session: pay(session, APPROVED), **SETUP),
    "expired": _expired,
}


def _card_fields(office: Office, address: str) -> dict[str, int]:
    """Write a picture of the guide's page, filled in by a payer whose card number has a wrong digit."""
    tab = _payer(office, address)
    tab.evaluate("css => { (document.adoptedStyleSheets = [new CSSStyleSheet()])[0].replaceSync(css) }", STYLE)
    tab.locator("#holder").fill("Maria Santos")
    for field, text in {"number": f"{APPROVED[:-1]}6", "expiry": "0839", "cvc": "123"}.items():
        tab.frame_locator(f"#{field} iframe").locator("input").press_sequentially(text)
    tab.get_by_role("button", name="Pay").click()
    tab.wait_for_function("document.getElementById('problem').textContent !== ''")
    return take(tab, "card-fields")


def _front(office: Office, checkout: str, way: str) -> dict[str, int]:
    """Write README's picture: the payer's checkout beside the back office."""
    ground, line = GROUNDS[way]
    phone = _payer(office, checkout, **WAYS[way]).screenshot()
    page = FRONT.replace("GROUND", ground).replace("LINE", line)
    first = office.tab_of("superuser", "ana", **WAYS[way])
    first.goto(main_pages()["first-page"])
    page = page.replace("OFFICE", _inline(first.screenshot(), "png"))
    tab = office.browser.new_context(viewport={"width": 1280, "height": 692}).new_page()
    tab.set_content(page.replace("PHONE", _inline(phone, "png")), wait_until="load")
    return take(tab, f"front-{way}")


def _inline(content: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"

"""The calls about checkout sessions, payment links and payment requests."""

from typing import Any

from tests.checkout.cast import ORDER, SETUP, billed, collected, customer, opened, pay
from tests.checkout.shelf import ORDER as LINK
from tests.checkout.shelf import linked
from tests.client import Api, made
from tests.contract import checkout_shapes as shapes
from tests.contract.call import Call, about, at
from tests.contract.shapes import page_of

INVOICE = {name: ORDER[name] for name in ("currency", "line_items", "payment_method_types")} | {
    "delivery_methods": ["email"]
}


def held_session(api: Api) -> dict[str, Any]:
    """Return a new session whose amount is held."""
    session = opened(api, **SETUP)
    pay(session)
    return session


def _switched_off(api: Api) -> dict[str, Any]:
    link = linked(api)
    return made(api.post(f"/payment_links/{link['id']}/deactivate"))


SESSIONS, LINKS, REQUESTS = "checkout_sessions", "payment_links", "payment_requests"
CHECKOUT_CALLS = {
    "list sessions": Call("GET", at(SESSIONS), 200, page_of(shapes.SESSION)),
    "open a session": Call("POST", at(SESSIONS, ORDER), 201, shapes.SESSION),
    "read a session": Call("GET", about(SESSIONS, opened), 200, shapes.SESSION),
    "expire a session": Call("POST", about(SESSIONS, opened, "/expire"), 200, shapes.SESSION),
    "capture a session": Call(
        "POST", about(SESSIONS, held_session, "/capture", {"amount": 1}), 200, shapes.SESSION, "charges:write"
    ),
    "list links": Call("GET", at(LINKS), 200, page_of(shapes.LINK)),
    "make a link": Call("POST", at(LINKS, LINK), 201, shapes.LINK),
    "read a link": Call("GET", about(LINKS, linked), 200, shapes.LINK),
    "change a link": Call("PUT", about(LINKS, linked, body={"internal_name": "Winter menu"}), 200, shapes.LINK),
    "activate a link": Call("POST", about(LINKS, _switched_off, "/activate"), 200, shapes.LINK),
    "deactivate a link": Call("POST", about(LINKS, linked, "/deactivate"), 200, shapes.LINK),
    "list payment requests": Call("GET", at(REQUESTS), 200, page_of(shapes.REQUEST)),
    "make a payment request": Call(
        "POST", lambda api: (f"/{REQUESTS}", INVOICE | {"customer": customer(api)}), 201, shapes.REQUEST
    ),
    "read a payment request": Call("GET", about(REQUESTS, billed), 200, shapes.REQUEST),
    "void a payment request": Call(
        "POST", about(REQUESTS, billed, "/void", {"reason": "Sent twice"}), 200, shapes.VOIDED_REQUEST
    ),
    "collect a payment request": Call(
        "POST", about(REQUESTS, collected, "/collect"), 200, shapes.COLLECTING_REQUEST, further_right="charges:write"
    ),
    "stop collecting a payment request": Call(
        "POST", about(REQUESTS, collected, "/stop_collecting"), 200, shapes.COLLECTING_REQUEST
    ),
    "resend a payment request": Call("POST", about(REQUESTS, billed, "/resend"), 200, shapes.REQUEST),
}

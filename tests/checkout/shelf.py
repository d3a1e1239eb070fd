"""What tests of payment links do: make a link by the API, and buy of it as payers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.http import HttpResponse

from payments.api.access import product_paths
from payments.domain.checkout import links, payments
from payments.domain.checkout.payments import Choice
from payments.ids import parse_id, public_id
from payments.models import Charge, Checkout, PaymentLink
from tests.checkout.cast import ADDRESS, card
from tests.client import APPROVED, Api, made

ITEMS: list[dict[str, Any]] = [
    {"name": "Halo-halo", "amount": 12_500, "quantity": 3},
    {"name": "Turon", "amount": 4_000, "quantity": 2},
]
ORDER: dict[str, Any] = {
    "allow_adjustable_quantity": True,
    "currency": "PHP",
    "internal_name": "Summer menu",
    "line_items": ITEMS,
    "payment_method_types": ["card", "gcash"],
}


def linked(api: Api, **members: Any) -> dict[str, Any]:
    """Return a new link."""
    return made(api.post("/payment_links/", {**ORDER, **members}))


def shown(api: Api, link: dict[str, Any]) -> dict[str, Any]:
    """Return the link as it is now."""
    return made(api.get(f"/payment_links/{link['id']}"))


def left(api: Api, link: dict[str, Any]) -> list[int]:
    """Return how many of each item are left."""
    return [item["remaining"] for item in shown(api, link)["line_items"]]


def link_row(link: dict[str, Any]) -> PaymentLink:
    """Return the link's row, read as its page reads it."""
    found = links.link_of_page(link["url"].rpartition("/")[2])
    assert found
    return found


def open_payment(link: dict[str, Any], *quantities: int, address: str = "") -> Checkout:
    """Choose quantities as a payer at `address` does; return the payment."""
    return links.open_payment(link_row(link), list(quantities), address=address)


def pay(payment: Checkout, number: str = APPROVED, kind: str = "card") -> Charge:
    """Pay by card, or choose a wallet, as the payer does."""
    row = payments.checkout_of_page(public_id("cs", payment.id))
    assert row
    chosen = card(number) if kind == "card" else None
    return payments.pay(row, Choice(type=kind, card=chosen, attempt=row.attempts), ADDRESS)


def buy(link: dict[str, Any], *quantities: int) -> Checkout:
    """Buy and pay."""
    payment = open_payment(link, *quantities)
    pay(payment)
    return payment


def event_types(api: Api, link: dict[str, Any]) -> list[str]:
    """Return the types of the link's events, the oldest first; their sequences have no gap."""
    found = made(api.get("/events/", object=link["id"], limit=100))["data"][::-1]
    assert [event["sequence"] for event in found] == list(range(1, len(found) + 1))
    return [event["type"] for event in found]


def payments_of(link: dict[str, Any]) -> list[Checkout]:
    """Return the payments of a link, the oldest first."""
    return list(Checkout.objects.filter(link_id=parse_id("plink", link["id"])).order_by("id"))


def by_alias(
    api: Api,
    method: str,
    path: str,
    body: bytes = b"",
    host: str = "testserver",
    query: str = "",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> HttpResponse:
    """Send a request by another path or host of a product."""
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "HTTP_HOST": host, "HTTP_AUTHORIZATION": "Basic"}
    product_paths.lead(environ)
    led: dict[str, Any] = {name: value for name, value in environ.items() if name.startswith("kaha.")}
    return api.client.generic(
        method,
        f"{environ['PATH_INFO']}?{query}",
        body,
        content_type="application/json",
        headers=api.headers() | headers,
        **led,
    )

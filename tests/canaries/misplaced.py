"""Requests with a card's number where it must not be, or its security code under its name: each is to be refused."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tests.canaries.marks import CHARGE_CVC, SOURCE_CVC, in_groups, marked
from tests.canaries.shop import CARD

NUMBER = marked(11, 99)
GROUPS = in_groups(NUMBER, " ")
GOOD_CARD = {**CARD, "number": NUMBER}
SOURCE = {"type": "card", "card": GOOD_CARD}
# How people write it into a text.
WRITTEN = (
    *(NUMBER, GROUPS, f"card: {NUMBER}.", f"({GROUPS})", f"x{NUMBER}y"),
    *(in_groups(NUMBER, between) for between in ("-", ".", "\t", "  ", "\u200b", "\u00ad")),
)
CVC_NAMES = ("cvc", "CVV", "cvv2", "card_cvc", "securityCode", "security_code")
ADDRESS = ("address_line1", "address_line2", "address_city", "address_state", "address_country")

# Method, path, and the rest as httpx2 takes it.
Asked = tuple[str, str, dict[str, Any]]


def misplaced() -> Iterator[Asked]:
    """Every one of them."""
    yield from _in_texts()
    yield from _in_sources()
    yield from _in_addresses_of_pages()
    yield from map(_with_metadata, _metadata())
    yield from _in_headers()
    yield from _in_queries()
    yield from _in_paths()


def _in_texts() -> Iterator[Asked]:
    for text in WRITTEN:
        for where in ("description", "statement_descriptor"):
            yield _order(**{where: text})
        yield _customer(description=text)
        yield _with_metadata({"card": text})
    for where in ("source", "cvc", "currency"):
        yield _order(**{where: NUMBER})
    yield _customer(mobile_number=GROUPS)
    yield _customer(email=f"{NUMBER}@shop.example")


def _in_sources() -> Iterator[Asked]:
    for where in ("name", *ADDRESS, "address_zip"):
        yield _source(card=GOOD_CARD | {where: f"Juan {NUMBER}"})
    for where in ("name", "line1", "city", "phone_number", "zip_code"):
        yield _source(owner={"billing": {"name": "Juan", where: NUMBER}})
    for text in WRITTEN:
        yield _source(owner={"name": text})


def _in_addresses_of_pages() -> Iterator[Asked]:
    for text in (NUMBER, quote(GROUPS), GROUPS.replace(" ", "+")):
        url = f"https://shop.example/?card={text}"
        yield _source(redirect={"success": url, "fail": url})
        yield _order(redirect_url=url)


def _metadata() -> Iterator[dict[str, Any]]:
    yield {NUMBER: 1}
    yield {"card": int(NUMBER)}
    yield {"cards": [{"number": NUMBER}]}
    yield {"note": f"paid by {NUMBER}, thanks"}
    yield from ({"card": {name: SOURCE_CVC}} for name in CVC_NAMES)


def _in_headers() -> Iterator[Asked]:
    for header in ("Idempotency-Key", "X-Idempotency-Key"):
        for key in (NUMBER, f"order{NUMBER}", f"order-{NUMBER}", GROUPS, in_groups(NUMBER, ".")):
            yield "POST", "/sources/", {"json": {"type": "gcash"}, "headers": {header: key}}


def _in_queries() -> Iterator[Asked]:
    for name in ("source", "customer", "status", "start_after", "limit", "created_at[gte]", NUMBER):
        yield "GET", "/charges/", {"params": {name: NUMBER}}
    yield "GET", "/customers/", {"params": {"email": f"{NUMBER}@shop.example"}}
    for name in ("type", "object"):
        yield "GET", "/events/", {"params": {name: NUMBER}}


def _in_paths() -> Iterator[Asked]:
    for path in ("charges", "sources", "events", "customers", "customers/by_email", "nowhere"):
        yield "GET", f"/{path}/{NUMBER}", {}
        yield "GET", f"/{path}/{quote(GROUPS)}", {}
    yield "POST", f"/charges/{NUMBER}/capture", {"json": {}}
    yield "POST", f"/charges/{NUMBER}/refund", {"json": {"reason": f"wrong card {NUMBER}"}}
    yield "PUT", f"/customers/{NUMBER}", {"json": {"description": NUMBER}}


def _with_metadata(metadata: dict[str, Any]) -> Asked:
    return _customer(metadata=metadata)


def _source(**members: Any) -> Asked:
    return "POST", "/sources/", {"json": {**SOURCE, **members}}


def _order(**members: Any) -> Asked:
    body = {"amount": 1, "source": f"src_{0:032}", "description": "Taho", "cvc": CHARGE_CVC, **members}
    return "POST", "/charges/", {"json": body}


def _customer(**members: Any) -> Asked:
    return "POST", "/customers/", {"json": {"email": "juan@shop.example", "description": "Juan", **members}}

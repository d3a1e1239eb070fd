"""Payments that wait for their payer, as pages meet them."""

from typing import Any

from tests.client import Api

SHOP = {"success": "https://shop.example/thanks?order=1&a=%20b#end", "fail": "https://shop.example/sorry"}


def path_of(address: str) -> str:
    """Return the part of an absolute address of ours from its first slash on."""
    return "/" + address.split("/", 3)[3]


def awaited(api: Api, kind: str = "gcash", redirect: dict[str, str] | None = SHOP, **members: Any) -> dict[str, Any]:
    """Return a charge that waits for its payer; `members` are the charge's."""
    given = {"redirect": redirect} if redirect else {}
    if kind == "card":
        return api.charge_source(api.source("4242424242424242", **given), **members)
    return api.charge_source(api.wallet(kind, **given), **members)


def page_of(charge: dict[str, Any]) -> str:
    """Return the path of the page at which its payer must act."""
    return path_of(charge["action"]["url"])

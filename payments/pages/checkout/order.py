"""The order of a checkout: what its page asks the payer for, what is bought, and where the payer goes afterwards."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from payments.domain.checkout.availability import ways_of
from payments.ids import public_id
from payments.models import Checkout
from payments.money import shown_amount
from payments.pages.checkout.form import BILLING, SHIPPING, Asked
from payments.pages.payment import shown_merchant
from payments.sourcetypes import named_once

Mode = Checkout.Mode
# Libraries that build addresses encode the braces.
SESSION_ID = re.compile(r"(?:\{|%7[Bb])CHECKOUT_SESSION_ID(?:\}|%7[Dd])")


def asked_of(checkout: Checkout, ways: Sequence[str] | None = None) -> Asked:
    """Return what a checkout asks its payer for, with what is known from the order and from earlier attempts.

    The `ways` to pay are by default those that can take it now.
    """
    order, payer = checkout.order, checkout.payer
    keeps_card = checkout.mode in (Mode.SUBSCRIPTION, Mode.SAVE_CARD)
    known = {name: payer.get(name) or order.get(f"customer_{name}") or "" for name in ("name", "email", "phone")}
    for kind in (BILLING, SHIPPING):
        known |= {f"{kind}-{name}": text for name, text in (payer.get(kind) or {}).items()}
    return Asked(
        # Of those of which none can take it by now, the first is refused in words.
        types=tuple(named_once((ways_of(checkout) if ways is None else ways) or order["payment_method_types"])),
        email=keeps_card and checkout.customer_id is None,
        # Of who pays by a link nobody else knows an address.
        receipt=checkout.kind == Checkout.Kind.LINK and checkout.merchant.send_receipts,
        name=bool(order.get("customer_name_collection")),
        phone=bool(order.get("phone_number_collection")),
        billing=order.get("billing_address_collection") == "required",
        countries=tuple((order.get("shipping_address_collection") or {}).get("allowed_countries") or ()),
        known={name: text for name, text in known.items() if text},
    )


def first_way(checkout: Checkout) -> str:
    """Return the way to pay that is chosen first: the bank that the order names, if it is one of them."""
    return str(checkout.order.get("bank_code") or "").lower()


def shown_order(checkout: Checkout) -> dict[str, Any]:
    """Return the context of the order of a checkout."""
    order, items = checkout.order, shown_items(checkout)
    others = len(items) - 1
    first = items[0]["name"] if items else ""
    more = _("%(name)s and %(count)s more") % {"name": first, "count": others}
    return shown_merchant(checkout.merchant, order.get("branding")) | {
        "test_mode": not checkout.livemode,
        "cancel_url": shop_address(checkout, "cancel_url"),
        "amount": amount_of(checkout),
        "description": order.get("description") or "",
        "items": items,
        "count_words": _("1 item") if len(items) == 1 else _("%(count)s items") % {"count": len(items)},
        "first_words": more if others > 0 else first,
        "pay_words": _pay_words(checkout),
        "assure_words": _assure_words(checkout),
        "is_payment": checkout.mode == Mode.PAYMENT,
        "is_kept": checkout.mode == Mode.SAVE_CARD,
        "attempt": checkout.attempts,
        **(_shown_invoice(checkout) if checkout.kind == Checkout.Kind.REQUEST else {}),
    }


def _shown_invoice(checkout: Checkout) -> dict[str, Any]:
    email = checkout.order.get("customer_email") or ""
    return {
        "number": checkout.request.number,
        "made_at": checkout.created_at,
        "addressee": checkout.addressee,
        "customer_email": email if email != checkout.addressee else "",
        "message": checkout.order.get("message") or "",
    }


def shown_items(checkout: Checkout) -> list[dict[str, Any]]:
    """Return the items of an order, without those of which none is bought."""
    return [
        {
            "name": item["name"],
            "description": item.get("description") or "",
            "quantity": item["quantity"],
            "each": shown_amount(item["amount"], checkout.currency),
            "sum": shown_amount(item["amount"] * item["quantity"], checkout.currency),
        }
        for item in checkout.order.get("line_items") or []
        if item["quantity"]
    ]


def amount_of(checkout: Checkout) -> str:
    """Return what the payer pays, "" where a card is only kept."""
    return shown_amount(checkout.amount, checkout.currency) if checkout.amount else ""


def _pay_words(checkout: Checkout) -> str:
    if checkout.mode == Mode.SAVE_CARD:
        return _("Save the card")
    amount = {"amount": amount_of(checkout)}
    if checkout.mode == Mode.SETUP:
        return _("Reserve %(amount)s") % amount
    match checkout.order.get("submit_type"):
        case "book":
            return _("Book for %(amount)s") % amount
        case "donate":
            return _("Donate %(amount)s") % amount
        case "send":
            return _("Send %(amount)s") % amount
    return _("Pay %(amount)s") % amount


def _assure_words(checkout: Checkout) -> str:
    shop = {"shop": checkout.merchant.title}
    match checkout.mode:
        case Mode.SETUP:
            return _("%(shop)s may take up to this amount from your card later.") % shop
        case Mode.SUBSCRIPTION:
            return _("Your card is kept, so that %(shop)s can charge it again as you agreed.") % shop
        case Mode.SAVE_CARD:
            return _("Nothing is paid now. Your card is kept, so that %(shop)s can charge it as you agreed.") % shop
    return _("You may be asked to confirm that it is you.")


def shop_closed() -> tuple[str, str]:
    """Return the title and the text of a page whose merchant was closed."""
    return _("This shop takes no payments any more"), _("Contact the shop if you have a question.")


def shop_address(checkout: Checkout, name: str) -> str:
    """Return the `success_url` or `cancel_url` of an order, which may name the session; "" for one that is none."""
    address, session = str(checkout.order.get(name) or ""), public_id("cs", checkout.id)
    if name == "success_url":
        address = SESSION_ID.sub(session, address)
    if urlsplit(address).scheme not in ("http", "https"):
        return ""
    if not checkout.order.get("names_session"):
        return address
    before, mark, fragment = address.partition("#")
    return f"{before}{'&' if '?' in before else '?'}session_id={session}{mark}{fragment}"

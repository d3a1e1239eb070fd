"""The page of a payment link: the payer chooses how many, and pays on the page of a payment."""

import re
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from payments.domain.catalogue import error_table
from payments.domain.checkout import links
from payments.domain.shared.errors import PaymentError
from payments.ids import new_id
from payments.models import Checkout, PaymentLink
from payments.money import shown_amount
from payments.pages.checkout.context import Problem
from payments.pages.checkout.order import shop_closed
from payments.pages.limit import address_of_payer, limited
from payments.pages.payment import shown_merchant
from payments.pages.responses import for_payers, page, to_page, unknown_page
from payments.rendering.objects.checkout import payment_url
from payments.rendering.objects.payment_links import items_of, link_url
from payments.typed_text import read_whole_number

# From so few on, the page says "only".
LOW_STOCK = 5
OFFER_MAX_LENGTH = 255
OFFER_ENDS = re.compile(r"(?<=[.!?]) +(?=\S)")
GONE, CONFLICT = 410, 409
# The cookie by which a browser finds its own payment again, which it has begun on a link's page, and how long it lasts.
VISIT, VISIT_SECONDS = "visit", 24 * 3600
# Buttons that change the quantities and send the payer nowhere, and by how many.
STEPS = {"less": -1, "more": 1}


@for_payers
@limited
@require_http_methods(["GET", "HEAD", "POST"])
def show_link(request: HttpRequest, short: str) -> HttpResponse:
    """Show what a link sells, and open a payment of what the payer chose."""
    link = links.link_of_page(short)
    if link is None:
        return unknown_page(request)
    visit = _visit_of(request, link)
    own = links.payment_of_visit(link, visit) if visit else None
    if own and own.state == Checkout.State.PAYING:
        return to_page(request, payment_url(own))
    if own and own.state != Checkout.State.UNPAID:
        # It has ended, and the next one is another.
        own = visit = None
    if own:
        links.show_returned(link, own)
    if not links.is_payable(link):
        return _closed(request, link)
    if request.method == "POST":
        return _answered(request, link, visit)
    response = _shown(request, link, _within(link, own.quantities or []) if own else _first(link))
    return response if visit else _with_visit(response, link, new_id())


def show_offer(request: HttpRequest, link: PaymentLink) -> HttpResponse:
    """Show what a link sells as a payer sees it first."""
    return _shown(request, link, _first(link))


def _visit_of(request: HttpRequest, link: PaymentLink) -> UUID | None:
    """Return the visit of a link's page of this browser: the ID of the payment that it opens."""
    text = request.get_signed_cookie(VISIT, default="", salt=str(link), max_age=VISIT_SECONDS)
    return UUID(text) if text else None


def _with_visit(response: HttpResponse, link: PaymentLink, visit: UUID) -> HttpResponse:
    """Return the response, which keeps this visit of the link in the browser."""
    parts = urlsplit(link_url(link))
    is_secure, at = parts.scheme == "https", parts.path
    lasts = {"max_age": VISIT_SECONDS, "path": at, "secure": is_secure, "httponly": True, "samesite": "Lax"}
    response.set_signed_cookie(VISIT, str(visit), salt=str(link), **lasts)
    return response


def _answered(request: HttpRequest, link: PaymentLink, visit: UUID | None) -> HttpResponse:
    typed = [_typed(request, link, number) for number in range(len(link.remaining))]
    if request.POST.keys().isdisjoint(("update", *STEPS)):
        return _bought(request, link, typed, visit)
    return _shown(request, link, _stepped(request, link, typed))


def _bought(request: HttpRequest, link: PaymentLink, quantities: list[int], visit: UUID | None) -> HttpResponse:
    try:
        payment = links.open_payment(link, quantities, visit, address_of_payer())
        return _with_visit(to_page(request, payment_url(payment)), link, payment.id)
    except PaymentError as error:
        if error.code == "link_not_payable":
            return to_page(request, link_url(link))
        fresh = links.link_of_page(link.short) or link
        return _shown(request, fresh, _within(fresh, quantities), _problem(error), error.kind.status)


def _problem(error: PaymentError) -> Problem:
    nothing = _("Nothing was paid.")
    match error.code:
        case "link_out_of_stock":
            title = _("There are not so many left")
            text = _("Look at what is left, and continue with it.")
        case "too_many_reservations":
            title = _("Too many payments are under way")
            text = _("Pay one of those that were begun from your network, or try again in 30 minutes.")
        case error_table.TOTAL_OUT_OF_RANGE | error_table.NOT_AVAILABLE:
            title, text = _("This total cannot be paid"), _("Choose other quantities.")
        case _:
            title, text = _("Nothing is chosen yet"), _("Choose at least one piece.")
    return Problem(title, f"{nothing} {text}")


def _first(link: PaymentLink) -> list[int]:
    """Return the quantities that are shown first: one of each, or of the first that is left where the payer chooses."""
    if not link.order["allow_adjustable_quantity"]:
        return [1] * len(link.remaining)
    first_left = next((number for number, left in enumerate(link.remaining) if left), None)
    return [int(number == first_left) for number in range(len(link.remaining))]


def _typed(request: HttpRequest, link: PaymentLink, number: int) -> int:
    """Return how many of an item a form asks for; where there is no choice, one."""
    if not link.order["allow_adjustable_quantity"]:
        return 1
    try:
        return read_whole_number(request.POST.get(f"quantity-{number}", "")[:9])
    except ValueError:
        return 0


def _stepped(request: HttpRequest, link: PaymentLink, quantities: list[int]) -> list[int]:
    """Return the quantities after a button was pressed."""
    pressed = {request.POST.get(name, ""): step for name, step in STEPS.items()}
    changed = [count + pressed.get(str(number), 0) for number, count in enumerate(quantities)]
    return _within(link, changed)


def _within(link: PaymentLink, quantities: list[int]) -> list[int]:
    """Return the quantities, none of them more than is left."""
    asked = quantities if len(quantities) == len(link.remaining) else _first(link)
    return [max(0, min(count, left)) for count, left in zip(asked, link.remaining, strict=True)]


def _shown(
    request: HttpRequest, link: PaymentLink, quantities: list[int], problem: Problem | None = None, status: int = 200
) -> HttpResponse:
    count = sum(quantities)
    words = _("Total for 1 piece") if count == 1 else _("Total for %(count)s pieces") % {"count": count}
    context = _offered(link, quantities) | {"problem": problem, "count_words": words}
    return page(request, "checkout/link", context, status)


def poster(request: HttpRequest, link: PaymentLink, addresses: dict[str, str]) -> HttpResponse:
    """Show a sheet of paper with the QR code of a link; `addresses` are those of the code and of the page before."""
    return page(request, "checkout/poster", _offered(link, _first(link)) | addresses, has_script=True)


def _offered(link: PaymentLink, quantities: list[int]) -> dict[str, Any]:
    """Return the context of what a link sells, and of the total of these quantities."""
    currency = link.order["currency"].upper()
    goods = list(zip(items_of(link), quantities, strict=True))
    total = sum(item["amount"] * each for item, each in goods)
    # The first line, or the first sentence, is what is offered, and the rest more about it.
    offer, _between, details = OFFER_ENDS.sub("\n", link.order.get("description") or "", count=1).partition("\n")
    return _shop(link) | {
        "offer": offer,
        "offer_details": details.strip(),
        "is_adjustable": link.order["allow_adjustable_quantity"],
        "goods": [_good(item, each, currency) for item, each in goods],
        "amount": shown_amount(total, currency),
    }


def _good(item: dict[str, Any], quantity: int, currency: str) -> dict[str, Any]:
    left = item["remaining"]
    is_low = 0 < left <= LOW_STOCK
    return {
        "name": item["name"],
        "description": item.get("description") or "",
        "each": shown_amount(item["amount"], currency),
        "remaining": left,
        "quantity": quantity,
        "is_gone": not left,
        "is_low": is_low,
        "stock": _stock_words(left, is_low=is_low),
    }


def _stock_words(left: int, *, is_low: bool) -> str:
    if not left:
        return _("Sold out")
    return (_("Only %(count)s left") if is_low else _("%(count)s left")) % {"count": left}


def _shop(link: PaymentLink) -> dict[str, Any]:
    return shown_merchant(link.merchant, link.order.get("branding")) | {"test_mode": not link.livemode}


def _closed(request: HttpRequest, link: PaymentLink) -> HttpResponse:
    """Say why a link cannot be paid; where payments under way have taken all, what to do."""
    if link.merchant.is_closed:
        title, text = shop_closed()
    elif link.active and not link.is_past:
        title, text = _("The last pieces are being bought"), _("Try again in 30 minutes: some may be left then.")
    elif link.is_past:
        title, text = _("This offer has ended"), _("Ask the shop for what it offers now.")
    elif link.is_sold_out:
        title, text = _("Sold out"), _("Ask the shop when there is more.")
    else:
        title, text = _("This offer is closed"), _("Ask the shop for what it offers now.")
    is_kept_for_others = link.active and not (link.is_past or link.merchant.is_closed)
    status = CONFLICT if is_kept_for_others else GONE
    offer = link.order.get("description") or ", ".join(item["name"] for item in link.order["line_items"])
    shown = {"title": title, "text": text, "order": offer[:OFFER_MAX_LENGTH]}
    return page(request, "checkout/closed", _shop(link) | shown, status)

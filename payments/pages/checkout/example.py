"""The page of a payment with an example order, by which merchants see their colours before payers do."""

from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp
from django.http import HttpRequest, HttpResponse

from payments.models import Checkout, Merchant
from payments.pages.checkout import form as forms
from payments.pages.checkout.context import shown_form
from payments.pages.checkout.order import asked_of, shown_order
from payments.pages.responses import HEADERS, POLICY, page

ITEM = {"name": "Halo-halo", "quantity": 2, "amount": 12_500}
WAYS = ["card", "gcash"]
ORDER = {"line_items": [ITEM], "payment_method_types": WAYS}


def show_example(request: HttpRequest, merchant: Merchant) -> HttpResponse:
    """Return the page for `merchant`, whose values need not be saved, to be framed by our own pages alone."""
    total = ITEM["quantity"] * ITEM["amount"]  # type: ignore[operator]
    checkout = Checkout(merchant=merchant, livemode=True, amount=total, currency="PHP", order=ORDER)
    # An example asks for no routes.
    asked = asked_of(checkout, WAYS)
    shown = shown_order(checkout) | shown_form(asked, forms.blank(asked))
    vars(request)["is_preview"] = True
    with_policy: Any = csp({**POLICY, "frame-ancestors": [SELF]})(lambda request: page(request, "checkout/pay", shown))
    response = cast(HttpResponse, with_policy(request))
    for name, value in (HEADERS | {"X-Frame-Options": "SAMEORIGIN"}).items():
        response[name] = value
    return response

"""The simulator's page, in place of the page where a bank, wallet or scheme asks the payer."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_http_methods, require_safe

from payments import sourcetypes
from payments.domain.checkout import card_checks
from payments.models import Checkout, PageVisit
from payments.money import shown_amount
from payments.pages import visits
from payments.pages.browsers import browser_of
from payments.pages.payment import charge_of_attempt, shown_merchant, shown_payment
from payments.pages.responses import SeeOther, for_payers, language_of_checkout, page, qr_code_of, unknown_page
from payments.providers.simulator import books
from payments.providers.simulator.answers import asks_pin, page_url
from payments.providers.simulator.models import PIN_TRIES, SimulatedPayment

State = SimulatedPayment.State
PAID = (State.HELD, State.CAPTURED, State.VOIDED)
DECLINES = {"fail": "authentication_failed", "cancel": "payer_cancelled"}


@for_payers
@require_http_methods(["GET", "HEAD", "POST"])
def pay(request: HttpRequest, token: str) -> HttpResponse:
    """Ask the payer once, and record the decision; a decided payment never changes."""
    payment = books.find_page(token)
    if payment is None:
        return unknown_page(request)
    charge = charge_of_attempt(payment.reference)
    checkout = charge.checkout if charge else card_checks.checkout_of(payment.reference)
    with override(language_of_checkout(request, checkout)):
        shown = shown_payment(charge) if charge else _shown_shop(checkout)
        # A checkout is where the payer may try again.
        way_back = {"again_url" if checkout else "back_url": payment.return_url}
        return _answer(request, payment, shown | _shown(payment, token) | way_back)


def _answer(request: HttpRequest, payment: SimulatedPayment, shown: dict[str, Any]) -> HttpResponse:
    if payment.decline_code == "action_expired":
        return page(request, "checkout/expired", shown, status=410)
    # A form that cannot be read is refused before anything is written.
    form = request.POST
    _note(request, payment)
    if request.method != "POST":
        return page(request, _template(payment), shown)
    _decide(payment, form)
    return SeeOther(page_url(shown["token"]) if payment.state == State.AWAITING else payment.return_url)


@for_payers
@require_safe
def qr_code(request: HttpRequest, token: str) -> HttpResponse:
    """Return the address of the payment's page as a QR code."""
    if books.find_page(token) is None:
        return unknown_page(request)
    return qr_code_of(page_url(token))


def _note(request: HttpRequest, payment: SimulatedPayment) -> None:
    what = PageVisit.Page.DECIDED if request.method == "POST" else PageVisit.Page.ASKED
    # A payment made at the simulator directly may have any reference.
    with suppress(ValueError):
        visits.record_visit(UUID(hex=payment.reference), what, browser_of(request))


def _decide(payment: SimulatedPayment, form: QueryDict) -> None:
    decision = form.get("decision", "")
    if decision in DECLINES:
        books.decline(payment, DECLINES[decision], send_message=True)
    elif asks_pin(payment):
        # A form that was sent twice counts as one try.
        if form.get("tries") == str(payment.pin_tries):
            books.enter_pin(payment, form.get("pin", ""), send_message=True)
    elif decision == "pay":
        books.approve(payment, send_message=True)


def _template(payment: SimulatedPayment) -> str:
    if payment.state != State.AWAITING:
        return "decided"
    if asks_pin(payment):
        return "pin"
    return "challenge" if payment.source_type == sourcetypes.CARD else "confirm"


def _shown_shop(checkout: Checkout | None) -> dict[str, Any]:
    return shown_merchant(checkout.merchant, checkout.order.get("branding")) if checkout else {}


def _shown(payment: SimulatedPayment, token: str) -> dict[str, Any]:
    source_type, last4 = sourcetypes.shown(payment.source_type), payment.last4
    return {
        "test_mode": True,
        "amount": shown_amount(payment.amount, payment.currency) if payment.amount else "",
        "type": source_type,
        "way": _("Card ending in %(last4)s") % {"last4": last4} if last4 else source_type.label,
        "paid": payment.state in PAID,
        "failed": payment.state not in (State.AWAITING, *PAID),
        "ended_at": payment.expires_at,
        "wrong_pins": payment.pin_tries,
        "tries_left": PIN_TRIES - payment.pin_tries,
        "return_url": payment.return_url,
        "token": token,
    }

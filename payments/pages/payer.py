"""The payer's pages of kaha: the QR code to scan, the return from the provider to the merchant, and the result."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import override
from django.views.decorators.http import require_http_methods, require_safe

from payments.domain.charging.attempts import attempt_of_return, return_url
from payments.domain.charging.charges import continue_after_return
from payments.domain.messages.failures import FAILURES
from payments.domain.shared.errors import NoSuchReturn
from payments.models import Attempt, BrandPicture, Charge, PageVisit
from payments.pages import visits
from payments.pages.browsers import browser_of
from payments.pages.checkout import receipts
from payments.pages.checkout.form import PayForm
from payments.pages.limit import limited
from payments.pages.payment import charge_of_attempt, shown_payment, shown_return
from payments.pages.responses import SeeOther, for_payers, language_of_checkout, page, qr_code_of, unknown_page

SCAN_REFRESH_SECONDS = 5
RETURN_REFRESH_SECONDS = 3
KEPT_BY_BROWSERS = "public, max-age=31536000, immutable"


@for_payers
@require_safe
def show_qr_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the QR code until the payment has ended, then redirect to the return page, which asks the provider."""
    attempt = _attempt_with_qr(token)
    if attempt is None:
        return unknown_page(request)
    visits.record_visit(attempt.id, PageVisit.Page.ASKED, browser_of(request))
    charge = attempt.charge
    if charge.status != Charge.Status.PENDING:
        return SeeOther(return_url(attempt))
    # The page of a checkout offers another way to pay, and is where a payment that fails leads.
    otherwise = (charge.source.redirect or {}).get("fail") if charge.checkout_id else None
    links = {"return_url": return_url(attempt), "token": token, "otherwise_url": otherwise}
    with override(language_of_checkout(request, charge.checkout)):
        response = page(request, "scan", shown_payment(charge) | links)
    response["Refresh"] = str(SCAN_REFRESH_SECONDS)
    return response


@for_payers
@require_safe
def qr_image(request: HttpRequest, token: str) -> HttpResponse:
    """Return the QR code that the payer scans."""
    attempt = _attempt_with_qr(token)
    return qr_code_of(attempt.qr) if attempt else unknown_page(request)


def _attempt_with_qr(token: str) -> Attempt | None:
    rows = Attempt.objects.select_related("charge__merchant", "charge__source__card").exclude(qr="")
    attempt_id = attempt_of_return(token)
    return rows.filter(id=attempt_id).first() if attempt_id else None


@for_payers
@require_safe
def return_payer(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect the payer to the merchant once the outcome is known; until then show a page that reloads."""
    if attempt_id := attempt_of_return(token):
        visits.record_visit(attempt_id, PageVisit.Page.CAME_BACK, browser_of(request))
    try:
        charge = continue_after_return(token, request.GET.dict())
    except NoSuchReturn:
        return unknown_page(request)
    if charge.status == Charge.Status.PENDING:
        with override(language_of_checkout(request, charge.checkout)):
            response = page(request, "waiting", shown_payment(charge) | {"action": charge.action})
        response["Refresh"] = str(RETURN_REFRESH_SECONDS)
        return response
    redirect, is_paid = charge.source.redirect, charge.status != Charge.Status.FAILED
    address = redirect["success" if is_paid else "fail"] if redirect else charge.redirect_url
    return SeeOther(address) if address else page(request, "result", _result(charge, token))


@limited
@require_safe
def show_picture(request: HttpRequest, picture_id: UUID) -> HttpResponse:
    """Return a merchant's logo or icon, for any page of any origin; another one has another address."""
    picture = get_object_or_404(BrandPicture, id=picture_id)
    headers = {"Cache-Control": KEPT_BY_BROWSERS, "Cross-Origin-Resource-Policy": "cross-origin"}
    return HttpResponse(bytes(picture.content), content_type="image/png", headers=headers)


@for_payers
@limited
@require_http_methods(["GET", "HEAD", "POST"])
def show_payment_receipt(request: HttpRequest, token: str) -> HttpResponse:
    """Give the payer of a captured charge what the page of its result says as one file, or send it by e-mail."""
    attempt_id = attempt_of_return(token)
    charge = charge_of_attempt(attempt_id.hex) if attempt_id else None
    if charge is None or not charge.captured:
        return unknown_page(request)
    back = f"{settings.PUBLIC_URL}/return/{token}"
    return receipts.give(request, charge, back, "result", lambda form: _result(charge, token, form))


def _result(charge: Charge, token: str, form: PayForm | None = None) -> dict[str, Any]:
    """Return the context of the page that says how a payment ended."""
    shown = shown_payment(charge) | shown_return(charge)
    is_failed = charge.status == Charge.Status.FAILED
    is_paid = not (is_failed or shown["is_released"])
    address = f"{settings.PUBLIC_URL}/return/{token}/receipt"
    return shown | {
        "paid": is_paid,
        "failed": is_failed,
        "failure": FAILURES.get((charge.failure_data or {}).get("code", "")),
        "is_held": is_paid and not charge.captured,
        **(receipts.offer(charge, address, form) if charge.captured else {}),
    }

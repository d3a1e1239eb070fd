"""The page for a payer who scans a code: providers give us its text, and no page of their own."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from payments import sourcetypes
from payments.domain import visits
from payments.domain.charging.attempts import attempt_of_return, return_url
from payments.models import Attempt, Charge, PageVisit
from payments.money import format_amount
from payments.pages.browsers import browser_of
from payments.pages.responses import SeeOther, for_payers, page, qr_code_of, unknown_page

LOOK_AGAIN_SECONDS = 5


@for_payers
@require_safe
def show_code(request: HttpRequest, token: str) -> HttpResponse:
    """Shows the code until the payment is over, and then leads on; the provider is asked on the payer's way back."""
    attempt = _with_code(token)
    if attempt is None:
        return unknown_page(request)
    visits.note(attempt.id, PageVisit.Page.ASKED, browser_of(request))
    if attempt.charge.status != Charge.Status.PENDING:
        return SeeOther(return_url(attempt))
    response = page(request, "scan", _shown(attempt, token))
    response["Refresh"] = str(LOOK_AGAIN_SECONDS)
    return response


@for_payers
@require_safe
def code(request: HttpRequest, token: str) -> HttpResponse:
    """The code that the payer scans."""
    attempt = _with_code(token)
    return qr_code_of(attempt.qr) if attempt else unknown_page(request)


def _with_code(token: str) -> Attempt | None:
    rows = Attempt.objects.select_related("charge__merchant", "charge__source").exclude(qr="")
    attempt_id = attempt_of_return(token)
    return rows.filter(id=attempt_id).first() if attempt_id else None


def _shown(attempt: Attempt, token: str) -> dict[str, object]:
    charge = attempt.charge
    return {
        "test_mode": not charge.livemode,
        "amount": format_amount(charge.amount, charge.currency),
        "merchant": charge.merchant.title,
        "type": sourcetypes.BY_NAME[charge.source.type],
        "return_url": return_url(attempt),
        "token": token,
    }

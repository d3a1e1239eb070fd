"""The payer's way back: from the provider's page through ours to the merchant's."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from payments.domain import visits
from payments.domain.charging.attempts import attempt_of_return
from payments.domain.charging.charges import continue_after_return
from payments.domain.errors import NoSuchReturn
from payments.models import Charge, PageVisit
from payments.money import format_amount
from payments.pages.browsers import browser_of
from payments.pages.responses import SeeOther, for_payers, page, unknown_page

WAIT_SECONDS = 3


@for_payers
@require_safe
def payer_came_back(request: HttpRequest, token: str) -> HttpResponse:
    """Sends the payer on once the outcome is known; may be asked for any number of times."""
    if attempt_id := attempt_of_return(token):
        visits.note(attempt_id, PageVisit.Page.CAME_BACK, browser_of(request))
    try:
        charge = continue_after_return(token, request.GET.dict())
    except NoSuchReturn:
        return unknown_page(request)
    if charge.status == Charge.Status.PENDING:
        response = page(request, "waiting", _shown(charge))
        response["Refresh"] = str(WAIT_SECONDS)
        return response
    address = _merchant_address(charge)
    return SeeOther(address) if address else page(request, "result", _shown(charge))


def _merchant_address(charge: Charge) -> str:
    if charge.source.redirect:
        address: str = charge.source.redirect["success" if _is_paid(charge) else "fail"]
        return address
    return charge.redirect_url


def _is_paid(charge: Charge) -> bool:
    return charge.status != Charge.Status.FAILED


def _shown(charge: Charge) -> dict[str, object]:
    return {
        "test_mode": not charge.livemode,
        "amount": format_amount(charge.amount, charge.currency),
        "paid": _is_paid(charge),
        "failure": charge.failure_data,
        "action": charge.action,
    }

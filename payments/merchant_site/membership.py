"""The merchant whose site somebody has open: the one that they chose, or else the first by name."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from payments.models import MerchantAccess

CHOSEN = "merchant"
KEPT_AS = "memberships"


def memberships_of(request: HttpRequest) -> list[MerchantAccess]:
    """Return the user's access to each merchant that they work for, by name; read once for each request."""
    if KEPT_AS not in vars(request):
        found = MerchantAccess.objects.memberships(request.user).select_related("merchant")
        vars(request)[KEPT_AS] = list(found.order_by("merchant__title", "pk"))
    rows: list[MerchantAccess] = vars(request)[KEPT_AS]
    return rows


def open_membership(request: HttpRequest) -> MerchantAccess | None:
    """Give the user the permissions at the merchant whose site they have open; return that access, if there is one."""
    rows = memberships_of(request)
    chosen = request.session.get(CHOSEN)
    opened = next((row for row in rows if row.merchant_id.hex == chosen), next(iter(rows), None))
    if opened:
        vars(request)["user"].membership = opened
    return opened


def membership_shown(request: HttpRequest) -> MerchantAccess | None:
    """Return the access to the merchant whose site a request is answered for; None where it is for none."""
    return open_membership(request) if KEPT_AS in vars(request) else None


@require_POST
def switch_merchant(request: HttpRequest) -> HttpResponse:
    """Open the site of another merchant that the user works for; raise Http404 for any other."""
    chosen = request.POST.get("merchant", "")
    if chosen not in {row.merchant_id.hex for row in memberships_of(request)}:
        raise Http404
    request.session[CHOSEN] = chosen
    return redirect("admin:index")

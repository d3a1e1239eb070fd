from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from payments.merchant_site.membership import CHOSEN, memberships_of


@require_POST
def switch_merchant(request: HttpRequest) -> HttpResponse:
    """Open the site of another merchant that the user works for; raise Http404 for any other."""
    chosen = request.POST.get("merchant", "")
    if chosen not in {row.merchant_id.hex for row in memberships_of(request)}:
        raise Http404
    request.session[CHOSEN] = chosen
    return redirect("admin:index")

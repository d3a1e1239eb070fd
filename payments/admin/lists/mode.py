"""The switch between live and test mode: one choice for all lists, kept for the session."""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from payments.domain.merchants.merchants import MODES as MODES
from payments.models import DayTotal, MerchantAccess
from payments.models.merchants.merchant_access import within

PARAMETER = KEPT_AS = "mode"
# A merchant's ID finds rows of both modes, of which the switch chooses.
ID_OF_ONE = re.compile(r"(?!mer_)[a-z]{2,7}_[0-9a-f]{32}")
OWN_PATH = re.compile(r"/(?![/\\])[!-~]*")
# A page's cursor belongs to the mode in which it was made.
OF_ONE_MODE = (PARAMETER, "p")


def mode_of(request: HttpRequest) -> str:
    """Return `live` or `test`: the mode in the address, or else the one that the switch chose.

    Somebody else's link chooses for its own page alone. Before the first choice the mode is live if the operator's
    merchants have sold anything in live mode.
    """
    asked = request.GET.get(PARAMETER, "")
    if asked in MODES:
        return asked
    if KEPT_AS not in request.session:
        request.session[KEPT_AS] = _first_mode(request)
    return str(request.session[KEPT_AS])


def names_one_object(request: HttpRequest) -> bool:
    """Return whether the address asks for the rows of one object, which are found in either mode."""
    term = request.GET.get("q", "").strip().lower()
    with suppress(ValueError):
        return bool(UUID(term))
    return bool(ID_OF_ONE.fullmatch(term)) or "card" in request.GET


def mode_of_row(row: Any, lookup: str) -> str | None:
    """Return the mode of `row`, found by a lookup such as `charge__livemode`; None where it has none."""
    for name in lookup.split("__"):
        row = getattr(row, name, None)
    return None if row is None else ("live" if row else "test")


def is_own_path(address: str) -> bool:
    """Return whether an address to return to is a path of ours, however a browser reads it.

    Browsers drop tabs and line ends, and take a backslash for a slash: `/`, a tab and `//host` is another host's.
    """
    return bool(OWN_PATH.fullmatch(address))


@require_POST
def switch_mode(request: HttpRequest) -> HttpResponse:
    """Remember the chosen mode and lead back to the page. Raise SuspiciousOperation for an unknown mode."""
    mode, back = request.POST.get(PARAMETER, ""), request.POST.get("next", "")
    if mode not in MODES:
        raise SuspiciousOperation("unknown mode")
    request.session[KEPT_AS] = mode
    if not is_own_path(back):
        return HttpResponseRedirect(reverse("admin:index"))
    parts = urlsplit(back)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name not in OF_ONE_MODE])
    return HttpResponseRedirect(f"{parts.path}?{query}" if query else parts.path)


def _first_mode(request: HttpRequest) -> str:
    limit = MerchantAccess.objects.limit_of(request.user)
    return "live" if DayTotal.objects.filter(within(limit, "merchant"), livemode=True).exists() else "test"

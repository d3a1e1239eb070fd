"""Operators see the rows of their merchants alone; some see all merchants.

Every page finds its rows by `get_queryset`, and related rows from these.
"""

from django.http import HttpRequest

from payments.models import MerchantAccess
from payments.models.merchants.merchant_access import Limit

KEPT_AS = "merchant_limit"


def limit_of(request: HttpRequest) -> Limit:
    """Return the merchants of the request's operator, None for all; read once for each request."""
    if KEPT_AS not in vars(request):
        vars(request)[KEPT_AS] = MerchantAccess.objects.limit_of(request.user)
    limit: Limit = vars(request)[KEPT_AS]
    return limit

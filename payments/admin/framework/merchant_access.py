"""Operators see the rows of their merchants alone; some see all merchants.

Every page finds its rows by `get_queryset`, and related rows from these.
"""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from payments.models import MerchantAccess
from payments.models.merchants.merchant_access import Limit, within

KEPT_AS = "merchant_limit"


def limit_of(request: HttpRequest) -> Limit:
    """Return the merchants of the request's operator, None for all; read once for each request."""
    if KEPT_AS not in vars(request):
        vars(request)[KEPT_AS] = MerchantAccess.objects.limit_of(request.user)
    limit: Limit = vars(request)[KEPT_AS]
    return limit


class Limited(admin.ModelAdmin):
    """A ModelAdmin that shows operators the rows of their merchants alone.

    `merchant_lookup` leads from a row to its merchant. None means that rows belong to no merchant: such a page is only
    for operators who work for all.
    """

    merchant_lookup: str | None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows, limit = super().get_queryset(request), limit_of(request)
        if self.merchant_lookup:
            return rows.filter(within(limit, self.merchant_lookup))
        return rows if limit is None else rows.none()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) and self._is_for(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and self._is_for(request)

    # A public method would have to repeat Django's views, which check the permission before they look for the row.
    def _get_obj_does_not_exist_redirect(self, *_: Any) -> HttpResponse:
        """Raise Http404, where Django would redirect with a message."""
        raise Http404

    def _is_for(self, request: HttpRequest) -> bool:
        return bool(self.merchant_lookup) or limit_of(request) is None

"""The list of merchants whose books a page shows, and what their pages have in common."""

from datetime import date, timedelta
from typing import Any

from django.contrib.admin.utils import unquote
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import PermissionDenied
from django.db.models import F, OuterRef, QuerySet
from django.db.models.functions import JSONObject
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from payments import clock
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import column, id_column
from payments.admin.framework.id_search import IdSearch
from payments.domain.statements.statement import BadMonth, month_of
from payments.models import Merchant, RunningBalance

Books = list[tuple[bool, str]]


class OfMerchant(BaseAdmin):
    """Merchants with the modes and currencies of their books; the page of one shows a part of the ledger."""

    merchant_lookup = "pk"
    counted = ("merchant", "merchants")
    search_fields = ("title",)
    search = IdSearch({"mer": "pk"})
    list_display = ("title", "books")
    file_columns = ("title", "books", "public_id")
    public_id = id_column("mer")
    books = column(
        "Books", lambda merchant: ", ".join(f"{mode_name(mode)} {code}" for mode, code in books_of(merchant))
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = RunningBalance.objects.filter(merchant=OuterRef("pk")).order_by("-livemode", "currency")
        found = rows.values("livemode", "currency").distinct()
        return (
            super()
            .get_queryset(request)
            .annotate(
                found_books=ArraySubquery(found.values(book=JSONObject(livemode=F("livemode"), currency=F("currency"))))
            )
        )

    def merchant_of(self, request: HttpRequest, object_id: str) -> Any:
        """Return the merchant, if this operator may see them."""
        merchant = self.get_object(request, unquote(object_id))
        if merchant is None:
            raise Http404
        if not self.has_view_permission(request, merchant):
            raise PermissionDenied
        return merchant

    def page(self, request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
        shared = self.admin_site.each_context(request) | {"opts": self.opts, "media": self.media, "title": title}
        return TemplateResponse(request, f"admin/payments/statements/{template}.html", shared | context)


def books_of(merchant: Merchant) -> Books:
    """Return the modes and currencies in which anything was posted, live ones first."""
    found: Any = merchant
    return [(book["livemode"], book["currency"]) for book in found.found_books]


def mode_name(livemode: bool) -> str:
    return "live" if livemode else "test"


def asked_mode(request: HttpRequest, merchant: Merchant) -> bool:
    """Return the mode of the address; by default live, where anything was posted in it."""
    return request.GET.get("mode", mode_name(any(livemode for livemode, _ in books_of(merchant)))) == "live"


def asked_month(request: HttpRequest) -> tuple[date, str]:
    """Return the first day of the month in the address, by default of this month, and what was wrong with it."""
    today = clock.now().date()
    try:
        return month_of(request.GET.get("month") or f"{today:%Y-%m}"), ""
    except BadMonth as refusal:
        return today.replace(day=1), str(refusal)


def month_before(first: date) -> date:
    return (first - timedelta(days=1)).replace(day=1)

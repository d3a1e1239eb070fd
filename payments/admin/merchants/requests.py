"""Requests to the API, as the merchant whose key made them sees them."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from payments.admin.facts import ID
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by, by_row
from payments.admin.framework.formats import Column, beside, chip, column, lines, link, row_link_column
from payments.admin.framework.id_search import IdSearch, events_of_request
from payments.models import ApiKey, ApiRequest, Event

REFUSED_FROM, FAILED_FROM = 400, 500
SHOWN_EVENTS = 50
# The beginnings of paths that most programs call.
PATHS = (
    *("sources", "charges", "customers", "checkout_sessions", "payment_links", "payment_requests"),
    *("disputes", "payouts", "events", "webhook_endpoints"),
)


def _answer(row: ApiRequest) -> SafeString:
    mark = "bad" if row.status >= FAILED_FROM else "warn" if row.status >= REFUSED_FROM else "good"
    return chip(str(row.status), mark)


def _events(row: ApiRequest) -> SafeString | str:
    found = events_of_request(row.request_id).filter(merchant=row.merchant_id).defer("payload").order_by("pk")
    return lines(link(Event, event.pk, event.type) for event in found[:SHOWN_EVENTS])


def _body(title: Any, name: str) -> Column:
    return column(title, lambda row: format_html("<pre>{}</pre>", getattr(row, name)) if getattr(row, name) else "")


@admin.register(ApiRequest)
class ApiRequestAdmin(BaseAdmin):
    """The requests of the last days."""

    for_merchants = "what answer took request method path status milliseconds key key_link caused sent got"
    called: Any = (_("request"), _("requests"))
    list_display = ("what", "answer", "took", "merchant", "created", "mode")
    file_columns = ("request", "created", "method", "path", "status", "milliseconds", "merchant", "mode")
    list_filter = (
        by(
            "answer",
            succeeded=(_("Succeeded"), Q(status__lt=REFUSED_FROM)),
            refused=(_("Refused"), Q(status__gte=REFUSED_FROM, status__lt=FAILED_FROM)),
            failed=(_("Failed"), Q(status__gte=FAILED_FROM)),
        ),
        by("path", **{name: (f"/v2/{name}", Q(path__startswith=f"/v2/{name}")) for name in PATHS}),
        by_row("key", ApiKey, "api_key"),
        ByMode,
        "created_at",
    )
    list_select_related = ("merchant", "api_key")
    search_fields = ("path",)
    search_help_text = _("A request's ID, whole, or a part of its path.")
    search = IdSearch({"": "pk", "req": "request_id", "mer": "merchant_id"})
    head_columns = ("answer",)
    fieldsets = (
        (
            None,
            {"fields": ("request", "method", "path", "answer", "took", "key_link", "of_merchant", "mode", "created")},
        ),
        (_("What was sent"), {"fields": ("sent",)}),
        (_("What was answered"), {"fields": ("got",)}),
        (_("What it caused"), {"fields": ("caused",)}),
    )
    what = column(
        _("Request"),
        lambda row: beside(row.path, row.method),
        in_list=lambda row: beside(ID.sub("…", row.path), row.method),
    )
    request = column(_("ID"), str)
    answer = column(pgettext_lazy("of a request", "Answer"), _answer)
    took = column(_("Took"), lambda row: f"{row.milliseconds:,} ms", is_number=True)
    key_link = row_link_column("api_key", ApiKey)
    sent = _body(_("Query and body"), "asked")
    got = _body(_("Body"), "answered")
    caused = column(_("Events"), _events)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("asked", "answered")

    def headline(self, row: Any) -> str:
        return f"{row.method} {ID.sub('…', row.path)}"

"""Routes: their order, their recent success and their circuit breakers."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.columns import ENABLED
from payments.admin.framework.base import BaseAdmin, ReadOnlyInline
from payments.admin.framework.filters import by_type_of
from payments.admin.framework.formats import chip, column, lines, money, row_link_column
from payments.admin.framework.id_search import IdSearch
from payments.admin.routing.actions import ChangeRoute
from payments.domain.routing.route_health import health_of, recent_attempts
from payments.models import Merchant, ProviderAccount, Route


class RouteColumns:
    """The columns of a route, on its own page and on its account's."""

    standing = ENABLED

    @admin.display(description="Amounts")
    def amounts(self, route: Route) -> str:
        if not route.currency:
            return "any"
        least, most = (money(bound, route.currency) for bound in (route.amount_min, route.amount_max))
        return f"{least} to {most}" if route.amount_min or route.amount_max else f"any in {route.currency}"

    @admin.display(description="Not allowed")
    def not_by_it(self, route: Route) -> SafeString | str:
        kept = {"holds": route.hold, "refunds": route.refund, "refunds in part": route.partial_refund}
        return lines(name for name, may in kept.items() if not may)

    @admin.display(description="Recent attempts")
    def health(self, route: Route) -> SafeString | str:
        health = health_of(getattr(route, "recent", ()))
        if health.open_seconds:
            return chip(f"circuit open for {health.open_seconds} s", "bad")
        if not health.asked:
            return "none"
        return chip(f"{health.score:.0%} of {health.asked} answered", "warn" if health.outages else "good")


class RoutesOfAccount(RouteColumns, ReadOnlyInline):
    model = Route
    verbose_name_plural = "Routes to it"
    fields = ("position", "source_type", "amounts", "not_by_it", "standing", "health")
    ordering = ("position", "pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).annotate(recent=recent_attempts())


@admin.register(Route)
class RouteAdmin(RouteColumns, BaseAdmin):
    merchant_lookup = "account__merchant"
    change_list_template = "admin/payments/route/change_list.html"
    row_actions = (ChangeRoute(),)
    list_display = ("shown", "of_account", "merchant", "position", "amounts", "not_by_it", "standing", "health")
    file_columns = ("shown", "position", "merchant", "of_account", "amounts", "not_by_it", "enabled", "health")
    list_filter = (by_type_of("source_type"), "enabled")
    list_select_related = ("account__merchant",)
    search_fields = ("account__title", "account__merchant__title")
    search = IdSearch({"": "pk", "pac": "account_id", "mer": "account__merchant_id"})
    fieldsets = (
        (None, {"fields": ("shown", "merchant", "of_account", "position", "enabled")}),
        ("Takes", {"fields": ("amounts", "not_by_it")}),
        ("Health", {"fields": ("health", "in_order")}),
        ("Times", {"fields": ("created", "updated")}),
    )
    shown = column("Route", str)
    merchant = row_link_column("merchant", Merchant, "account")
    of_account = row_link_column("account", ProviderAccount)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("account__merchant").annotate(recent=recent_attempts())

    @admin.display(description="Order of attempts")
    def in_order(self, route: Route) -> SafeString | str:
        """Return the merchant's routes for this type, in the order that charges try them."""
        rows = Route.objects.filter(account__merchant=route.account.merchant_id, source_type=route.source_type)
        tried = rows.select_related("account").annotate(recent=recent_attempts()).order_by("position", "id")
        return lines(
            format_html("{}. {} ({}) {}", one.position, one.account, self.amounts(one), self.health(one))
            for one in tried
            if one.enabled and one.account.enabled
        )

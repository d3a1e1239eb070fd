"""Decline alerts: too many declined charges, as when stolen cards are tested."""

from uuid import UUID

from django.contrib import admin
from django.utils.safestring import SafeString

from payments.admin.framework.base import ByMode, LookOnlyAdmin, one_of
from payments.admin.framework.formats import NOTHING, id_link_column, link, moment_column, row_link_column
from payments.ids import parse_id
from payments.models import ApiKey, Charge, DeclineAlert, Merchant

Kind = DeclineAlert.Kind


@admin.register(DeclineAlert)
class DeclineAlertAdmin(LookOnlyAdmin):
    merchant_lookup = "merchant"
    list_display = ("created", "merchant", "mode", "kind", "whose", "quota", "window_ends")
    list_filter = (one_of("kind", Kind.values), ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("merchant__title", "=subject")
    uuid_lookups = {"": ("pk",), "mer": ("merchant_id",), "ch": ("charge_id",)}
    fieldsets = (
        (None, {"fields": ("created", "of_merchant", "mode", "kind", "whose", "quota")}),
        ("The decline that reached it", {"fields": ("by_charge",)}),
        ("Such charges are refused", {"fields": ("window_starts", "window_ends")}),
    )
    of_merchant = row_link_column("merchant", Merchant)
    by_charge = id_link_column("charge", "ch", Charge)
    window_starts = moment_column("window_starts_at")
    window_ends = moment_column("window_ends_at")

    @admin.display(description="Whose")
    def whose(self, alert: DeclineAlert) -> SafeString | str:
        key: UUID | None = parse_id("key", alert.subject) if alert.kind == Kind.KEY else None
        return link(ApiKey, key, alert.subject) if key else alert.subject or NOTHING

"""Decline alerts: too many declined charges, as when stolen cards are tested."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q
from django.utils.safestring import SafeString

from payments.admin.contacts import People
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by, one_of
from payments.admin.framework.formats import NOTHING, chip, column, id_link_column, link
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import Facts
from payments.admin.risk.blocks import BlockOfAlert
from payments.domain.risk import decline_alerts
from payments.ids import parse_id
from payments.models import ApiKey, Charge, DeclineAlert, Source

Kind = DeclineAlert.Kind


ByStatus = by(
    "status",
    open=("Not acknowledged", Q(acknowledged_at=None)),
    lasting=("Not over", Q(over_at=None)),
    over=("Over", Q(over_at__isnull=False)),
)


class Acknowledge(Action):
    name, label = "acknowledge", "Acknowledge"
    permission = "payments.acknowledge_declinealert"
    too_late = {decline_alerts.AlreadyAcknowledged: "Another operator has acknowledged it already."}

    def fits(self, alert: DeclineAlert) -> bool:
        return alert.acknowledged_at is None

    def question(self, alert: DeclineAlert) -> str:
        return "Acknowledge this alert?"

    def facts(self, alert: DeclineAlert) -> Facts:
        yield ("What happens", "It leaves the top of all pages and everybody's inbox. Charges are refused as before.")
        yield "Declines", f"{alert.quota} {alert.get_kind_display()}, at {alert.merchant}"

    def do(self, alert: DeclineAlert, cleaned: dict[str, Any]) -> Done:
        decline_alerts.acknowledge(alert, cleaned["operator"], cleaned["reason"])
        return "Acknowledged."


@admin.register(DeclineAlert)
class DeclineAlertAdmin(BaseAdmin):
    row_actions = (Acknowledge(), BlockOfAlert())
    parts = (People(),)
    list_display = ("merchant", "shown_kind", "whose", "quota", "status", "created", "window_ends", "mode")
    file_columns = ("created", "merchant", "mode", "kind", "whose", "quota", "window_ends", "status")
    list_filter = (ByStatus, one_of("kind", Kind.values), ByMode, "created_at")
    list_select_related = ("merchant", "acknowledged_by")
    search_fields = ("merchant__title", "=subject")
    search = IdSearch({"": "pk", "mer": "merchant_id", "ch": "charge_id", "src": "source_id"})
    fieldsets = (
        (None, {"fields": ("created", "of_merchant", "mode", "kind", "whose", "quota")}),
        ("The decline that reached it", {"fields": ("by_charge", "by_source")}),
        ("Such charges are refused", {"fields": ("window_starts", "window_ends")}),
        ("Since then", {"fields": ("status", "acknowledged_by", "acknowledged", "over")}),
    )
    status = column("Status", lambda alert: chip(*_status(alert)))
    shown_kind = column("What", lambda alert: f"Too many declines {alert.get_kind_display()}")
    by_charge = id_link_column("charge", "ch", Charge)
    by_source = id_link_column("source", "src", Source)

    @admin.display(description="Whose")
    def whose(self, alert: DeclineAlert) -> SafeString | str:
        key: UUID | None = parse_id("key", alert.subject) if alert.kind == Kind.KEY else None
        return link(ApiKey, key, alert.subject) if key else alert.subject or NOTHING

    def headline(self, row: DeclineAlert) -> str:
        return f"{self.shown_kind(row)}, at {row.merchant}"


def _status(alert: DeclineAlert) -> tuple[str, str]:
    if alert.over_at:
        return "over", "quiet"
    return ("acknowledged", "warn") if alert.acknowledged_at else ("open", "bad")

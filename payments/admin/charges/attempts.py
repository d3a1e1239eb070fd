from operator import attrgetter
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model
from django.utils.text import capfirst

from payments.admin.cases.panel import CasePanel
from payments.admin.columns import WITH_PAYER, payer_column, state_column
from payments.admin.contacts import People
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by_mode_of
from payments.admin.framework.formats import (
    column,
    id_link_column,
    money,
    money_column,
    row_link_column,
    search_link,
    short_id,
)
from payments.admin.framework.id_search import OF_CHARGE, IdSearch
from payments.ids import public_id
from payments.models import ApiKey, Attempt, Correction, Event, Refund

BY_ROUTE = ("account_link", "route_link", "chosen", "outage", "passed_on")
ByModeOfCharge = by_mode_of("charge")


@admin.register(Attempt)
class AttemptAdmin(BaseAdmin):
    parts = (People(lambda attempt: attempt.charge.source, lambda attempt: attempt.charge.merchant), CasePanel())
    merchant_lookup = "charge__merchant"
    list_display: tuple[str, ...] = (
        *("payer", "what", "provider", "tries", "outcome", "shown_amount", "shown_state", "created"),
    )
    file_columns: tuple[str, ...] = (
        *("shown_reference", "created", "kind", "shown_amount", "state"),
        *("outcome", "provider", "charge_link", "tries", "due"),
    )
    list_filter: ClassVar[tuple[Any, ...]] = ("state", "kind", ByModeOfCharge, "created_at")
    sum_of = ("amount", "charge__currency")
    list_select_related = WITH_PAYER
    search_fields = ("provider_ref",)
    search = IdSearch(
        {**OF_CHARGE, "attempt": "pk", "re": "refund_id", "mer": "charge__merchant_id"},
        objects="charge_id refund_id",
        last4="charge__source__card__last4",
        exact="provider_ref",
    )
    search_help_text = "Any ID, whole, our reference, or the provider's."
    fieldsets = (
        (None, {"fields": ("shown_reference", "kind", "shown_amount", "charge_link", "refund_link")}),
        ("Outcome", {"fields": ("shown_state", "outcome", "tries", "due", "created", "updated")}),
        ("Provider", {"fields": ("provider", *BY_ROUTE, "provider_ref", "shown_response")}),
        ("Request", {"fields": ("request_id", "key_link", "idempotency_key", "answer_status", "events")}),
    )
    payer = payer_column()
    what = column("What", lambda attempt: capfirst(attempt.kind))
    shown_state = state_column("state", {"open": "warn", "unknown": "warn", "waiting": "warn", "done": "good"})
    refund_link = id_link_column("refund", "re", Refund)
    key_link = row_link_column("api_key", ApiKey)
    shown_amount = money_column("amount", "charge")
    shown_reference = column(
        "Reference", lambda attempt: short_id(attempt.reference), cells={"reference": attrgetter("reference")}
    )
    events = column("Events", lambda attempt: search_link(Event, public_id("ch", attempt.charge_id), "of its charge"))

    def headline(self, row: Attempt) -> str:
        return f"{capfirst(row.kind)} {money(row.amount, row.charge.currency)}"

    def history_rows(self, obj: Model) -> list[Model]:
        """Return the attempt and its corrections."""
        return [obj, *Correction.objects.filter(attempt=obj.pk)]
